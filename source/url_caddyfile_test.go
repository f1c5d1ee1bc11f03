package source_test

import (
	"encoding/json"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/source"
)

func TestTheBlockOfAURLHasAllOptions(t *testing.T) {
	for block, want := range map[string]string{
		`url https://links.example/links.json`: `{"url":"https://links.example/links.json"}`,
		`url https://{env.LINKS_HOST}/links?raw=1 {
			header Authorization "Bearer {env.LINKS_TOKEN}"
			header X-Two one
			header X-Two two
			format redirects
			poll 1m
			timeout 30s
			max_size 16MiB
			expect https://links.example/expect.json
			minisign RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3
			allow_empty
			dialect cloudflare
		}`: `{"url":"https://{env.LINKS_HOST}/links?raw=1","headers":{"Authorization":` +
			`["Bearer {env.LINKS_TOKEN}"],"X-Two":["one","two"]},"timeout":30000000000,"max_size":16777216,` +
			`"format":"redirects","poll":"1m","expect":"https://links.example/expect.json",` +
			`"minisign":"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3",` +
			`"allow_empty":true,"dialect":"cloudflare"}`,
		"url https://links.example/_redirects {\n unsupported skip\n}": `{"url":` +
			`"https://links.example/_redirects","unsupported":"skip"}`,
	} {
		var s source.URL
		if err := s.UnmarshalCaddyfile(caddyfile.NewTestDispenser(block)); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(&s)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", block, got, err)
		}
	}
}
