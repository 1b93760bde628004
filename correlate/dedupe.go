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
// edge that follow each other at once are one call. They are told apart when the
// report is made, for only then is the order of time known.

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
	for i := 1; i < len(list); i++ {
		prev, cur := list[i-1], list[i]
		if prev.key != cur.key || prev.rec.Cite == cur.rec.Cite {
			continue
		}
		near := sameCall
		if refused(prev.rec) && refused(cur.rec) {
			near = sameRefused
		}
		if cur.rec.Time.Sub(prev.rec.Time) > near {
			continue
		}
		// The record that says more stays, whichever came first.
		if rank(cur.rec) < rank(prev.rec) && !drop[prev.rec] {
			drop[prev.rec] = true
			continue
		}
		drop[cur.rec] = true
	}
	return drop
}

func refused(r *evidence.Record) bool {
	return r.Tries != nil && r.Tries.Outcome == evidence.Rejected || r.Attempt != nil && r.Attempt.Outcome == evidence.Rejected
}

// settle counts the calls that were kept waiting, each once.
func (e *Engine) settle() {
	e.closeLedger()
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
