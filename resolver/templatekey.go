package resolver

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// templateKey is the key of a template.
type templateKey struct {
	text  string   // in canonical form
	names []string // of the variables, by slot
	// spans is set if an expression spans segments, inSegment if the last segment has an expression.
	spans, inSegment bool
}

// parseTemplateKey splits the key of a template, or says what is wrong with it. Its canonical form
// has numbers from 1 on instead of the names of variables, because the names have no meaning
// elsewhere.
func (o *options) parseTemplateKey(key string) (k templateKey, err error) {
	if len(key) > maxKey {
		return k, checkKey(key)
	}
	parts, err := parseTemplate(key)
	switch {
	case err != nil:
	case strings.Count(key, "/")+strings.Count(key, ",") >= pattern.MaxSegments:
		err = fmt.Errorf("a key with variables has at most %d segments", pattern.MaxSegments)
	default:
		err = checkTemplateKey(key)
	}
	if err != nil {
		return k, err
	}
	for _, part := range parts {
		if part.name == "" {
			k.addText(string(o.appendKey(nil, part.literal)))
		} else if err := k.addVariable(part); err != nil {
			return k, err
		}
	}
	return k, k.check()
}

// addText adds canonical literal text.
func (k *templateKey) addText(text string) {
	k.text += text
	k.inSegment = k.inSegment && !strings.Contains(text, "/")
}

// addVariable adds an expression, or says why there cannot be one.
func (k *templateKey) addVariable(part templatePart) error {
	switch {
	case k.inSegment:
		return errors.New("a segment of a key has one expression at most, because the " +
			"split between them would be ambiguous")
	case slices.Contains(k.names, part.name):
		return errors.New("the variable " + part.name + " is given twice in the key; give one of " +
			"them another name")
	case part.reserved && k.spans:
		return errors.New("a key has one expression that spans segments at most, because " +
			"the split between them would be ambiguous")
	}
	k.names = append(k.names, part.name)
	k.inSegment = true
	operator := ""
	if part.reserved {
		k.spans, operator = true, "+"
	}
	k.text += "{" + operator + strconv.Itoa(len(k.names)) + "}"
	return nil
}

// check says what is wrong with a key whose parts are valid.
func (k *templateKey) check() error {
	if hasDotSegment(k.text) {
		return checkKey("..")
	}
	for segment := range strings.SplitSeq(k.text, "/") {
		if strings.Contains(segment, "{+") && (segment[0] != '{' || segment[len(segment)-1] != '}') {
			return errors.New("an expression that spans segments stands for whole ones; put a \"/\" " +
				"on both sides of it")
		}
	}
	return nil
}
