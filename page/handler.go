package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-shortlink/shortlink/internal/directives"
	"github.com/caddy-shortlink/shortlink/internal/live"
)

// theHandler is the name of the handler's directive, of its module, and of one without a name.
const theHandler = "shortlink"

// checkHandlerIn returns an error if the Caddyfile that is being adapted has shortlink handlers,
// but not the page's. Where it has none, it may become a part of another configuration.
func (p *Page) checkHandlerIn(helper httpcaddyfile.Helper) error {
	// Caddy tells a directive only of itself, and the handler can stand behind the page.
	path, _ := helper.Option("filename").(string)
	var public []string
	for _, tokens := range directives.InFile(path, theHandler) {
		public = append(public, nameIn(tokens))
	}
	err := live.CheckPage(p.HandlerName, public)
	if err == nil || public == nil {
		return nil
	}
	helper.Reset()
	for helper.Next() && helper.Val() != "handler" {
		continue // up to the line that is wrong
	}
	return fmt.Errorf("%s:%d: %w", helper.File(), helper.Line(), err)
}

// nameIn returns the public name of the handler of a directive.
func nameIn(tokens []caddyfile.Token) string {
	d := caddyfile.NewDispenser(tokens)
	d.Next()
	d.RemainingArgs() // its matcher
	for d.NextBlock(0) {
		if words := d.NextSegment(); words[0].Text == "name" && len(words) > 1 {
			return words[1].Text
		}
	}
	return theHandler
}

// checkHandler returns an error if the configuration of which the page is being provisioned has no
// handler for it.
func (p *Page) checkHandler() error {
	isHTTP := func(module caddy.Module) bool { _, is := module.(*caddyhttp.App); return is }
	lineage := p.ctx.Modules()
	i := slices.IndexFunc(lineage, isHTTP)
	if i < 0 {
		return nil // nobody knows what else there will be
	}
	// what has been provisioned is not in its JSON any more
	others, err := json.Marshal(lineage[i])
	if err != nil {
		return err
	}
	return live.CheckPage(p.HandlerName, append(live.NamesIn(p.ctx), namesInJSON(others)...))
}

// namesInJSON returns the public names of the handlers in a JSON value.
func namesInJSON(raw json.RawMessage) (public []string) {
	var members map[string]json.RawMessage
	var elements []json.RawMessage
	switch {
	case !bytes.Contains(raw, []byte(`"`+theHandler+`"`)):
		return nil // as most have none, and some are large
	case json.Unmarshal(raw, &members) == nil:
		if string(members["handler"]) == `"`+theHandler+`"` {
			var name string
			_ = json.Unmarshal(members["name"], &name)
			return []string{cmp.Or(name, theHandler)}
		}
		for _, member := range members {
			public = append(public, namesInJSON(member)...)
		}
	case json.Unmarshal(raw, &elements) == nil:
		for _, element := range elements {
			public = append(public, namesInJSON(element)...)
		}
	}
	return public
}
