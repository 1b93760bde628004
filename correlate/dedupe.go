package correlate

import (
	"cmp"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// One failed call is often logged by several layers: the framework, the
// controller, the servlet container; and Dubbo's profiler reports it once more.
// A thread can only be in one call at a time, so records of one thread about one
// edge that follow each other at once are one call, unless they say different
// things of it or the same logger wrote both. They are told apart when the report
// is made, for only then is the order of time known.

// sameCall is how close records of one thread about one call are. Calls that
// time out last much longer; refused ones may be repeated within milliseconds.
const (
	sameCall    = 60 * time.Millisecond
	sameRefused = 3 * time.Millisecond
)

// told is a call or attempt as one record told it.
type told struct {
	rec *evidence.Record
	key callKey
}

type callKey struct {
	source, thread, method string
}

// rank orders the records of one call: the one that says most comes first.
func rank(r *evidence.Record) int {
	switch {
	case r.Tries != nil && r.Tries.Mode == "profiler":
		return 2
	case r.Tries != nil:
		return 1
	}
	return 3
}

// repeats returns the records that tell of a call that another record has told
// of already.
func repeats(kept []*evidence.Record) map[*evidence.Record]bool {
	var list []told
	for _, r := range kept {
		if r.Thread == "" || r.Time.IsZero() {
			continue
		}
		switch {
		case r.Tries != nil && r.Tries.Method != "":
			list = append(list, told{r, callKey{r.Cite.Source, r.Thread, methodName(r.Tries.Method)}})
		case r.Attempt != nil && r.Attempt.Method != "" && r.Attempt.Side != evidence.Provider && r.Attempt.Outcome != evidence.Late && !r.Attempt.LastOf:
			list = append(list, told{r, callKey{r.Cite.Source, r.Thread, methodName(r.Attempt.Method)}})
		}
	}
	slices.SortFunc(list, func(a, b told) int {
		return cmp.Or(cmp.Compare(a.key.source, b.key.source), cmp.Compare(a.key.thread, b.key.thread), cmp.Compare(a.key.method, b.key.method),
			a.rec.Time.Compare(b.rec.Time), cmp.Compare(rank(a.rec), rank(b.rec)), compareCites(a.rec.Cite, b.rec.Cite))
	})
	drop := map[*evidence.Record]bool{}
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && continues(list[from:to], list[to]) {
			to++
		}
		best := from
		for i := from + 1; i < to; i++ {
			if rank(list[i].rec) < rank(list[best].rec) {
				best = i
			}
		}
		for i := from; i < to; i++ {
			if i != best {
				drop[list[i].rec] = true
			}
		}
		from = to
	}
	return drop
}

// continues reports whether next tells once more of the call that the records of
// one thread before it tell of.
func continues(call []told, next told) bool {
	prev := call[len(call)-1]
	if prev.key != next.key || prev.rec.Cite == next.rec.Cite {
		return false
	}
	layers := true // each record is known to be of another layer
	for _, c := range call {
		if c.rec.Logger == "" || next.rec.Logger == "" {
			layers = false
			continue
		}
		if c.rec.Logger == next.rec.Logger && !c.rec.Time.Equal(next.rec.Time) {
			return false // a layer tells of a call once
		}
		if differ(c.rec, next.rec) {
			return false
		}
	}
	near := sameCall
	if !layers && refused(prev.rec) && refused(next.rec) {
		near = sameRefused
	}
	if layers && prev.rec.Tries != nil && prev.rec.Tries.Mode == "profiler" && next.rec.Tries != nil && next.rec.Tries.Attempts == prev.rec.Tries.Attempts {
		near = time.Second // a busy machine prints the exception later
	}
	return next.rec.Time.Sub(prev.rec.Time) <= near
}

// differ reports whether two records of a thread tell of two calls by what they
// say of them.
func differ(a, b *evidence.Record) bool {
	if a.Tries == nil || b.Tries == nil {
		return false
	}
	x, y := a.Tries, b.Tries
	if x.Attempts > 0 && y.Attempts > 0 && x.Attempts != y.Attempts {
		return true
	}
	if x.Mode != "profiler" && y.Mode != "profiler" {
		return x.Outcome != y.Outcome && x.Outcome != evidence.OutcomeUnknown && y.Outcome != evidence.OutcomeUnknown
	}
	if y.Mode == "profiler" {
		x, y = y, x
	}
	// A call whose last attempt used up its timeout was not refused.
	n := len(x.Each)
	return n > 0 && y.Mode != "profiler" && y.Outcome == evidence.Rejected && x.Timeout > 0 && x.Each[n-1].Duration >= x.Timeout
}

func refused(r *evidence.Record) bool {
	return r.Tries != nil && r.Tries.Outcome == evidence.Rejected || r.Attempt != nil && r.Attempt.Outcome == evidence.Rejected
}

// settle counts the calls that were kept waiting, each once.
func (e *Engine) settle() {
	e.closeLedger()
	// Several layers tell of one call: which of them is cited must not depend on
	// the order in which they came.
	slices.SortStableFunc(e.pending, func(a, b *evidence.Record) int {
		return cited{a.Time, a.Cite}.compare(cited{b.Time, b.Cite})
	})
	drop := repeats(e.pending)
	for _, r := range e.pending {
		if !drop[r] {
			e.store(r)
		}
	}
	e.pending = nil
	if len(drop) > 0 {
		e.kept = slices.DeleteFunc(e.kept, func(r *evidence.Record) bool { return drop[r] })
	}
}
