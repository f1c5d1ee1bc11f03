package live

import (
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/source"
)

// Progress is how far rules have been read or scanned.
type Progress struct {
	Rules     int
	Done, All int64 // work, in any unit; All is 0 if it is not known
}

// meter follows the reading of rules and reports its progress.
type meter struct {
	tell     func(Progress)
	measured []source.Measured // all sources, or nil if one has no known size
	reached  Progress
	// inline is how many rules need not be read.
	inline int
}

// newMeter returns the meter of a load of all rules, or nil if tell is nil.
func newMeter(of *loading, tell func(Progress)) *meter {
	if tell == nil {
		return nil
	}
	m := &meter{tell: tell, inline: len(of.rs.Rules)}
	for _, from := range of.sources {
		measured, _ := from.(source.Measured)
		size := int64(0)
		if measured != nil {
			size = measured.Size(of.ctx)
		}
		if size == 0 {
			m.measured, m.reached.All = nil, 0
			break
		}
		m.measured = append(m.measured, measured)
		m.reached.All += size
	}
	return m
}

// read records how many rules have been read of the sources.
func (m *meter) read(rules int) {
	if m == nil {
		return
	}
	m.reached.Rules, m.reached.Done = m.inline+rules, 0
	for _, from := range m.measured {
		m.reached.Done += from.Done()
	}
	m.tell(m.reached)
}

// compiled records that all rules have been read, and some compiled.
func (m *meter) compiled() {
	if m != nil {
		m.tell(m.reached)
	}
}

// looked records how far a scan of all compiled rules has come.
func (m *meter) looked(rules, done, of int) {
	if m != nil && of > 0 {
		m.tell(Progress{Rules: rules * done / of, Done: int64(done), All: int64(of)})
	}
}

// A start with many rules is reported every few seconds.
const (
	manyRules   = 100_000
	tellingTime = 5 * time.Second
)

// startMeter returns the meter of a start, which writes to the log.
func startMeter(of *loading) *meter {
	told := time.Now()
	return newMeter(of, func(p Progress) {
		if p.Rules < manyRules || time.Since(told) < tellingTime {
			return
		}
		told = time.Now()
		fields := []zap.Field{zap.Int("rules", p.Rules)}
		if p.All > 0 {
			fields = append(fields, zap.Int64("percent", min(100, p.Done*100/p.All)))
		}
		of.rs.logger.Info("reading rules", fields...)
	})
}
