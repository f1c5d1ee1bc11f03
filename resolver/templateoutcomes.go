package resolver

import (
	"cmp"
	"strconv"
	"strings"
)

// compareTemplates reports what changes for the clients of templates.
func (c *answerComparison) compareTemplates() {
	eachTemplate(c.before, c.after, func(kind ChangeKind, old, now *templateRule) {
		c.settleTemplate(kind, cmp.Or(now, old))
	})
}

// eachTemplate calls do with the templates of two rulesets, nil for one that only the other has. Those that are the same rule in both are
// affected at most.
func eachTemplate(before, after *Ruleset, do func(kind ChangeKind, old, now *templateRule)) {
	for _, now := range after.templates.all() {
		old := before.templates.of(now.key)
		switch {
		case old == nil:
			do(ChangeAdded, nil, now)
		case sameContent(old.rule, now.rule):
			do(ChangeAffected, old, now)
		default:
			do(ChangeEdited, old, now)
		}
	}
	for _, old := range before.templates.all() {
		if after.templates.of(old.key) == nil {
			do(ChangeRemoved, old, nil)
		}
	}
}

// settleTemplate reports a change, unless it is none for clients.
func (c *answerComparison) settleTemplate(kind ChangeKind, t *templateRule) {
	change := Change{Kind: kind, Rule: t.rule, Before: c.before.answersForTemplate(t), After: c.after.answersForTemplate(t)}
	if kind == ChangeAdded || kind == ChangeRemoved || !change.Before.sameFor(change.After) {
		c.report(change)
	}
}

// sampleValue stands for a value of the variable in a slot that no other key takes. It has a reserved character, so that it comes out of {x} in
// another spelling than out of {+x}.
func sampleValue(slot int) string { return anySegment + strconv.Itoa(slot) + ":" + anySegment }

// sampleSpellings returns how a sample value comes out of {+x} and of {x}.
func sampleSpellings(slot int) [2]string {
	reserved := sampleValue(slot)
	return [2]string{reserved, strings.Replace(reserved, ":", "%3A", 1)}
}

// named puts the names of variables in the place of sample values, and Below in that of a segment below a key.
func (t *templateRule) named(sampled string) string {
	for slot, name := range t.names {
		spellings := sampleSpellings(slot)
		sampled = strings.ReplaceAll(sampled, spellings[0], "{+"+name+"}")
		sampled = strings.ReplaceAll(sampled, spellings[1], "{"+name+"}")
	}
	return strings.ReplaceAll(sampled, "/"+anySegment, Below)
}

// asKey puts the expressions of the key in the place of sample values in a path of a request.
func (t *templateRule) asKey(path string) string {
	for slot, name := range t.names {
		expression := "{" + name + "}"
		if t.span >= 0 && t.segments[t.span].slot == slot {
			expression = "{+" + name + "}"
		}
		path = strings.ReplaceAll(path, sampleValue(slot), expression)
	}
	return path
}

// samplePath returns a path that the template matches with sample values.
func (t *templateRule) samplePath() string {
	var b strings.Builder
	for _, p := range t.segments {
		b.WriteString("/" + p.prefix)
		if !p.isLiteral() {
			b.WriteString(sampleValue(p.slot) + p.suffix)
		}
	}
	return b.String()
}

// answersForTemplate returns what a ruleset answers for a template's sample path.
func (rs *Ruleset) answersForTemplate(t *templateRule) KeyAnswers {
	return rs.sampleAnswers(t.samplePath(), t)
}

// sampleAnswers returns what a ruleset answers for a pathname and below it, with the names of a template's variables in the place of sample
// values.
func (rs *Ruleset) sampleAnswers(pathname string, t *templateRule) KeyAnswers {
	answers := KeyAnswers{rs.sampleAnswer(pathname), rs.sampleAnswer(pathname + "/"), rs.sampleAnswer(pathname + "/" + anySegment)}
	for _, answer := range [...]*Answer{&answers.Key, &answers.Slash, &answers.Below} {
		answer.Destination = t.named(answer.Destination)
	}
	return answers
}

// sampleAnswer is the answer to a request for a pathname.
func (rs *Ruleset) sampleAnswer(pathname string) Answer {
	p, w := splitPath{text: pathname}, work{left: requestWork}
	m := lookUp(&rs.table, rs.templates, &p, &w)
	if w.isSpent() {
		return Answer{Outcome: Failed, Err: ErrTooManyRedirects}
	}
	if m.template.rule == nil {
		return rs.answerFor(m.literal, m.encoded, m.literal.remaining, "")
	}
	r, err := rs.recordOf(&m.template, pathname, p.segments, &w)
	if err != nil {
		return Answer{Outcome: Failed, Err: err}
	}
	return rs.answer(&r, m.template.remaining, "")
}
