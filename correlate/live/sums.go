package live

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
)

// Snapshot is what was counted up to a moment. All of it only grows, until an
// edge is forgotten.
type Snapshot struct {
	Edges     []Edge // ordered by their names
	Finalized map[Finalized]int64
	Stacked   int64                 // traces in which a call was retried inside an attempt of a retried call
	Losses    map[ledger.Loss]int64 // spans that were not counted, by reason
	Folded    map[string]int64      // calls that were counted in Other: "edges", "methods"
	Intake    Intake
	MaxSpans  int
}

// Edge is one caller's use of one callee by one protocol.
type Edge struct {
	Caller, Callee, Protocol string
	Methods                  []Method // ordered by their names
	Retried, Ambiguous       int64
	Fates                    ledger.Fates
	Outcomes                 map[evidence.Outcome]int64
	ByAttempts               map[int]float64 // calls by their number of attempts

	Server, Orphaned, Superseded, Failed time.Duration // provider time, and that of work for nobody
	Orphans                              int64

	Durations, Gaps Durations
}

// Method is one operation of an edge.
type Method struct {
	Name                                                                  string
	Calls                                                                 float64
	Initial, Retries, Proxied, Hedges, Transparent, Redirects, Challenges float64 // attempts, by why they were made
}

// Bounds are the upper limits of the buckets of Durations, in seconds.
var Bounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

// Durations counts durations by Bounds; the last bucket holds the longer ones.
// A duration within 4.4 % of a bound may stand on either side of it.
type Durations struct {
	Buckets [len(Bounds) + 1]uint64
	Count   uint64
	Sum     time.Duration
}

func (d *Durations) add(h *ledger.Histogram) {
	if h == nil {
		return
	}
	at := 0
	h.Each(func(middle time.Duration, n int64) {
		for at < len(Bounds) && middle.Seconds() > Bounds[at] {
			at++
		}
		d.Buckets[at] += uint64(n)
	})
	d.Count += uint64(h.Count())
	d.Sum += h.Sum()
}

type edgeName struct{ caller, callee, protocol string }

// edgeSum is an edge that is being counted.
type edgeSum struct {
	Edge
	methods map[string]*Method
	last    time.Time
}

// sums are the counters.
type sums struct {
	Snapshot
	edges                map[edgeName]*edgeSum
	maxEdges, maxMethods int
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
		e := s.edge(x, b.Losses[ledger.LostEdges] > 0)
		e.last = now
		e.add(x)
		s.method(e, x).add(x)
	}
	s.Stacked += b.Stacked
	for why, n := range b.Losses {
		s.Losses[why] += n
	}
}

// edge finds the account of a book's edge, or the one of all that are too many.
func (s *sums) edge(x *ledger.Edge, full bool) *edgeSum {
	k := edgeName{label(x.Caller), label(x.Callee), label(x.Protocol)}
	if full && x.Caller == "" && x.Callee == "" && x.Method == "other" { // the ledger's own
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
		e = &edgeSum{Edge: Edge{Caller: k.caller, Callee: k.callee, Protocol: k.protocol}, methods: map[string]*Method{}}
		e.Outcomes, e.ByAttempts = map[evidence.Outcome]int64{}, map[int]float64{}
		s.edges[k] = e
	}
	return e
}

func (s *sums) method(e *edgeSum, x *ledger.Edge) *Method {
	name := x.Method
	if x.Service != "" {
		name = x.Service + "." + x.Method
	}
	name = label(name)
	if e.Caller == Other && e.Callee == Other {
		name = Other
	}
	m := e.methods[name]
	if m == nil && len(e.methods) >= s.maxMethods && name != Other {
		s.Folded["methods"] += int64(x.Calls)
		name = Other
		m = e.methods[name]
	}
	if m == nil {
		m = &Method{Name: name}
		e.methods[name] = m
	}
	return m
}

// maxLabel bounds a name that was sent.
const maxLabel = 200

// label makes a name fit for a label.
func label(name string) string {
	if len(name) > maxLabel {
		name = name[:maxLabel]
	}
	return strings.ToValidUTF8(name, "�")
}

func (m *Method) add(x *ledger.Edge) {
	m.Calls += x.Calls
	m.Initial += x.Attempts - x.Retries
	m.Retries += x.Retries - x.Proxied
	m.Proxied += x.Proxied
	m.Hedges += x.Hedges
	m.Transparent += x.Transparent
	m.Redirects += x.Redirects
	m.Challenges += x.Challenges
}

func (e *Edge) add(x *ledger.Edge) {
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
		e.ByAttempts[n] += calls
	}
	e.Server += x.Server
	e.Orphaned += x.Orphaned
	e.Superseded += x.Superseded
	e.Failed += x.Failed
	e.Orphans += x.Orphans
	e.Durations.add(x.Durations)
	e.Gaps.add(x.Gaps)
}

// forget drops the edges without a call since a time.
func (s *sums) forget(before time.Time) {
	for k, e := range s.edges {
		if e.last.Before(before) && k.caller != Other {
			delete(s.edges, k)
		}
	}
}

// snapshot copies what was counted.
func (s *sums) snapshot() *Snapshot {
	c := s.Snapshot
	c.Finalized, c.Losses, c.Folded = maps.Clone(s.Finalized), maps.Clone(s.Losses), maps.Clone(s.Folded)
	c.Edges = make([]Edge, 0, len(s.edges))
	for _, e := range s.edges {
		x := e.Edge
		x.Outcomes, x.ByAttempts = maps.Clone(e.Outcomes), maps.Clone(e.ByAttempts)
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
	return &c
}
