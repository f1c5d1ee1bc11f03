package redirects

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// destination is the destination of a line, split at its query and its fragment.
type destination struct {
	parts      [3][]Piece // including "?" and "#"
	isInternal bool
}

// The parts of a destination. The path includes scheme and host.
const (
	inPath = iota
	inQuery
	inFragment
)

var (
	errInHost = errors.New("a placeholder is in the host of the destination, which no " +
		"request may choose; write a line for each host")
	errSlashBehindSpan = errors.New("a path with \"*\" in its middle cannot end in a slash; write " +
		"a line for each path")
	errNotCaptured = errors.New("the destination uses a part of the path that is not captured")
)

// newDestination splits the destination of a path that captures these variables.
func newDestination(to []Piece, captured []string) (d destination, err error) {
	d.isInternal = len(to) == 0 || to[0].Variable != "" || !IsURL(to[0].Text)
	hostAhead := !d.isInternal
	part := inPath
	for i, p := range to {
		switch {
		case p.Variable == "":
			behindScheme := p.Text
			if i == 0 {
				_, behindScheme, _ = strings.Cut(p.Text, "://")
			}
			hostAhead = hostAhead && !strings.ContainsAny(behindScheme, "/?#")
			part = d.addText(p.Text, part)
		case !slices.Contains(captured, p.Variable):
			return d, errNotCaptured
		case hostAhead:
			return d, errInHost
		default:
			d.parts[part] = append(d.parts[part], p)
		}
	}
	return d, nil
}

// addText adds text, and returns the part in which it ends.
func (d *destination) addText(text string, part int) int {
	ends := [...]string{inPath: "?#", inQuery: "#", inFragment: ""}
	for {
		end := indexAny(text, ends[part])
		if end > 0 {
			d.parts[part] = append(d.parts[part], Piece{Text: text[:end]})
		}
		if text = text[end:]; text == "" {
			return part
		}
		if part = inFragment; text[0] == '?' {
			part = inQuery
		}
	}
}

// has reports whether a destination has a query or a fragment.
func (d *destination) has(part int) bool { return len(d.parts[part]) > 0 }

// indexAny returns the index of the first of some bytes, or the length of the text.
func indexAny(text, bytes string) int {
	if i := strings.IndexAny(text, bytes); i >= 0 {
		return i
	}
	return len(text)
}

// IsURL reports whether a text begins like a URL.
func IsURL(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}

// CutURL cuts a URL into its host and its path.
func CutURL(text string) (host, path string, isURL bool) {
	if !IsURL(text) {
		return "", "", false
	}
	_, rest, _ := strings.Cut(text, "://")
	end := indexAny(rest, "/?#")
	return rest[:end], cmp.Or(rest[end:], "/"), true
}

// DestinationText returns a destination as text, with {x} for the variable x.
func DestinationText(pieces []Piece) string {
	if len(pieces) == 1 && pieces[0].Variable == "" {
		return pieces[0].Text
	}
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
		if p.Variable != "" {
			b.WriteString("{" + p.Variable + "}")
		}
	}
	return b.String()
}

// endsInSplat reports whether the destination's path ends in the splat, and has no other.
func (d *destination) endsInSplat() bool {
	path := d.parts[inPath]
	return splatsIn(path) == 1 && path[len(path)-1].Variable == Splat
}

// endsInSplatAlone is endsInSplat without a splat in query and fragment.
func (d *destination) endsInSplatAlone() bool {
	return d.endsInSplat() && splatsIn(d.parts[inQuery])+splatsIn(d.parts[inFragment]) == 0
}

// appendsSplat is endsInSplatAlone for whole segments.
func (d *destination) appendsSplat() bool {
	path := d.parts[inPath]
	return d.endsInSplatAlone() && len(path) > 1 && strings.HasSuffix(path[len(path)-2].Text, "/")
}

