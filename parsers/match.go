package parsers

import (
	"bytes"
	"encoding/binary"
)

// matcher finds any of many literals in a block of text, in one pass.
//
// It is Wu and Manber's: a window as wide as the shortest literal slides over
// the text, and the last three bytes in it tell how far it may move before any
// literal could fit. Of each literal the window holds the part that is rarest in
// logs, so that the window seldom has to stop. Each step waits for the one
// before it, so four windows work on neighbouring pieces of the text at a time.
type matcher struct {
	literals [][]byte
	offset   []int  // of the window within each literal
	width    int    // of the window
	mul      uint32 // of the hash
	shift    [1 << matchBits]uint8
	head     [1 << matchBits]uint16 // 1 + first literal whose window ends in the block
	next     []uint16               // 1 + next of them, by literal
	short    [][]byte               // literals too short for a window of three bytes
}

const (
	matchBits  = 14
	matchPiece = 512
	matchBlock = 3
	minWindow  = matchBlock + 1
	maxWindow  = 64
)

func newMatcher(literals []string) *matcher {
	m := &matcher{}
	seen := map[string]bool{}
	for _, s := range literals {
		if s == "" {
			panic("matcher: empty literal")
		}
		if seen[s] {
			continue
		}
		seen[s] = true
		m.literals = append(m.literals, []byte(s))
		if len(s) < minWindow {
			m.short = append(m.short, []byte(s))
		} else if m.width == 0 || len(s) < m.width {
			m.width = len(s)
		}
	}
	m.width = min(m.width, maxWindow)
	m.offset, m.next = make([]int, len(m.literals)), make([]uint16, len(m.literals))
	if m.width == 0 {
		return m
	}
	common := commonBlocks()
	for i, lit := range m.literals {
		if len(lit) >= minWindow {
			m.offset[i] = rarest(lit, m.width, common)
		}
	}
	// Of some hashes take the one that keeps usual text apart from the literals.
	best, least := uint32(0), -1
	for try := range uint32(48) {
		m.fill(0x9e3779b1 + try*0x3c6ef372)
		if cost := m.cost(common); least < 0 || cost < least {
			best, least = m.mul, cost
		}
	}
	m.fill(best)
	return m
}

// fill makes the tables with a hash.
func (m *matcher) fill(mul uint32) {
	m.mul = mul
	clear(m.head[:])
	for i := range m.shift {
		m.shift[i] = uint8(m.width - matchBlock + 1)
	}
	for i, lit := range m.literals {
		if len(lit) < minWindow {
			continue
		}
		window := lit[m.offset[i] : m.offset[i]+m.width]
		for j := matchBlock - 1; j < len(window); j++ {
			h := blockHash(blockOf(window[j-2:]), mul)
			if left := len(window) - 1 - j; left < int(m.shift[h]) {
				m.shift[h] = uint8(left)
			}
			if j == len(window)-1 {
				m.next[i], m.head[h] = m.head[h], uint16(i+1)
			}
		}
	}
}

// cost estimates the time that the tables need for usual text.
func (m *matcher) cost(common map[uint32]int) int {
	cost := 0
	for block, n := range common {
		if s := int(m.shift[blockHash(block, m.mul)]); s == 0 {
			cost += n * 800
		} else {
			cost += n * 60 / s
		}
	}
	return cost
}

