package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
)

// Store is something that is kept in memory, and how large it may grow. Sizes
// are what the things are reckoned at; Go's own needs come on top.
type Store struct {
	Name         string
	Bytes, Limit int64
}

// closedBytes is what is reckoned for the ID of a closed trace.
const closedBytes = 20

// rawStore says what is kept of the lines of files.
func (e *Engine) rawStore() Store {
	e.rawMu.Lock()
	defer e.rawMu.Unlock()
	return Store{"raw", int64(e.raw.bytes), int64(max(0, e.raw.max))}
}

// stores says what else is kept, ordered by name. The engine is locked.
func (e *Engine) stores() []Store {
	return []Store{
		{"closed-traces", int64(len(e.closed.young)+len(e.closed.old)) * closedBytes, 2 * maxTombstones * closedBytes},
		{"recent", int64(e.recent.bytes), int64(e.cfg.MaxRecentBytes)},
		{"spans", int64(e.held())*ledger.SpanBytes + int64(e.waiting.Open())*ledger.OpenBytes, int64(e.cfg.MaxSpans) * (ledger.SpanBytes + ledger.OpenBytes)},
	}
}

// staleAfter is after what time a span that comes is of a backlog.
const staleAfter = 10 * time.Minute

// seen counts what a span tells of how it came.
func (in *Intake) seen(r *evidence.Record, now time.Time) {
	if r.Span.Weight > 0 {
		in.Weighted++
	} else {
		in.Unweighted++
	}
	if !r.Time.IsZero() && now.Sub(r.Time)-max(0, r.Span.Duration) > staleAfter {
		in.Stale++
	}
}

// Rejection is how often logs told that a pool refused a task or gave up a
// borrower.
type Rejection struct {
	Owner, Pool string
	Count       int64
}

type poolName struct{ owner, pool string }

// maxRejecting bounds the pools that are known by name.
const maxRejecting = 200

// rejections counts by pool.
type rejections map[poolName]int64

// add takes what a log says of a pool. What the other end of a call was told of
// it, and what a pool refuses that is being shut down, does not count.
func (m rejections) add(r *evidence.Record) {
	p := r.Pool
	if !p.Rejected || p.Relayed || p.Shutdown {
		return
	}
	k := poolName{label(cmp.Or(p.Owner, r.Place.Instance, r.Place.Service)), label(cmp.Or(p.Name, p.Impl, "pool"))}
	if _, known := m[k]; !known && len(m) >= maxRejecting {
		k = poolName{Other, Other}
	}
	m[k]++
}

func (m rejections) list() []Rejection {
	list := make([]Rejection, 0, len(m))
	for k, n := range m {
		list = append(list, Rejection{k.owner, k.pool, n})
	}
	slices.SortFunc(list, func(a, b Rejection) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Pool, b.Pool))
	})
	return list
}
