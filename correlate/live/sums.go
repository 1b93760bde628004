package live

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// Snapshot is what was counted up to a moment. All of it only grows, until an
// edge is forgotten.
type Snapshot struct {
	Started   time.Time // when all was 0
	Edges     []Edge    // ordered by their names
	Entries   []Entry   // ordered by their names
	Finalized map[Finalized]int64
	Stacked   int64                 // traces in which a call was retried inside an attempt of a retried call
	Losses    map[ledger.Loss]int64 // spans that were not counted, by reason
	Folded    map[string]int64      // what was counted in Other: calls of "edges" and "methods", requests of "entries", attempts of "entry-callees"
	Intake    Intake
	MaxSpans  int

	// NoProvider counts attempts of which no provider's span was seen, NoConsumer
	// those whose span names a parent that was not seen.
	NoProvider, NoConsumer int64
	Rejections             []Rejection // ordered by their names
	Stores                 []Store     // what is kept in memory
}

// Edge is one caller's use of one callee by one protocol.
type Edge struct {
	Caller, Callee, Protocol string
	Methods                  []Method // ordered by their names
	Retried, Ambiguous       int64
	Fates                    ledger.Fates
	Outcomes                 map[evidence.Outcome]int64
	// ByAttempts is calls by their number of attempts. A call whose attempts are in
	// traces of their own is known to have ended one attempt later when that is
	// counted; what was shown once is not taken back, so such calls may stand in two.
	ByAttempts map[int]float64
	Created    time.Time // when all of it was 0

	Server, Orphaned, Superseded, Failed time.Duration // provider time, and that of work for nobody
	Orphans                              int64

	Durations, Gaps Durations

	MostAttempts Exemplar                      // a retried call; its value is its attempts
	FailedCall   Exemplar                      // its value is seconds, as of the next
	FailedBy     map[evidence.Outcome]Exemplar // attempts that failed
}

// Method is one operation of an edge.
type Method struct {
	Name                                                                  string
	Calls                                                                 float64
	Joined                                                                ledger.Joined // sums to Calls
	Intended, IntendedAttempts                                            float64       // calls with the retries above folded away; attempts of the same traces
	Initial, Retries, Proxied, Hedges, Transparent, Redirects, Challenges float64       // attempts, by why they were made
	Created                                                               time.Time
}

type edgeName struct{ caller, callee, protocol string }

// edgeSum is an edge that is being counted.
type edgeSum struct {
	Edge
	methods map[string]*Method
	by      map[int]float64 // ByAttempts as it is, where that shows what it was
	last    time.Time
}

// sums are the counters.
type sums struct {
	Snapshot
	edges                map[edgeName]*edgeSum
	entries              entrySums
	maxEdges, maxMethods int
	allMethods           int // of all edges
}

func newSums(edges, methods int) sums {
	s := sums{edges: map[edgeName]*edgeSum{}, maxEdges: edges, maxMethods: methods}
	s.Finalized, s.Losses, s.Folded = map[Finalized]int64{}, map[ledger.Loss]int64{}, map[string]int64{}
	return s
}

// add adds what a book says of its traces.
func (s *sums) add(b *ledger.Book, now time.Time) {
	for i := range b.Edges {
		x := &b.Edges[i]
		if x.Basis != ledger.FromSpans {
			continue
		}
		e := s.edge(x, b.Losses[ledger.LostEdges] > 0, now)
		e.last = now
		e.add(x, now)
		s.method(e, x, now).add(x)
	}
	for i := range b.Entries {
		s.entries.add(&b.Entries[i], now, s.Folded)
	}
	s.Stacked += b.Stacked
	s.NoProvider += b.NoProvider
	s.NoConsumer += b.NoConsumer
	for why, n := range b.Losses {
		s.Losses[why] += n
	}
}

// edge finds the account of a book's edge, or the one of all that are too many.
func (s *sums) edge(x *ledger.Edge, full bool, now time.Time) *edgeSum {
	k := edgeName{label(x.Caller), label(x.Callee), label(x.Protocol)}
	if full && x.Caller == "" && x.Callee == "" && x.Method == Other { // the ledger's own
		k = edgeName{Other, Other, Other}
	}
	e := s.edges[k]
	if e == nil && len(s.edges) >= s.maxEdges {
		k = edgeName{Other, Other, Other}
		e = s.edges[k]
	}
	if k.caller == Other && k.callee == Other {
		s.Folded["edges"] += int64(x.Calls)
	}
	if e == nil {
		e = &edgeSum{Edge: Edge{Caller: k.caller, Callee: k.callee, Protocol: k.protocol, Created: now}, methods: map[string]*Method{}, by: map[int]float64{}}
		e.Outcomes, e.ByAttempts, e.FailedBy = map[evidence.Outcome]int64{}, map[int]float64{}, map[evidence.Outcome]Exemplar{}
		s.edges[k] = e
	}
	return e
}

