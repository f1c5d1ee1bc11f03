package shortlink

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/rulefile"
)

// sourceBlock is how sources are written in the Caddyfile: a name, one argument, and a block of options.
type sourceBlock struct {
	// argument is what the argument is called, and value where it goes.
	argument string
	value    *string
	// options take one word each.
	options map[string]*string
	// modules are options that read what follows themselves.
	modules map[string]func(*caddyfile.Dispenser) error
}

// unmarshal reads the segment that begins with the source's name. The error lists everything that is wrong,
// each with its line.
func (b *sourceBlock) unmarshal(d *caddyfile.Dispenser) error {
	d.Next()
	name := d.Val()
	var problems []string
	report := func(line int, problem string) {
		problems = append(problems, fmt.Sprintf("%s:%d: from %s: %s", d.File(), line, name, problem))
	}
	if args := d.RemainingArgs(); len(args) == 1 {
		*b.value = args[0]
	} else {
		report(d.Line(), "it takes one "+b.argument+"; put options into its block")
	}
	given := map[string]bool{}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option, line := d.Val(), d.Line()
		if given[option] {
			report(line, option+" is given twice")
			d.RemainingArgs()
			skipBlock(d)
			continue
		}
		given[option] = true
		if problem := b.setOption(d, option); problem != "" {
			report(line, problem)
		}
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}

// setOption takes in an option, or says what is wrong with it.
func (b *sourceBlock) setOption(d *caddyfile.Dispenser, option string) string {
	if unmarshal, ok := b.modules[option]; ok {
		if err := unmarshal(d); err != nil {
			return err.Error()
		}
		return ""
	}
	value, ok := b.options[option]
	args := d.RemainingArgs()
	switch {
	case skipBlock(d):
		return option + " has no block"
	case !ok:
		return fmt.Sprintf("%q is no option; the options are %s", option, strings.Join(b.optionNames(), ", "))
	case len(args) != 1 || args[0] == "":
		return option + " takes one word"
	}
	*value = args[0]
	if err := checkOption(option, args[0]); err != nil {
		return err.Error()
	}
	return ""
}

// checkOption checks the values that do not depend on where Caddy runs. It is done here already so that the
// error has its place in the Caddyfile.
func checkOption(option, value string) (err error) {
	switch option {
	case "format":
		_, err = rulefile.ParseFormat(value)
	case "poll":
		_, err = ParsePoll(value, 0)
	case "minisign":
		_, err = parsePublicKey(value)
	}
	return err
}

func (b *sourceBlock) optionNames() []string {
	names := slices.Collect(maps.Keys(b.options))
	return slices.Sorted(slices.Values(slices.AppendSeq(names, maps.Keys(b.modules))))
}

// skipBlock passes over a block, if one opens here.
func skipBlock(d *caddyfile.Dispenser) (skipped bool) {
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		skipped = true
	}
	return skipped
}
