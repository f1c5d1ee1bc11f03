package weburl

import (
	"slices"
	"testing"
)

func TestAQueryIsReadAsURLSearchParamsReadsIt(t *testing.T) {
	for query, want := range map[string]Params{
		"":                 nil,
		"?":                nil,
		"&&":               nil,
		"a=b":              {{"a", "b"}},
		"?a=b":             {{"a", "b"}},
		"??a":              {{"?a", ""}},
		"&a&&b=&=c&=&":     {{"a", ""}, {"b", ""}, {"", "c"}, {"", ""}},
		"a=b=c":            {{"a", "b=c"}},
		"a;b=c":            {{"a;b", "c"}},
		"a+b=%2B+%20":      {{"a b", "+  "}},
		"%=%2&%zz=%%2a":    {{"%", "%2"}, {"%zz", "%*"}},
		"a=%E2%82":         {{"a", "\uFFFD"}},
		"a=%ED%A0%80":      {{"a", "\uFFFD\uFFFD\uFFFD"}},
		"a=%C0%80":         {{"a", "\uFFFD\uFFFD"}},
		"a=%F0%9F%92b":     {{"a", "\uFFFDb"}},
		"%EF%BB%BFa=é%c3a": {{"\uFEFFa", "é\uFFFDa"}},
		"a=\xe2%82%ac":     {{"a", "\uFFFD\uFFFD\uFFFD"}},
		"a=%e2\x82\xac":    {{"a", "\uFFFD\uFFFD\uFFFD"}},
		"a=%26&b=%3D":      {{"a", "&"}, {"b", "="}},
		"#a=b":             {{"#a", "b"}},
	} {
		if got := ParseParams(query); !slices.Equal(got, want) {
			t.Errorf("%q is %+q, want %+q", query, got, want)
		}
	}
}

func TestSetReplacesTheFirstOfANameInPlaceAndRemovesTheOthers(t *testing.T) {
	for _, test := range []struct{ query, name, value, want string }{
		{"", "a", "1", "a=1"},
		{"b=2", "a", "1", "b=2&a=1"},
		{"a=0&b=2&%61=3", "a", "1", "a=1&b=2"},
		{"A=0", "a", "1", "A=0&a=1"},
		{"e%CC%81=0", "\u00E9", "1", "e%CC%81=0&%C3%A9=1"},
		{"=0", "", "", "="},
		{"%FF=0", "\xfe", "\xff", "%EF%BF%BD=%EF%BF%BD"},
	} {
		params := ParseParams(test.query)
		params.Set(test.name, test.value)
		if got := params.String(); got != test.want {
			t.Errorf("%q with %q=%q is %q, want %q", test.query, test.name, test.value, got, test.want)
		}
	}
}

func TestParametersAreWrittenAsToStringWritesThem(t *testing.T) {
	params := Params{{"a b+", "~!'(),/*-._"}, {"é\xe2\x82", ""}, {"", "=&%#"}}
	const want = "a+b%2B=%7E%21%27%28%29%2C%2F*-._&%C3%A9%EF%BF%BD=&=%3D%26%25%23"
	if got := params.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
