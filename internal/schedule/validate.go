package schedule

import (
	"errors"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Validate returns everything that is wrong with rules as they are written, whenever their windows
// are: those without windows as a ruleset, together with the first window of each key, and each
// later window by itself. It is an error of [resolver.Compile].
func Validate(rules []resolver.Rule, options resolver.Options) error {
	var all resolver.RuleErrors
	for n := 0; len(rules) > 0; n++ {
		var now, later []resolver.Rule
		for _, rule := range rules {
			windows := Split(rule)
			w := windows[n].Rule
			w.Key, w.Position = rule.Key, rule.Position
			now = append(now, w)
			if n+1 < len(windows) {
				later = append(later, rule)
			}
		}
		_, err := resolver.Compile(now, options)
		wrong, is := errors.AsType[resolver.RuleErrors](err)
		if err != nil && !is {
			return err
		}
		all = append(all, wrong...)
		rules = later
	}
	if all == nil {
		return nil
	}
	return all
}
