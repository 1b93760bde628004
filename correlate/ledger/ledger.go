// Package ledger joins physical attempts to logical calls, from spans and from
// access logs, and says per edge what they cost: amplification, the fate of
// calls, work done for nobody.
//
// It promises: the Book is the same whatever order the evidence came in, unless
// there were more distinct names than Config allows; what is not counted is
// counted as lost, by reason; memory is bounded by Config; a call that was put
// together by a guess says so. It refuses: to call anything a retry
// that may be fan-out, a loop, a poll, a hedge, a redirect or a challenge; to
// subtract the clocks of two hosts, except within a stated bound; to add up what
// two sources say of one edge.
//
// A Ledger is used by one goroutine: New, any number of AddSpan and AddAccess,
// one Close. It does no I/O.
package ledger

import "slices"

// Loss is a reason for which something was not counted.
type Loss string

// The losses.
const (
	LostNoTrace   Loss = "span without a trace ID"
	LostNoID      Loss = "span without an ID"
	LostDuplicate Loss = "span seen before"
	LostNegative  Loss = "negative duration taken as none"
	LostTime      Loss = "time out of range"
	LostSampled   Loss = "span of a trace that was let go for memory"
	LostHuge      Loss = "span of a trace too large to join"
	LostNames     Loss = "name beyond the cap"
	LostEdges     Loss = "call of an edge beyond the cap"
	LostPaths     Loss = "call on a path beyond the cap"
	LostParent    Loss = "span whose parent was not seen"
	LostRequests  Loss = "line of a request that was let go for memory"
	LostUndated   Loss = "line without a time"
	LostNoRequest Loss = "line without a request ID"
)

// chunk is how many spans are kept in one piece.
const chunk = 4096

// Ledger takes in spans and access-log lines.
type Ledger struct {
	cfg    Config
	closed bool
	seen   int64
	losses map[Loss]int64

	chunks [][]span
	kept   int
	share  int // the share of traces that is kept is 1 in 2^share

	places  *table[place]
	ops     *table[op]
	peers   *table[peer]
	sources *table[string]
	queries *table[string]
	texts   map[string]uint32

	access *accessLog
}

// New makes an empty ledger.
func New(c Config) *Ledger {
	c = defaulted(c)
	other := c.Other
	l := &Ledger{
		cfg: c, losses: map[Loss]int64{}, texts: map[string]uint32{},
		places: newTable(place{service: other}, c.MaxNames), ops: newTable(op{method: other}, c.MaxNames),
		peers: newTable(peer{name: other}, c.MaxNames), sources: newTable(other, c.MaxNames), queries: newTable(other, c.MaxNames),
	}
	l.access = newAccessLog(l)
	return l
}

func (l *Ledger) lose(why Loss, n int64) {
	if n > 0 {
		l.losses[why] += n
	}
}

// hashTrace mixes a trace ID well, whatever its producer put into it.
func hashTrace(id [16]byte) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < 16; i += 8 {
		w := uint64(id[i])<<56 | uint64(id[i+1])<<48 | uint64(id[i+2])<<40 | uint64(id[i+3])<<32 |
			uint64(id[i+4])<<24 | uint64(id[i+5])<<16 | uint64(id[i+6])<<8 | uint64(id[i+7])
		h = mix(h ^ w)
	}
	return h
}

// mix is the finaliser of splitmix64.
func mix(h uint64) uint64 {
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}

func hashText(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h)
}

// admit reports whether a trace belongs to the share that is kept.
func (l *Ledger) admit(id [16]byte) bool {
	if l.share == 0 || hashTrace(id)&(1<<l.share-1) == 0 {
		return true
	}
	l.lose(LostSampled, 1)
	return false
}

func (l *Ledger) keep(s *span) {
	if n := len(l.chunks); n == 0 || len(l.chunks[n-1]) == chunk {
		l.chunks = append(l.chunks, make([]span, 0, chunk))
	}
	last := &l.chunks[len(l.chunks)-1]
	*last = append(*last, *s)
	l.kept++
	for l.kept > l.cfg.MaxAttempts && l.share < 32 {
		l.halve()
	}
}

// halve lets half of the traces go, whole.
func (l *Ledger) halve() {
	l.share++
	mask := uint64(1)<<l.share - 1
	var packed [][]span
	before := l.kept
	l.kept = 0
	for i, c := range l.chunks {
		for j := range c {
			if hashTrace(c[j].trace)&mask != 0 {
				continue
			}
			if l.kept%chunk == 0 {
				packed = append(packed, make([]span, 0, chunk))
			}
			last := &packed[len(packed)-1]
			*last = append(*last, c[j])
			l.kept++
		}
		l.chunks[i] = nil
	}
	l.chunks = packed
	l.lose(LostSampled, int64(before-l.kept))
}

// Held is how many spans are kept.
func (l *Ledger) Held() int { return l.kept }

// Close joins everything and returns the book. The ledger is empty afterwards
// and takes in nothing more.
func (l *Ledger) Close() *Book {
	if l.closed {
		return &Book{}
	}
	l.closed = true
	b := &Book{Spans: l.seen, SpansKept: int64(l.kept), Share: 1 / float64(uint64(1)<<l.share)}
	if l.kept > 0 {
		l.rename()
		j := newJoiner(l)
		j.run(l.order())
		j.write(b)
	}
	l.chunks = nil
	l.access.write(b)
	sortEdges(b.Edges)
	b.putFronts()
	l.lose(LostNames, l.places.lost+l.ops.lost+l.peers.lost+l.sources.lost+l.queries.lost)
	b.Losses = l.losses
	return b
}

// rename gives names numbers that do not depend on the order of arrival.
func (l *Ledger) rename() {
	places, ops := l.places.rank(comparePlaces), l.ops.rank(compareOps)
	peers := l.peers.rank(comparePeers)
	byText := func(a, b string) int { return compareText(a, b) }
	sources, queries := l.sources.rank(byText), l.queries.rank(byText)
	for _, c := range l.chunks {
		for i := range c {
			s := &c[i]
			s.place, s.op, s.peer = places[s.place], ops[s.op], peers[s.peer]
			s.source, s.query = sources[s.source], queries[s.query]
		}
	}
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// at is the span of a number in order of arrival.
func (l *Ledger) at(i uint32) *span { return &l.chunks[i/chunk][i%chunk] }

// order sorts the numbers of all spans by trace: first into buckets by hash,
// then each bucket, which are small.
func (l *Ledger) order() []uint32 {
	bits := 1
	for 1<<bits < l.kept/8 && bits < 20 {
		bits++
	}
	bucket := func(s *span) uint64 { return hashTrace(s.trace) >> (64 - bits) }
	starts := make([]uint32, 1<<bits+1)
	for _, c := range l.chunks {
		for i := range c {
			starts[bucket(&c[i])+1]++
		}
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	order := make([]uint32, l.kept)
	next := slices.Clone(starts)
	n := uint32(0)
	for _, c := range l.chunks {
		for i := range c {
			k := bucket(&c[i])
			order[next[k]] = n
			next[k]++
			n++
		}
	}
	for i := range len(starts) - 1 {
		part := order[starts[i]:starts[i+1]]
		slices.SortFunc(part, func(a, b uint32) int {
			x, y := l.at(a), l.at(b)
			if d := compareTraces(x, y); d != 0 {
				return d
			}
			return compareSpans(x, y)
		})
	}
	return order
}
