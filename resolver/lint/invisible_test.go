package lint

import (
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestInvisibleCharactersAreWarnedOf(t *testing.T) {
	for name, tt := range map[string]struct{ key, value, message string }{
		"a zero-width space": {"a\u200bb", "/c",
			"the key has the invisible character U+200B; remove it, or write %E2%80%8B if it is meant"},
		"a byte order mark":    {"\ufeffa", "/c", "U+FEFF"},
		"a hard space":         {"a", "https://x.example/a\u00a0b", "the destination has the invisible"},
		"a soft hyphen":        {"a", "https://x.example/soft\u00adhyphen", "U+00AD"},
		"a Hangul filler":      {"a\u3164", "/c", "U+3164"},
		"a joiner after ASCII": {"a\u200db", "/c", "U+200D"},
		"a plain rule":         {"a", "https://x.example/b c", ""},
		"a word with a joiner": {"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "/c", ""},
		"an emoji":             {"\U0001f469\u200d\U0001f4bb\ufe0f", "/c", ""},
		"an escape":            {"a%E2%80%8Bb", "/c", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			rule := resolver.Rule{Key: tt.key, Value: tt.value}
			for _, w := range Rule(rule, resolver.Options{}) {
				if w.Kind == WarnInvisible {
					got += w.Message
				}
			}
			if !strings.Contains(got, tt.message) || tt.message == "" && got != "" {
				t.Errorf("the warning is %q, want %q", got, tt.message)
			}
		})
	}
}
