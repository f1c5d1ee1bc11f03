package source_test

import (
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestASourceOfAThirdPartyIsServedAndFollowed(t *testing.T) {
	testcaddy.WriteWords("alpha")
	s := testcaddy.Serve(t, "shortlink {\n from example_words https://example.com/words/\n }\n respond next 299")
	s.Eventually(t, "/alpha/x", "302 https://example.com/words/alpha/x")
	testcaddy.WriteWords("beta")
	s.Eventually(t, "/beta", "302 https://example.com/words/beta")
	s.Eventually(t, "/alpha", "299")
}
