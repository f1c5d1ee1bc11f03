package redis

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestPausesGrowFromATenthOfASecondToLessThanOne(t *testing.T) {
	var b backoff
	for i, most := range []time.Duration{100, 200, 400, 800, 800, 800} {
		most *= time.Millisecond
		if pause := b.next(); pause < most/2 || pause > most {
			t.Errorf("pause %d is %v, not between half of %v and all of it", i, pause, most)
		}
	}
	b.reset()
	if pause := b.next(); pause > firstPause {
		t.Errorf("after a success the pause is %v", pause)
	}
}

func TestAFleetDoesNotComeBackAllAtOnce(t *testing.T) {
	pauses := make(map[time.Duration]bool)
	for range 20 {
		pauses[new(backoff).next()] = true
	}
	if len(pauses) < 2 {
		t.Error("all wait equally long")
	}
}

func TestWaitingEndsWithTheContextOrThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		wait(ctx, 300*time.Millisecond)
		if took := time.Since(begun); took != 300*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		wait(ctx, time.Hour)
		if took := time.Since(begun); took != time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestAPauseEndsWhenTheServerHasAnsweredSomebodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Source{answered: newSignal()}
		s.reached(t.Context(), nil) // before the connection was lost
		w := &watch{source: s}
		go func() {
			time.Sleep(firstPause / 4)
			s.reached(t.Context(), nil) // as an edit is made
		}()
		begun := time.Now()
		w.rest(t.Context())
		if took := time.Since(begun); took != firstPause/4 {
			t.Errorf("it took %v", took)
		}
	})
}
