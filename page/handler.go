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

// theHandler is the name of the handler's directive and module, and of a handler without a name.
const theHandler = "shortlink"

// checkHandlerIn returns an error if the Caddyfile that is being adapted has shortlink handlers,
// but not the page's. One without any may become a part of another configuration.
func (p *Page) checkHandlerIn(helper httpcaddyfile.Helper) error {
	// Caddy shows a directive only itself, and the handler can follow the page.
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
		continue // up to the invalid line
	}
	return fmt.Errorf("%s:%d: %w", helper.File(), helper.Line(), err)
}

// nameIn returns the public name of a directive's handler.
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

// checkHandler returns an error if the configuration that is being provisioned has no handler for
// the page.
func (p *Page) checkHandler() error {
	isHTTP := func(module caddy.Module) bool { _, is := module.(*caddyhttp.App); return is }
	lineage := p.ctx.Modules()
	i := slices.IndexFunc(lineage, isHTTP)
	if i < 0 {
		return nil // more handlers may be added
	}
	// Caddy drops the JSON of provisioned handlers.
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
		return nil // most have none, and some are large
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
