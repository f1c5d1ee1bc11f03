package resolver

import (
	"errors"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// hostPattern is one of Options.AllowHosts: the labels of a host, each of which may be "*".
type hostPattern []string

// parseHostPattern parses one of Options.AllowHosts, or says what is wrong with it.
func parseHostPattern(pattern string) (parsed hostPattern, err error) {
	const advice = "; write a host like example.com, or *.example.com for one label before it"
	if strings.ContainsAny(pattern, "/?#@") {
		return nil, errors.New(quote(pattern) + " is more than a host" + advice)
	}
	host, err := weburl.ParseHost(pattern)
	if err != nil {
		return nil, errors.New(quote(pattern) + " is not a host: " + reasonOf(err) + advice)
	}
	parsed = strings.Split(host, ".")
	for _, label := range parsed {
		if label != "*" && strings.Contains(label, "*") {
			return nil, errors.New(quote(pattern) + " has a \"*\" that is not a whole label" +
				advice)
		}
	}
	if len(parsed) == 1 && parsed[0] == "*" {
		return nil, errors.New("\"*\" stands for one label only; to allow every host leave the " +
			"option out")
	}
	return parsed, nil
}

func (p hostPattern) matches(host string) bool {
	labels := strings.Split(host, ".")
	matches := func(want, label string) bool { return want == "*" || want == label }
	return slices.EqualFunc(p, labels, matches)
}

// hostAllowed reports whether absolute destinations may name host.
func (o *options) hostAllowed(host string) bool {
	for i := range o.hosts {
		if o.hosts[i].matches(host) {
			return true
		}
	}
	return len(o.hosts) == 0
}

func hostMessage(host string) string {
	return "the host " + quote(host) + " is not one of allow_hosts; add it there, or lead the " +
		"rule elsewhere"
}
