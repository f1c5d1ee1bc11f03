package resolver

import (
	"testing"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// requestTo is a request as a server has it.
func requestTo(host, target string) *Request {
	request, ok := NewRequest("https", host, target)
	if !ok {
		panic(target)
	}
	request.OverHTTP = true
	return &request
}

func TestATargetWithTwoSlashesIsAPathOfThisHost(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "evil.test", Value: "https://x.example"},
		{Key: "home", Value: "/"}}, Options{})
	for target, want := range map[string]string{
		"//evil.test/x":        "",
		"/home//evil.test":     "https://go.example//evil.test",
		"/home///evil.test":    "https://go.example///evil.test",
		"/evil.test/home":      "https://x.example/home",
		`/home/\evil.test`:     "https://go.example//evil.test",
		"/home/%2Fevil.test":   "https://go.example/%2Fevil.test",
		"/home/@evil.test":     "https://go.example/@evil.test",
		"/home/https://e.test": "https://go.example/https://e.test",
	} {
		if dst, _ := rs.AppendDestination(nil,
			requestTo("go.example", target)); string(dst) != want {
			t.Errorf("%s leads to %q, want %q", target, dst, want)
		}
	}
}

func TestOverHTTPAFragmentAloneMakesNoOtherDestination(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "a", Value: "https://go.example/a#top"}}, Options{})
	request := requestTo("go.example", "/a")
	if dst, result := rs.AppendDestination(nil, request); len(dst) > 0 || result.Outcome != Pass ||
		result.Key != "a" {
		t.Errorf("over HTTP: %q %+v", dst, result)
	}
	request.OverHTTP = false
	if dst, result := rs.AppendDestination(nil,
		request); string(dst) != "https://go.example/a#top" || result.Outcome != Redirect {
		t.Errorf("in the library: %q %+v", dst, result)
	}
}

func TestTheRequestIsComparedAsTheClientAskedForIt(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "a", Value: "/go/a"}, {Key: "b", Value: "/b2"}}, Options{})
	for _, test := range []struct {
		name, target, asked string
		want                string
	}{
		{"the destination is what the client asked for", "/a", "/go/a", ""},
		{"the destination is only what matched", "/b2", "/go/b2", ""},
		{"the destination is another path", "/b", "/go/b", "https://go.example/b2"},
		{"another query was asked for", "/a", "/go/a?x", "https://go.example/go/a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := requestTo("go.example", test.target)
			request.Asked = requestTo("go.example", test.asked).Target
			if dst, _ := rs.AppendDestination(nil, request); string(dst) != test.want {
				t.Errorf("%q, want %q", dst, test.want)
			}
		})
	}
}

func TestTheDestinationIsAppendedAndTheBufferIsLeftAloneOtherwise(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "a", Value: "https://x.example"}, {Key: "l", Value: "/l"}},
		Options{})
	for target, want := range map[string]string{
		"/a/%41?b=c":    "Location: https://x.example/%41?b=c",
		"/none":         "Location: ",
		"/l":            "Location: ",
		"/a/%2e%2e%2fb": "Location: ",
	} {
		buffer := append(make([]byte, 0, 256), "Location: "...)
		if dst, _ := rs.AppendDestination(buffer,
			requestTo("go.example", target)); string(dst) != want {
			t.Errorf("%s: %q, want %q", target, dst, want)
		}
		if string(buffer) != "Location: " {
			t.Errorf("%s: the buffer is %q", target, buffer)
		}
	}
}

func TestARequestForNoPathPasses(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "a", Value: "/b"}}, Options{})
	for _, pathname := range []string{"", "/"} {
		request := &Request{Scheme: "https", Host: "go.example",
			Target: weburl.Target{Pathname: pathname}}
		if dst, result := rs.AppendDestination(nil, request); len(dst) > 0 || result != (Result{}) {
			t.Errorf("%q: %q %+v", pathname, dst, result)
		}
	}
}

func TestATargetThatIsNoPathMakesNoRequest(t *testing.T) {
	for _, target := range []string{"", "*", "go.example:443", "https://go.example/a", "?a", `\a`} {
		if request, ok := NewRequest("https", "go.example", target); ok {
			t.Errorf("%q makes %+v", target, request)
		}
	}
	if request, ok := NewRequest("https", "go.example", "/a/./b?c#d"); !ok ||
		request.Target != (weburl.Target{Pathname: "/a/b", Search: "?c", Hash: "#d"}) {
		t.Errorf("%+v", request)
	}
}
