package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// id names an entry in the storage.
type id struct {
	old, new string // halves of digests
	n        int    // the first, the second... time that the change has happened
	form     form
}

// form is how an entry came about. Of the entries of one change, that with the last form counts.
type form int

const (
	found form = iota
	edited
	forgotten
)

var formSuffixes = [...]string{found: "", edited: "edit", forgotten: "forgotten"}

// change returns the id without its form.
func (i id) change() id {
	i.form = found
	return i
}

// String returns the last part of the entry's name.
func (i id) String() string {
	name := fmt.Sprintf("%s-%s-%d", i.old, i.new, i.n)
	if i.form != found {
		name += "-" + formSuffixes[i.form]
	}
	return name
}

// parseID reads the last part of a name.
func parseID(name string) (i id, ok bool) {
	parts := strings.SplitN(name, "-", 4)
	if len(parts) < 3 {
		return i, false
	}
	suffix := append(parts, "")[3]
	n, err := strconv.Atoi(parts[2])
	i = id{parts[0], parts[1], n, form(max(0, slices.Index(formSuffixes[:], suffix)))}
	return i, err == nil && n > 0 && i.String() == name
}

// digestInNames is how many digits of a digest stand in names.
const digestInNames = 32

// half returns the digits of a digest that stand in names.
func half(digest string) string { return digest[:min(len(digest), digestInNames)] }
