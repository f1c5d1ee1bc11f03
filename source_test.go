package shortlink_test

import "testing"

func TestASourceOfAThirdPartyIsServedAndFollowed(t *testing.T) {
	writeWords("alpha")
	s := serve(t, "shortlink {\n from example_words https://example.com/words/\n }\n respond next 299")
	s.eventually(t, "/alpha/x", "302 https://example.com/words/alpha/x")
	writeWords("beta")
	s.eventually(t, "/beta", "302 https://example.com/words/beta")
	s.eventually(t, "/alpha", "299")
}
