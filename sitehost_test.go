package shortlink_test

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestAHostThatTheClientChoosesIsWarnedOf(t *testing.T) {
	const rules = "shortlink {\n in /page\n docs https://docs.example\n}"
	const anyHost = "the destination is a path of this site, and its host is whatever the client " +
		"writes, as no host matcher names one; "
	for _, test := range []struct {
		name, config string
		warned       string
	}{
		{"any host", "http://:PORT {\n" + rules + "\n}",
			anyHost + "write origin https://go.example, or name the hosts of the site"},
		{"any host of a domain that is nobody's", "http://*.com:PORT {\n" + rules + "\n}", anyHost},
		{"several rules",
			"http://:PORT {\nshortlink {\n in /page\n to/{x} /page/{x}\n via /in\n}\n}",
			anyHost + "so it is with 2 other rules; write origin"},
		{"a host on one of two servers",
			"http://go.example:PORT {\n" + rules + "\n}\nhttp://:1 {\n" + rules + "\n}", anyHost},
		{"any host beside a site with one",
			"http://go.example:PORT {\nrespond a\n}\nhttp://:PORT {\n" + rules + "\n}", anyHost},
		{"a host beside a site for any",
			"http://go.example:PORT {\n" + rules + "\n}\nhttp://:PORT {\nrespond a\n}", ""},
		{"a host in front of a named route",
			"&(links) {\n" + rules + "\n}\nhttp://go.example:PORT {\ninvoke links\n}", ""},
		{"a host", "http://go.example:PORT {\n" + rules + "\n}", ""},
		{"a host in a matcher",
			"http://:PORT {\n@go host go.example\nhandle @go {\n" + rules + "\n}\n}", ""},
		{"an origin",
			"http://:PORT {\nshortlink {\n in /page\n origin https://go.example\n}\n}", ""},
		{"no paths of the site",
			"http://:PORT {\nshortlink {\n a /b/c\n b https://b.example\n}\n}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "Caddyfile")
			_, port, _ := net.SplitHostPort(testcaddy.FreeAddress(t))
			log := filepath.Join(t.TempDir(), "log")
			config := "{\nadmin off\npersist_config off\nstorage file_system " + testcaddy.StorageDir(t) +
				"\ndefault_bind 127.0.0.1\n" + testcaddy.LogTo(log) + "\n}\n" +
				strings.ReplaceAll(test.config, "PORT", port)
			testcaddy.Write(t, file, config)

			checked, _ := testcaddy.Run([]string{"shortlink", "check", "--config", file}, "")
			if got := strings.Contains(checked, "host of the client"); got != (test.warned != "") ||
				!strings.Contains(checked, test.warned) {
				t.Errorf("check says\n%s\nwant %q", checked, test.warned)
			}

			adapted, err := testcaddy.Adapt(config)
			testcaddy.Must(t, err)
			var parsed caddy.Config
			testcaddy.Must(t, json.Unmarshal(adapted, &parsed))
			testcaddy.Must(t, caddy.Validate(&parsed))
			content, err := os.ReadFile(log)
			testcaddy.Must(t, err)
			if got := strings.Contains(string(content), anyHost); got != (test.warned != "") {
				t.Errorf("the log says %s", content)
			}
		})
	}
}

func TestASwapThatBringsAClientsHostIsWarnedOf(t *testing.T) {
	s := testcaddy.Follow(t, `{"docs": "https://docs.example"}`, "", "")
	testcaddy.Write(t, s.Links, `{"docs": "/handbook"}`)
	entry := s.Logged(t, 1, "host of the client")
	if entry["level"] != "warn" || entry["key"] != "docs" {
		t.Errorf("got %v", entry)
	}
}
