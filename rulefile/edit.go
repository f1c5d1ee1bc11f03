package rulefile

import (
	"errors"
	"io"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Edit is a change of one rule of a file.
type Edit struct {
	// Key is the rule's.
	Key string
	// Rule is the key's new rule, in the place of the one that it has; nil to remove that.
	Rule *resolver.Rule
	// Same reports whether a key of the file is Key, perhaps in another spelling. Default: if they are
	// equal.
	Same func(key string) bool
	// Was is the rule that the edit changes or removes, nil for none. Sources that compare one rule,
	// and not all, make the edit only if it is still there so.
	Was *resolver.Rule
	// DefaultStatus is the status of rules that name none, for a format in which each has one.
	// Default: that of the resolver.
	DefaultStatus int
	// Reading is how the file is read.
	Reading Reading
}

// ErrNoRule is the error of an edit that would remove a rule that is not there.
var ErrNoRule = errors.New("there is no such rule")

// Apply copies a file of rules to w with the edit made. Everything else stays as it is: order,
// indentation, comments, line ends. The error is of type [Errors] where the file does not parse, or
// the format cannot have the rule; [ErrNoRule]; or that of content or w. What has been written then
// is worth nothing.
func (e Edit) Apply(w io.Writer, content io.ReadSeeker, format Format, source string) error {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var splices []splice
	var err error
	switch format {
	case JSON:
		splices, err = e.inJSON(content, source)
	case CSV:
		splices, err = e.inCSV(content, source)
	case Redirects:
		splices, err = e.inRedirects(content, source)
	default:
		_, err = ParseFormat(string(format))
	}
	if err != nil {
		return err
	}
	return copySpliced(w, content, splices)
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
