package resolver

import (
	"errors"
	"testing"
)

func TestABadOptionIsRefusedWithAdvice(t *testing.T) {
	over, under := 256, -1
	const origin = `; write scheme and host alone, like https://go.example`
	const host = `; write a host like example.com, or *.example.com for one label before it`
	for _, test := range []struct {
		name string
		opts Options
		want string
	}{
		{"a status that is none", Options{Status: 200},
			`status: 200 is not the status of a redirect; write 301, 302, 303, 307 or 308`},
		{"an unknown way to combine queries", Options{Query: 4},
			`query: it is merge, preserve or ignore`},
		{"a limit above the draft's", Options{MaxRedirects: &over},
			`max_redirects: the limit can be lowered, not raised; write a number from 0 to 255`},
		{"a limit below none", Options{MaxRedirects: &under},
			`max_redirects: the limit can be lowered, not raised; write a number from 0 to 255`},
		{"an allowed host with a path", Options{AllowHosts: []string{"x.example/a"}},
			`allow_hosts: "x.example/a" is more than a host` + host},
		{"an allowed host with a port", Options{AllowHosts: []string{"x.example:80"}},
			`allow_hosts: "x.example:80" is not a host: the host contains ":"` + host},
		{"a star inside a label", Options{AllowHosts: []string{"a*.example"}},
			`allow_hosts: "a*.example" has a "*" that is not a whole label` + host},
		{"a star alone", Options{AllowHosts: []string{"*"}},
			`allow_hosts: "*" stands for one label only; to allow every host leave the option out`},
		{"an allowed host that is empty", Options{AllowHosts: []string{""}},
			`allow_hosts: "" is not a host: the host is missing` + host},
		{"an origin without a scheme", Options{Origin: "go.example"},
			`origin: "go.example" does not begin with http:// or https://` + origin},
		{"an origin with a path", Options{Origin: "https://go.example/a"},
			`origin: "https://go.example/a" holds more than an origin` + origin},
		{"an origin with a user name", Options{Origin: "https://ann@go.example"},
			`origin: "https://ann@go.example" holds more than an origin` + origin},
		{"an origin with a bare question mark", Options{Origin: "https://go.example?"},
			`origin: "https://go.example?" holds more than an origin` + origin},
		{"an origin that is no URL", Options{Origin: "https://go example"},
			`origin: "https://go example" is not a URL: the host contains a space` + origin},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := NewCompiler(test.opts)
			if err == nil || err.Error() != test.want {
				t.Errorf("%v\nwant %s", err, test.want)
			}
		})
	}
}

func TestEverythingThatIsWrongWithTheOptionsIsReportedAtOnce(t *testing.T) {
	limit := 1000
	_, err := Compile([]Rule{{Key: "/", Value: ""}}, Options{
		Status: 299, Query: 9, MaxRedirects: &limit, AllowHosts: []string{"x.example", "a b",
			"*.*x"}, Origin: "ftp://x",
	})
	errs, ok := errors.AsType[OptionErrors](err)
	if !ok {
		t.Fatalf("%T", err)
	}
	var options []string
	for _, e := range errs {
		options = append(options, e.Option)
	}
	want := []string{"status", "query", "max_redirects", "allow_hosts", "allow_hosts", "origin"}
	if len(options) != len(want) {
		t.Fatalf("errors of %v, want %v", options, want)
	}
	for i := range want {
		if options[i] != want[i] {
			t.Errorf("errors of %v, want %v", options, want)
		}
	}
}

