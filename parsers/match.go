package parsers

import "bytes"

// matcher finds the first of several literals in a block of text, in one pass
// (Wu and Manber: the shift of a block of two bytes says how far the window may
// move). Literals shorter than two bytes are not allowed.
type matcher struct {
	literals [][]byte
	shortest int
	shift    []uint8          // by the two bytes at the window's end
	bucket   map[uint16][]int // literals whose window ends in these two bytes
}

func newMatcher(literals []string) *matcher {
	m := &matcher{shift: make([]uint8, 1<<16), bucket: map[uint16][]int{}}
	seen := map[string]bool{}
	for _, s := range literals {
		if len(s) < 2 {
			panic("matcher: literal too short: " + s)
		}
		if !seen[s] {
			seen[s] = true
			m.literals = append(m.literals, []byte(s))
			if m.shortest == 0 || len(s) < m.shortest {
				m.shortest = len(s)
			}
		}
	}
	m.shortest = min(m.shortest, 200)
	for i := range m.shift {
		m.shift[i] = uint8(max(1, m.shortest-1))
	}
	for i, lit := range m.literals {
		for j := 1; j < m.shortest; j++ {
			pair := uint16(lit[j-1])<<8 | uint16(lit[j])
			m.shift[pair] = min(m.shift[pair], uint8(m.shortest-1-j))
			if j == m.shortest-1 {
				m.bucket[pair] = append(m.bucket[pair], i)
			}
		}
	}
	return m
}

// find returns the offset of the first literal that ends soonest in text, or -1.
func (m *matcher) find(text []byte) int {
	if len(m.literals) == 0 {
		return -1
	}
	for end := m.shortest - 1; end < len(text); {
		pair := uint16(text[end-1])<<8 | uint16(text[end])
		if s := m.shift[pair]; s > 0 {
			end += int(s)
			continue
		}
		at := end - m.shortest + 1
		for _, i := range m.bucket[pair] {
			if bytes.HasPrefix(text[at:], m.literals[i]) {
				return at
			}
		}
		end++
	}
	return -1
}

// each calls f with the number of every literal that stands in text and its offset,
// once for each place.
func (m *matcher) each(text []byte, f func(literal, off int)) {
	if len(m.literals) == 0 {
		return
	}
	for end := m.shortest - 1; end < len(text); {
		pair := uint16(text[end-1])<<8 | uint16(text[end])
		if s := m.shift[pair]; s > 0 {
			end += int(s)
			continue
		}
		at := end - m.shortest + 1
		for _, i := range m.bucket[pair] {
			if bytes.HasPrefix(text[at:], m.literals[i]) {
				f(i, at)
			}
		}
		end++
	}
}
