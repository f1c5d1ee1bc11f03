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

func TestATimeThatCannotBeWrittenAgainIsRefused(t *testing.T) {
	for _, text := range []string{
		"9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01",
		"2027-03-01T18:00:00+24:00", "2027-03-01T18:00:00+23:60",
		"2027-03-01T1:00:00Z", "2027-03-01T18:00:00,0Z", "2026-12-31T23:59:60Z",
	} {
		if at, err := ParseTime(text); err == nil {
			t.Errorf("%s is read as %s", text, at)
		}
	}
	for _, text := range []string{"9999-12-31T23:59:59Z", "0000-01-01", "2027-03-01T18:00:00+23:59"} {
		if _, err := ParseTime(text); err != nil {
			t.Error(err)
		}
	}
}
