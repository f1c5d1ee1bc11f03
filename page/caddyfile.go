package page

import (
	"errors"

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
	return p, nil
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
// What an option means stands at the field of [Page] that it sets. The error lists all that is
// wrong, a line for each.
func (p *Page) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	var errs []error
	if d.NextArg() {
		errs = append(errs, d.Errf("nothing but a matcher can follow shortlink_page on its line, not "+
			"%q: put options into its block", d.Val()))
	}
	given := map[string]bool{}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if err := p.setOption(d, given); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errors.Join(errs...)
}

// setOption reads a line of the block.
func (p *Page) setOption(d *caddyfile.Dispenser, given map[string]bool) error {
	name, line := d.Val(), d.NextSegment()
	words := make([]string, 0, len(line))
	for _, token := range line[1:] {
		words = append(words, token.Text)
	}
	options := map[string]*string{
		"handler": &p.HandlerName, "path": &p.Path, "user": &p.User, "read": &p.Read,
		"write": &p.Write,
	}
	value, takesWord := options[name]
	switch {
	case !takesWord && name != "misses":
		return d.Errf("%q is no option of shortlink_page; it takes handler, path, user, read, write "+
			"and misses", name)
	case given[name]:
		return d.Errf("%s stands here a second time; keep one", name)
	case takesWord && len(words) != 1:
		return d.Errf("%s takes one word, such as %q", name, name+" "+exampleOf(name))
	case !takesWord && len(words) > 0:
		return d.Errf("misses takes nothing behind it, not %q", words[0])
	}
	given[name] = true
	if !takesWord {
		p.Misses = true
		return nil
	}
	*value = words[0]
	return nil
}

// exampleOf returns what can stand behind an option's name.
func exampleOf(option string) string {
	return map[string]string{
		"handler": "go", "path": defaultPath, "user": "{header.Remote-User}", "read": readEveryone,
		"write": writeNobody,
	}[option]
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Page)(nil)
