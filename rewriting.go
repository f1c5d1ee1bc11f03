package shortlink

import "github.com/caddy-shortlink/shortlink/internal/command"

// rewriting are routes or handlers of a list in Caddy's JSON that may change the paths of requests
// which go on to those behind them.
type rewriting []map[string]any

// add adds an element of the list, if it is one.
func (r *rewriting) add(element any) {
	object, _ := element.(map[string]any)
	// a named route may do anything
	if object["terminal"] != true && has(element, "rewrite", "invoke") {
		*r = append(*r, object)
	}
}

// wayTo returns the way that leads to the element behind them, where one leads to all of them. Of
// a group a request takes one route alone.
func (r rewriting) wayTo(element any, way command.Way) command.Way {
	next, _ := element.(map[string]any)
	for _, object := range r {
		if group := object["group"]; group == nil || group != next["group"] {
			way = wayBehind(object, way)
		}
	}
	return way
}

// wayBehind returns the way on which requests go on behind a route or a handler.
func wayBehind(object map[string]any, way command.Way) command.Way {
	prefix, cuts := object["strip_path_prefix"].(string)
	handlers, isRoute := object["handle"].([]any)
	switch {
	case object["handler"] == "rewrite" && cuts && len(object) == 2: // and nothing else
		return way.WithoutPrefix(prefix)
	case isRoute && object["match"] == nil:
		var all rewriting
		for _, handler := range handlers {
			all.add(handler)
		}
		return all.wayTo(nil, way)
	}
	return way.Rewritten()
}
