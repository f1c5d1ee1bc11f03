package rulefile

import (
	"bufio"
	"errors"
	"hash/maphash"
	"io"

	"github.com/caddy-shortlink/shortlink/resolver"
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
	others *ruleSum
}

// spot is where in a file an edit goes.
type spot interface {
	// splices returns what changes in content. The error is as that of [Plan.Copy].
	splices(e *Edit, content io.ReadSeeker) ([]splice, error)
}

// Plan reads a file of rules, once, for all that the edit has to know of it. The error is of type
// [Errors] where the file does not parse, or that of content.
func (e Edit) Plan(content io.Reader, format Format, source string) (*Plan, error) {
	if e.Same == nil && format == Redirects {
		key := resolver.CanonicalKey(e.Key, false)
		e.Same = func(other string) bool { return resolver.CanonicalKey(other, false) == key }
	}
	p := &Plan{edit: e, format: format, source: source, others: newRuleSum(format)}
	var err error
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

// Copy copies the file of the plan to w with the edit made. Everything else stays as it is: order,
// indentation, comments, line ends. The error is of type [Errors] where the format cannot have the
// rule; [ErrNoRule]; or that of content or w. What has been written then is worth nothing.
func (p *Plan) Copy(w io.Writer, content io.ReadSeeker) error {
	splices, err := p.spot.splices(&p.edit, content)
	if err != nil {
		return err
	}
	return copySpliced(w, content, splices)
}

// Read reads the copy, like [Reading.Read], and checks that the edit has made no other change.
// Where it has, the error is of type [Errors].
func (p *Plan) Read(
	copied io.Reader, add func(resolver.Rule),
) (warnings []resolver.Warning, err error) {
	now := p.others.like()
	text := bufio.NewReader(copied)
	if _, err := text.Peek(1); err == io.EOF {
		return nil, Errors{{Message: "this is the last rule, and an empty file is none; add another " +
			"rule first, or remove the source"}}
	}
	warnings, err = p.edit.Reading.Read(text, p.format, p.source, func(rule resolver.Rule) {
		now.add(rule)
		add(rule)
	})
	if _, wrong := errors.AsType[Errors](err); wrong {
		return nil, Errors{{Message: "the file would not be read as before, and is left alone; edit it " +
			"by hand: " + err.Error()}}
	}
	if err == nil && now.sum != p.wanted() {
		return nil, Errors{{Message: "other rules would change, too, and the file is left alone; edit " +
			"it by hand"}}
	}
	return warnings, err
}

// wanted returns the sum of the rules that the copy has to hold.
func (p *Plan) wanted() uint64 {
	wanted := *p.others
	if p.edit.Rule != nil {
		rule := *p.edit.Rule
		if p.format == Redirects {
			rule = withStatus(rule, p.edit.DefaultStatus)
		}
		wanted.add(rule)
	}
	return wanted.sum
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

// refuse returns the error of a rule that the format cannot have, and why.
func (e *Edit) refuse(why error) error {
	var errs Errors
	errs.leaveOut(*e.Rule, why)
	return errs
}

// splice puts text in the place of what stands from one byte to another.
type splice struct {
	from, to int
	text     string
}

// copySpliced copies content with splices, which are in order and apart.
func copySpliced(w io.Writer, content io.ReadSeeker, splices []splice) error {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	at := 0
	for _, s := range splices {
		if _, err := io.CopyN(w, content, int64(s.from-at)); err != nil {
			return err
		}
		if _, err := io.WriteString(w, s.text); err != nil {
			return err
		}
		if _, err := content.Seek(int64(s.to), io.SeekStart); err != nil {
			return err
		}
		at = s.to
	}
	_, err := io.Copy(w, content)
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

// ruleSum is a sum over rules, whatever their order and places.
type ruleSum struct {
	format Format
	seed   maphash.Seed
	sum    uint64
}

func newRuleSum(format Format) *ruleSum {
	return &ruleSum{format: format, seed: maphash.MakeSeed()}
}

// like returns a sum over no rules, which can be compared with s.
func (s *ruleSum) like() *ruleSum { return &ruleSum{format: s.format, seed: s.seed} }

func (s *ruleSum) add(rule resolver.Rule) {
	rule.Position = resolver.Position{}
	if s.format == Redirects {
		rule = asRead(rule)
	}
	s.sum += maphash.Comparable(s.seed, rule)
}
