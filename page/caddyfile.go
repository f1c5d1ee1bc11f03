package page

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("shortlink_page", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("shortlink_page", httpcaddyfile.After, "templates")
}

func parseCaddyfile(helper httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	p := new(Page)
	if err := p.UnmarshalCaddyfile(helper.Dispenser); err != nil {
		return nil, err
	}
	return p, p.checkHandlerIn(helper)
}

// UnmarshalCaddyfile sets up the page from the directive:
//
//	shortlink_page [<matcher>] {
//		handler <name>
//		path </.links>
//		user <placeholder>
//		read <users|everyone>
//		write <users|nobody>
//		misses
//	}
//
// The field of [Page] that an option sets explains it. The error lists all that is wrong, a line
// for each.
func (p *Page) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	var wrong []error
	report := func(line int, err error) {
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", d.File(), line, err))
		}
	}
	if d.NextArg() {
		report(d.Line(), fmt.Errorf("nothing but a matcher can follow shortlink_page on its line, "+
			"not %q: put options into its block", d.Val()))
	}
	given := map[string]bool{}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name, line := d.Val(), d.Line()
		words := d.NextSegment()[1:]
		if given[name] {
			report(line, fmt.Errorf("%s is given twice; keep one", name))
			continue
		}
		given[name] = true
		report(line, p.setOption(name, words))
	}
	return errors.Join(wrong...)
}

// option is an option of the page.
type option struct {
	name, example string
	value         *string
	check         func(value string) error // nil for any
}

// options are the options with a value.
func (p *Page) options() []option {
	return []option{
		{"handler", "go", &p.HandlerName, nil},
		{"path", defaultPath, &p.Path, checkPath},
		{"user", "{header.Remote-User}", &p.User, checkUser},
		{"read", readEveryone, &p.Read, checkRead},
		{"write", writeNobody, &p.Write, checkWrite},
	}
}

// setOption sets an option.
func (p *Page) setOption(name string, words caddyfile.Segment) error {
	if name == "misses" {
		p.Misses = true
		if len(words) > 0 {
			return fmt.Errorf("misses stands alone, without %q", words[0].Text)
		}
		return nil
	}
	for _, o := range p.options() {
		if o.name != name {
			continue
		}
		if len(words) != 1 {
			return fmt.Errorf("%s takes one word: %s %s", name, name, o.example)
		}
		*o.value = words[0].Text
		if o.check == nil {
			return nil
		}
		return o.check(*o.value)
	}
	return fmt.Errorf("%q is not an option of shortlink_page; the options are handler, path, user, "+
		"read, write and misses", name)
}

func checkPath(path string) error {
	if strings.HasPrefix(path, "/") && isClean(path) &&
		!strings.ContainsFunc(path, isOdd) {
		return nil
	}
	return fmt.Errorf("path takes a path such as %s, without empty segments, dot segments, escapes, "+
		"placeholders and \"*\", not %q", defaultPath, path)
}

// isOdd reports whether a character must be escaped in a path, or is special in a matcher.
func isOdd(c rune) bool {
	return c <= ' ' || c >= 0x7f || strings.ContainsRune("{}%?#*\\\"<>^`|", c)
}

func checkUser(user string) error {
	namespace, _, _ := strings.Cut(strings.Trim(user, "{}"), ".")
	isOfServer := slices.Contains([]string{"env", "file", "system", "time"}, namespace)
	if isPlaceholder(user) && !isOfServer {
		return nil
	}
	return fmt.Errorf(
		"user takes one placeholder of the request, such as %s or {header.Remote-User}, "+
			"not %q: any other text would be the name of every user", defaultUser, user)
}

func checkRead(who string) error {
	if who == readUsers || who == readEveryone {
		return nil
	}
	return fmt.Errorf("read takes users or everyone, not %q", who)
}

func checkWrite(who string) error {
	if who == writeUsers || who == writeNobody {
		return nil
	}
	return fmt.Errorf("write takes users or nobody, not %q", who)
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Page)(nil)
