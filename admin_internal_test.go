package shortlink

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// One such list takes hundreds of megabytes where there are millions of rules.
func TestTheAdminEndpointSearchesBackwardsForOneClientAtATime(t *testing.T) {
	ruleset, err := resolver.Compile([]resolver.Rule{{Key: "a", Value: "https://example.com"}}, resolver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &Ruleset{shared: new(shared)}
	h.shared.serving.Store(&loaded{ruleset: ruleset})
	a := new(Admin).CaddyModule().New().(*Admin)
	a.reversing <- struct{}{} // for another client
	ctx, leave := context.WithCancel(t.Context())
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, "GET", "/shortlink/links/reverse?url=https://example.com", nil)
	answer := make(chan error)
	go func() { answer <- a.reverseURL(w, r, h) }()
	leave()
	if err := <-answer; !errors.Is(err, errGone) || w.Body.Len() > 0 {
		t.Errorf("who has not waited gets %v and %s", err, w.Body)
	}
	<-a.reversing
	r = r.WithContext(t.Context())
	if err := a.reverseURL(w, r, h); err != nil || !strings.Contains(w.Body.String(), `"path":"/a"`) {
		t.Errorf("who has waited gets %v and %s", err, w.Body)
	}
}
