package redis

import (
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/source"
)

// UnmarshalCaddyfile sets up the source from what follows "from" in a shortlink directive:
//
//	redis <hash|prefix*> {
//		url <url>
//		cluster
//		tls_ca <file>
//		tls_cert <certificate_file> <key_file>
//		poll <interval|off>
//		start <refuse|without>
//	}
//
// The fields of [Source] explain the options. The error lists everything that is wrong, each with
// its line.
func (s *Source) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	block := source.Block{Argument: "the name of a hash, or a prefix of keys and *", Value: &s.Hash,
		Options: []source.BlockOption{
			{
				Name: "url", Takes: "takes a URL such as redis://user:password@host:6379/0",
				Words: []*string{&s.URL}, Check: s.checkURL,
			},
			{
				Name: "cluster", Takes: "stands alone; " +
					"write more nodes into the url: redis://host1:6379?addr=host2:6379",
				Flag: &s.Cluster,
			},
			{Name: "tls_ca", Takes: "takes a PEM file of certificates", Words: []*string{&s.TLSCA}},
			{
				Name: "tls_cert", Takes: "takes two PEM files: a certificate, and its private key",
				Words: []*string{&s.TLSCert, &s.TLSKey},
			},
			source.PollOption(&s.Poll),
			source.StartOption(&s.Start),
			{
				Name: "allow_empty", Refused: "is for files and storage entries; a hash, or a prefix of " +
					"keys, without any rule is always refused; leave it out",
			},
		}}
	return block.Unmarshal(d)
}

// checkURL checks the beginning of the URL, unless it is a placeholder, which is known only when
// Caddy starts.
func (s *Source) checkURL() error {
	if strings.HasPrefix(s.URL, "{") {
		return nil
	}
	return checkScheme(s.URL)
}

// Interface guards
var _ caddyfile.Unmarshaler = (*Source)(nil)
