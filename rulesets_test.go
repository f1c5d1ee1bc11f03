package shortlink_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
)

func TestEveryRedirectOfGolangOrgIsAnswered(t *testing.T) {
	content, err := os.ReadFile("../shared/testdata/rulesets/golang.json")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the public rulesets are not beside this checkout (../shared/testdata)")
	}
	if err != nil {
		t.Fatal(err)
	}
	var rules map[string]string
	if err := json.Unmarshal(content, &rules); err != nil {
		t.Fatal(err)
	}
	var block strings.Builder
	for key, value := range rules {
		block.WriteString("rule \"" + key + "\" \"" + value + "\"\n")
	}
	s := serve(t, "shortlink {\n"+block.String()+"}\nrespond next 299")

	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	for key := range rules {
		response, err := client.Get("http://" + s.addr + "/" + key)
		if err != nil {
			t.Fatal(err)
		}
		want := "302 " + plainDestination(rules, key, "http://"+s.addr)
		if got := read(t, response).location(); got != want {
			t.Errorf("/%s: got %s, want %s", key, got, want)
		}
	}
}

// plainDestination follows a key by hand, for rulesets without queries, fragments and
// characters that have to be escaped, in which no internal destination lies below a key.
func plainDestination(rules map[string]string, key, origin string) string {
	value := rules[key]
	for strings.HasPrefix(value, "/") {
		next, found := rules[value[1:]]
		if !found {
			return origin + value
		}
		value = next
	}
	if strings.Count(value, "/") == 2 { // a host alone
		value += "/"
	}
	return value
}
