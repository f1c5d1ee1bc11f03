package shortlink

import (
	"errors"
	"fmt"
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
	rule := resolver.Rule{Key: l.words[0], Position: l.at}
	var windows []schedule.Window
	for rest, more := l.words[1:], true; more; {
		words := rest
		i := slices.Index(rest, wordThen)
		if more = i >= 0; more {
			words, rest = rest[:i], rest[i+1:]
		}
		w, err := readWindow(rule, words, windows)
		if err != nil {
			p.reportRule(rule, "%v", err)
			return
		}
		windows = append(windows, w)
	}
	faults := schedule.Check(windows)
	for _, fault := range faults {
		p.reportRule(rule, "%s", fault.Message)
	}
	if faults == nil {
		p.handler.Rules = append(p.handler.Rules, schedule.Join(rule.Key, l.at, windows))
	}
}

// readWindow reads a destination and what follows it. It begins when the one before ends, unless it
// says since.
func readWindow(
	rule resolver.Rule, words []string, before []schedule.Window,
) (w schedule.Window, err error) {
	w = schedule.Always(rule)
	if n := len(before); n > 0 {
		if w.Since = before[n-1].Until; w.Since == schedule.End {
			return w, errors.New("then follows a destination that ends; write until and a time in front " +
				"of it, such as until 2027-03-01")
		}
		if len(words) == 0 || !isDestinationWord(words[0]) {
			return w, fmt.Errorf("then takes a destination, which begins with https://, http:// or /, or "+
				"the word gone or pass, not %q", strings.Join(words, " "))
		}
	}
	w.Rule.Value = words[0]
	for i := 1; i < len(words) && err == nil; i++ {
		switch word := words[i]; {
		case slices.Contains(words[1:i], word):
			err = fmt.Errorf("%s is given twice", word)
		case word != "since" && word != "until":
			err = setWord(&w.Rule, word)
		case i+1 == len(words):
			err = fmt.Errorf("%s takes a time, such as %[1]s 2027-03-01", word)
		default:
			i++
			err = setTime(&w, word, words[i])
		}
	}
	return w, err
}

// isDestinationWord reports whether a word can be meant as a destination.
func isDestinationWord(word string) bool {
	return strings.ContainsAny(word, "/.:") || resolver.IsValue(word)
}

// setTime sets since or until, or returns what is wrong with the time.
func setTime(w *schedule.Window, name, text string) error {
	t, err := schedule.ParseTime(text)
	if err != nil {
		return fmt.Errorf("%s takes a time; %w", name, err)
	}
	if name == "since" {
		w.Since = t
	} else {
		w.Until = t
	}
	return nil
}

// setWord sets what a word behind a destination says, or returns an error if it says nothing.
func setWord(rule *resolver.Rule, word string) error {
	code, isStatus := rulefile.ParseStatus(word)
	mode, isMode := rulefile.ParseQueryMode(word)
	switch instead := insteadOfStatus(rule.Key, word); {
	case word == "exact":
		rule.Exact = true
	case word == "unlisted":
		rule.Unlisted = true
	case isStatus && rule.Status == 0:
		rule.Status = code
	case isMode && rule.Query == resolver.QueryDefault:
		rule.Query = mode
	case instead != "":
		return fmt.Errorf("%s is not the status of a redirect; %s", word, instead)
	case word == resolver.GoneValue || word == resolver.PassValue:
		return fmt.Errorf("%s stands instead of a destination; write %s", word,
			ruleLine(resolver.Rule{Key: rule.Key, Value: word}))
	default:
		return fmt.Errorf("%q cannot stand here: what can follow a destination is one "+
			"redirect code (%s), exact, unlisted, one query mode (%s), since and until with a time, "+
			"and then with what follows it", word, rulefile.StatusWords, rulefile.QueryModes)
	}
	return nil
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
