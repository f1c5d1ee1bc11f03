package testcaddy

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// echo is a handler that answers with the request as received.
type echo struct{}

func init() {
	caddy.RegisterModule(echo{})
	httpcaddyfile.RegisterHandlerDirective("test_echo",
		func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
			return echo{}, nil
		})
	httpcaddyfile.RegisterDirectiveOrder("test_echo", httpcaddyfile.After, "respond")
}

func (echo) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.test_echo", New: func() caddy.Module {
		return new(echo)
	}}
}

func (echo) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s %s %s %q", r.Method, r.RequestURI, r.URL, body)
	return err
}

// count is a handler that counts requests, and the answered ones among them.
type count struct{}

// Counted holds the counts of the handler test_count in this process.
var Counted struct{ Reached, Answered atomic.Int64 }

func init() {
	caddy.RegisterModule(count{})
	httpcaddyfile.RegisterHandlerDirective("test_count",
		func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
			return count{}, nil
		})
}

func (count) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.test_count", New: func() caddy.Module {
		return new(count)
	}}
}

func (count) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	Counted.Reached.Add(1)
	err := next.ServeHTTP(w, r)
	if err == nil {
		Counted.Answered.Add(1)
	}
	return err
}
