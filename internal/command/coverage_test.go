package command

import (
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/coverage"
)

func TestHostsAreThoseOfTheFlagOrOfTheSites(t *testing.T) {
	for _, tt := range []struct {
		flags, addresses []string
		ours, others     string
	}{
		{nil, []string{"go.example:8080", "*.links.example"}, "a.links.example", "links.example"},
		{nil, []string{"go.example:8080", "*.links.example"}, "go.example", "www.go.example"},
		{[]string{"Old.example:80"}, []string{"go.example"}, "old.example", "go.example"},
		{[]string{"münchen.example:443"}, nil, "xn--mnchen-3ya.example", "munchen.example"},
		{[]string{"xn--mnchen-3ya.example"}, nil, coverage.HostOf("MÜNCHEN.example."), "münchen"},
		{nil, []string{"*.münchen.example"}, "a.xn--mnchen-3ya.example", "xn--mnchen-3ya.example"},
		{[]string{"[::1]"}, nil, "[::1]", "[::2]"},
		{nil, []string{":443"}, "any.example", ""},
		{nil, nil, "any.example", ""},
	} {
		c := covering{hosts: tt.flags}
		isOurs := c.isOurs(&ConfigHandler{Addresses: tt.addresses})
		if isOurs == nil {
			isOurs = func(host string) bool { return host != "" }
		}
		if !isOurs(tt.ours) || isOurs(tt.others) {
			t.Errorf("%q, %q: %s is ours: %t, %s: %t", tt.flags, tt.addresses, tt.ours, isOurs(tt.ours),
				tt.others, isOurs(tt.others))
		}
	}
}
