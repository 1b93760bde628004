package parsers

// interner keeps one copy of each of the names that repeat in an input: users,
// databases, tables. Beyond its bound it copies like anyone else.
type interner struct {
	m     map[string]string
	front *[256]string // those asked for last, by their slots
}

const internBound = 4096

// of returns b as a string.
func (n *interner) of(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if n.front == nil {
		n.m, n.front = map[string]string{}, new([256]string)
	}
	last := &n.front[slot(b)]
	if *last == string(b) {
		return *last
	}
	if s, ok := n.m[string(b)]; ok {
		*last = s
		return s
	}
	s := string(b)
	if len(s) > 128 || len(n.m) >= internBound {
		return s
	}
	n.m[s] = s
	*last = s
	return s
}

// text returns s, or the copy that is kept of it.
func (n *interner) text(s string) string {
	if k, ok := n.m[s]; ok {
		return k
	}
	return n.of([]byte(s))
}
