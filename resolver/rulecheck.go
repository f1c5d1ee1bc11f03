package resolver

import "slices"

// ruleCheck finds out what is wrong with rules by themselves.
type ruleCheck struct {
	opts *options
	errs *errorList
}

// checkLiteral reports everything that is wrong with a rule without variables. It returns whether
// the key is good. inValue is what is wrong with the value, if anything is.
func (c ruleCheck) checkLiteral(rule Rule, value parsedValue, inValue error) (goodKey bool) {
	inKey := checkKey(rule.Key)
	c.failParts(rule, inKey, inValue)
	hasHost := inValue == nil && value.outcome == "" && !value.internal
	if hasHost && !c.opts.hostAllowed(value.url.Host) {
		c.errs.fail(rule, ErrHostNotAllowed, hostMessage(value.url.Host))
	}
	c.checkWords(rule)
	return inKey == nil
}

// checkTemplate parses key and value of a rule with variables, and reports everything that is wrong
// with it.
func (c ruleCheck) checkTemplate(rule Rule) (key templateKey, value templateValue, good bool) {
	before := c.errs.count
	key, err := c.opts.parseTemplateKey(rule.Key)
	if err != nil {
		_, inValue := parseValue(rule.Value)
		c.failParts(rule, err, inValue)
	} else {
		value = c.checkTemplateValue(rule, key.names)
	}
	c.checkWords(rule)
	return key, value, c.errs.count == before
}

// checkTemplateValue parses the value of a rule, and reports what is wrong with it.
func (c ruleCheck) checkTemplateValue(rule Rule, names []string) templateValue {
	value, parsed, err := parseTemplateValue(rule.Value, names)
	switch {
	case err != nil:
		c.failParts(rule, nil, err)
	case value.outcome == "" && !value.internal && !c.opts.hostAllowed(parsed.url.Host):
		c.errs.fail(rule, ErrHostNotAllowed, hostMessage(parsed.url.Host))
	}
	return value
}

// failParts reports what is wrong with the key and with the value of a rule, as far as anything is.
func (c ruleCheck) failParts(rule Rule, inKey, inValue error) {
	if inValue != nil && c.errs.count < maxErrors {
		if exchanged := exchangedError(rule); exchanged != nil {
			inKey, inValue = nil, exchanged
		}
	}
	if inKey != nil {
		c.errs.fail(rule, ErrInvalidKey, inKey.Error())
	}
	if inValue != nil {
		c.errs.fail(rule, ErrInvalidValue, inValue.Error())
	}
}

// checkWords reports what is wrong with the words behind a destination.
func (c ruleCheck) checkWords(rule Rule) {
	c.checkStatus(rule)
	c.checkQueryMode(rule)
	if err := checkNote(rule.Note); err != nil {
		c.errs.fail(rule, ErrInvalidNote, err.Error())
	}
}

// checkStatus reports a status that does not redirect, or of a rule that does not redirect.
func (c ruleCheck) checkStatus(rule Rule) {
	switch {
	case rule.Status == 0:
	case isOutcome(rule.Value):
		c.errs.fail(rule, ErrInvalidStatus, outcomeStatusMessage(rule.Value, rule.Status))
	case !ValidStatus(rule.Status):
		c.errs.fail(rule, ErrInvalidStatus, statusMessage(rule.Status))
	}
}

// checkQueryMode reports an unknown query mode, or one of a rule that does not redirect.
func (c ruleCheck) checkQueryMode(rule Rule) {
	switch {
	case rule.Query == QueryDefault:
	case !rule.Query.isValid():
		c.errs.fail(rule, ErrInvalidQuery, "query: "+queryMessage)
	case isOutcome(rule.Value):
		c.errs.fail(rule, ErrInvalidQuery, outcomeQueryMessage(rule.Value, rule.Query))
	}
}

// maxErrors is how many errors are kept, so that a file of a million bad rules takes no more memory
// than one of good ones.
const maxErrors = 10_000

// errorList holds what is wrong with rules.
type errorList struct {
	kept  []placedError // the first maxErrors
	count int
	place int // of the rule that is being added, among the good ones
}

// placedError is an error, and how many good rules were added before its rule.
type placedError struct {
	err   *RuleError
	place int
}

// fail adds an error of the rule that is being added.
func (e *errorList) fail(rule Rule, kind error, message string) {
	err := &RuleError{Kind: kind, Position: rule.Position, Key: rule.Key, Message: message}
	e.add(placedError{err, e.place})
}

// failDuplicate adds the error that the rule at a place has the key of an earlier one.
func (e *errorList) failDuplicate(place int, first, second Rule) {
	err := &RuleError{
		Kind:     ErrDuplicateKey,
		Position: second.Position,
		Key:      second.Key,
		First:    first.Position,
		Message:  duplicateMessage(first, second),
	}
	e.add(placedError{err, place})
}

func (e *errorList) add(err placedError) {
	e.count++
	if e.count <= maxErrors {
		e.kept = append(e.kept, err)
	}
}

// inOrder returns the errors in the order of their rules. Those of duplicate keys were found last.
func (e *errorList) inOrder() RuleErrors {
	slices.SortStableFunc(e.kept, func(a, b placedError) int { return a.place - b.place })
	errs := make(RuleErrors, len(e.kept))
	for i, placed := range e.kept {
		errs[i] = placed.err
	}
	return errs
}

func duplicateMessage(first, second Rule) string {
	message := "the key is already defined"
	switch {
	case first.Key == second.Key:
	case IsTemplate(first.Key):
		message = "the key matches the same paths as " + quote(first.Key) + ", which is already defined"
	default:
		message = "the key is the same as " + quote(first.Key) + ", which is already defined"
	}
	if at := first.Position.String(); at != "" && first.Position.Line > 0 {
		message += " at " + at
	}
	return message + "; remove one of the two rules"
}
