package shortlink

import "github.com/caddy-shortlink/shortlink/internal/command"

// rewriting are routes or handlers, in a list of Caddy's JSON, that may change the path of requests
// for those behind them.
type rewriting []map[string]any

// addElement adds an element of the list if it may change paths.
func (r *rewriting) addElement(element any) {
	object, _ := element.(map[string]any)
	// a named route may do anything
	if object["terminal"] != true && has(element, "rewrite", "invoke") {
		*r = append(*r, object)
	}
}

// wayTo returns the way to the element behind them, if only one leads there. A request takes only
// one route of a group.
func (r rewriting) wayTo(element any, way command.Way) command.Way {
	next, _ := element.(map[string]any)
	for _, object := range r {
		if group := object["group"]; group == nil || group != next["group"] {
			way = wayBehind(object, way)
		}
	}
	return way
}

// wayBehind returns the way of requests that go on behind a route or a handler.
func wayBehind(object map[string]any, way command.Way) command.Way {
	prefix, cuts := object["strip_path_prefix"].(string)
	handlers, isRoute := object["handle"].([]any)
	switch {
	case object["handler"] == "rewrite" && cuts && len(object) == 2: // and does nothing else
		return way.WithoutPrefix(prefix)
	case isRoute && object["match"] == nil:
		var all rewriting
		for _, handler := range handlers {
			all.addElement(handler)
		}
		return all.wayTo(nil, way)
	}
	return way.Rewritten()
}
