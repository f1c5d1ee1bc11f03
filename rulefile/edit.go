package rulefile

import (
	"bufio"
	"errors"
	"hash/maphash"
	"io"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// Edit is a change of one rule of a file.
type Edit struct {
	// Key is the rule's.
	Key string
	// Rule is the key's new rule, in the place of the one that it has; nil to remove that.
	Rule *resolver.Rule
	// Same reports whether a key of the file is Key, perhaps in another spelling. It does not keep the
	// key. Default: if they are equal; in _redirects, where several lines can be of one rule, if they
	// are spellings of one key.
	Same func(key string) bool
	// Was is the rule that the edit changes or removes, nil for none. Sources that compare one rule,
	// and not all, make the edit only if it is still there so.
	Was *resolver.Rule
	// IsLast tells that the edit removes the only rule of its source, as far as that is known.
	IsLast bool
	// DefaultStatus is the status of rules that name none, for a format in which each has one.
	// Default: that of the resolver.
	DefaultStatus int
	// Reading is how the file is read.
	Reading Reading
}

// ErrNoRule is the error of an edit that would remove a rule that is not there.
var ErrNoRule = errors.New("there is no such rule")

// Plan is an edit of a file that has been read: where it goes there, and what has to stay.
type Plan struct {
	edit   Edit
	format Format
	source string
	spot   spot
	others ruleSum
}

// spot is where in a file an edit goes.
type spot interface {
	// check says why the file cannot have a rule, nil if it can.
	check(rule resolver.Rule) error
	// splices returns what changes in content: nothing, if there is no rule to remove.
	splices(e *Edit, content io.ReadSeeker) ([]splice, error)
}

// Plan reads a file of rules, once, for all that the edit has to know of it. The error is of type
// [Errors] where the file does not parse, or that of content.
func (e Edit) Plan(content io.Reader, format Format, source string) (p *Plan, err error) {
	others := ruleSum{format: format, seed: maphash.MakeSeed()}
	p = &Plan{format: format, source: source, others: others}
	if e.Same == nil && format == Redirects {
		key := resolver.CanonicalKey(e.Key, false)
		e.Same = func(other string) bool { return resolver.CanonicalKey(other, false) == key }
	}
	if e.Rule != nil && format == Redirects {
		rule := withStatus(*e.Rule, e.DefaultStatus)
		e.Rule = &rule
	}
	p.edit = e
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

// take takes in a rule of the file, and reports whether it is the edit's.
func (p *Plan) take(rule resolver.Rule) (is bool) {
	if is = p.edit.isOf(rule.Key); !is {
		p.others.add(rule)
	}
	return is
}

func (e *Edit) isOf(key string) bool {
	if e.Same != nil {
		return e.Same(key)
	}
	return key == e.Key
}

// Copy copies the file of the plan to w with the edit made. Everything else stays as it is: order,
// indentation, comments, line ends. The error is of type [Errors] where the format cannot have the
// rule; [ErrNoRule]; or that of content or w. What has been written then is worth nothing.
func (p *Plan) Copy(w io.Writer, content io.ReadSeeker) error {
	if rule := p.edit.Rule; rule != nil {
		if err := p.spot.check(*rule); err != nil {
			var errs Errors
			errs.leaveOut(*rule, err)
			return errs
		}
	}
	splices, err := p.spot.splices(&p.edit, content)
	switch {
	case err != nil:
		return err
	case len(splices) == 0:
		return ErrNoRule
	}
	return copySpliced(w, content, splices)
}

// Read reads the copy, like [Reading.Read], and checks that the edit has made no other change.
// Where it has, the error is of type [Errors].
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
	if p.edit.Rule != nil {
		wanted.add(*p.edit.Rule)
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

// ruleSum is a sum over rules, whatever their order and places.
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

// splice puts text in the place of what stands from one byte to another.
type splice struct {
	from, to int
	text     string
}

// copySpliced copies content with splices, which are in order and apart.
func copySpliced(w io.Writer, content io.ReadSeeker, splices []splice) error {
	_, err := content.Seek(0, io.SeekStart)
	at := 0
	for _, s := range splices {
		if err == nil {
			_, err = io.CopyN(w, content, int64(s.from-at))
		}
		if err == nil {
			_, err = io.WriteString(w, s.text)
		}
		if err == nil {
			_, err = content.Seek(int64(s.to), io.SeekStart)
		}
		at = s.to
	}
	if err == nil {
		_, err = io.Copy(w, content)
	}
	return err
}

// textBetween returns what stands from one byte of content to another.
func textBetween(content io.ReadSeeker, from, to int) (string, error) {
	if _, err := content.Seek(int64(from), io.SeekStart); err != nil {
		return "", err
	}
	text := make([]byte, to-from)
	_, err := io.ReadFull(content, text)
	return string(text), err
}
