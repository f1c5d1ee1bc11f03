package source

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// RedirectsOptions are the options of a source with the format redirects.
type RedirectsOptions struct {
	// The service whose rules a `_redirects` file follows: `netlify` or `cloudflare`. Default:
	// `netlify`.
	Dialect string `json:"dialect,omitempty"`

	// What to do with lines of a `_redirects` file that are valid at the service and have no
	// equivalent here: `error` refuses the file, `skip` leaves such lines out with a warning each.
	// Default: `error`.
	Unsupported string `json:"unsupported,omitempty"`

	// Names of hosts of the site, without ports. Lines of a `_redirects` file that begin with a URL
	// of one of them are rules. Default: none.
	Hosts []string `json:"hosts,omitempty"`
}

// Reading returns how rules are read. The error lists all that is wrong with the options.
func (o *RedirectsOptions) Reading() (reading rulefile.Reading, err error) {
	var errs []error
	for _, option := range o.all() {
		if option.isSet {
			errs = append(errs, option.parse(&reading))
		}
	}
	return reading, errors.Join(errs...)
}

// readingAs is Reading for rules in a format, which may be empty if it is not known. If an option
// is set, it must be redirects.
func (o *RedirectsOptions) readingAs(format rulefile.Format) (rulefile.Reading, error) {
	for _, option := range o.all() {
		if option.isSet && format != rulefile.Redirects && format != "" {
			return rulefile.Reading{}, option.misplaced(format)
		}
	}
	return o.Reading()
}

// redirectsOption is one of the options.
type redirectsOption struct {
	BlockOption
	isSet bool
	parse func(*rulefile.Reading) error
}

func (o *RedirectsOptions) all() []redirectsOption {
	return []redirectsOption{{
		BlockOption{Name: "dialect", Words: []*string{&o.Dialect}}, o.Dialect != "",
		func(r *rulefile.Reading) (err error) {
			r.Dialect, err = rulefile.ParseDialect(o.Dialect)
			return err
		},
	}, {
		BlockOption{Name: "unsupported", Words: []*string{&o.Unsupported}}, o.Unsupported != "",
		func(r *rulefile.Reading) (err error) {
			r.SkipUnsupported, err = parseUnsupported(o.Unsupported)
			return err
		},
	}, {
		BlockOption{Name: "host", Takes: "takes names of hosts of the site", List: &o.Hosts},
		len(o.Hosts) > 0,
		func(r *rulefile.Reading) (err error) {
			r.Hosts, err = parseHosts(o.Hosts)
			return err
		},
	}}
}

// misplaced is the error of an option with another format.
func (o *redirectsOption) misplaced(format rulefile.Format) error {
	return fmt.Errorf("%s is for the format redirects, and these rules are read as %s; "+
		"leave %s out, or write format redirects", o.Name, format, o.Name)
}

// block returns the options for the Caddyfile. The format is written, or the name tells it; nil if
// something else may.
func (o *RedirectsOptions) block(format, name *string) []BlockOption {
	var options []BlockOption
	for _, option := range o.all() {
		option.Check = func() error { return option.parse(new(rulefile.Reading)) }
		option.CheckLast = func() error {
			told := ""
			if name != nil {
				told = *name
			}
			read, err := formatOf(*format, told)
			isKnown := *format != "" || name != nil && !strings.Contains(told, "{")
			if err == nil && isKnown && read != rulefile.Redirects {
				return option.misplaced(read)
			}
			return nil
		}
		options = append(options, option.BlockOption)
	}
	return options
}

// parseUnsupported parses the option for lines without an equivalent: error or skip.
func parseUnsupported(word string) (skip bool, err error) {
	switch word {
	case "error", "skip":
		return word == "skip", nil
	}
	return false, fmt.Errorf("unsupported lines are an error, or skip leaves them out; write one of "+
		"the two words, not %q", word)
}

// parseHosts parses host names for [rulefile.Reading]. The error names all that are invalid.
func parseHosts(names []string) (hosts []string, err error) {
	var wrong []string
	for _, name := range names {
		host, err := weburl.ParseHost(name)
		if err != nil {
			wrong = append(wrong, strconv.Quote(name))
		}
		hosts = append(hosts, host)
	}
	if wrong != nil {
		return nil, fmt.Errorf("%s: the name of a host has no scheme, port or path; write it like "+
			"www.example.com", strings.Join(wrong, ", "))
	}
	return hosts, nil
}