// splatsIn counts the splats in a part of a destination.
func splatsIn(part []Piece) (n int) {
	for _, p := range part {
		if p.Variable == Splat {
			n++
		}
	}
	return n
}

// write returns the destination with values for variables. isTemplate says that the key has some.
func (d *destination) write(isTemplate bool, valueOf func(variable string) []Piece) string {
	var b strings.Builder
	isEmpty := false // the previous value
	for part, pieces := range d.parts {
		for i, p := range pieces {
			if p.Variable == "" {
				text := p.Text
				if isTemplate {
					text = bracesEncoded.Replace(text)
				}
				if part == inPath && i > 0 && pieces[i-1].Variable != "" &&
					strings.HasSuffix(b.String(), "/") {
					text = strings.TrimPrefix(text, "/")
				}
				b.WriteString(text)
				isEmpty = false
				continue
			}
			value := valueOf(p.Variable)
			isEmpty = len(value) == 0
			for _, v := range value {
				writeValue(&b, v, part)
			}
		}
	}
	if isEmpty {
		return strings.TrimRight(b.String(), "?#")
	}
	return b.String()
}

// writeValue writes a value. In a query it is encoded, so that it adds no parameter.
func writeValue(b *strings.Builder, v Piece, part int) {
	if part == inPath && strings.HasSuffix(b.String(), "/") {
		v.Text = strings.TrimPrefix(v.Text, "/")
	}
	switch {
	case v.Variable == "":
		b.WriteString(bracesEncoded.Replace(v.Text))
	case part == inQuery:
		b.WriteString("{" + v.Variable + "}")
	default:
		b.WriteString("{+" + v.Variable + "}")
	}
}

// withoutSplat returns the destination for an empty splat.
func (d *destination) withoutSplat() string {
	return d.write(false, func(string) []Piece { return nil })
}

// paths returns the paths that an internal destination can have; ok is false if no key can express
// them. isFront asks for the part before the splat, and all below that.
func (d *destination) paths(isFront bool) (set paths, ok bool) {
	pieces := d.parts[inPath]
	parts := make([]Part, 0, len(pieces))
	isCut := false // the last segment is only partly before it
	for i, p := range pieces {
		if isCut = p.Variable == Splat && isFront; isCut {
			break
		}
		part := Part{Text: p.Text}
		if p.Variable != "" {
			part.Variable = Splat
		}
		if isLast := i == len(pieces)-1; p.Variable == Splat {
			part.Spans = Several
			if before := pieces[max(0, i-1)].Text; isLast && strings.HasSuffix(before, "/") {
				part.Spans = Rest
			} else if isLast {
				part.Spans = One // and all below
				isFront = true
			}
		}
		parts = append(parts, part)
	}
	segments, err := SegmentsOf(parts)
	if n := len(segments); n > 0 && (isCut || segments[n-1] == Segment{}) {
		segments = segments[:n-1] // or a slash at the end
	}
	isWrong := func(s Segment) bool { return s == Segment{} || s.Spans == Several && !isAlone(s) }
	if err != nil || len(segments) >= maxSegments || slices.ContainsFunc(segments, isWrong) {
		return set, false
	}
	set = pathsOf(segments, SlashesIgnored)[0]
	set.below = set.below || isFront
	return set, true
}

func isAlone(s Segment) bool { return s.Before == "" && s.After == "" }

// cutPath splits a destination after its path.
func cutPath(destination string) (path, rest string) {
	end := indexAny(destination, "?#")
	return destination[:end], destination[end:]
}

// goesOn reports whether the destination for paths below a path is that of the path followed by
// what is captured.
func goesOn(itself, below []Piece) bool {
	path, rest := cutPath(DestinationText(itself))
	return strings.TrimSuffix(path, "/")+"/{"+Splat+"}"+rest == DestinationText(below)
}

// HasQuery reports whether a destination has a query.
func HasQuery(destination string) bool {
	before, _, _ := strings.Cut(destination, "#")
	return strings.Contains(before, "?")
}
