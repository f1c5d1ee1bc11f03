package source_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func keyPair(t *testing.T) (public string, private minisign.PrivateKey) {
	t.Helper()
	key, private, err := minisign.GenerateKey(rand.Reader)
	testcaddy.Must(t, err)
	text, err := key.MarshalText()
	testcaddy.Must(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1], private
}

// signed returns paths and texts of rules with a signature of a time.
func signed(text string, key minisign.PrivateKey, unix int64) []string {
	return []string{"/links.json", text, "/links.json.minisig", signedAt(text, key, unix)}
}

func TestRulesAndSignatureThatAreReplacedInTurnServeAsAPair(t *testing.T) {
	public, private := keyPair(t)
	o := startOrigin(t, signed(oldRules, private, 100)...)
	s := followURL(t, o.URL+"/links.json", "timeout 1m\n minisign "+public)
	end := underLoad(t, s.Server, "/a", "https://old.example/")
	next := signed(newRules, private, 200)
	o.put(next[:2]...)
	o.awaitRequests(t, 3)
	s.Logged(t, 1, "its signature does not match this content and the configured key")
	end()
	o.put(next[2:]...)
	s.Eventually(t, "/a", "302 https://new.example/")
	// The signature first, which a server with a stale ETag hides the rules of.
	last := signed(oldRules, private, 300)
	o.put(last[2:]...)
	o.awaitRequests(t, 3)
	o.put(last[:2]...)
	s.Eventually(t, "/a", "302 https://old.example/")
}

// A cache answers 304 for rules that have changed, as long as one asks it whether they have.
func TestANewSignatureFetchesRulesThatASaysUnchangedCacheHides(t *testing.T) {
	public, private := keyPair(t)
	o := startOrigin(t, signed(oldRules, private, 100)...)
	s := followURL(t, o.URL+"/links.json", "timeout 1m\n minisign "+public)
	next := signed(newRules, private, 200)
	o.fail(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/links.json.minisig":
			fmt.Fprint(w, next[3])
		case r.Header.Get("If-None-Match") != "":
			w.WriteHeader(http.StatusNotModified)
		default:
			fmt.Fprint(w, newRules)
		}
	})
	s.Eventually(t, "/a", "302 https://new.example/")
}

func TestRulesWithAnOlderSignatureNeverServeAgain(t *testing.T) {
	public, private := keyPair(t)
	storage := testcaddy.StorageDir(t)
	o := startOrigin(t, signed(oldRules, private, 100)...)
	s := &testcaddy.Follower{Log: t.TempDir() + "/caddy.log"}
	s.Server = &testcaddy.Server{Storage: storage, Options: testcaddy.LogTo(s.Log)}
	t.Cleanup(func() { testcaddy.Must(t, caddy.Stop()) })
	block := urlBlock(o.URL+"/links.json", "timeout 1m\n minisign "+public)
	s.Load(t, block)
	o.put(signed(newRules, private, 200)...)
	s.Eventually(t, "/a", "302 https://new.example/")

	end := underLoad(t, s.Server, "/a", "https://new.example/")
	o.put(signed(oldRules, private, 100)...)
	const older = "its signature is of 1970-01-01T00:01:40Z, and rules with one of " +
		"1970-01-01T00:03:20Z have served: the server has old rules again; sign these anew"
	s.Logged(t, 1, older)
	end()

	// The stored copy stands in after a restart, because the old rules are refused again.
	testcaddy.Must(t, caddy.Stop())
	s.Load(t, block)
	s.Leads(t, "/a", "302 https://new.example/")
	s.Logged(t, 1, "serving the stored copy of its rules")

	o.put(signed(oldRules, private, 201)...)
	s.Eventually(t, "/a", "302 https://old.example/")
}

// Of rules that were refused, the time does not count: those that serve on are not too old.
func TestTheSignatureOfRulesThatDoNotServeRefusesNoOthers(t *testing.T) {
	public, private := keyPair(t)
	o := startOrigin(t, signed(oldRules, private, 100)...)
	s := followURL(t, o.URL+"/links.json", "timeout 1m\n minisign "+public)
	o.put(signed(`{"a": "/b", "b": "/a"}`, private, 300)...)
	s.Logged(t, 1, "loop a -> b -> a")
	o.put(signed(newRules, private, 200)...)
	s.Eventually(t, "/a", "302 https://new.example/")
}

