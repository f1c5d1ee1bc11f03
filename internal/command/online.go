package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/admin"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// online says which handler of which running Caddy to use.
type online struct {
	address, config, adapter, name string
}

func (o *online) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.address, "address", "",
		"Address of the admin endpoint (default: as configured, else "+defaultAdmin+")")
	cmd.Flags().StringVarP(&o.config, "config", "c", "",
		"Configuration file that says where the admin endpoint is (default: "+defaultConfig+")")
	cmd.Flags().StringVarP(&o.adapter, "adapter", "a", "", "Name of the configuration's adapter")
	cmd.Flags().StringVar(&o.name, "name", "", "Name of the handler, if several run")
}

// defaultConfig is the configuration if none is given.
const defaultConfig = "Caddyfile"

// defaultAdmin is the default address of Caddy's admin endpoint.
const defaultAdmin = "localhost:2019"

// remote is a handler of a running Caddy.
type remote struct {
	address, name string
	told          bool // the user has given the address
}

// find finds the selected handler.
func (o *online) find() (*remote, error) {
	r, err := o.endpoint()
	if err != nil || o.name != "" {
		return r, err
	}
	all, err := r.handlers()
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(all))
	switch len(names) {
	case 0:
		return nil, negative{fmt.Errorf("no shortlink handler runs at %s", r.address)}
	case 1:
		r.name = names[0]
		return r, nil
	}
	for i, name := range names {
		names[i] = labelOf(name, all[name])
	}
	return nil, fmt.Errorf("%d shortlink handlers run at %s; write --name with one of: %s",
		len(names), r.address, strings.Join(names, ", "))
}

// endpoint finds the admin endpoint.
func (o *online) endpoint() (*remote, error) {
	if err := beQuiet(); err != nil {
		return nil, err
	}
	address, err := o.adminAddress()
	return &remote{address, o.name, o.address != ""}, err
}

// adminAddress returns the address of the admin endpoint: from the flag, the configuration, or the
// default.
func (o *online) adminAddress() (string, error) {
	if strings.HasPrefix(o.address, "https://") {
		const usage = "--address takes an address that speaks plain HTTP, such as %s, not %q"
		return "", fmt.Errorf(usage, defaultAdmin, o.address)
	}
	if o.address != "" {
		return strings.TrimRight(strings.TrimPrefix(o.address, "http://"), "/"), nil
	}
	config := o.config
	if _, err := os.Stat(defaultConfig); config == "" && o.adapter == "" && err == nil {
		config = defaultConfig
	}
	address, err := caddycmd.DetermineAdminAPIAddress("", nil, config, o.adapter)
	if err != nil {
		return "", fmt.Errorf("%s, which may say where the admin endpoint is, cannot be read: %w; "+
			"write --address to do without it", config, err)
	}
	return address, nil
}

// handlers returns the status of all handlers that run.
func (r *remote) handlers() (map[string]show.Status, error) {
	var all map[string]show.Status
	err := r.get(admin.Path, &all)
	return all, err
}

// path is a path of the handler at the endpoint.
func (r *remote) path(below ...string) string {
	return admin.Path + url.PathEscape(r.name) + strings.Join(append([]string{""}, below...), "/")
}

// rulePath is the path of a key's rule, or of all rules if key is empty.
func (r *remote) rulePath(key string) (string, error) {
	if key == "" {
		return r.path("rules"), nil
	}
	if !utf8.ValidString(key) {
		return "", fmt.Errorf(
			"the key %q is not UTF-8; write its bytes percent-encoded, such as %%9B", key)
	}
	if strings.HasPrefix(key, "/") || strings.ContainsFunc(key, unicode.IsControl) {
		_, err := resolver.Compile([]resolver.Rule{{Key: key, Value: "/"}}, resolver.Options{})
		return "", err
	}
	if strings.ContainsAny(key, "?#") {
		return "", fmt.Errorf("the key %q has a \"?\" or \"#\", which no path has; write %%3F or %%23",
			key)
	}
	encoded := encodedKey(key)
	for segment := range strings.SplitSeq(strings.TrimSuffix(encoded, "/"), "/") {
		if segment == "" || segment == "." || segment == ".." {
			return "", fmt.Errorf("the key %q cannot be named in a request, because it has an empty "+
				"segment or one of dots; edit its source instead", key)
		}
	}
	return r.path("rules", encoded), nil
}

// encodedKey returns a key as in the path of a request, where braces of a template are escaped
// once, and escaped ones twice.
func encodedKey(key string) string {
	twice := strings.NewReplacer("%7B", "%257B", "%7b", "%257B", "%7D", "%257D", "%7d", "%257D")
	if resolver.IsTemplate(key) {
		return string(weburl.AppendEncoded(nil, twice.Replace(key), weburl.PathSet))
	}
	return twice.Replace(resolver.CanonicalKey(key, false))
}

// do sends a request. An error of the endpoint is an answeredError.
func (r *remote) do(method, path string, header http.Header, body io.Reader) (*http.Response,
	error) {
	response, err := caddycmd.AdminAPIRequest(r.address, method, path, header, body)
	if err == nil {
		return response, nil
	}
	_, answer, answered := strings.Cut(err.Error(), "responded with error: HTTP ")
	status, text, _ := strings.Cut(answer, ": ")
	var reason struct{ Error string }
	if answered && json.Unmarshal([]byte(text), &reason) == nil && reason.Error != "" {
		return nil, negative{&answeredError{status, reason.Error}}
	}
	hint := ""
	if !r.told {
		hint = "; is Caddy running? if its admin endpoint is elsewhere, write --address"
	}
	return nil, negative{fmt.Errorf("caddy at %s: %w%s", r.address, err, hint)}
}

// answeredError is an error that the endpoint returned.
type answeredError struct{ status, reason string }

// Error returns the reason.
func (e *answeredError) Error() string { return e.reason }

// hasStatus reports whether an error came from the endpoint with a status.
func hasStatus(err error, status int) bool {
	answered, is := answerOf(err)
	return is && answered.status == fmt.Sprint(status)
}

// answerOf returns the endpoint's error, if err is one.
func answerOf(err error) (answered *answeredError, is bool) {
	something, _ := errors.AsType[negative](err)
	answered, is = something.error.(*answeredError)
	return answered, is
}

// get reads a JSON answer into value.
func (r *remote) get(path string, value any) error {
	response, err := r.do(http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return json.NewDecoder(response.Body).Decode(value)
}
