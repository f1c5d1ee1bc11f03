package redis

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/caddyserver/caddy/v2"
)

// tlsFiles are the configured certificates.
type tlsFiles struct {
	authorities *x509.CertPool // nil for those of the system
	// own returns the certificate that Caddy shows. It reads the files for each connection, as they
	// are renewed while Caddy runs. It is nil if none are configured.
	own func(*tls.CertificateRequestInfo) (*tls.Certificate, error)
}

// tlsFiles reads the configured files.
func (s *Source) tlsFiles() (files tlsFiles, err error) {
	replacer := caddy.NewReplacer()
	if s.TLSCA != "" {
		if files.authorities, err = readAuthorities(replacer.ReplaceKnown(s.TLSCA, "")); err != nil {
			return tlsFiles{}, err
		}
	}
	if s.TLSCert == "" && s.TLSKey == "" {
		return files, nil
	}
	cert, key := replacer.ReplaceKnown(s.TLSCert, ""), replacer.ReplaceKnown(s.TLSKey, "")
	files.own = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		own, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			err = fmt.Errorf("redis: tls_cert and tls_key: %w", err)
		}
		return &own, err
	}
	_, err = files.own(nil)
	return files, err
}

func readAuthorities(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("redis: tls_ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("redis: tls_ca: %s holds no certificate in PEM form", path)
	}
	return pool, nil
}

// applyTo adds the certificates to config, which is nil if the URL does not use TLS.
func (f tlsFiles) applyTo(config *tls.Config) error {
	if f.authorities == nil && f.own == nil {
		return nil
	}
	if config == nil {
		return errors.New(
			"redis: tls_ca, tls_cert and tls_key are for servers with TLS: begin the url with rediss://")
	}
	config.RootCAs, config.GetClientCertificate = f.authorities, f.own
	return nil
}
