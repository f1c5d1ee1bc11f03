package fetch_test

import (
	"net/netip"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/fetch"
)

func TestOnlyAddressesOfTheInternetArePublic(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34": false, "2606:2800:220:1::1": false, "::ffff:93.184.216.34": false,
		"127.0.0.1": true, "10.1.2.3": true, "172.16.0.1": true, "192.168.1.1": true,
		"169.254.169.254": true, "100.64.0.1": true, "100.128.0.1": false, "0.0.0.0": true,
		"255.255.255.255": true, "224.0.0.1": true, "::1": true, "::": true, "fe80::1": true,
		"fe80::1%eth0": true, "fd00:ec2::254": true, "ff02::1": true, "::ffff:10.1.2.3": true,
	} {
		if got := fetch.IsPrivate(netip.AddrPortFrom(netip.MustParseAddr(address), 443)); got != want {
			t.Errorf("%s: private is %v", address, got)
		}
	}
}
