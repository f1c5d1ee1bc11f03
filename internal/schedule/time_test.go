package schedule

import "testing"

func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"2027-03-01", "2027-03-01T18:00:00+01:00", "2027-03-01 10:00", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := ParseTime(text)
		if err != nil {
			return
		}
		again, err := ParseTime(at.String())
		if err != nil || again != at {
			t.Errorf("%q is written as %s: %v", text, at, err)
		}
	})
}
