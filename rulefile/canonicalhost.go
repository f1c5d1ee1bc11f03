package rulefile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A line that leads all paths of a host to the same ones of another, or to HTTPS, is none for
// rules, which have no host: it would lead the other host to itself.

// canonicalises says why a line is refused that leads one host to another.
func (h *htaccessReader) canonicalises(rule *rewriteRule, conditions []rewriteCondition) error {
	host, isWhole := h.wholeHost(rule)
	hasHost := hasHostCondition(conditions)
	isOwn := slices.Contains(h.reading.Hosts, strings.ToLower(host))
	if !isWhole || len(conditions) == 0 && !isOwn {
		return nil
	}
	if !hasHost && slices.ContainsFunc(conditions, rewriteCondition.isOfScheme) {
		_, err := h.judge(conditions)
		return err
	}
	if !hasHost && !isOwn {
		return nil
	}
	const why = "this leads all paths of one host to the same ones of another, and a rule has no host"
	if strings.Contains(host, "%") {
		return errors.New(why + "; write a site block for the host, with a redir to the other one")
	}
	scheme, _, _ := strings.Cut(rule.to, "://")
	redir := fmt.Sprintf("redir %s://%s{uri} %s", scheme, host,
		redirStatus(h.statusOr(rule.status)))
	if from := h.hostsBeside(host, conditions); from != "" {
		return fmt.Errorf("%s; write a site block for %s, with: %s", why, from, redir)
	}
	return fmt.Errorf("%s; write a site block for the host, with: %s", why, redir)
}

// wholeHost returns the host to which a line leads all paths as they are.
func (h *htaccessReader) wholeHost(rule *rewriteRule) (host string, ok bool) {
	scheme, rest, isURL := strings.Cut(rule.to, "://")
	if !isURL || scheme != "http" && scheme != "https" || !rule.takesAll() {
		return "", false
	}
	ends := []string{"/%{REQUEST_URI}", "%{REQUEST_URI}"}
	if h.rewrite.base == "/" {
		ends = append(ends, "/$1", "/$0", "$1", "$0")
	}
	for _, end := range ends {
		host, is := strings.CutSuffix(strings.TrimSuffix(rest, "?"), end)
		if is && !strings.Contains(host, "/") {
			return host, true
		}
	}
	return "", false
}

// hostsBeside returns the hosts that a line leads to another one, as a site block has them; "" if
// that cannot be said.
func (h *htaccessReader) hostsBeside(host string, conditions []rewriteCondition) string {
	var hosts []string
	for i := range conditions {
		c := &conditions[i]
		if c.isOfHost() && !strings.HasPrefix(c.pattern, "!") {
			text := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(c.pattern, "="), "^"), "$")
			text, hasBoth := strings.CutPrefix(strings.ReplaceAll(text, `\.`, "."), "(www.)?")
			if !plainHost.MatchString(text) {
				return ""
			}
			if hosts = append(hosts, text); hasBoth {
				hosts = append(hosts, "www."+text)
			}
		}
	}
	if hosts == nil { // all but one
		without, hasWWW := strings.CutPrefix(host, "www.")
		if !hasWWW {
			without = "www." + host
		}
		hosts = append(slices.Clone(h.reading.Hosts), without)
	}
	hosts = slices.DeleteFunc(hosts, func(other string) bool { return strings.EqualFold(other, host) })
	slices.Sort(hosts)
	return strings.Join(slices.Compact(hosts), ", ")
}

var plainHost = regexp.MustCompile(`^[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+$`)

func hasHostCondition(conditions []rewriteCondition) bool {
	return slices.ContainsFunc(conditions, func(c rewriteCondition) bool { return c.isOfHost() })
}

// redirStatus returns a status as Caddy's redir has it.
func redirStatus(status int) string {
	switch status {
	case 301:
		return "permanent"
	case 302:
		return "temporary"
	}
	return strconv.Itoa(status)
}
