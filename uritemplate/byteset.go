package uritemplate

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(c byte)     { s[c>>6] |= 1 << (c & 63) }
func (s byteSet) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }
func (s byteSet) overlaps(t byteSet) bool {
	return s[0]&t[0]|s[1]&t[1]|s[2]&t[2]|s[3]&t[3] != 0
}

func (s byteSet) union(t byteSet) byteSet {
	return byteSet{s[0] | t[0], s[1] | t[1], s[2] | t[2], s[3] | t[3]}
}

// bytes returns all bytes that expansions of the expression can contain.
func (e *Expression) bytes() (s byteSet) {
	allowed := unreserved
	if e.Operator.AllowsReserved() {
		allowed |= reserved
	}
	for c := range 256 {
		if classes[c]&allowed != 0 {
			s.add(byte(c))
		}
	}
	s.add('%')
	s.add(',') // between the members of a list
	s.add(e.Operator.Separator())
	if first := e.Operator.First(); first != 0 {
		s.add(first)
	}
	if e.Operator.Named() || e.hasExploded() {
		s.add('=')
	}
	return s
}

func (e *Expression) hasExploded() bool {
	for _, v := range e.Variables {
		if v.Explode {
			return true
		}
	}
	return false
}

// starts returns the first bytes of all expansions of the parts.
func starts(parts []Part) (s byteSet) {
	for _, part := range parts {
		if part.Expression == nil {
			s.add(part.Literal[0])
			return s
		}
		if first := part.Expression.Operator.First(); first != 0 {
			s.add(first)
		} else {
			s = s.union(part.Expression.bytes())
		}
	}
	return s
}

// ends returns the last bytes of all expansions of the parts.
func ends(parts []Part) (s byteSet) {
	for i := len(parts) - 1; i >= 0; i-- {
		if literal := parts[i].Literal; parts[i].Expression == nil {
			s.add(literal[len(literal)-1])
			return s
		}
		s = s.union(parts[i].Expression.bytes())
	}
	return s
}
