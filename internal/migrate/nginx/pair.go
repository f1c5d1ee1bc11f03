package nginx

import (
	"errors"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// addPair takes in a key and where it leads, "" for nowhere. It reports whether they make a line.
func addPair(t *migrate.Table, at resolver.Position, key, to string) bool {
	path, err := pathOf(t, key)
	if err != nil {
		t.Refuse(at, nil, err)
		return false
	}
	line := lineTo(at, to)
	if err := migrate.CheckDestination(to); err != nil && line.Answer == redirects.Leads {
		t.Wrong(at, "%s", err)
		return false
	}
	line.Path, line.To = redirects.Text(path), redirects.Literal(to)
	t.Add(line)
	return true
}

// lineTo returns a line with what a destination says. Programs do not redirect to an empty one.
func lineTo(at resolver.Position, to string) redirects.Line {
	line := redirects.Line{At: at}
	if to == "" {
		line.Answer = redirects.Passes
	}
	return line
}

// pathOf returns the path that a key stands for. It may be decoded or not: a "%" in front of two
// digits is that of a path that is not.
func pathOf(t *migrate.Table, key string) (path string, err error) {
	if host, path, ok := cutHost(key); ok {
		if !t.HasHost(host) {
			return "", errors.New("a rule has no host; if " + printable.Quote(host) +
				" is this site's, name it with --line-host")
		}
		key = path
	}
	switch {
	case key == "":
		return "", errors.New("the key is empty, and no request has an empty path; remove the line")
	case strings.Contains(key, "?"):
		return "", pathexpr.ErrQuery
	case key[0] == '^':
		return "", errors.New("the key is a regular expression, as those of map_reg; convert it " +
			"with --from yaml, which has a colon behind keys")
	case key[0] != '/':
		key = "/" + key
	}
	return migrate.EncodePercents(strings.ReplaceAll(key, "#", "%23")), nil
}

// cutHost cuts a key into its host and its path, if it is a URL, perhaps without a scheme, or a
// mask of hosts.
func cutHost(key string) (host, path string, ok bool) {
	if host, path, ok = migrate.CutURL(key); ok {
		return host, path, true
	}
	host, path, hasPath := strings.Cut(key, "/")
	isMask := strings.HasPrefix(host, "*.") || host != "" && host[0] == '.' &&
		strings.Count(host, ".") > 1
	isHost := strings.Contains(strings.Trim(host, "."), ".") && host[0] != '.'
	return host, "/" + path, isMask || hasPath && isHost
}