func TestOnlyAllowedHostsMayBeNamed(t *testing.T) {
	for _, test := range []struct {
		name, pattern, url string
		allowed            bool
	}{
		{"the host itself", "x.example", "https://x.example/a", true},
		{"another host", "x.example", "https://y.example", false},
		{"a host below it", "x.example", "https://a.x.example", false},
		{"a host that only ends alike", "x.example", "https://notx.example", false},
		{"the host on any port", "x.example", "http://x.example:8080", true},
		{"the host in another case", "X.Example", "https://x.eXAMPLE", true},
		{"the host with a user name in front", "x.example", "https://y.example@x.example", true},
		{"another host with it as a user name", "x.example", "https://x.example@y.example", false},
		{"the host with a dot at its end", "x.example", "https://x.example.", false},
		{"one label for a star", "*.x.example", "https://a.x.example", true},
		{"two labels for a star", "*.x.example", "https://a.b.x.example", false},
		{"no label for a star", "*.x.example", "https://x.example", false},
		{"another host for a star", "*.x.example", "https://a.y.example", false},
		{"a star between labels", "a.*.example", "https://a.b.example", true},
		{"two stars", "*.*.example", "https://a.b.example", true},
		{"a host beyond ASCII, written in ASCII", "bücher.example", "https://xn--bcher-kva.example",
			true},
		{"a host beyond ASCII, as it is read", "xn--bcher-kva.example", "https://BÜCHER.example",
			true},
		{"a star before a host beyond ASCII", "*.bücher.example", "https://a.xn--bcher-kva.example",
			true},
		{"an IPv4 address in another spelling", "127.0.0.1", "https://0x7f.1", true},
		{"an IPv6 address in another spelling", "[::1]", "https://[0:0:0:0:0:0:0:1]", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			rules := []Rule{{Key: "k", Value: test.url}, {Key: "internal", Value: "/x"}}
			_, err := Compile(rules, Options{AllowHosts: []string{"other.example", test.pattern}})
			if test.allowed != (err == nil) || err != nil && !errors.Is(err, ErrHostNotAllowed) {
				t.Errorf("%s with %s: %v", test.url, test.pattern, err)
			}
		})
	}
}

func TestAHostThatIsNotAllowedIsRefusedWithItsPlaceAndAdvice(t *testing.T) {
	_, err := Compile([]Rule{{Key: "k", Value: "https://Evil.test:81/x", Position: at}},
		Options{AllowHosts: []string{"x.example"}})
	const want = where + `"k": the host "evil.test" is not one of allow_hosts; add it there, or change the destination`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestTheOriginOptionIsTheOriginOfInternalDestinationsAlone(t *testing.T) {
	rules := []Rule{{Key: "in", Value: "/x"}, {Key: "out", Value: "https://x.example"}}
	rs := mustCompile(t, rules, Options{Origin: "https://Go.example:443/"})
	for request, want := range map[string]string{
		"http://other.example:8080/in/a": "https://go.example/x/a",
		"http://other.example/out":       "https://x.example/",
	} {
		if got, _ := resolve(rs, request); got != want {
			t.Errorf("%s leads to %q, want %q", request, got, want)
		}
	}
}

func TestARequestWithoutAnOriginIsAnsweredWhereNoneIsNeeded(t *testing.T) {
	rules := []Rule{{Key: "in", Value: "/x"}, {Key: "out", Value: "https://x.example"},
		{Key: "chain", Value: "/out/y"}}
	rs := mustCompile(t, rules, Options{})
	withOrigin := mustCompile(t, rules, Options{Origin: "https://go.example"})
	for _, host := range []string{"", "a b", "a/b", "u@h", "h:99999", "[::1", "%00"} {
		t.Run(quote(host), func(t *testing.T) {
			dst, result := rs.AppendDestination(nil, requestTo(host, "/in"))
			if len(dst) > 0 || !errors.Is(result.Err, ErrNoOrigin) || result.Key != "in" {
				t.Errorf("in is %q %+v", dst, result)
			}
			if dst, _ := rs.AppendDestination(nil,
				requestTo(host, "/out")); string(dst) != "https://x.example/" {
				t.Errorf("out leads to %q", dst)
			}
			if dst, _ := rs.AppendDestination(nil,
				requestTo(host, "/chain")); string(dst) != "https://x.example/y" {
				t.Errorf("chain leads to %q", dst)
			}
			if dst, _ := withOrigin.AppendDestination(nil,
				requestTo(host, "/in")); string(dst) != "https://go.example/x" {
				t.Errorf("in leads to %q with an origin", dst)
			}
		})
	}
}

func TestAQueryModeIsReadAsItIsWritten(t *testing.T) {
	for _, mode := range []QueryMode{QueryMerge, QueryPreserve, QueryIgnore} {
		if got, err := ParseQueryMode(mode.String()); got != mode || err != nil {
			t.Errorf("%v is read as %v, %v", mode, got, err)
		}
	}
	if mode, err := ParseQueryMode(""); mode != QueryMerge || err != nil {
		t.Errorf("nothing is read as %v, %v", mode, err)
	}
	const want = `query takes merge, preserve or ignore, not "drop"`
	if _, err := ParseQueryMode("drop"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
