package coverage

import "bytes"

// scanner goes over an object of JSON without building anything: logs are large, and few of their
// members count. What it passes over need not be JSON to the letter.
type scanner struct {
	b  []byte
	at int
}

// scanLine takes from an object what counts. ok is false if that is not one whole object.
func scanLine(object []byte) (l jsonLine, ok bool) {
	s := scanner{b: object}
	ok = s.members(func(name []byte) bool {
		switch string(name) {
		case "request":
			if s.peek() != '{' {
				return s.skip()
			}
			l.hasRequest = true
			return s.members(func(name []byte) bool { return s.requestMember(&l, name) })
		case "logger":
			return s.text(&l.logger)
		case "level", "msg":
			l.isLog = true
		case "status":
			return s.number(&l.status)
		case "url", "uri", "path":
			if l.url == nil {
				return s.text(&l.url)
			}
		case "count", "requests", "hits":
			return s.numberText(&l.count)
		case "ts":
			return s.numberText(&l.time)
		}
		return s.skip()
	})
	return l, ok && s.peek() == 0 && s.at == len(s.b)
}

// requestMember takes a member of the request.
func (s *scanner) requestMember(l *jsonLine, name []byte) bool {
	switch string(name) {
	case "method":
		return s.text(&l.method)
	case "host":
		return s.text(&l.host)
	case "uri":
		return s.text(&l.uri)
	}
	return s.skip()
}

// peek passes over white space, and returns the byte behind it, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.b); s.at++ {
		switch c := s.b[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// take passes over a byte, if it is the next one.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

// members calls read with the name of each member of an object, to pass over its value.
func (s *scanner) members(read func(name []byte) bool) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		name, ok := s.string()
		if !ok || !s.take(':') || !read(name) {
			return false
		}
		if s.take('}') {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

// string returns what a string holds, with its escapes.
func (s *scanner) string() (held []byte, ok bool) {
	if !s.take('"') {
		return nil, false
	}
	for start := s.at; ; s.at++ {
		i := bytes.IndexByte(s.b[s.at:], '"')
		if i < 0 {
			return nil, false
		}
		s.at += i
		escapes := 0
		for s.at-escapes > start && s.b[s.at-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			s.at++
			return s.b[start : s.at-1], true
		}
	}
}

// text takes a string, and passes over any other value.
func (s *scanner) text(to *[]byte) bool {
	if s.peek() != '"' {
		return s.skip()
	}
	held, ok := s.string()
	*to = held
	return ok
}

// number takes a number of few digits, and passes over any other value.
func (s *scanner) number(to *int) bool {
	s.peek()
	start := s.at
	n := 0
	for ; s.at < len(s.b) && s.at < start+3 && '0' <= s.b[s.at] && s.b[s.at] <= '9'; s.at++ {
		n = 10*n + int(s.b[s.at]-'0')
	}
	if end := s.peek(); end == ',' || end == '}' {
		*to = n
		return s.at > start
	}
	s.at = start
	return s.skip()
}

// numberText takes a number as it is written, also in quotation marks.
func (s *scanner) numberText(to *[]byte) bool {
	start := s.at
	ok := s.skip()
	*to = bytes.Trim(s.b[start:s.at], "\" \t")
	return ok
}

// skip passes over a value: to the comma or the brace behind it.
func (s *scanner) skip() bool {
	depth := 0
	s.peek()
	for start := s.at; s.at < len(s.b); s.at++ {
		switch s.b[s.at] {
		case '"':
			if _, ok := s.string(); !ok {
				return false
			}
			s.at--
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return s.at > start
			}
			depth--
		case ',':
			if depth == 0 {
				return s.at > start
			}
		}
	}
	return false
}
