package redis

import (
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink"
)

// UnmarshalCaddyfile sets up the source from what follows "from" in a shortlink directive:
//
//	redis <hash> {
//		url <url>
//		cluster
//		tls_ca <file>
//		tls_cert <certificate_file> <key_file>
//		poll <interval|off>
//	}
//
// What the options mean stands at the fields of [Source]. The error names the line.
func (s *Source) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the source's name
	if !d.AllArgs(&s.Hash) {
		return d.Err("redis takes the name of a hash; other options stand in its block")
	}
	given := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if given[d.Val()] {
			return d.Errf("%s is given twice", d.Val())
		}
		given[d.Val()] = true
		if err := s.unmarshalOption(d); err != nil {
			return err
		}
	}
	return nil
}

// unmarshalOption reads one line of the block.
func (s *Source) unmarshalOption(d *caddyfile.Dispenser) error {
	switch d.Val() {
	case "url":
		if !d.AllArgs(&s.URL) {
			return d.Err("url takes a URL such as redis://user:password@host:6379/0")
		}
		if strings.HasPrefix(s.URL, "{") { // a placeholder, known when Caddy starts
			return nil
		}
		if err := checkScheme(s.URL); err != nil {
			return d.WrapErr(err)
		}
	case "cluster":
		if d.NextArg() {
			return d.Err("cluster stands alone; more nodes stand in the url: redis://host1:6379?addr=host2:6379")
		}
		s.Cluster = true
	case "tls_ca":
		if !d.AllArgs(&s.TLSCA) {
			return d.Err("tls_ca takes a PEM file of certificates")
		}
	case "tls_cert":
		if !d.AllArgs(&s.TLSCert, &s.TLSKey) {
			return d.Err("tls_cert takes two PEM files: a certificate, and its private key")
		}
	case "poll":
		if !d.AllArgs(&s.Poll) {
			return d.Err("poll takes a duration of at least 1ms, such as 2s, or off")
		}
		if _, err := shortlink.ParsePoll(s.Poll, defaultPoll); err != nil {
			return d.WrapErr(err)
		}
	default:
		return d.Errf("redis has no option %q; the options are url, cluster, tls_ca, tls_cert and poll", d.Val())
	}
	return nil
}

// Interface guards
var _ caddyfile.Unmarshaler = (*Source)(nil)
