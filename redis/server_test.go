package redis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// provision provisions a source that is expected to fail before it needs storage.
func provision(t *testing.T, source *Source) error {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	return source.Provision(ctx)
}

func TestWhatIsWrongWithTheConfigurationIsSaidWithoutSecrets(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for message, source := range map[string]*Source{
		"the name of the hash is missing": {},
		"this is not a URL: write redis://": {Hash: "links",
			URL: "redis://edge:s3cret@host:s3cret/0"},
		"or unix://, not http://": {Hash: "links",
			URL: "http://edge:s3cret@host"},
		"such as redis://host:6379": {Hash: "links",
			URL: "edge:s3cret@host:6379"},
		"unexpected option: master": {Hash: "links",
			URL: "redis://edge:s3cret@host?master=m"},
		"route_randomly are for clusters": {Hash: "links",
			URL: "redis://edge:s3cret@host?master_name=m&route_randomly=true"},
		`invalid database number: "x"`: {Hash: "links",
			URL: "redis://edge:s3cret@host/x?master_name=m"},
		"invalid URL scheme: unix": {Hash: "links",
			URL: "unix://edge:s3cret@/socket", Cluster: true},
		`poll takes a duration of at least 1ms, such as 2s, or off, not "soon"`: {Hash: "links",
			Poll: "soon"},
		"tls_ca: open /nowhere": {Hash: "links",
			TLSCA: "/nowhere"},
		"empty.pem holds no certificate in PEM form": {Hash: "links",
			TLSCA: empty},
		"tls_cert and tls_key: open": {Hash: "links",
			TLSCert: "/nowhere"},
		"begin the url with rediss://": {Hash: "links",
			URL: "redis://edge:s3cret@host", TLSCA: newCertificates(t).ca},
		"tls_key are for servers with TLS: begin": {Hash: "links",
			URL: "redis://edge:s3cret@host", TLSCA: newCertificates(t).ca, Cluster: true},
		"redis: tls_ca, tls_cert and tls_key are for ": {Hash: "links",
			URL: "redis://edge:s3cret@host?master_name=m", TLSCA: newCertificates(t).ca},
	} {
		t.Run(message, func(t *testing.T) {
			err := provision(t, source)
			if err == nil || !strings.Contains(err.Error(), message) {
				t.Errorf("the error is %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error tells a secret: %v", err)
			}
			if err := source.Cleanup(); err != nil {
				t.Errorf("cleaning up what was not set up: %v", err)
			}
		})
	}
}

func TestTheNameOfASourceHoldsNoSecrets(t *testing.T) {
	if name := (&Source{Hash: "links", URL: "redis://edge:s3cret@host"}).String(); name != "redis links" {
		t.Errorf("it is called %s", name)
	}
}
