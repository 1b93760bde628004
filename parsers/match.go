package parsers

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
)

// matcher finds any of many literals in a block of text, in one pass. There are
// hundreds of them, and they must be looked for in all that is ever read, so
// this is what the speed of the whole tool hangs on.
//
// It does not look at every byte. Of each literal it knows eight bytes in a row,
// the window, and of these the four grams of five bytes that begin at the first,
// second, third and fourth of them:
//
//	literal   Connection is not available, request timed out
//	window                      lable, r
//	grams                       lable
//	                             able,
//	                              ble,␣
//	                               le, r   (and one of these must be sampled:)
//	text      …Connection is not available, request timed out…
//	samples    ^   ^   ^   ^   ^   ^   ^   ^   ^   ^   ^   ^
//
// Wherever the literal stands in a text, exactly one of the four begins at a
// multiple of four. So it is enough to take the five bytes at each fourth byte
// of the text and to ask whether they are a gram of any literal, which a table
// of bytes answers, by hash, with yes or perhaps. No step waits for the one
// before it, as it would in an automaton or where each step tells how far to
// jump; a processor does several at a time.
//
// Few samples pass, if the grams are rare in usual text: a long literal has many
// windows, and the rarest is taken. Those that pass are looked up in a second
// table, which leads to the literals to compare.
//
// Literals shorter than a window are looked for one by one, by their rarest byte,
// which costs a pass each: there should be few.
type matcher struct {
	literals [][]byte
	short    []short                // literals without a window
	filter   [1 << filterBits]uint8 // by hash of a gram: 1 if a literal has such a one
	head     [1 << headBits]uint16  // by hash: 1 + the first of these grams
	grams    []gram
}

// gram is one of the four grams of a literal.
type gram struct {
	value   uint64 // its bytes
	literal int32
	off     uint16 // of the gram in the literal
	next    uint16 // 1 + the next with this hash
}

// short is a literal without a window.
type short struct {
	literal []byte
	number  int
	rare    int // the offset of its rarest byte
}

const (
	gramSize   = 5
	sampleStep = 4
	windowSize = gramSize + sampleStep - 1
	loadSize   = 8 // bytes read to get a gram
	filterBits = 16
	headBits   = 13
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
		lit := []byte(s)
		m.literals = append(m.literals, lit)
		if len(lit) < windowSize {
			m.short = append(m.short, newShort(lit, len(m.literals)-1))
			continue
		}
		at := rarest(lit)
		for off := at; off < at+sampleStep; off++ {
			m.add(len(m.literals)-1, off)
		}
	}
	return m
}

// add enters the gram of a literal at an offset.
func (m *matcher) add(literal, off int) {
	var b [loadSize]byte
	copy(b[:], m.literals[literal][off:][:gramSize])
	g := gram{value: gramOf(binary.LittleEndian.Uint64(b[:])), literal: int32(literal), off: uint16(off)}
	h := hashOf(g.value)
	m.filter[h] = 1
	list := &m.head[h>>(filterBits-headBits)]
	g.next = *list
	m.grams = append(m.grams, g)
	*list = uint16(len(m.grams))
}

// gramOf returns the gram in the low bytes of v.
func gramOf(v uint64) uint64 { return v & (1<<(8*gramSize) - 1) }

// gramHash is the hash of the gram at the start of b.
func gramHash(b []byte) uint64 {
	return hashOf(binary.LittleEndian.Uint64(b))
}

// hashOf is the hash of the gram in the low bytes of v.
func hashOf(v uint64) uint64 {
	return v << (64 - 8*gramSize) * 0x9e3779b97f4a7c15 >> (64 - filterBits)
}

// find returns the offset in text of a literal such that none stands in an
// earlier line; -1 if there is none. No literal may hold a line end.
func (m *matcher) find(text []byte) int {
	hit := -1
	for i := m.sample(text, 0); i >= 0; i = m.sample(text, i+sampleStep) {
		if _, hit = m.verify(text, i, m.first(text, i)); hit >= 0 {
			text = text[:hit]
			break
		}
	}
	for _, s := range m.short {
		if i := s.find(text, 0); i >= 0 {
			hit, text = i, text[:i]
		}
	}
	return hit
}

// each calls f with the number of every literal that stands in text and its
// offset, once for each place. Those of one literal come in order.
func (m *matcher) each(text []byte, f func(literal, off int)) {
	for i := m.sample(text, 0); i >= 0; i = m.sample(text, i+sampleStep) {
		for g := m.first(text, i); g > 0; {
			n, at := m.verify(text, i, g)
			if at < 0 {
				break
			}
			f(int(m.grams[n].literal), at)
			g = m.grams[n].next
		}
	}
	for _, s := range m.short {
		for at := s.find(text, 0); at >= 0; at = s.find(text, at+1) {
			f(s.number, at)
		}
	}
}

// first returns 1 + the first gram that the sample at i may be, 0 for none.
func (m *matcher) first(text []byte, i int) uint16 {
	return m.head[hashOf(loadAt(text, i))>>(filterBits-headBits)]
}

