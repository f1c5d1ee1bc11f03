package shortlink_test

import (
	"net"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// The vanity hosts of Kubernetes are the yardstick of templates: what some hundred lines of regular
// expressions do there.
func TestTheVanityHostsOfKubernetesNeedNoRegularExpression(t *testing.T) {
	config, err := os.ReadFile("testdata/kubernetes/Caddyfile")
	mustDo(t, err)
	s := &server{addr: freeAddress(t)}
	_, port, _ := net.SplitHostPort(s.addr)
	hosts := regexp.MustCompile(`(?m)^(http://\S+) \{`)
	options := "{\n\tadmin off\n\tpersist_config off\n\tstorage file_system " + storageDir(t) +
		"\n\tdefault_bind 127.0.0.1\n\tlog default {\n\t\toutput discard\n\t}\n}\n"
	adapted, err := adapt(options + hosts.ReplaceAllString(string(config), "$1:"+port+" {"))
	mustDo(t, err)
	mustDo(t, caddy.Load(adapted, true))
	defer caddy.Stop()
	requests, err := os.ReadFile("testdata/kubernetes/requests.txt")
	mustDo(t, err)
	asked := 0
	for line := range strings.Lines(string(requests)) {
		target, want, _ := strings.Cut(strings.TrimSpace(line), " ")
		if target == "" || target == "#" {
			continue
		}
		host, path, _ := strings.Cut(target, "/")
		asked++
		got := s.raw(t, "GET",
			"GET /"+path+" HTTP/1.1\r\nHost: "+host+":"+port+"\r\nConnection: close\r\n\r\n").location()
		if want = strings.TrimSpace(want); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
	if asked < 30 {
		t.Errorf("%d requests are sent", asked)
	}
}
