package source

import (
	"errors"
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Block is how a source is written in the Caddyfile: its name, one argument, and a block of
// options.
type Block struct {
	// Argument is what the argument is, such as "one path", and Value where it goes.
	Argument string
	Value    *string
	Options  []BlockOption
}

// BlockOption is an option of a source's block, on a line of its own.
type BlockOption struct {
	Name string
	// Takes says what stands behind the name; "one word" where it is empty.
	Takes string
	// Words are where the words behind the name go; there are as many.
	Words []*string
	// Flag, if not nil, is set by an option that stands alone.
	Flag *bool
	// Check, if not nil, checks the words that do not depend on where Caddy runs, so that the error
	// has its place in the Caddyfile.
	Check func() error
	// Unmarshal, if not nil, reads the whole option in the place of all the above.
	Unmarshal func(*caddyfile.Dispenser) error
}

// Unmarshal reads the segment that begins with the source's name. The error lists everything that
// is wrong, each with its line.
func (b *Block) Unmarshal(d *caddyfile.Dispenser) error {
	d.Next()
	name := d.Val()
	var wrong []string
	report := func(line int, err error) {
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s:%d: from %s: %v", d.File(), line, name, err))
		}
	}
	if args := d.RemainingArgs(); len(args) == 1 {
		*b.Value = args[0]
	} else {
		report(d.Line(), fmt.Errorf("it takes %s; put options into its block", b.Argument))
	}
	given := map[string]bool{}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option, line := d.Val(), d.Line()
		if given[option] {
			report(line, fmt.Errorf("%s is given twice", option))
			d.RemainingArgs()
			SkipBlock(d)
			continue
		}
		given[option] = true
		report(line, b.setOption(d, option))
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n"))
	}
	return nil
}

// setOption takes in the option that is read next.
func (b *Block) setOption(d *caddyfile.Dispenser, name string) error {
	var names []string
	for i := range b.Options {
		if b.Options[i].Name == name {
			return b.Options[i].set(d)
		}
		names = append(names, b.Options[i].Name)
	}
	d.RemainingArgs()
	SkipBlock(d)
	return fmt.Errorf("%q is no option; the options are %s", name, strings.Join(names, ", "))
}

func (o *BlockOption) set(d *caddyfile.Dispenser) error {
	if o.Unmarshal != nil {
		return o.Unmarshal(d)
	}
	args := d.RemainingArgs()
	switch {
	case SkipBlock(d):
		return fmt.Errorf("%s has no block", o.Name)
	case len(args) != len(o.Words):
		return o.misuse()
	}
	for i, arg := range args {
		if *o.Words[i] = arg; arg == "" {
			return o.misuse()
		}
	}
	if o.Flag != nil {
		*o.Flag = true
	}
	if o.Check != nil {
		return o.Check()
	}
	return nil
}

func (o *BlockOption) misuse() error {
	if o.Takes == "" {
		return fmt.Errorf("%s takes one word", o.Name)
	}
	return fmt.Errorf("%s %s", o.Name, o.Takes)
}

// SkipBlock passes over a block, if one opens here.
func SkipBlock(d *caddyfile.Dispenser) (skipped bool) {
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		skipped = true
	}
	return skipped
}
