package ledger

// Part moves the spans of the traces that are done into a ledger of their own,
// which is closed to learn what became of them, while this one goes on: that is
// how spans that come without an end are counted in bounded memory. What was
// lost so far goes with them. Names that only they used are forgotten here.
// Access-log lines stay. The part is nil if no trace is done.
func (l *Ledger) Part(done func(trace [16]byte) bool) *Ledger {
	if l.closed || l.kept == 0 {
		return nil
	}
	part, rest := New(l.cfg), New(l.cfg)
	part.share, rest.share = l.share, l.share
	toPart, toRest := newMove(l, part), newMove(l, rest)
	for i, c := range l.chunks {
		for k := range c {
			if s := &c[k]; done(s.trace) {
				toPart.span(s)
			} else {
				toRest.span(s)
			}
		}
		l.chunks[i] = nil
	}
	l.chunks, l.kept = rest.chunks, rest.kept
	part.seen = int64(part.kept)
	part.losses, l.losses = l.losses, map[Loss]int64{}
	part.lose(LostNames, l.places.lost+l.ops.lost+l.peers.lost+l.sources.lost+l.queries.lost)
	l.seen -= part.seen
	l.places, l.ops, l.peers, l.sources, l.queries = rest.places, rest.ops, rest.peers, rest.sources, rest.queries
	l.texts = map[string]uint32{} // their numbers are of the old table
	if part.kept == 0 && len(part.losses) == 0 {
		return nil
	}
	return part
}

// SpanBytes is what one span that is kept takes.
const SpanBytes = 96

// Held is how many spans are kept.
func (l *Ledger) Held() int { return l.kept }

// move carries spans from one ledger to another, whose names have other numbers.
type move struct {
	to                                *Ledger
	places, ops, peers, sources, text func(uint32) uint32
}

func newMove(from, to *Ledger) *move {
	return &move{
		to:     to,
		places: renumbering(from.places, to.places), ops: renumbering(from.ops, to.ops), peers: renumbering(from.peers, to.peers),
		sources: renumbering(from.sources, to.sources), text: renumbering(from.queries, to.queries),
	}
}

// renumbering gives a key of one table its number in another.
func renumbering[K comparable](from, to *table[K]) func(uint32) uint32 {
	known := make([]uint32, len(from.keys))
	keep := func(k K) K { return k } // it is a copy already
	return func(old uint32) uint32 {
		if old < 2 {
			return old
		}
		if known[old] == 0 {
			known[old] = to.id(from.keys[old], keep)
		}
		return known[old]
	}
}

func (m *move) span(s *span) {
	s.place, s.op, s.peer = m.places(s.place), m.ops(s.op), m.peers(s.peer)
	s.source, s.query = m.sources(s.source), m.text(s.query)
	m.to.keep(s)
}
