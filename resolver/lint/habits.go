package lint

import (
	"errors"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// A habit is syntax of another system in a rule, where it is plain text. The rule loads and does
// nothing. Each message says what to write here.

var (
	// regexpSign finds what occurs in regular expressions and hardly ever in a path: an anchor in
	// front, also with the ~ of nginx; a group with a repetition, a class or a choice; a class; .*
	regexpSign = regexp.MustCompile(`^\^|^~\*?\^|^~\*` +
		`|\([^()]*(?:\.[*+]|\]|\|)[^()]*\)` +
		`|\[\^|\[\w-\w` +
		`|\.[*+](?:[/$]|$)`)
	// regexpBelow finds an expression for everything below a path, regexpGroup one for any other part
	// of it.
	regexpBelow = regexp.MustCompile(`(?:^|/)\(?\.[*+]\)?/?$`)
	regexpGroup = regexp.MustCompile(`\([^()]*\)[*+]?|\[[^\]]*\][*+]?|\.[*+]`)
	// regexpChoice finds a choice of words, of which it captures the first.
	regexpChoice = regexp.MustCompile(`\(([^()|\[*+]+)\|[^()\[*+]*\)`)
	// keyVariable and valueVariable find the :name of routers and the $1 of regular expressions.
	keyVariable   = regexp.MustCompile(`(?:^|/):[A-Za-z_]\w*[*+]?|\$[1-9]\b`)
	valueVariable = regexp.MustCompile(`[/=]:[A-Za-z_]\w*[*+]?|\$[1-9]\b`)
)

// keyHabit returns a habit in the key of a rule, or no message.
func keyHabit(rule *resolver.Rule) (kind Kind, message string) {
	key := rule.Key
	if !strings.ContainsAny(key, "*:,;$^~([.") {
		return "", "" // as most keys have nothing of all that
	}
	bare, star := strings.CutSuffix(key, "*")
	switch {
	case isAbsolute(key):
		return WarnURLKey, urlKeyMessage(*rule)
	case regexpSign.MatchString(key):
		return WarnRegexp, "this key looks like a regular expression, but keys match literally; " +
			insteadOfRegexp(key)
	case keyVariable.MatchString(key):
		return WarnLiteralVariable, "the " + firstVariable(keyVariable, key) +
			" of the key stands for itself; write " + withVariables(keyVariable, key)
	case star && (bare == "" || strings.HasSuffix(bare, "/")):
		return WarnLiteralStar, starMessage(strings.TrimSuffix(bare, "/"))
	}
	if bare := strings.TrimRight(key, ":,;"); bare != key && isGoodKey(bare) {
		return WarnPunctuation, "the " + quote(key[len(bare):]) +
			" at the end is part of the key, and of every path that matches it; write " + bare
	}
	return "", ""
}

func isGoodKey(key string) bool { return resolver.CheckKey(key) == nil }

func urlKeyMessage(rule resolver.Rule) string {
	_, rest, _ := strings.Cut(rule.Key, "://")
	host, path, _ := strings.Cut(rest, "/")
	message := "a key is a path without scheme and host, which are those of the site; "
	if path = strings.Trim(path, "/"); path != "" && isGoodKey(path) {
		message += "write " + path
	} else {
		message += "write a key such as docs, in the site of " + host
	}
	if meant, is := resolver.Exchanged(rule); is {
		message += ", or, if key and destination are exchanged, the key " + meant.Key +
			" and the destination " + meant.Value
	}
	return message
}

// insteadOfRegexp suggests a key instead of a regular expression.
func insteadOfRegexp(key string) string {
	meant := strings.TrimLeft(strings.TrimLeft(key, "~*^ "), "/")
	meant = strings.TrimSuffix(meant, "$")
	if above := regexpBelow.ReplaceAllString(meant, ""); above != meant && isPlainKey(above) {
		return "write " + above + ", which matches everything below it, too"
	}
	if choice := regexpChoice.ReplaceAllString(meant, "$1"); choice != meant && isPlainKey(choice) {
		return "write a rule for each choice, such as " + choice
	}
	if template := withVariables(regexpGroup, meant); isPlainKey(template) {
		return "write " + template
	}
	return "write the path, with variables such as {x} for what differs"
}

// isPlainKey reports whether a key is valid, and has no part of a regular expression.
func isPlainKey(key string) bool { return isGoodKey(key) && !regexpSign.MatchString(key) }

// firstVariable returns the first match of a pattern in text, without what precedes a variable.
func firstVariable(pattern *regexp.Regexp, text string) string {
	return strings.TrimLeft(pattern.FindString(text), "/=")
}

// withVariables returns text with a variable for each match of a pattern.
func withVariables(pattern *regexp.Regexp, text string) string {
	names := []string{"x", "y", "z"}
	return pattern.ReplaceAllStringFunc(text, func(found string) string {
		foreign := strings.TrimLeft(found, "/=")
		before := found[:len(found)-len(foreign)]
		if name, ok := strings.CutPrefix(foreign, ":"); ok {
			bare := strings.TrimRight(name, "*+")
			if bare != name {
				return before + "{+" + bare + "}"
			}
			return before + "{" + name + "}"
		}
		name := "x"
		if len(names) > 0 {
			name, names = names[0], names[1:]
		}
		return before + "{" + name + "}"
	})
}

// valueHabit returns a habit in the destination of a rule, or no message.
func valueHabit(rule *resolver.Rule) (kind Kind, message string) {
	text := behindHost(rule.Value)
	foreign := strings.Contains(text, ":") || strings.Contains(text, "$")
	if foreign && valueVariable.MatchString(text) {
		return WarnLiteralVariable, variableMessage(*rule, text)
	}
	bare := strings.TrimRight(rule.Value, ",;")
	if bare != rule.Value && !strings.ContainsAny(bare, "?#") && resolver.CheckValue(bare) == nil {
		return WarnPunctuation, "the " + quote(rule.Value[len(bare):]) +
			" at the end is part of the destination; write " + bare
	}
	if isInternal(rule.Value) {
		return "", ""
	}
	return WarnHostName, hostMessage(rule.Value)
}

// hostMessage says why no client finds the host of an absolute destination; "" if clients do.
// Parsing ignores extra slashes in front of the host; a path of the site may have been meant.
func hostMessage(value string) string {
	host := hostOf(value)
	if isName := host != "" && host[0] != '['; isName && checkHostName(host) == nil {
		return "" // as most are good as they are written, and need not be parsed
	}
	u, err := weburl.Parse(value)
	if err != nil {
		return "" // no rule with this is good
	}
	scheme, rest, _ := strings.Cut(value, "://")
	if bare := strings.TrimLeft(rest, `/\`); bare != rest {
		return "slashes in front of a host count as none, so the host is " + u.Host +
			"; write " + scheme + "://" + bare + " for another host, or /" + bare +
			" for a path of this one"
	}
	if err := checkHostName(u.Host); err != nil {
		return "no client finds the host " + u.Host + ": " + err.Error()
	}
	return ""
}

// originWarnings warns of an origin whose host no client finds.
func originWarnings(origin string) []Warning {
	u, err := weburl.Parse(origin)
	if err != nil {
		return nil // there is none
	}
	if err = checkHostName(u.Host); err == nil {
		return nil
	}
	return []Warning{{
		Kind:    WarnHostName,
		Message: "origin: no client finds the host " + u.Host + ": " + err.Error(),
	}}
}

// variableMessage says what to write instead of a variable of another system in a value. It
// searches the text after the host.
func variableMessage(rule resolver.Rule, text string) string {
	variable := firstVariable(valueVariable, text)
	why := "the " + variable + " of the destination stands for itself; "
	if resolver.IsTemplate(rule.Key) {
		return why + "write a variable of the key, such as " + bracesIn(rule.Key)
	}
	foreignKey := keyVariable.MatchString(rule.Key)
	bare, last := strings.CutSuffix(rule.Value, "/"+variable)
	if last && bare != "" && !foreignKey {
		return why + "the rest of the path is appended anyway: write " + bare
	}
	name := strings.TrimPrefix(withVariables(valueVariable, "/"+variable), "/")
	key := "docs/" + name
	if foreignKey {
		key = withVariables(keyVariable, rule.Key)
	}
	return why + "write " + name + ", and a key that has this variable, such as " + key
}

// checkHostName says why no client finds a host by its name, and what to write. It returns nil for
// a good name. Underscores are in no host name, but in names that resolve.
func checkHostName(host string) error {
	if host == "" || host[0] == '[' {
		return nil
	}
	if len(host) > 254 {
		return errors.New("a host name has at most 253 characters; shorten it")
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		switch {
		case label == "":
			return errors.New("a part between its dots is empty; write " + withoutEmptyLabels(host))
		case len(label) > 63:
			return errors.New("a part between dots has at most 63 characters; shorten it")
		case label[0] == '-' || label[len(label)-1] == '-':
			return errors.New("no part between dots begins or ends in \"-\"; remove it")
		}
		for i := 0; i < len(label); i++ {
			if c := label[i]; !isHostCharacter(c) {
				return errors.New("the host name contains " + quote(string(c)) + "; remove it")
			}
		}
	}
	return nil
}

func isHostCharacter(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// withoutEmptyLabels returns a host without the dots that have nothing between them.
func withoutEmptyLabels(host string) string {
	return strings.Join(strings.FieldsFunc(host, func(r rune) bool { return r == '.' }), ".")
}

func starMessage(bare string) string {
	const why = "a \"*\" in a key is a \"*\" in the path, and no wildcard; "
	if bare == "" {
		return why + "what no rule matches goes on to the next handler"
	}
	return why + "write " + bare + ", which matches everything below it, too"
}
