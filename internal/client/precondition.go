package client

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Preconditions are what a request requires of the rules (RFC 9110 13.1).
type Preconditions struct {
	ifMatch, ifNoneMatch *condition // nil if the request lacks the field
}

// condition is the value of If-Match or If-None-Match.
type condition struct {
	any  bool     // "*": any version
	tags []string // entity tags as written: "a" or W/"a"
}

// PreconditionsOf returns the Preconditions of a request.
func PreconditionsOf(r *http.Request) (Preconditions, error) {
	ifMatch, inMatch := parseCondition(r.Header, "If-Match")
	ifNoneMatch, inNoneMatch := parseCondition(r.Header, "If-None-Match")
	return Preconditions{ifMatch, ifNoneMatch}, errors.Join(inMatch, inNoneMatch)
}

// parseCondition parses a header field, whose lines are one list. It returns nil if there is none.
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

// tagLength returns the length of the entity tag at the beginning of a text, or 0.
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

// names reports whether the condition names a tag, or its weak form if weakly is set.
func (c *condition) names(tag string, weakly bool) bool {
	return slices.ContainsFunc(c.tags, func(named string) bool {
		return named == tag || weakly && named == "W/"+tag
	})
}

// Check returns an error if If-Match excludes rules with this digest.
func (p Preconditions) Check(digest string) error {
	if p.ifMatch != nil && !p.ifMatch.any && !p.ifMatch.names(EntityTag(digest), false) {
		return Errorf(http.StatusPreconditionFailed,
			"the rules have changed: their digest is %s now; read them again", digest)
	}
	return nil
}

// IsKnown reports whether If-None-Match names this digest.
func (p Preconditions) IsKnown(digest string) bool {
	return p.ifNoneMatch != nil && p.ifNoneMatch.names(EntityTag(digest), true)
}

// WantsNone reports whether there must not be a rule.
func (p Preconditions) WantsNone() bool { return p.ifNoneMatch != nil && p.ifNoneMatch.any }

// OfRules returns what an edit requires of the digest of all rules, or nil.
func (p Preconditions) OfRules() func(digest string) error {
	namesTags := func(c *condition) bool { return c != nil && !c.any }
	if !namesTags(p.ifMatch) && !namesTags(p.ifNoneMatch) {
		return nil
	}
	return func(digest string) error {
		if err := p.Check(digest); err != nil || !p.IsKnown(digest) {
			return err
		}
		return Errorf(http.StatusPreconditionFailed,
			"the rules still have the digest %s, which If-None-Match excludes", digest)
	}
}

// OfRule returns what an edit requires of a key's rule.
func (p Preconditions) OfRule(key string) func(now *resolver.Rule) error {
	return func(now *resolver.Rule) error {
		switch {
		case p.ifMatch != nil && p.ifMatch.any && now == nil:
			return Errorf(http.StatusPreconditionFailed,
				"there is no rule for the key %q, and If-Match: * asks for one", key)
		case p.WantsNone() && now != nil:
			return Errorf(http.StatusPreconditionFailed,
				"there is a rule for the key %q, and If-None-Match: * asks for none", key)
		}
		return nil
	}
}

// EntityTag is the ETag for a digest of rules.
func EntityTag(digest string) string { return `"` + digest + `"` }