// verify returns which gram, of a list, stands at i with all of its literal
// around it, and where that begins; at is -1 if none does.
func (m *matcher) verify(text []byte, i int, list uint16) (n, at int) {
	for sample := gramOf(loadAt(text, i)); list > 0; {
		g := &m.grams[list-1]
		if g.value == sample {
			at = i - int(g.off)
			if at >= 0 && bytes.HasPrefix(text[at:], m.literals[g.literal]) {
				return int(list - 1), at
			}
		}
		list = g.next
	}
	return 0, -1
}

// loadAt returns the bytes from i on, at least a gram; i must leave room for it,
// and text for more.
func loadAt(text []byte, i int) uint64 {
	if i+loadSize <= len(text) {
		return binary.LittleEndian.Uint64(text[i:])
	}
	last := len(text) - loadSize
	return binary.LittleEndian.Uint64(text[last:]) >> (8 * (i - last))
}

// sample returns the first sample at i or later that passes the filter, -1 if
// none does. i must be a multiple of the step.
func (m *matcher) sample(text []byte, i int) int {
	const (
		row  = 8 * sampleStep // eight samples at a time
		read = row - sampleStep + loadSize
	)
	f := &m.filter
	for ; i+read <= len(text); i += row {
		p := (*[read]byte)(text[i:])
		any := f[gramHash(p[0*sampleStep:])] | f[gramHash(p[1*sampleStep:])] |
			f[gramHash(p[2*sampleStep:])] | f[gramHash(p[3*sampleStep:])] |
			f[gramHash(p[4*sampleStep:])] | f[gramHash(p[5*sampleStep:])] |
			f[gramHash(p[6*sampleStep:])] | f[gramHash(p[7*sampleStep:])]
		if any == 0 {
			continue
		}
		for f[gramHash(text[i:])] == 0 {
			i += sampleStep
		}
		return i
	}
	if len(text) < loadSize {
		return -1
	}
	for ; i+gramSize <= len(text); i += sampleStep {
		if f[hashOf(loadAt(text, i))] != 0 {
			return i
		}
	}
	return -1
}

// usualText has the words that fill application logs: grams that it holds make
// bad windows.
const usualText = `2026-03-14 09:12:33.123  INFO 4711 --- [nio-8080-exec-12] com.example.service.impl.OrderServiceImpl   : request processed successfully in 12 ms, order id=1234567
2026-03-14 09:12:33,123 [http-nio-8080-exec-12] DEBUG org.springframework.web.servlet.DispatcherServlet - Completed 200 OK
	at org.springframework.aop.framework.ReflectiveMethodInvocation.proceed(ReflectiveMethodInvocation.java:186)
	at java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1136)
[INFO] [2026/03/14 09:12:33] user login request received from the client, method invoke timeout connection server thread pool
{"@timestamp":"2026-03-14T09:12:33.123Z","level":"INFO","message":"payment created","logger_name":"com.example.Main","thread_name":"main","traceId":"4bf92f3577b34da6"}
order ORD-00000001 placed for user U00001 in 1 ms, total 1.01, items 1, method GET /api/v1/items status=200 elapsed=12ms cost 3 ms size=10
WARN ERROR executed in the service for result time state with error. Caused by: java.lang.RuntimeException: select from where and to of is `

// usual counts the runs of three, four and five bytes in usualText.
var usual = sync.OnceValue(func() map[string]int {
	count := map[string]int{}
	for n := 3; n <= gramSize; n++ {
		for i := 0; i+n <= len(usualText); i++ {
			count[usualText[i:i+n]]++
		}
	}
	return count
})

// rarest returns the offset of the window of a literal that has the least in
// common with usual text.
func rarest(lit []byte) int {
	usual := usual()
	best, least := 0, -1
	for at := 0; at+windowSize <= len(lit); at++ {
		cost := 0
		for n, weight := 3, 1; n <= gramSize; n, weight = n+1, 20*weight {
			for i := at; i+n <= at+windowSize; i++ {
				cost += weight * usual[string(lit[i:i+n])]
			}
		}
		if least < 0 || cost < least {
			best, least = at, cost
		}
	}
	return best
}

// newShort prepares a short literal.
func newShort(lit []byte, number int) short {
	s := short{literal: lit, number: number}
	count := func(i int) int { return strings.Count(usualText, string(lit[i])) }
	for i := range lit {
		if count(i) < count(s.rare) {
			s.rare = i
		}
	}
	return s
}

// find returns where the literal stands in text, from an offset on; -1 if it does not.
func (s *short) find(text []byte, from int) int {
	for i := from + s.rare; i < len(text); i++ {
		n := bytes.IndexByte(text[i:], s.literal[s.rare])
		if n < 0 {
			break
		}
		i += n
		if bytes.HasPrefix(text[i-s.rare:], s.literal) {
			return i - s.rare
		}
	}
	return -1
}
