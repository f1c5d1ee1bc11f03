package shortlink

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// wordThen stands between the destinations that a key has one after the other.
const wordThen = "then"

// addRule adds the rule of a line: a key, and one destination or several.
func (p *directive) addRule(l line) {
	key := l.words[0]
	var windows []schedule.Window
	for rest, more := l.words[1:], true; more; {
		words := rest
		i := slices.Index(rest, wordThen)
		if more = i >= 0; more {
			words, rest = rest[:i], rest[i+1:]
		}
		w, ok := p.readWindow(resolver.Rule{Key: key, Position: l.at}, words, windows)
		if !ok {
			return
		}
		windows = append(windows, w)
	}
	faults := schedule.Check(windows)
	for _, fault := range faults {
		p.reportRule(resolver.Rule{Key: key, Position: l.at}, "%s", fault.Message)
	}
	if faults == nil {
		p.handler.Rules = append(p.handler.Rules, schedule.Join(key, l.at, windows))
	}
}

// readWindow reads a destination and what follows it. It begins when the one before ends, unless it
// says since. ok is false if something is wrong, which is reported.
func (p *directive) readWindow(
	rule resolver.Rule, words []string, before []schedule.Window,
) (w schedule.Window, ok bool) {
	w.Since, w.Until = schedule.Begin, schedule.End
	if n := len(before); n > 0 {
		if w.Since = before[n-1].Until; w.Since == schedule.End {
			p.reportRule(rule, "then follows a destination that ends; write until and a time in front "+
				"of it, such as until 2027-03-01")
			return w, false
		}
		if len(words) == 0 || !isDestinationWord(words[0]) {
			p.reportRule(rule, "then takes a destination, which begins with https://, http:// or /, or "+
				"the word gone or pass, not %q", strings.Join(words, " "))
			return w, false
		}
	}
	rule.Value = words[0]
	w.Rule = rule
	for i := 1; i < len(words); i++ {
		if slices.Contains(words[1:i], words[i]) {
			p.reportRule(rule, "%s is given twice", words[i])
			return w, false
		}
		switch word := words[i]; {
		case word != "since" && word != "until":
			ok = p.setWord(&w.Rule, word)
		case i+1 == len(words):
			p.reportRule(rule, "%s takes a time, such as %[1]s 2027-03-01", word)
			return w, false
		default:
			i++
			ok = p.setTime(&w, word, words[i])
		}
		if !ok {
			return w, false
		}
	}
	return w, true
}

// isDestinationWord reports whether a word can be meant as a destination.
func isDestinationWord(word string) bool {
	return strings.ContainsAny(word, "/.:") || resolver.IsValue(word)
}

// setTime sets since or until, or reports what is wrong with the time.
func (p *directive) setTime(w *schedule.Window, name, text string) (ok bool) {
	t, err := schedule.ParseTime(text)
	if err != nil {
		p.reportRule(w.Rule, "%s takes a time; %v", name, err)
		return false
	}
	if name == "since" {
		w.Since = t
	} else {
		w.Until = t
	}
	return true
}

// setWord sets what a word behind a destination says, or reports that it says nothing.
func (p *directive) setWord(rule *resolver.Rule, word string) (ok bool) {
	code, isStatus := rulefile.ParseStatus(word)
	mode, isMode := rulefile.ParseQueryMode(word)
	switch {
	case word == "exact":
		rule.Exact = true
	case word == "unlisted":
		rule.Unlisted = true
	case isStatus && rule.Status == 0:
		rule.Status = code
	case isMode && rule.Query == resolver.QueryDefault:
		rule.Query = mode
	case insteadOfStatus(rule.Key, word) != "":
		p.reportRule(*rule, "%s is not the status of a redirect; %s", word,
			insteadOfStatus(rule.Key, word))
		return false
	case word == resolver.GoneValue || word == resolver.PassValue:
		p.reportRule(*rule, "%s stands instead of a destination; write %s", word,
			ruleLine(resolver.Rule{Key: rule.Key, Value: word}))
		return false
	default:
		p.reportRule(*rule, "%q cannot stand here: what can follow a destination is one "+
			"redirect code (%s), exact, unlisted, one query mode (%s), since and until with a time, "+
			"and then with what follows it", word, rulefile.StatusWords, rulefile.QueryModes)
		return false
	}
	return true
}

// ruleLine returns a rule as a line of a Caddyfile. Its notes become a comment.
func ruleLine(rule resolver.Rule) string {
	line := strings.Join(append([]string{rule.Key}, rulefile.Words(rule)...), " ")
	windows := schedule.Split(rule)
	if rule.Value = windows[0].Rule.Value; needsRule(rule) {
		line = "rule " + line
	}
	for _, w := range windows {
		if w.Rule.Note != "" {
			line += " # " + w.Rule.Note
		}
	}
	return line
}