func blockOf(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

// blockHash takes three bytes.
func blockHash(v, mul uint32) uint32 { return (v * mul) >> (32 - matchBits) }

// blockAt is the hash of the three bytes that end at i; i must be at least 3.
func (m *matcher) blockAt(text []byte, i int) uint32 {
	return blockHash(binary.LittleEndian.Uint32(text[i-3:])>>8, m.mul) & (1<<matchBits - 1)
}

// usualText has the words that fill application logs: what literals share with
// it makes bad windows.
const usualText = `2026-03-14 09:12:33.123  INFO 4711 --- [nio-8080-exec-12] com.example.service.impl.OrderServiceImpl   : request processed successfully in 12 ms, order id=1234567
2026-03-14 09:12:33,123 [http-nio-8080-exec-12] DEBUG org.springframework.web.servlet.DispatcherServlet - Completed 200 OK
	at org.springframework.aop.framework.ReflectiveMethodInvocation.proceed(ReflectiveMethodInvocation.java:186)
	at java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1136)
[INFO] [2026/03/14 09:12:33] user login request received from the client, method invoke timeout connection server thread pool
{"@timestamp":"2026-03-14T09:12:33.123Z","level":"INFO","message":"payment created","logger_name":"com.example.Main","thread_name":"main","traceId":"4bf92f3577b34da6"}
WARN ERROR executed in the service for result time state with error. Caused by: java.lang.RuntimeException: select from where and to of is `

func commonBlocks() map[uint32]int {
	common := map[uint32]int{}
	for i := matchBlock - 1; i < len(usualText); i++ {
		common[blockOf([]byte(usualText[i-2:i+1]))]++
	}
	return common
}

// rarest returns the offset of the window of a literal that has the least in
// common with usual text. Blocks near its end count more, for they stop the
// window most.
func rarest(lit []byte, width int, common map[uint32]int) int {
	best, least := 0, -1
	for at := 0; at+width <= len(lit); at++ {
		cost := 0
		for j := matchBlock - 1; j < width; j++ {
			weight := j + 1
			if j == width-1 {
				weight = 8 * j
			}
			cost += common[blockOf(lit[at+j-2:])] * weight
		}
		if least < 0 || cost < least {
			best, least = at, cost
		}
	}
	return best
}

// find returns the offset in text of a literal such that none stands in an
// earlier line; -1 if there is none.
func (m *matcher) find(text []byte) int {
	hit := -1
	if m.width > 0 {
		hit, _ = m.from(text, m.width-1)
	}
	if len(m.short) > 0 {
		if hit >= 0 {
			text = text[:hit]
		}
		for _, s := range m.short {
			if i := bytes.Index(text, s); i >= 0 {
				hit, text = i, text[:i]
			}
		}
	}
	return hit
}

// each calls f with the number of every literal that stands in text and its
// offset, once for each place.
func (m *matcher) each(text []byte, f func(literal, off int)) {
	if m.width > 0 {
		for end := m.width - 1; end < len(text); end++ {
			var stop int
			if _, stop = m.from(text, end); stop < 0 {
				break
			}
			end = stop
			for i := m.head[m.blockAt(text, end)]; i > 0; i = m.next[i-1] {
				if at := m.matches(text, end, int(i-1)); at >= 0 {
					f(int(i-1), at)
				}
			}
		}
	}
	for i, lit := range m.literals {
		if len(lit) >= minWindow {
			continue
		}
		for at := 0; ; at++ {
			n := bytes.Index(text[at:], lit)
			if n < 0 {
				break
			}
			at += n
			f(i, at)
		}
	}
}

// matches returns the offset of a literal whose window ends at end, -1 if it is
// not there.
func (m *matcher) matches(text []byte, end, literal int) int {
	at := end - m.width + 1 - m.offset[literal]
	if at >= 0 && bytes.HasPrefix(text[at:], m.literals[literal]) {
		return at
	}
	return -1
}

// verify returns the offset of any literal whose window ends at end, or -1.
func (m *matcher) verify(text []byte, end int) int {
	for i := m.head[m.blockAt(text, end)]; i > 0; i = m.next[i-1] {
		if at := m.matches(text, end, int(i-1)); at >= 0 {
			return at
		}
	}
	return -1
}

// from finds the first window that ends at end or later and holds a literal.
// It returns the literal's offset and the window's end, -1 if there is none.
func (m *matcher) from(text []byte, end int) (at, stop int) {
	for len(text)-end >= 4*matchPiece {
		if at, stop = m.four(text, end); stop >= 0 {
			return at, stop
		}
		end += 4 * matchPiece
	}
	return m.one(text, end, len(text))
}

// one looks at the windows that end in [end, limit).
func (m *matcher) one(text []byte, end, limit int) (at, stop int) {
	for end < limit {
		s := m.shift[m.blockAt(text, end)]
		if s > 0 {
			end += int(s)
			continue
		}
		if at = m.verify(text, end); at >= 0 {
			return at, end
		}
		end++
	}
	return -1, -1
}

// four does the same for the windows that end in the next four pieces of text,
// side by side. The text must be as long.
func (m *matcher) four(text []byte, end int) (at, stop int) {
	piece := (*[4*matchPiece + 3]byte)(text[end-3:])
	shift, mul := &m.shift, m.mul
	a, b, c, d := 0, matchPiece, 2*matchPiece, 3*matchPiece
	found := 4 // the first piece that holds a literal
	// One test for four: the sign of any makes that of all.
	for (matchPiece-1-a)|(2*matchPiece-1-b)|(3*matchPiece-1-c)|(4*matchPiece-1-d) >= 0 {
		sa, sb, sc, sd := int(shift[pieceHash(piece, a, mul)]), int(shift[pieceHash(piece, b, mul)]), int(shift[pieceHash(piece, c, mul)]), int(shift[pieceHash(piece, d, mul)])
		a += sa
		b += sb
		c += sc
		d += sd
		if (sa-1)|(sb-1)|(sc-1)|(sd-1) >= 0 {
			continue
		}
		if sa == 0 {
			if at = m.verify(text, end+a); at >= 0 {
				return at, end + a
			}
			a++
		}
		if sb == 0 {
			if m.verify(text, end+b) >= 0 {
				found = 1
				break
			}
			b++
		}
		if sc == 0 {
			if m.verify(text, end+c) >= 0 {
				found = 2
				break
			}
			c++
		}
		if sd == 0 {
			if m.verify(text, end+d) >= 0 {
				found = 3
				break
			}
			d++
		}
	}
	// Finish the pieces in order.
	for i, from := range [4]int{a, b, c, d} {
		if at, stop = m.one(text, end+from, end+(i+1)*matchPiece); stop >= 0 {
			return at, stop
		}
		if i == found {
			break
		}
	}
	return -1, -1
}

// pieceHash is blockAt for the windows of four. The mask does nothing but show
// the compiler that the index is in bounds.
func pieceHash(p *[4*matchPiece + 3]byte, i int, mul uint32) uint32 {
	i &= 4*matchPiece - 1
	v := uint32(p[i]) | uint32(p[i+1])<<8 | uint32(p[i+2])<<16 | uint32(p[i+3])<<24
	return blockHash(v>>8, mul) & (1<<matchBits - 1)
}
