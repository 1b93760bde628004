package parsers

import (
	"bytes"
	"math"
	"strconv"

	"github.com/firebreak-io/firebreak/evidence"
)

// spanSource is a span as a tracer wrote it, its attributes sorted into fields.
// The readers of all formats fill it; normalise makes a Span of it. One is used
// again and again.
type spanSource struct {
	spanHead
	fields [spanFields]attribute
	arena  []byte // texts of the fields
}

// spanHead is what is cleared for each span.
type spanHead struct {
	trace      [16]byte
	id, parent [8]byte
	kind       evidence.SpanKind
	remote     evidence.Tri
	shared     bool
	name       spanText
	scope      string
	start, end int64    // Unix nanoseconds; 0 if not stated
	duration   int64    // nanoseconds, where that is stated rather than an end; -1 if not
	status     int      // 0 unset, 1 ok, 2 error
	message    spanText // the status's own text
	weight     float64

	refs     [4]spanRef // Jaeger: parents, perhaps in other traces
	refCount int

	has [2]uint64 // which fields are set

	params    uint64 // hash of a statement's parameters; 0 if there were none
	event     spanEvent
	retryNum  int      // the highest number that an event gave for a retry
	retryEvs  int      // events that tell of a retry
	tryErrors int      // events that tell of one failed try
	thrown    spanText // class of an exception event
	said      spanText // its message
}

// spanRef names a span.
type spanRef struct {
	trace [16]byte
	id    [8]byte
}

// spanText is a piece of the arena.
type spanText struct{ off, len uint32 }

// attribute is the value of a field.
type attribute struct {
	spanText
	n    int64 // numbers
	kind byte  // 's' text, 'i' integer, 'b' boolean
	rank uint8
}

// spanEvent is the event of a span that is being read.
type spanEvent struct {
	name spanText
	kind spanText // exception's class
	said spanText
	num  int // a retry's number; -1 if it gave none
}

const (
	maxSpanText  = 64 << 10  // of one attribute; what lies beyond is not kept
	maxSpanArena = 512 << 10 // of all of them
)

// reset makes the source ready for the next span.
func (s *spanSource) reset() {
	s.spanHead = spanHead{duration: -1, event: spanEvent{num: -1}, retryNum: -1}
	s.arena = s.arena[:0]
}

// keep copies a text into the arena.
func (s *spanSource) keep(b []byte) spanText {
	b = b[:min(len(b), maxSpanText, max(0, maxSpanArena-len(s.arena)))]
	t := spanText{uint32(len(s.arena)), uint32(len(b))}
	s.arena = append(s.arena, b...)
	return t
}

func (s *spanSource) bytes(t spanText) []byte { return s.arena[t.off : t.off+t.len] }

// wants reports whether a value of that name would be used; a reader may pass
// by the others.
func (s *spanSource) wants(name []byte) (spanName, bool) {
	at, ok := spanNameOf[string(name)]
	return at, ok && s.lacks(at)
}

// lacks reports whether a field has no value of a name as good as this one.
func (s *spanSource) lacks(at spanName) bool {
	return !s.set(at.field) || s.fields[at.field].rank > at.rank
}

func (s *spanSource) set(f spanField) bool { return s.has[f>>6]&(1<<(f&63)) != 0 }

func (s *spanSource) mark(f spanField) { s.has[f>>6] |= 1 << (f & 63) }

// putText, putInt and putBool give a field its value.
func (s *spanSource) putText(at spanName, value []byte) {
	s.fields[at.field] = attribute{spanText: s.keep(value), kind: 's', rank: at.rank}
	s.mark(at.field)
}

func (s *spanSource) putInt(at spanName, n int64) {
	s.fields[at.field] = attribute{n: n, kind: 'i', rank: at.rank}
	s.mark(at.field)
}

func (s *spanSource) putBool(at spanName, yes bool) {
	a := attribute{kind: 'b', rank: at.rank}
	if yes {
		a.n = 1
	}
	s.fields[at.field] = a
	s.mark(at.field)
}

// parameter mixes a parameter of a statement into its identity.
func (s *spanSource) parameter(name, value []byte) {
	s.params += hashBytes(hashBytes(identSeed, name), value) // their order says nothing
	if s.params == 0 {
		s.params = 1
	}
}

// str returns a field as text, nil if it is absent. Numbers are printed.
func (s *spanSource) str(f spanField) []byte {
	if !s.set(f) {
		return nil
	}
	a := &s.fields[f]
	switch a.kind {
	case 's':
		return s.bytes(a.spanText)
	case 'b':
		if a.n != 0 {
			return []byte("true")
		}
		return []byte("false")
	}
	from := len(s.arena)
	s.arena = strconv.AppendInt(s.arena, a.n, 10)
	a.spanText, a.kind = spanText{uint32(from), uint32(len(s.arena) - from)}, 's'
	return s.arena[from:]
}

