package resolver

import (
	"strconv"
	"strings"
)

// compareTemplates reports what changes for the clients of templates.
func (c *answerComparison) compareTemplates() {
	for _, t := range c.after.templates.all() {
		old := c.before.templates.of(t.key)
		switch {
		case old == nil:
			c.settleTemplate(ChangeAdded, t)
		case sameContent(old.rule, t.rule):
			c.settleTemplate(ChangeAffected, t)
		default:
			c.settleTemplate(ChangeEdited, t)
		}
	}
	for _, t := range c.before.templates.all() {
		if c.after.templates.of(t.key) == nil {
			c.settleTemplate(ChangeRemoved, t)
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

// sampleValue stands for a value of the variable in a slot that no other key takes.
func sampleValue(slot int) string { return anySegment + strconv.Itoa(slot) + anySegment }

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

// answersForTemplate returns what a ruleset answers for a template's sample path, with the names of the variables in the place of their
// values.
func (rs *Ruleset) answersForTemplate(t *templateRule) KeyAnswers {
	path := t.samplePath()
	return KeyAnswers{
		Key:   rs.answerAt(path, t),
		Slash: rs.answerAt(path+"/", t),
		Below: rs.answerAt(path+"/"+anySegment, t),
	}
}

// answerAt is the answer to a request for a pathname that a template has been made into.
func (rs *Ruleset) answerAt(pathname string, t *templateRule) Answer {
	found, encoded, template := lookup(&rs.table, rs.templates, pathname)
	var answer Answer
	if template.rule == nil {
		answer = rs.answerFor(found, encoded, found.remaining, "")
	} else if r, err := rs.recordOf(&template, template.rule.value.pathOf(template.captures)); err != nil {
		answer = Answer{Outcome: Failed, Err: err}
	} else {
		answer = rs.answer(&r, template.remaining, "")
	}
	for slot, name := range t.names {
		answer.Destination = strings.ReplaceAll(answer.Destination, sampleValue(slot), "{"+name+"}")
	}
	answer.Destination = strings.ReplaceAll(answer.Destination, "/"+anySegment, Below)
	return answer
}