func (s *sums) method(e *edgeSum, x *ledger.Edge, now time.Time) *Method {
	name := x.Method
	if x.Service != "" {
		name = x.Service + "." + x.Method
	}
	name = label(name)
	if e.Caller == Other && e.Callee == Other {
		name = Other
	}
	m := e.methods[name]
	if m == nil && (len(e.methods) >= s.maxMethods || s.allMethods >= maxAllMethods) && name != Other {
		s.Folded["methods"] += int64(x.Calls)
		name = Other
		m = e.methods[name]
	}
	if m == nil {
		m = &Method{Name: name, Created: now}
		e.methods[name] = m
		s.allMethods++
	}
	return m
}

// maxAllMethods bounds the methods of all edges together: there are several
// series for each.
const maxAllMethods = 20_000

// maxLabel bounds a name that was sent.
const maxLabel = 200

// label makes a name fit for a label.
func label(name string) string {
	if len(name) > maxLabel {
		name = name[:maxLabel]
	}
	return incident.Visible(strings.ToValidUTF8(name, "�"))
}

func (m *Method) add(x *ledger.Edge) {
	m.Calls += x.Calls
	m.Joined.Exact += x.Joined.Exact
	m.Joined.Inferred += x.Joined.Inferred
	m.Joined.Ambiguous += x.Joined.Ambiguous
	m.Intended += max(0, x.Slots)
	m.IntendedAttempts += max(0, x.SlotAttempts)
	m.Initial += x.Attempts - x.Retries
	m.Retries += x.Retries - x.Proxied
	m.Proxied += x.Proxied
	m.Hedges += x.Hedges
	m.Transparent += x.Transparent
	m.Redirects += x.Redirects
	m.Challenges += x.Challenges
}

func (e *edgeSum) add(x *ledger.Edge, now time.Time) {
	e.Retried += x.Retried
	e.Ambiguous += x.Ambiguous
	f, g := &e.Fates, &x.Fates
	f.AtOnce += g.AtOnce
	f.AfterRetry += g.AfterRetry
	f.Exhausted += g.Exhausted
	f.TimedOut += g.TimedOut
	f.Rejected += g.Rejected
	f.Cancelled += g.Cancelled
	f.NotRetryable += g.NotRetryable
	f.Budget += g.Budget
	f.Failed += g.Failed
	f.Unknown += g.Unknown
	f.Abandoned += g.Abandoned
	for o, n := range x.Outcomes {
		e.Outcomes[o] += n
	}
	for n, calls := range x.ByAttempts {
		e.by[n] += calls
		e.ByAttempts[n] = max(e.ByAttempts[n], e.by[n])
	}
	for n, calls := range x.Earlier {
		e.by[n] -= calls
	}
	e.Server += x.Server
	e.Orphaned += x.Orphaned
	e.Superseded += x.Superseded
	e.Failed += x.Failed
	e.Orphans += x.Orphans
	w := &x.Worst
	e.Durations.add(x.Durations, &w.Attempt, now)
	e.Gaps.add(x.Gaps, &w.Gap, now)
	e.MostAttempts.take(exemplar(&w.Retried, float64(w.Retried.Value), now))
	e.FailedCall.take(exemplar(&w.Failed, time.Duration(w.Failed.Value).Seconds(), now))
	for o, m := range w.ByOutcome {
		was := e.FailedBy[o]
		was.take(exemplar(&m, time.Duration(m.Value).Seconds(), now))
		e.FailedBy[o] = was
	}
}

// forget drops the edges without a call since a time.
func (s *sums) forget(before time.Time) {
	for k, e := range s.edges {
		if e.last.Before(before) && k.caller != Other {
			s.allMethods -= len(e.methods)
			delete(s.edges, k)
		}
	}
	s.entries.forget(before)
}

// snapshot copies what was counted.
func (s *sums) snapshot() *Snapshot {
	c := s.Snapshot
	c.Finalized, c.Losses, c.Folded = maps.Clone(s.Finalized), maps.Clone(s.Losses), maps.Clone(s.Folded)
	c.Edges = make([]Edge, 0, len(s.edges))
	for _, e := range s.edges {
		x := e.Edge
		x.Outcomes, x.ByAttempts, x.FailedBy = maps.Clone(e.Outcomes), maps.Clone(e.ByAttempts), maps.Clone(e.FailedBy)
		x.Durations.Native.Counts, x.Gaps.Native.Counts = slices.Clone(e.Durations.Native.Counts), slices.Clone(e.Gaps.Native.Counts)
		x.Methods = make([]Method, 0, len(e.methods))
		for _, m := range e.methods {
			x.Methods = append(x.Methods, *m)
		}
		slices.SortFunc(x.Methods, func(a, b Method) int { return cmp.Compare(a.Name, b.Name) })
		c.Edges = append(c.Edges, x)
	}
	slices.SortFunc(c.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.Callee, b.Callee), cmp.Compare(a.Protocol, b.Protocol))
	})
	c.Entries = s.entries.list()
	return &c
}
