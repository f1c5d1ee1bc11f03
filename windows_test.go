package shortlink_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink"
)

// adaptBlock returns the rules of a directive's block as JSON, or what is wrong with it.
func adaptBlock(t *testing.T, lines string) string {
	t.Helper()
	h := new(shortlink.Handler)
	err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser("shortlink {\n" + lines + "\n}"))
	if err != nil {
		return err.Error()
	}
	b, err := json.Marshal(h.Rules)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &h.Rules); err != nil {
		t.Errorf("it is not read again: %v", err)
	}
	return string(b)
}

func TestALineSaysWhatAKeyLeadsToAtWhichTime(t *testing.T) {
	for line, want := range map[string]string{
		"fair /register until 2027-03-01 then https://video.example until 2027-06-01 then gone": `{"fair":` +
			`[{"to":"/register","until":"2027-03-01"},` +
			`{"to":"https://video.example","since":"2027-03-01","until":"2027-06-01"},` +
			`{"to":"gone","since":"2027-06-01"}]}`,
		"sale /sale 301 since 2027-03-20T18:00:00+01:00 exact": `{"sale":{"to":"/sale","status":301,` +
			`"exact":true,"since":"2027-03-20T17:00:00Z"}}`,
		"a /b until 2027-03-01 then /c since 2027-04-01": `{"a":[{"to":"/b","until":"2027-03-01"},` +
			`{"to":"/c","since":"2027-04-01"}]}`,
		"rule then /then until 2027-03-01": `{"then":{"to":"/then","until":"2027-03-01"}}`,
		"{year}/x /{year} until 2027-03-01 then /old/{year}": `{"{year}/x":[{"to":"/{year}","until":` +
			`"2027-03-01"},{"to":"/old/{year}","since":"2027-03-01"}]}`,
	} {
		if got := adaptBlock(t, line); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", line, got, want)
		}
	}
}

func TestALineSaysWhatIsWrongWithItsTimes(t *testing.T) {
	for line, want := range map[string]string{
		"a /b until": `key "a": until takes a time, such as until 2027-03-01`,
		"a /b until 2027-03-01T10:00:00": `key "a": until takes a time; 2027-03-01T10:00:00 has no zone; ` +
			"write 2027-03-01T10:00:00Z for UTC, or a zone such as +01:00 in place of the Z",
		"a /b since 2027-03-02 until 2027-03-01": `key "a": until is 2027-03-01, which is not after ` +
			"since, 2027-03-02; write a later until, or an earlier since",
		"a /b then /c": `key "a": then follows a destination that ends; write until and a time in front ` +
			"of it, such as until 2027-03-01",
		"a /b until 2027-03-01 then": `key "a": then takes a destination, which begins with https://, ` +
			`http:// or /, or the word gone or pass, not ""`,
		"a /b until 2027-03-01 then /c since 2027-02-01": `key "a": it begins at 2027-02-01, and the ` +
			"rule in front of it lasts until 2027-03-01; let one begin when the other ends",
		"a /b until 2027-03-01 until 2027-04-01": `key "a": until is given twice`,
		"a /b until 2027-03-01 then https://": `key "a": the destination "https://" is not a URL: the ` +
			`host is missing`,
	} {
		if got := adaptBlock(t, line); !strings.HasSuffix(got, want) || !strings.Contains(got, ":2") {
			t.Errorf("%s\ngot  %s\nwant %s", line, got, want)
		}
	}
}
