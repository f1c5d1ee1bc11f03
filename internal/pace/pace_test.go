package pace

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWorkRestsWhenItsTurnIsOver(t *testing.T) {
	for name, tt := range map[string]struct {
		pacer func() *Pacer
		begin bool
		rests bool
	}{
		"a pacer":                      {New, false, true},
		"one for later":                {Later, false, false},
		"one for later that has begun": {Later, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := tt.pacer()
				if tt.begin {
					p.Begin()
				}
				start := time.Now()
				p.Pause() // in its turn
				if rest := time.Since(start); rest != 0 {
					t.Errorf("it rested for %v in its turn", rest)
				}
				time.Sleep(turnTime)
				start = time.Now()
				p.Pause()
				if rest := time.Since(start); (rest > 0) != tt.rests {
					t.Errorf("it rested for %v", rest)
				}
			})
		})
	}
}
