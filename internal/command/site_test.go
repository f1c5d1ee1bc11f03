package command_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestCheckKnowsTheHostsOfTheSitesOfAConfiguration(t *testing.T) {
	const found, none = "error: circle (", ""
	const rules = "shortlink {\n a https://go.example/a/b\n }\n"
	for name, tt := range map[string]struct{ config, want string }{
		"of a site":          {"go.example {\n" + rules + "}", found},
		"of several":         {"www.example, go.example {\n" + rules + "}", found},
		"of a matcher":       {":443 {\n @h host go.example\n handle @h {\n" + rules + "}\n}", found},
		"behind other sites": {"a.example {\n rewrite /x\n}\ngo.example {\n" + rules + "}", found},
		"with a port": {
			"http://localhost:8080 {\n shortlink {\n b http://localhost:8080/b/v2\n }\n}", found,
		},
		"in front of a rewrite": {"go.example {\n" + rules + " rewrite /x\n}", found},

		"of another site":   {"other.example {\n" + rules + "}", none},
		"of another port":   {"https://go.example:8443 {\n" + rules + "}", none},
		"of another scheme": {"http://go.example {\n" + rules + "}", none},
		"of any":            {":443 {\n" + rules + "}", none},
		"with a wildcard":   {"*.example {\n" + rules + "}", none},
		"for some paths":    {"go.example {\n handle_path /x/* {\n" + rules + "}\n}", none},
		"for some requests": {"go.example {\n" + strings.Replace(rules, "{", "/a {", 1) + "}", none},
		"behind another path": {
			"go.example {\n handle /a/* {\n respond a\n }\n handle {\n" + rules + "}\n}", none,
		},
		"behind a rewrite": {
			"go.example {\n route {\n uri strip_prefix /x\n" + rules + "}\n}", none,
		},
		"behind files": {
			"go.example {\n route {\n file_server {\n pass_thru\n }\n" + rules + "}\n}", none,
		},
		"for errors":       {"go.example {\n handle_errors {\n" + rules + "}\n}", none},
		"in a named route": {"&(links) {\n" + rules + "}\ngo.example {\n invoke links\n}", none},
	} {
		t.Run(name, func(t *testing.T) {
			config := filepath.Join(t.TempDir(), "Caddyfile")
			testcaddy.Write(t, config, tt.config)
			got, exit := testcaddy.Run([]string{"shortlink", "check", "--config", config}, "")
			if strings.Contains(got, found) != (tt.want == found) || (exit == 1) != (tt.want == found) {
				t.Errorf("check says %s, %d", got, exit)
			}
		})
	}
}
