package shortlink_test

import (
	"net"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// The vanity hosts of Kubernetes are the yardstick of templates: what some hundred lines of regular
// expressions do there.
func TestTheVanityHostsOfKubernetesNeedNoRegularExpression(t *testing.T) {
	config, err := os.ReadFile("testdata/kubernetes/Caddyfile")
	testcaddy.Must(t, err)
	s := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	_, port, _ := net.SplitHostPort(s.Addr)
	hosts := regexp.MustCompile(`(?m)^(http://\S+) \{`)
	options := "{\n\tadmin off\n\tpersist_config off\n\tstorage file_system " + testcaddy.StorageDir(t) +
		"\n\tdefault_bind 127.0.0.1\n\tlog default {\n\t\toutput discard\n\t}\n}\n"
	adapted, err := testcaddy.Adapt(options + hosts.ReplaceAllString(string(config), "$1:"+port+" {"))
	testcaddy.Must(t, err)
	testcaddy.Must(t, caddy.Load(adapted, true))
	defer caddy.Stop()
	requests, err := os.ReadFile("testdata/kubernetes/requests.txt")
	testcaddy.Must(t, err)
	asked := 0
	for line := range strings.Lines(string(requests)) {
		target, want, _ := strings.Cut(strings.TrimSpace(line), " ")
		if target == "" || target == "#" {
			continue
		}
		host, path, _ := strings.Cut(target, "/")
		asked++
		got := s.Raw(t, "GET",
			"GET /"+path+" HTTP/1.1\r\nHost: "+host+":"+port+"\r\nConnection: close\r\n\r\n").Location()
		if want = strings.TrimSpace(want); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
	if asked < 30 {
		t.Errorf("%d requests are sent", asked)
	}
}