// stamp returns the file of the time of the last signature.
func stamp(t *testing.T, storage string) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) { // until stored
		if found, _ := filepath.Glob(storage + "/shortlink/url/*.signed"); len(found) == 1 {
			return found[0]
		}
		if time.Now().After(deadline) {
			t.Fatal("no time of a signature is stored")
		}
	}
}

func TestTheTimeOfASignatureThatCannotBeStoredIsLogged(t *testing.T) {
	public, private := keyPair(t)
	o := startOrigin(t, signed(oldRules, private, 100)...)
	s := &testcaddy.Follower{Log: t.TempDir() + "/caddy.log"}
	everything := "log all {\n output file " + s.Log + "\n }"
	s.Server = &testcaddy.Server{Storage: testcaddy.StorageDir(t), Options: everything}
	t.Cleanup(func() { testcaddy.Must(t, caddy.Stop()) })
	s.Load(t, urlBlock(o.URL+"/links.json", "timeout 1m\n minisign "+public))
	file := stamp(t, s.Storage)
	testcaddy.Must(t, os.Remove(file))
	testcaddy.Must(t, os.Mkdir(file, 0o700))
	for i, rules := range []string{newRules, oldRules} {
		o.put(signed(rules, private, 200+int64(i))...)
		s.Logged(t, i+1, "storing the time of a signature failed")
	}
	s.Leads(t, "/a", "302 https://old.example/")
}

// Servers that share a storage may get rules from caches, not all at once.
func TestTheTimeOfANewerSignatureThatAnotherServerHasStoredStays(t *testing.T) {
	public, private := keyPair(t)
	o := startOrigin(t, signed(oldRules, private, 100)...)
	s := &testcaddy.Server{Storage: testcaddy.StorageDir(t)}
	block := urlBlock(o.URL+"/links.json", "timeout 1m\n minisign "+public)
	s.Load(t, block)
	file := stamp(t, s.Storage)
	testcaddy.Write(t, file, "300")
	o.put(signed(newRules, private, 200)...)
	s.Eventually(t, "/a", "302 https://new.example/")
	o.put(signed(oldRules, private, 201)...)
	s.Eventually(t, "/a", "302 https://old.example/") // so the time of the last one has been stored
	testcaddy.Must(t, caddy.Stop())
	if got := testcaddy.ReadFile(t, file); got != "300" {
		t.Errorf("the time that is stored is %s", got)
	}
}

func TestASignatureWithoutATimeIsAnError(t *testing.T) {
	public, private := keyPair(t)
	r := minisign.NewReader(strings.NewReader(oldRules))
	_, _ = r.Read(make([]byte, len(oldRules)))
	o := startOrigin(t, "/links.json", oldRules,
		"/links.json.minisig", string(r.SignWithComments(private, "for all", "x")))
	s := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	err := s.TryToLoad(t, urlBlock(o.URL+"/links.json", "minisign "+public))
	if err == nil || !strings.Contains(err.Error(), "its signature has no time to tell older rules by") {
		t.Errorf("the error is %v", err)
	}
}

func TestSignedRulesServeOverPlainHTTPWithTheQueryAtBothURLs(t *testing.T) {
	public, private := keyPair(t)
	o := startOrigin(t, signed(oldRules, private, time.Now().Unix())...)
	plain := http.Server{Handler: o}
	listener := listen(t)
	go func() { _ = plain.Serve(listener) }()
	t.Cleanup(func() { testcaddy.Must(t, plain.Close()) })
	s := followURL(t, "http://"+listener.Addr().String()+"/links.json?v=1", "minisign "+public)
	s.Leads(t, "/a", "302 https://old.example/")
	for _, r := range o.requests() {
		if r.URL.RawQuery != "v=1" {
			t.Errorf("%s is asked for", r.URL)
		}
	}
}