// num returns a field as a number; texts are read.
func (s *spanSource) num(f spanField) (int64, bool) {
	if !s.set(f) {
		return 0, false
	}
	a := &s.fields[f]
	if a.kind != 's' {
		return a.n, true
	}
	b := s.bytes(a.spanText)
	if len(b) > 0 && b[0] == '[' { // a list that became text on its way: ["2"]
		b = bytes.Trim(b, `[]" `)
	}
	return wholeNumber(b)
}

// yes reports whether a field is true.
func (s *spanSource) yes(f spanField) bool {
	if !s.set(f) {
		return false
	}
	if a := &s.fields[f]; a.kind != 's' {
		return a.n != 0
	}
	b := s.bytes(s.fields[f].spanText)
	return string(b) == "true" || string(b) == "1" || string(b) == "True"
}

// wholeNumber reads a whole number, as trace formats print it: perhaps as a float.
func wholeNumber(b []byte) (int64, bool) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 || len(b) > 40 {
		return 0, false
	}
	i, neg := 0, b[0] == '-'
	if neg {
		i++
	}
	var n int64
	for ; i < len(b); i++ {
		c := b[i]
		if c < '0' || c > '9' || n > math.MaxInt64/10-1 {
			f, err := strconv.ParseFloat(string(b), 64)
			if err != nil || math.Abs(f) > 1<<62 {
				return 0, false
			}
			return int64(f), true
		}
		n = n*10 + int64(c-'0')
	}
	if neg {
		if len(b) == 1 {
			return 0, false
		}
		n = -n
	}
	return n, true
}

// openEvent and closeEvent frame an event of the span.
func (s *spanSource) openEvent() { s.event = spanEvent{num: -1} }

func (s *spanSource) closeEvent() {
	e := &s.event
	name := s.bytes(e.name)
	switch {
	case e.kind.len > 0 || string(name) == "exception" || string(name) == "error":
		if e.kind.len > 0 {
			s.thrown = e.kind // the last one
		}
		if e.said.len > 0 {
			s.said = e.said
		}
	case tellsOfFailedTry(name):
		s.tryErrors++
	case tellsOfRetry(name):
		s.retryEvs++
		n := e.num
		if n < 0 {
			n = trailingNumber(name)
		}
		s.retryNum = max(s.retryNum, n)
	}
}

// eventAttribute takes an attribute of the event at hand.
func (s *spanSource) eventAttribute(name, value []byte) {
	switch string(name) {
	case "event", "message":
		if s.event.name.len == 0 || string(name) == "event" {
			s.event.name = s.keep(value)
		}
		if string(name) == "message" && s.event.said.len == 0 {
			s.event.said = s.keep(value)
		}
	case "exception.type", "error.kind", "error.type":
		s.event.kind = s.keep(value)
	case "error.object":
		if s.event.kind.len == 0 {
			kind, said, _ := bytes.Cut(value, []byte(":"))
			s.event.kind = s.keep(kind)
			if s.event.said.len == 0 {
				s.event.said = s.keep(bytes.TrimSpace(said))
			}
		}
	case "exception.message":
		s.event.said = s.keep(value)
	case "retry.count", "retry_count", "attempt", "retry.attempt", "attempt.number", "retry":
		if n, ok := wholeNumber(value); ok && n >= 0 && n < 1000 {
			s.event.num = int(n)
		}
	}
}

// tellsOfRetry knows events such as "Starting RPC retry 2", "retry", "Retrying".
func tellsOfRetry(name []byte) bool {
	i := bytes.IndexByte(name, 'r')
	if j := bytes.IndexByte(name, 'R'); j >= 0 && (i < 0 || j < i) {
		i = j
	}
	if i < 0 || len(name) > 200 {
		return false
	}
	low := bytes.ToLower(name[i:])
	at := bytes.Index(low, []byte("retry"))
	if at < 0 {
		return false
	}
	for _, no := range []string{"retryable", "retry-after", "no retry", "not retry", "non-retry", "exhausted", "disabled"} {
		if bytes.Contains(low, []byte(no)) {
			return false
		}
	}
	return true
}

// tellsOfFailedTry knows the event that the AWS SDK instrumentation for Java
// adds for each failed try.
func tellsOfFailedTry(name []byte) bool { return string(name) == "HTTP request failure" }

// trailingNumber returns the number that a text ends with, or -1.
func trailingNumber(name []byte) int {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	if i == len(name) || len(name)-i > 3 {
		return -1
	}
	n, _ := wholeNumber(name[i:])
	return int(n)
}

const identSeed = 0x9e3779b97f4a7c15

// hashBytes mixes b into a hash. Its values are the same everywhere, always.
func hashBytes(h uint64, b []byte) uint64 {
	h ^= uint64(len(b)) * 0xff51afd7ed558ccd
	for len(b) >= 8 {
		k := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		h = (h ^ k) * 0xc4ceb9fe1a85ec53
		h ^= h >> 29
		b = b[8:]
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	h *= 0xff51afd7ed558ccd
	return h ^ h>>32
}
