package admin

import (
	"context"
	"errors"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/live"
)

// One such list takes hundreds of megabytes where there are millions of rules.
func TestTheAdminEndpointSearchesBackwardsForOneClientAtATime(t *testing.T) {
	a := new(API).CaddyModule().New().(*API)
	done, err := a.takeTurn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	answer := make(chan error)
	take := func(ctx context.Context) {
		_, err := a.takeTurn(ctx)
		answer <- err
	}
	go take(ctx)
	leave()
	if err := <-answer; !errors.Is(err, live.ErrGone) {
		t.Errorf("who has not waited gets %v", err)
	}
	go take(t.Context())
	done()
	if err := <-answer; err != nil {
		t.Errorf("who has waited gets %v", err)
	}
}
