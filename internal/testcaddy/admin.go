package testcaddy

import (
	"bufio"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// Scrape returns shortlink's metrics, by name and labels.
func (s *Server) Scrape(t *testing.T) map[string]string {
	t.Helper()
	response, err := http.Get("http://" + s.Admin + "/metrics")
	Must(t, err)
	defer response.Body.Close()
	if response.StatusCode != 200 {
		t.Fatalf("the metrics are answered with %s", response.Status)
	}
	found := map[string]string{}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		end := strings.LastIndexByte(lines.Text(), ' ') // labels can hold spaces
		if strings.HasPrefix(lines.Text(), "caddy_shortlink_") {
			found[lines.Text()[:end]] = lines.Text()[end+1:]
		}
	}
	return found
}

// Administer starts a Caddy with an admin endpoint.
func Administer(t *testing.T, options, block string) *Server {
	t.Helper()
	s := &Server{Options: options, Admin: FreeAddress(t)}
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	s.Load(t, block)
	return s
}

// Ask sends a request to the admin endpoint. header lists names and values of header lines in turn.
func (s *Server) Ask(t *testing.T, method, path, body string, header ...string) Reply {
	t.Helper()
	request, err := http.NewRequest(method, "http://"+s.Admin+"/shortlink/"+path,
		strings.NewReader(body))
	Must(t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	if body != "" && len(header) == 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	Must(t, err)
	return ReadReply(t, response)
}

// Put sets a rule.
func (s *Server) Put(t *testing.T, key, value string, header ...string) Reply {
	t.Helper()
	if len(header) > 0 {
		header = append(header, "Content-Type", "application/json")
	}
	return s.Ask(t, "PUT", "links/rules/"+key, value, header...)
}

// Said returns the error in a reply.
func (r Reply) Said(t *testing.T) string {
	t.Helper()
	var answer struct{ Error string }
	if err := json.Unmarshal([]byte(r.Body), &answer); err != nil {
		t.Fatalf("%d %s: %v", r.Status, r.Body, err)
	}
	return answer.Error
}

// Editable starts a Caddy whose handler "links" has an inline rule and a file of rules.
func Editable(t *testing.T, name, content string) (s *Server, path, log string) {
	t.Helper()
	dir := t.TempDir()
	path, log = filepath.Join(dir, name), filepath.Join(dir, "caddy.log")
	Write(t, path, content)
	s = Administer(t, LogTo(log),
		"shortlink {\n home https://home.example\n from file "+path+"\n name links\n expect /home "+
			"https://home.example\n }\n respond next 299")
	return s, path, log
}
