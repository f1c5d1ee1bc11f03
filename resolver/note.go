package resolver

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// maxNote is the length of the longest note, in bytes.
const maxNote = 500

// checkNote says what is wrong with a note and what to write instead.
func checkNote(note string) error {
	switch {
	case len(note) > maxNote:
		return fmt.Errorf("note: it has %d bytes, and may have %d; shorten it", len(note), maxNote)
	case !utf8.ValidString(note):
		return errors.New("note: it is no valid UTF-8; write it as UTF-8")
	case hasControl(note):
		return errors.New("note: it is one line, without control characters; write a space for a " +
			"line end or a tab")
	}
	return nil
}
