package shortlink

import "time"

// pacer lets requests run while rules are loaded: work in short turns, a rest after each. A rest is a
// sleep, since only an idle processor looks at the network at once.
type pacer struct {
	began time.Time // the turn
}

const (
	turnTime = time.Millisecond
	restTime = 50 * time.Microsecond
)

func newPacer() *pacer { return &pacer{time.Now()} }

// pause rests when the turn is over.
func (p *pacer) pause() {
	if time.Since(p.began) >= turnTime {
		time.Sleep(restTime)
		p.began = time.Now()
	}
}
