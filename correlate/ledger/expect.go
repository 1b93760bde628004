package ledger

import "github.com/firebreak-io/firebreak/evidence"

// expectations tell of a trace that has gone quiet whether more of it is to
// come. A span is sent when it ends: while a slow statement runs, the spans that
// wait for it are missing, and after a caller has given up, its callee's span is.
// They are waited for where such spans mostly came before; of a service that
// sends none, none is expected.
type expectations struct {
	came map[expected]*cameSum
	// Of the trace at hand: its spans, and the calls that a callee's span is of.
	spans, answered idSet
}

// expected is a span that may be missing: the parent of an operation's spans, or
// the callee's of its calls.
type expected struct {
	service string
	op      op
	callee  bool
}

// cameSum counts how often it came and how often it did not.
type cameSum struct{ came, missing uint16 }

const (
	mostExpected = 20_000 // past it, all is forgotten
	learnedAll   = 1_024  // the first traces, and
	learnedFrom  = 8      // one in so many of the others
)

// expects reports whether more of a trace is to come.
func (w *Waiting) expects(t *openTrace) bool {
	more := false
	w.missing(t, func(s *span, callee, came bool) bool {
		more = !came && w.likely(s, callee)
		return !more
	})
	return more
}

// likely reports whether a span that is missing mostly comes.
func (w *Waiting) likely(s *span, callee bool) bool {
	sum := w.expected.came[w.expectedOf(s, callee)]
	switch {
	case sum != nil:
		return sum.came >= sum.missing
	case callee, s.serverSide(), s.flags&flagRemote != 0:
		return false // another process, which may send nothing
	}
	return true // the same process sends it when it ends
}

func (w *Waiting) expectedOf(s *span, callee bool) expected {
	return expected{w.names.places.keys[s.place].service, w.names.ops.keys[s.op], callee}
}

// learn notes what came of a trace that is done, and what did not.
func (w *Waiting) learn(t *openTrace) {
	if len(w.expected.came) > mostExpected {
		clear(w.expected.came)
	}
	w.missing(t, func(s *span, callee, came bool) bool {
		k := w.expectedOf(s, callee)
		sum := w.expected.came[k]
		if sum == nil {
			sum = &cameSum{}
			w.expected.came[k] = sum
		}
		if came {
			sum.came++
		} else {
			sum.missing++
		}
		if sum.came+sum.missing >= mostTimes {
			sum.came /= 2
			sum.missing /= 2
		}
		return true
	})
}

// missing calls f for each span of a trace that has a parent, and for each call
// that was answered or given up on, with whether the parent or the callee's span
// came, until f has heard enough.
func (w *Waiting) missing(t *openTrace, f func(s *span, callee, came bool) bool) {
	x := &w.expected
	x.spans.empty()
	x.answered.empty()
	for n := t.head; n != 0; n = w.spans.at(n).next {
		s := w.spans.at(n)
		x.spans.add(s.id)
		if s.serverSide() {
			x.answered.add(s.parent)
			if s.flags&flagShared != 0 {
				x.answered.add(s.id)
			}
		}
	}
	for n := t.head; n != 0; n = w.spans.at(n).next {
		s := &w.spans.at(n).span
		if s.parent != 0 && !f(s, false, x.spans.has(s.parent)) {
			return
		}
		if s.kind != evidence.KindClient {
			continue
		}
		if answered := x.answered.has(s.id); (answered || s.givenUp()) && !f(s, true, answered) {
			return
		}
	}
}

// givenUp reports whether the caller went on while the callee may still work.
func (s *span) givenUp() bool {
	return s.outcome == evidence.Timeout || s.outcome == evidence.Cancelled
}

// idSet is a set of IDs, mostly a small one.
type idSet struct {
	few  []uint64
	many map[uint64]struct{}
}

// fewIDs is up to how many are looked through one by one.
const fewIDs = 32

func (s *idSet) empty() {
	s.few = s.few[:0]
	if len(s.many) > 1<<12 {
		s.many = nil
	}
	clear(s.many)
}

func (s *idSet) add(id uint64) {
	switch {
	case len(s.few) < fewIDs:
		s.few = append(s.few, id)
	case s.many == nil:
		s.many = map[uint64]struct{}{id: {}}
	default:
		s.many[id] = struct{}{}
	}
}

func (s *idSet) has(id uint64) bool {
	for _, x := range s.few {
		if x == id {
			return true
		}
	}
	_, yes := s.many[id]
	return yes
}
