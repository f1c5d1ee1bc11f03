package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Block describes how a source is written in the Caddyfile: its name, one argument, and a block of
// options.
type Block struct {
	// Argument describes the argument, such as "one path"; Value receives it.
	Argument string
	Value    *string
	Check    func(value string) error // nil for any
	Options  []BlockOption
	// CheckLast, if not nil, checks what depends on several options, once they are valid.
	CheckLast func() error
}

// BlockOption is an option of a source's block, on a line of its own.
type BlockOption struct {
	Name string
	// Takes describes what follows the name; "one word" if it is empty.
	Takes string
	// Words receive the words after the name, of which there must be as many.
	Words []*string
	// List, if not nil, receives the words after the name, one or more.
	List *[]string
	// Flag, if not nil, is set by an option without words.
	Flag *bool
	// Repeats says that the option can be given again. Check is called each time.
	Repeats bool
	// Check, if not nil, checks the words as far as they do not depend on where Caddy runs. So the
	// error has its place in the Caddyfile.
	Check func() error
	// CheckLast, if not nil, checks what depends on other options. It is called once the whole block
	// is read.
	CheckLast func() error
	// Refused, if not empty, says why the source does not have this option, which other sources have.
	Refused string
	// Unmarshal, if not nil, reads the whole option, and replaces all the above.
	Unmarshal func(*caddyfile.Dispenser) error
}

// parsedOption is an option of one word, which is checked by parsing it.
func parsedOption[T any](
	name, takes string, word *string, parse func(string) (T, error),
) BlockOption {
	return BlockOption{Name: name, Takes: takes, Words: []*string{word}, Check: func() error {
		_, err := parse(*word)
		return err
	}}
}

// Unmarshal reads the segment that begins with the source's name. The error lists everything that
// is wrong, each with its line.
func (b *Block) Unmarshal(d *caddyfile.Dispenser) error {
	d.Next()
	name := d.Val()
	var wrong []string
	report := func(place string, err error) {
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: from %s: %v", place, name, err))
		}
	}
	place := func() string { return fmt.Sprintf("%s:%d", d.File(), d.Line()) }
	begin := place()
	switch args := d.RemainingArgs(); len(args) {
	case 0:
		report(place(), fmt.Errorf("the argument is missing; after from %s write %s", name, b.Argument))
	case 1:
		*b.Value = args[0]
		if b.Check != nil {
			report(place(), b.Check(args[0]))
		}
	default:
		report(place(), fmt.Errorf("it takes %s; put options into its block", b.Argument))
	}
	given := map[string]string{} // positions by option
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option, at := d.Val(), place()
		if given[option] != "" && !b.repeats(option) {
			report(at, fmt.Errorf("%s is given twice", option))
			d.RemainingArgs()
			SkipBlock(d)
			continue
		}
		given[option] = at
		report(at, b.setOption(d, option))
	}
	for _, option := range b.Options {
		if at := given[option.Name]; at != "" && option.CheckLast != nil {
			report(at, option.CheckLast())
		}
	}
	if b.CheckLast != nil && wrong == nil {
		report(begin, b.CheckLast())
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n"))
	}
	return nil
}

func (b *Block) repeats(name string) bool {
	return slices.ContainsFunc(b.Options, func(o BlockOption) bool {
		return o.Name == name && o.Repeats
	})
}

// setOption reads an option and sets it.
func (b *Block) setOption(d *caddyfile.Dispenser, name string) error {
	var names []string
	for i := range b.Options {
		if b.Options[i].Name == name {
			return b.Options[i].set(d)
		}
		if b.Options[i].Refused == "" {
			names = append(names, b.Options[i].Name)
		}
	}
	d.RemainingArgs()
	SkipBlock(d)
	return fmt.Errorf("%q is not an option; the options are %s", name, strings.Join(names, ", "))
}

func (o *BlockOption) set(d *caddyfile.Dispenser) error {
	if o.Unmarshal != nil {
		return o.Unmarshal(d)
	}
	args := d.RemainingArgs()
	switch {
	case SkipBlock(d):
		return fmt.Errorf("%s has no block", o.Name)
	case o.Refused != "":
		return fmt.Errorf("%s %s", o.Name, o.Refused)
	case !o.hasWords(args):
		return o.misuse()
	}
	for i := range o.Words {
		*o.Words[i] = args[i]
	}
	if o.List != nil {
		*o.List = args
	}
	if o.Flag != nil {
		*o.Flag = true
	}
	if o.Check != nil {
		return o.Check()
	}
	return nil
}

// hasWords reports whether the number of words is right, and none of them is empty.
func (o *BlockOption) hasWords(words []string) bool {
	if slices.Contains(words, "") {
		return false
	}
	if o.List != nil {
		return len(words) > 0
	}
	return len(words) == len(o.Words)
}

func (o *BlockOption) misuse() error {
	if o.Takes == "" {
		return fmt.Errorf("%s takes one word", o.Name)
	}
	return fmt.Errorf("%s %s", o.Name, o.Takes)
}

// SkipBlock skips a block, if one opens here.
func SkipBlock(d *caddyfile.Dispenser) (skipped bool) {
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		skipped = true
	}
	return skipped
}
