package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
)

// Site is where a handler answers, as far as its configuration says.
type Site struct {
	Addresses []string // that its server listens on
	Hosts     []string // of the nearest host matcher around it; none for any host
}

// overlaps reports whether two sites have an address and a host in common.
func (s Site) overlaps(other Site) bool {
	return haveCommon(s.Addresses, other.Addresses) &&
		(haveCommon(s.Hosts, other.Hosts) || s.Hosts == nil && other.Hosts == nil)
}

func haveCommon(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}

// String returns the addresses as in a Caddyfile, or what the server listens on if they have no
// port.
func (s Site) String() string {
	ports := PortsOf(s.Addresses)
	if ports == nil {
		return strings.Join(slices.Concat(s.Hosts, s.Addresses), " ")
	}
	return strings.Join(AddressesOf(s.Hosts, ports), " ")
}

// AddressesOf returns the addresses of hosts (none for any) at ports such as ":80", as in a
// Caddyfile.
func AddressesOf(hosts, ports []string) (addresses []string) {
	for _, port := range ports {
		if hosts == nil {
			addresses = append(addresses, port)
		}
		if port == ":80" || port == ":443" {
			port = ""
		}
		for _, host := range hosts {
			addresses = append(addresses, host+port)
		}
	}
	return addresses
}

// PortsOf returns the ports, such as ":80", of addresses that have one.
func PortsOf(listen []string) (ports []string) {
	for _, address := range listen {
		parsed, err := caddy.ParseNetworkAddress(address)
		if err == nil && parsed.StartPort > 0 {
			ports = append(ports, fmt.Sprint(":", parsed.StartPort))
		}
	}
	return ports
}
