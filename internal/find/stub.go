package find

import "github.com/caddy-shortlink/shortlink/resolver"

type Found struct {
	Rules      []resolver.Rule
	More, Late bool
}
