package resolver

// Unanswered reports the rules without variables that lead to a path of the site by themselves that
// no rule answers, in no particular order. The path is without query and fragment. A path that a
// rule passes on is answered by whoever the rule keeps it for. hosts are as those of
// [Ruleset.Check].
func (rs *Ruleset) Unanswered(hosts []string, report func(rule Rule, path string)) {
	site := rs.Site(hosts)
	rs.eachEntry(func(at ref) {
		rule := rs.rule(at)
		value, err := parseValue(rule.Value)
		if err != nil || value.outcome != "" {
			return
		}
		path := value.path.path
		if !value.internal {
			var atSite bool
			if path, atSite = site.Path(value.url.Href()); !atSite {
				return
			}
		}
		if m := lookUp(&rs.table, rs.templates, path); m.isNone() && !m.isSpent() {
			report(rule, path)
		}
	})
}
