package ledger

import (
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Waiting keeps spans by their trace until the trace is done, as spans come that
// have no end. What is done is taken out into a ledger of its own, which is
// closed to learn what became of it. A span is touched twice: when it comes and
// when its trace is done, however many wait meanwhile.
//
// It is used by one goroutine at a time.
type Waiting struct {
	names  *Ledger // numbers names, counts losses, holds no spans
	spans  slab[waitingSpan]
	open   slab[openTrace]
	traces map[[16]byte]uint32 // where an open trace stands

	// Lists through the open traces: by when something of them came last, of those
	// that were quiet and are waited for still, and of all by when they began.
	quiet, longer, age list
	expected           expectations

	last  [16]byte // the trace asked for last, which is mostly the next one
	at    uint32
	limit int    // names in a table at which the unused ones are forgotten
	takes uint64 // traces that were done
}

// waitingSpan is a span that waits, and the next one of its trace.
type waitingSpan struct {
	span
	next uint32 // 0: none
}

// openTrace is a trace that goes on. It has no pointers, so that a collection of
// garbage passes it by.
type openTrace struct {
	id          [16]byte
	first, last int64 // when something of it came, ns
	head        uint32
	quiet, age  links
	longer      bool // it is in that list, by its links of quiet
}

type links struct{ before, after uint32 }

// list is a list of open traces; 0 is none.
type list struct{ head, tail uint32 }

// Patience says for how long traces are waited for.
type Patience struct {
	Quiet  time.Duration // since something of them came
	Age    time.Duration // since they began
	Longer bool          // up to Age where more of them is to be expected
	All    bool          // no longer
}

// minForget is below how many names in a table nothing is forgotten.
const minForget = 4096

// NewWaiting makes an empty one.
func NewWaiting(c Config) *Waiting {
	l := New(c)
	return &Waiting{
		names: l, traces: map[[16]byte]uint32{}, limit: min(minForget, l.cfg.MaxNames), expected: expectations{came: map[expected]*cameSum{}},
	}
}

// SpanBytes is what one span takes while it waits, OpenBytes what its trace does
// beside that, with its place in the map.
const (
	SpanBytes = 104
	OpenBytes = 96
)

// Held is how many spans wait, Open how many traces they are of.
func (w *Waiting) Held() int { return w.spans.used() }

// Open is how many traces wait.
func (w *Waiting) Open() int { return w.open.used() }

// Has reports whether spans of a trace wait.
func (w *Waiting) Has(trace [16]byte) bool { return w.find(trace) != 0 }

// find is where a trace stands; 0 if nothing of it waits.
func (w *Waiting) find(trace [16]byte) uint32 {
	if w.at == 0 || trace != w.last {
		if w.at = w.traces[trace]; w.at != 0 {
			w.last = trace
		}
	}
	return w.at
}

// Add takes in one span that came at a time. It copies what it keeps.
func (w *Waiting) Add(r *evidence.Record, now time.Time) {
	n := w.spans.take()
	s := w.spans.at(n)
	if !w.names.fill(&s.span, r) {
		w.spans.give(n)
		return
	}
	came := now.UnixNano()
	k := w.find(s.trace)
	if k == 0 {
		k = w.open.take()
		*w.open.at(k) = openTrace{id: s.trace, first: came}
		w.traces[s.trace] = k
		w.last, w.at = s.trace, k
		w.append(&w.age, k, ofAge)
		w.append(&w.quiet, k, ofQuiet)
	}
	t := w.open.at(k)
	if t.longer || came != t.last && w.quiet.tail != k {
		w.remove(w.listOf(t), k, ofQuiet)
		w.append(&w.quiet, k, ofQuiet)
		t.longer = false
	}
	t.last = came
	s.next, t.head = t.head, n
}

func ofQuiet(t *openTrace) *links { return &t.quiet }
func ofAge(t *openTrace) *links   { return &t.age }

// listOf is the list by quiet that a trace is in.
func (w *Waiting) listOf(t *openTrace) *list {
	if t.longer {
		return &w.longer
	}
	return &w.quiet
}

// append puts a trace at the end of a list.
func (w *Waiting) append(l *list, k uint32, of func(*openTrace) *links) {
	*of(w.open.at(k)) = links{before: l.tail}
	if l.tail == 0 {
		l.head = k
	} else {
		of(w.open.at(l.tail)).after = k
	}
	l.tail = k
}

// remove takes a trace out of a list.
func (w *Waiting) remove(l *list, k uint32, of func(*openTrace) *links) {
	x := *of(w.open.at(k))
	if x.before == 0 {
		l.head = x.after
	} else {
		of(w.open.at(x.before)).after = x.after
	}
	if x.after == 0 {
		l.tail = x.before
	} else {
		of(w.open.at(x.after)).before = x.before
	}
}

// Take moves the spans of the traces that are done into a ledger of their own,
// with what was lost so far, and forgets the names that only they used. Gone
// hears of each of these traces for how long it was quiet and how old it was.
// The ledger is nil if there are none.
func (w *Waiting) Take(now time.Time, p Patience, gone func(trace [16]byte, quiet, age time.Duration)) *Ledger {
	came := now.UnixNano()
	var part *Ledger
	var to *move
	take := func(k uint32) {
		if part == nil {
			part = New(w.names.cfg)
			to = newMove(w.names, part)
		}
		t := w.open.at(k)
		if w.takes++; w.takes <= learnedAll || w.takes%learnedFrom == 0 {
			w.learn(t)
		}
		for n := t.head; n != 0; {
			s := w.spans.at(n)
			to.rename(&s.span)
			part.keep(&s.span)
			w.spans.give(n)
			n = s.next
		}
		gone(t.id, time.Duration(came-t.last), time.Duration(came-t.first))
		w.remove(w.listOf(t), k, ofQuiet)
		w.remove(&w.age, k, ofAge)
		delete(w.traces, t.id)
		w.open.give(k)
	}
	for k := w.quiet.head; k != 0; k = w.quiet.head {
		t := w.open.at(k)
		if !p.All && came-t.last < int64(p.Quiet) {
			break
		}
		if p.Longer && !p.All && came-t.first < int64(p.Age) && w.expects(t) {
			w.remove(&w.quiet, k, ofQuiet)
			w.append(&w.longer, k, ofQuiet)
			t.longer = true
			continue
		}
		take(k)
	}
	for k := w.longer.head; k != 0 && (p.All || !p.Longer); k = w.longer.head {
		take(k)
	}
	for k := w.age.head; k != 0; k = w.age.head {
		if t := w.open.at(k); came-t.first < int64(p.Age) {
			break
		}
		take(k)
	}
	w.at = 0
	if part == nil && len(w.names.losses) == 0 {
		return nil
	}
	if part == nil {
		part = New(w.names.cfg)
	}
	part.seen = int64(part.kept)
	w.handOnLosses(part)
	w.shrink()
	return part
}

// handOnLosses gives a part what was lost since the last one.
func (w *Waiting) handOnLosses(part *Ledger) {
	l := w.names
	part.losses, l.losses = l.losses, map[Loss]int64{}
	part.lose(LostNames, l.places.lost+l.ops.lost+l.peers.lost+l.sources.lost+l.queries.lost)
	l.places.lost, l.ops.lost, l.peers.lost, l.sources.lost, l.queries.lost = 0, 0, 0, 0, 0
}

// shrink gives back memory that a burst took, and forgets names that nothing
// which waits uses once there are many.
func (w *Waiting) shrink() {
	if w.open.used() == 0 && w.open.made > 16*chunk {
		w.traces, w.open, w.spans = map[[16]byte]uint32{}, slab[openTrace]{}, slab[waitingSpan]{}
	}
	if w.spans.sparse() {
		var packed slab[waitingSpan]
		w.each(func(at *uint32) {
			n := packed.take()
			*packed.at(n) = *w.spans.at(*at)
			*at = n
		}, &packed)
		w.spans = packed
	}
	if w.names.widest() < w.limit {
		return
	}
	fresh := New(w.names.cfg)
	to := newMove(w.names, fresh)
	w.each(func(at *uint32) { to.rename(&w.spans.at(*at).span) }, &w.spans)
	fresh.losses = w.names.losses
	w.names = fresh
	w.limit = min(max(minForget, 2*fresh.widest()), fresh.cfg.MaxNames)
}

// each calls f for where each span stands, which f may change to a place in the
// slab given.
func (w *Waiting) each(f func(at *uint32), in *slab[waitingSpan]) {
	for k := w.age.head; k != 0; k = w.open.at(k).age.after {
		for at := &w.open.at(k).head; *at != 0; at = &in.at(*at).next {
			f(at)
		}
	}
}

// widest is how many names the largest table has.
func (l *Ledger) widest() int {
	return max(len(l.places.keys), len(l.ops.keys), len(l.peers.keys), len(l.sources.keys), len(l.queries.keys))
}

// move carries spans to another ledger, whose names have other numbers.
type move struct {
	places, ops, peers, sources, text func(uint32) uint32
}

func newMove(from, to *Ledger) *move {
	return &move{
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

func (m *move) rename(s *span) {
	s.place, s.op, s.peer = m.places(s.place), m.ops(s.op), m.peers(s.peer)
	s.source, s.query = m.sources(s.source), m.text(s.query)
}
