package live

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Preconditions are what a request asks of the rules before it is answered (RFC 9110 13.1).
type Preconditions struct {
	ifMatch, ifNoneMatch *condition // nil where the request does not have the field
}

// condition is the value of If-Match or If-None-Match.
type condition struct {
	any  bool     // "*": whatever there is
	tags []string // entity tags as they are written: "a" or W/"a"
}

// PreconditionsOf returns the Preconditions of a request.
func PreconditionsOf(r *http.Request) (Preconditions, error) {
	ifMatch, inMatch := parseCondition(r.Header, "If-Match")
	ifNoneMatch, inNoneMatch := parseCondition(r.Header, "If-None-Match")
	return Preconditions{ifMatch, ifNoneMatch}, errors.Join(inMatch, inNoneMatch)
}

// parseCondition reads a header field, whose lines make one list. It returns nil where there is
// none.
func parseCondition(header http.Header, name string) (*condition, error) {
	lines, ok := header[name]
	if !ok {
		return nil, nil
	}
	list := strings.Join(lines, ",")
	if strings.Trim(list, " \t") == "*" {
		return &condition{any: true}, nil
	}
	c := new(condition)
	for rest := list; ; {
		rest = strings.TrimLeft(rest, " \t,") // a list may have empty elements
		if rest == "" && c.tags != nil {
			return c, nil
		}
		n := tagLength(rest)
		c.tags, rest = append(c.tags, rest[:n]), strings.TrimLeft(rest[n:], " \t")
		if n == 0 || rest != "" && rest[0] != ',' {
			return nil, fmt.Errorf(
				"%s takes the digest in quotation marks, as ETag has it, or *, not %s", name, list)
		}
	}
}

// tagLength returns the length of the entity tag that a text begins with, or 0.
func tagLength(text string) int {
	opaque, ok := strings.CutPrefix(strings.TrimPrefix(text, "W/"), `"`)
	end := strings.IndexByte(opaque, '"')
	if !ok || end < 0 || strings.ContainsFunc(opaque[:end], func(r rune) bool {
		return r <= ' ' || r == 0x7F
	}) {
		return 0
	}
	return len(text) - len(opaque) + end + 1
}

// names reports whether the condition names a tag, or a weak form of it where weak ones count.
func (c *condition) names(tag string, weakly bool) bool {
	return slices.ContainsFunc(c.tags, func(named string) bool {
		return named == tag || weakly && named == "W/"+tag
	})
}

// HasChanged reports whether If-Match names tags, but not the one that the rules have.
func (p Preconditions) HasChanged(tag string) bool {
	return p.ifMatch != nil && !p.ifMatch.any && !p.ifMatch.names(tag, false)
}

// IsKnown reports whether If-None-Match names the tag that the rules have.
func (p Preconditions) IsKnown(tag string) bool {
	return p.ifNoneMatch != nil && p.ifNoneMatch.names(tag, true)
}

// areOfRules reports whether they name tags, so that they are about all rules together.
func (p Preconditions) areOfRules() bool {
	return p.ifMatch != nil && !p.ifMatch.any || p.ifNoneMatch != nil && !p.ifNoneMatch.any
}

// wantsRule reports whether there has to be a rule.
func (p Preconditions) wantsRule() bool { return p.ifMatch != nil && p.ifMatch.any }

// WantsNone reports whether there must not be a rule.
func (p Preconditions) WantsNone() bool { return p.ifNoneMatch != nil && p.ifNoneMatch.any }

// EntityTag is the ETag of rules with a digest.
func EntityTag(digest string) string { return `"` + digest + `"` }
