package rulefile

import (
	"bufio"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// Edit is a list of changes of a file's rules, which are made together or not at all.
type Edit struct {
	// Changes are of different keys.
	Changes []Change
	// IsLast says that the edit leaves its source without rules, as far as is known.
	IsLast bool
	// DefaultStatus is the status of rules without one, for a format that needs one. Default: the
	// resolver's.
	DefaultStatus int
	// Reading is how the file is read.
	Reading Reading
}

// Change is a change of one rule.
type Change struct {
	// Key is the rule's key, as the file spells it. In _redirects, one rule can have several lines,
	// also with other spellings of the key.
	Key string
	// Rule is the new rule for the key; nil to remove the rule.
	Rule *resolver.Rule
	// Was is the rule that is changed or removed, nil for none. Sources that compare single rules make
	// the edit only if each Was is unchanged.
	Was *resolver.Rule
}

// ErrNoRule is the error of an edit that would remove a rule that does not exist.
var ErrNoRule = errors.New("there is no such rule")

// Plan is an edit of a file that has been read: where its changes go, and what must not change.
type Plan struct {
	edit    Edit
	format  Format
	source  string
	changes []plannedChange
	byKey   map[string]*plannedChange
	spot    spot
	others  ruleSum
}

// plannedChange is a change, and whether its rule was found.
type plannedChange struct {
	Change
	isFound bool
}

// spot is the place of an edit in a file.
type spot interface {
	// check says why the file cannot contain a rule, nil if it can.
	check(rule resolver.Rule) error
	// splices returns the splices that make the changes in content, in order.
	splices(changes []plannedChange, content io.ReaderAt) ([]splice, error)
}

// Plan reads a file of rules and finds where to edit it. The error is an [Errors], or of content.
func (e Edit) Plan(content io.Reader, format Format, source string) (p *Plan, err error) {
	p = &Plan{
		edit: e, format: format, source: source, others: ruleSum{format, maphash.MakeSeed(), 0},
		changes: make([]plannedChange, len(e.Changes)),
		byKey:   make(map[string]*plannedChange, len(e.Changes)),
	}
	for i, change := range e.Changes {
		if change.Rule != nil && format == Redirects {
			rule := withStatus(*change.Rule, e.DefaultStatus)
			change.Rule = &rule
		}
		p.changes[i].Change = change
		p.byKey[p.keyOf(change.Key)] = &p.changes[i]
	}
	switch format {
	case JSON:
		p.spot, err = p.planJSON(content)
	case CSV:
		p.spot, err = p.planCSV(content)
	case Redirects:
		p.spot, err = p.planRedirects(content)
	default:
		_, err = ParseFormat(string(format))
	}
	return p, err
}

// keyOf returns a text that is the same for all keys of one rule.
func (p *Plan) keyOf(key string) string {
	if p.format == Redirects {
		return resolver.CanonicalKey(key, false)
	}
	return key
}

// changeOf returns the change of a rule in the file, nil for none.
func (p *Plan) changeOf(rule resolver.Rule) *plannedChange {
	change := p.byKey[p.keyOf(rule.Key)]
	if change != nil {
		change.isFound = true
	}
	return change
}

// take adds a rule of the file to the plan, and returns its change, nil for none.
func (p *Plan) take(rule resolver.Rule) *plannedChange {
	change := p.changeOf(rule)
	if change == nil {
		p.others.add(rule)
	}
	return change
}

// Copy copies the file of the plan to w and makes the edit. All else is copied unchanged: order,
// indentation, comments, line ends. The error names all changes that are impossible. It is an
// [Errors] if the format cannot have a rule, and [ErrNoRule] if a rule is missing. Otherwise it is
// that of content or w. After an error, the copy is incomplete.
func (p *Plan) Copy(w io.Writer, content io.ReaderAt) error {
	if err := p.check(); err != nil {
		return err
	}
	splices, err := p.spot.splices(p.changes, content)
	if err != nil {
		return err
	}
	return copySpliced(w, content, splices)
}

// check returns why changes cannot be made.
func (p *Plan) check() error {
	var missing []error
	var errs Errors
	for _, change := range p.changes {
		if change.Rule != nil {
			if err := p.spot.check(*change.Rule); err != nil {
				errs.leaveOut(*change.Rule, err)
			}
		} else if !change.isFound {
			missing = append(missing, fmt.Errorf("key %q: %w", change.Key, ErrNoRule))
		}
	}
	return errors.Join(append(missing, errs.orNil())...)
}

// Read reads the copy, like [Reading.Read], and checks that the edit has made no other change. If
// it has, the error is of type [Errors].
func (p *Plan) Read(
	copied io.Reader, add func(resolver.Rule),
) (warnings []lint.Warning, err error) {
	text := bufio.NewReader(copied)
	if _, err := text.Peek(1); err == io.EOF {
		return nil, Errors{{Message: "this is the last rule, and an empty file is none; add another " +
			"rule first, or remove the source"}}
	}
	now, wanted := p.others, p.others
	now.sum = 0
	for _, change := range p.changes {
		if change.Rule != nil {
			wanted.add(*change.Rule)
		}
	}
	warnings, err = p.edit.Reading.Read(text, p.format, p.source, func(rule resolver.Rule) {
		now.add(rule)
		add(rule)
	})
	if _, wrong := errors.AsType[Errors](err); wrong {
		return nil, Errors{{Message: "the file would not be read as before, and is left alone; edit it " +
			"by hand: " + err.Error()}}
	}
	if err == nil && now != wanted {
		return nil, Errors{{Message: "other rules would change, too, and the file is left alone; edit " +
			"it by hand"}}
	}
	return warnings, err
}

// ruleSum is a sum over rules that does not depend on their order and places.
type ruleSum struct {
	format Format
	seed   maphash.Seed
	sum    uint64
}

func (s *ruleSum) add(rule resolver.Rule) {
	rule.Position = resolver.Position{}
	if s.format == Redirects {
		rule = asRead(rule)
	}
	s.sum += maphash.Comparable(s.seed, rule)
}

// splice replaces the bytes from one place to another with a text.
type splice struct {
	from, to int
	text     string
}

// copySpliced copies content with splices, which are in order and apart.
func copySpliced(w io.Writer, content io.ReaderAt, splices []splice) error {
	at, buffer := 0, make([]byte, 64<<10)
	for _, s := range append(splices, splice{from: math.MaxInt}) {
		between := io.NewSectionReader(content, int64(at), int64(s.from-at))
		_, err := io.CopyBuffer(w, between, buffer)
		if err == nil {
			_, err = io.WriteString(w, s.text)
		}
		if err != nil {
			return err
		}
		at = s.to
	}
	return nil
}

// textBetween returns what stands from one byte of content to another.
func textBetween(content io.ReaderAt, from, to int) (string, error) {
	text, err := io.ReadAll(io.NewSectionReader(content, int64(from), int64(to-from)))
	return string(text), err
}
