package command

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// commonEndings are the endings of most hosts, and those of examples and private networks. Endings
// of files are left out: md, sh, py, pl, rs, zip.
const commonEndings = " com net org edu gov io dev app cloud info biz eu uk us ca de fr ch at nl " +
	"au jp cn br ru example test local internal "

// addHostKeys adds warnings about keys that begin with a host of the site, or with a segment that
// looks like a host, and returns these keys. The site has hosts besides those of the handler.
func (r *checkReport) addHostKeys(
	ruleset *resolver.Ruleset, h *ConfigHandler, hosts []string,
) (told map[string]bool) {
	told = map[string]bool{}
	_, origin, _ := strings.Cut(h.Rules.Options.Origin, "://")
	hosts = append(slices.Clone(hosts), origin)
	for i, host := range hosts {
		hosts[i] = withoutPort(host)
	}
	for _, way := range h.Ways {
		hosts = append(hosts, way.hosts...)
	}
	for rule := range ruleset.Rules() {
		host, rest, _ := strings.Cut(rule.Key, "/")
		if !isHostKey(withoutPort(host), rest, hosts) {
			continue
		}
		write := "a key such as docs, in the site of " + host
		if rest != "" {
			meant := rule
			meant.Key = rest
			if write, _ = keyThatIsReached(meant, h.Ways); write != rest && isReached(rule, h.Ways) {
				continue // it must begin so
			}
		}
		told[rule.Key] = true
		r.warn(lint.WarnURLKey, rule,
			"a key is a path of the site, and "+host+" looks like a host; write "+write)
	}
	return told
}

// isHostKey reports whether the first segment of a key is one of some hosts or, if more follows,
// looks like any host.
func isHostKey(segment, rest string, hosts []string) bool {
	dot := strings.LastIndexByte(segment, '.')
	if dot < 0 && rest == "" || strings.ContainsAny(segment, "{*") {
		return false
	}
	ending := strings.ToLower(segment[dot+1:])
	if dot > 0 && rest != "" && strings.Contains(commonEndings, " "+ending+" ") {
		return true
	}
	return slices.ContainsFunc(hosts, func(host string) bool {
		return host != "" && (dot >= 0 || !strings.Contains(host, "*")) && matchesHost(host, segment)
	})
}
