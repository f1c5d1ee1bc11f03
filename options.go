package shortlink

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/dustin/go-humanize"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// option is one of the directive's options in the Caddyfile.
type option struct {
	name string
	// takes says what follows the name, and choices, if not empty, which values are valid.
	takes, choices string
	// list: more than one word can follow. optional: none has to.
	list, optional bool
	// set sets the option from the words that follow; ok is false if they cannot be parsed. Whether
	// they make sense is checked afterwards.
	set func(h *Handler, args []string) (ok bool)
}

// directiveOptions returns all options, in the order in which messages list them.
func directiveOptions() []option {
	return []option{
		{name: "origin", takes: "scheme and host of a URL", choices: "such as https://go.example.com",
			set: setOrigin},
		{name: "status", takes: "a redirect code", choices: rulefile.StatusWords, set: setStatus},
		{name: "cache", takes: "one or two durations of at least one second",
			choices: "such as 1h or 30d, the second for 301 and 308", list: true, set: setCache},
		{name: "query", takes: "merge, preserve or ignore", set: setQuery},
		{name: "protect", takes: "names of query parameters", choices: "* for all", list: true,
			set: setProtect},
		{name: "fold", takes: "the word case", set: setFold},
		{name: "max_redirects", takes: "a number from 0 to 255", set: setMaxRedirects},
		{name: "max_size", takes: "a size", choices: "such as 500MiB or 4GiB, at most 7EiB",
			set: setMaxSize},
		{name: "allow_hosts", takes: "hosts", choices: "such as example.com or *.example.com", list: true,
			set: setAllowHosts},
		{name: "advertise", takes: "scheme and host of short URLs, or nothing",
			choices: "such as https://go.example.com", optional: true, set: setAdvertise},
		{name: "history", takes: "a number of changes from 1 to 1000, or off", set: setHistory},
		{name: "name", takes: "a name", choices: `letters, digits, "-", "_" and "."`, set: setName},
	}
}

func setOrigin(h *Handler, args []string) bool {
	h.Origin = args[0]
	return true
}

func setStatus(h *Handler, args []string) (ok bool) {
	h.StatusCode, ok = rulefile.ParseStatus(args[0])
	return ok
}

func setCache(h *Handler, args []string) bool {
	if len(args) > 2 {
		return false
	}
	for i, into := range []*caddy.Duration{&h.Cache, &h.CachePermanent}[:len(args)] {
		duration, err := caddy.ParseDuration(args[i])
		if err != nil || duration < time.Second {
			return false
		}
		*into = caddy.Duration(duration)
	}
	return true
}

func setQuery(h *Handler, args []string) bool {
	h.Query = args[0]
	return true
}

func setProtect(h *Handler, args []string) bool {
	h.Protect = args
	return true
}

func setFold(h *Handler, args []string) bool {
	h.Fold = args[0]
	return args[0] == foldCase
}

func setMaxRedirects(h *Handler, args []string) bool {
	n, err := strconv.Atoi(args[0])
	h.MaxRedirects = &n
	return err == nil
}

func setMaxSize(h *Handler, args []string) bool {
	const largest = 7 << 60 // Caddy rounds larger numbers to 8 EiB, which overflows
	size, err := humanize.ParseBytes(args[0])
	h.MaxSize = int64(min(size, largest))
	return err == nil && size > 0 && size <= largest
}

func setAllowHosts(h *Handler, args []string) bool {
	h.AllowHosts = args
	return true
}

func setAdvertise(h *Handler, args []string) bool {
	h.Advertise = new(Advertise)
	if len(args) > 0 {
		h.Advertise.BaseURL = args[0]
	}
	return true
}

func setHistory(h *Handler, args []string) bool {
	h.History = new(int)
	if args[0] == "off" {
		return true
	}
	n, err := strconv.Atoi(args[0])
	*h.History = n
	return err == nil && n > 0
}

func setName(h *Handler, args []string) bool {
	h.Name = args[0]
	return validName(args[0])
}

func optionNamed(name string) (option, bool) {
	opts := directiveOptions()
	i := slices.IndexFunc(opts, func(o option) bool { return o.name == name })
	if i < 0 {
		return option{}, false
	}
	return opts[i], true
}

func optionNames() []string {
	names := []string{optionFrom, optionExpect}
	for _, o := range directiveOptions() {
		names = append(names, o.name)
	}
	return names
}

// misuse returns the error of the words that follow an option's name, or nil.
func (o option) misuse(args []string) error {
	if len(args) == 0 {
		if o.optional {
			return nil
		}
		return errors.New(o.usage())
	}
	understood, err := o.check(args)
	hint := ""
	if resolver.IsValue(args[0]) {
		hint = fmt.Sprintf("; for a key named %s write: rule %s %s", o.name, o.name,
			strings.Join(args, " "))
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w%s", err, hint)
	case understood:
		return nil
	case hint != "":
		return fmt.Errorf("%s takes %s%s", o.name, o.takes, hint)
	}
	return fmt.Errorf("%s, not %q", o.usage(), strings.Join(args, " "))
}

// check sets the option on a handler that has no other options, so that the error is about this
// one.
func (o option) check(args []string) (understood bool, err error) {
	if len(args) > 1 && !o.list || slices.Contains(args, "") {
		return false, nil
	}
	trial := new(Handler)
	if !o.set(trial, args) {
		return false, nil
	}
	_, err = trial.checkOptions()
	return true, err
}

// usage says which values the option takes.
func (o option) usage() string {
	usage := o.name + " takes " + o.takes
	if o.choices != "" {
		usage += " (" + o.choices + ")"
	}
	return usage
}
