package ledger

import (
	"cmp"
	"encoding/hex"
	"math"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// write puts what was joined into the book.
func (j *joiner) write(b *Book) {
	b.Traces, b.Stacked, b.Weighted, b.Unweighted = j.traces, j.stacked, j.weighted, j.unweighted
	b.NoProvider, b.NoConsumer = j.noProvider, j.noConsumer
	for _, e := range j.edges {
		b.Edges = append(b.Edges, j.edgeBook(e))
	}
	if j.other != nil {
		b.Edges = append(b.Edges, j.edgeBook(j.other))
	}
	sortEdges(b.Edges)
	j.exemplify(b.Edges)
	j.writePaths(b)
	j.writeEntries(b)
	j.writeMethods(b)
	j.writeStatements(b)
}

// sortEdges puts the edges with the most attempts beyond their calls first.
func sortEdges(edges []Edge) {
	slices.SortFunc(edges, func(x, y Edge) int {
		return cmp.Or(
			cmp.Compare(y.Retries, x.Retries), cmp.Compare(y.Attempts, x.Attempts), cmp.Compare(x.Caller, y.Caller), cmp.Compare(x.Callee, y.Callee),
			cmp.Compare(x.Protocol, y.Protocol), cmp.Compare(x.Service, y.Service), cmp.Compare(x.Method, y.Method), cmp.Compare(x.Basis, y.Basis))
	})
}

func ratio(a, b float64) float64 {
	if b <= 0 {
		return evidence.None
	}
	return a / b
}

func (j *joiner) edgeBook(e *edgeSum) Edge {
	o := j.l.ops.keys[e.key.op]
	x := e.book(j.cfg.MaxProviders)
	x.Caller, x.Callee, x.Basis = j.nameList[e.key.caller], j.nameList[e.key.callee], FromSpans
	x.Protocol, x.Service, x.Method = o.protocol, o.service, o.method
	x.Windows = j.windows.book(e.windows)
	x.Examples, x.picks = examplesOf(e.examples, j.l.sources.keys), &e.picks
	switch {
	case e.servers == 0 && e.clients > 0:
		x.OneSided = "consumer"
	case e.clients == 0 && e.servers > 0:
		x.OneSided = "provider"
		if e.evidence[Structural] == 0 && e.evidence[Explicit] == 0 {
			// Arrivals that nothing joins: the callers' calls are not known.
			x.Amplification, x.RetryShare = evidence.None, evidence.None
		}
	}
	return x
}

// book gives an edge's sums the form of the report; what it is called is left
// to whoever knows.
func (e *edgeSum) book(providers int) Edge {
	x := Edge{
		Calls: e.calls, Attempts: e.attempts, Amplification: ratio(e.attempts, e.calls),
		Exact: e.evidence[Inferred] == 0 && !e.lossy, Retries: e.retries, RetryShare: ratio(e.retries, e.calls), Proxied: e.proxied,
		Hedges: e.hedges, Transparent: e.transparent, Redirects: e.redirects, Challenges: e.auths, Hidden: e.hidden, Collapsed: e.collapsed,
		ByAttempts: map[int]float64{}, Ceiling: e.ceiling, Retried: e.retried, AtCeiling: evidence.None, ByEvidence: map[string]int64{},
		Joined: e.joined, Ambiguous: e.evidence[Ambiguous], Slots: evidence.None, SlotAttempts: evidence.None, Inherited: ratio(e.cumCalls, e.slots), Cumulative: ratio(e.cumAttempts, e.slots),
		Fates: e.fates, Outcomes: map[evidence.Outcome]int64{},
		Server: e.server, Orphaned: e.orphaned, Superseded: e.superseded, Failed: e.failed, Wasted: evidence.None,
		Orphans: e.orphans, DeadOnArrival: e.deadOnArrival,
		Attempt: e.attempt.latency(), Call: e.call.latency(), Gap: e.gap.latency(), Durations: &e.attempt, Gaps: &e.gap, Timeout: evidence.None,
		Worst: e.marks.book(), NoBackoff: e.noBackoff, AfterTerminal: e.afterTerminal, SameProvider: ratio(float64(e.sameOnly), float64(e.severals)),
	}
	if e.slots > 0 {
		x.Slots = e.slots
	}
	if e.cumAttempts > 0 {
		x.SlotAttempts = e.cumAttempts
	}
	for n, c := range e.by {
		switch {
		case c > 0:
			x.ByAttempts[n] = c
		case c < 0 && n > 0:
			if x.Earlier == nil {
				x.Earlier = map[int]float64{}
			}
			x.Earlier[n] = -c
		}
	}
	if retried := sumFrom(e.by[:], 2); retried > 0 && e.ceiling > 1 {
		x.AtCeiling = e.by[min(e.ceiling, maxBy)] / retried
	}
	for ev, n := range e.evidence {
		if n > 0 {
			x.ByEvidence[Evidence(ev).String()] = n
		}
	}
	for o, n := range e.outcomes {
		if n > 0 {
			x.Outcomes[evidence.Outcome(o)] = n
		}
	}
	if e.server > 0 {
		x.Wasted = float64(e.orphaned+e.superseded+e.failed) / float64(e.server)
	}
	if d, n := e.timeout(); n > 0 {
		x.Timeout, x.TimeoutCount = d, n
	}
	for name, p := range e.providers {
		x.Providers = append(x.Providers, Provider{
			Name: name, Attempts: p.attempts, Failures: p.failures, Busy: p.busy,
			P50: p.latency.Quantile(0.5), P95: p.latency.Quantile(0.95), Max: p.latency.Max(),
		})
	}
	slices.SortFunc(x.Providers, func(a, b Provider) int {
		return cmp.Or(cmp.Compare(b.Attempts, a.Attempts), cmp.Compare(a.Name, b.Name))
	})
	other := Provider{Name: "other", Attempts: e.otherProviders, P50: evidence.None, P95: evidence.None, Max: evidence.None}
	for len(x.Providers) > providers {
		last := x.Providers[len(x.Providers)-1]
		other.Attempts, other.Failures, other.Busy = other.Attempts+last.Attempts, other.Failures+last.Failures, other.Busy+last.Busy
		x.Providers = x.Providers[:len(x.Providers)-1]
	}
	if other.Attempts > 0 {
		x.Providers = append(x.Providers, other)
	}
	if e.first != 0 {
		x.First, x.Last = time.Unix(0, e.first).UTC(), time.Unix(0, e.last).UTC()
	}
	x.Exact = x.Exact && !x.Collapses()
	return x
}

func sumFrom(list []float64, from int) (sum float64) {
	for _, v := range list[from:] {
		sum += v
	}
	return sum
}

func examplesOf(list []example, sources []string) []Example {
	var out []Example
	for _, x := range list {
		c := evidence.Citation{Source: sources[x.source], Line: int(x.line)}
		y := Example{Attempts: x.attempts, Duration: duration(x.dur), Cite: c}
		if x.trace != ([16]byte{}) {
			y.Trace = hex.EncodeToString(x.trace[:])
		}
		out = append(out, y)
	}
	return out
}

// writePaths lists the paths that end at a leaf of the tree.
func (j *joiner) writePaths(b *Book) {
	seconds := float64(j.windows.n) * float64(j.windows.width) / 1e9
	if first, last := j.covered(); last > first {
		seconds = float64(last-first) / 1e9
	}
	nodes := j.paths.nodes
	for i := range nodes {
		n := &nodes[i]
		if i == 0 || !n.leaf || n.attempts <= 0 {
			continue
		}
		p := Path{Leaf: n.attempts, Amplification: 1, WithFront: evidence.None, In: evidence.None, Out: evidence.None}
		for at := int32(i); at > 0; at = nodes[at].parent {
			x := &nodes[at]
			o := j.l.ops.keys[x.edge.op]
			y := Layer{
				Caller: j.nameList[x.edge.caller], Callee: j.nameList[x.edge.callee], Protocol: o.protocol, Service: o.service, Method: o.method,
				Calls: x.calls, Attempts: x.attempts, FanOut: 1, Amplification: ratio(x.attempts, x.calls),
			}
			if x.parent > 0 {
				y.FanOut = ratio(x.calls, nodes[x.parent].attempts)
			} else {
				p.Roots = x.calls
			}
			p.Layers = append(p.Layers, y)
		}
		slices.Reverse(p.Layers)
		for _, y := range p.Layers {
			if y.Amplification > 0 {
				p.Amplification *= y.Amplification
			}
		}
		p.Load = ratio(p.Leaf, p.Roots)
		if seconds >= 1 {
			p.In, p.Out = p.Roots/seconds, p.Leaf/seconds
		}
		b.Paths = append(b.Paths, p)
	}
	slices.SortStableFunc(b.Paths, func(x, y Path) int {
		return cmp.Or(cmp.Compare(y.Amplification, x.Amplification), cmp.Compare(y.Leaf, x.Leaf), slices.CompareFunc(x.Layers, y.Layers, compareLayers))
	})
}

func compareLayers(a, b Layer) int {
	return cmp.Or(cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.Callee, b.Callee), cmp.Compare(a.Protocol, b.Protocol),
		cmp.Compare(a.Service, b.Service), cmp.Compare(a.Method, b.Method))
}

// covered is the time from the first call to the end of the last.
func (j *joiner) covered() (first, last int64) {
	first = math.MaxInt64
	for _, e := range j.edges {
		if e.first != 0 {
			first, last = min(first, e.first), max(last, e.last)
		}
	}
	return first, last
}

func (j *joiner) writeMethods(b *Book) {
	for k, m := range j.methods {
		o := j.l.ops.keys[k.op]
		x := Method{
			Service: j.nameList[k.service], Protocol: o.protocol, RPC: o.service, Method: o.method,
			Latency: m.latency.latency(), Total: m.total, Own: m.own, ByKind: map[string]time.Duration{},
			Examples: examplesOf(m.slowest.examples, j.l.sources.keys),
		}
		if m.first != 0 {
			x.First, x.Last = time.Unix(0, m.first).UTC(), time.Unix(0, m.last).UTC()
		}
		for w, s := range m.by {
			x.ByKind[w.kind] += s.total
			p := j.l.ops.keys[w.op]
			x.Waits = append(x.Waits, Wait{
				Kind: w.kind, Callee: j.nameList[w.callee], What: called(p), Query: j.l.queries.keys[w.query], Count: s.count, Total: s.total,
			})
		}
		if m.lost > 0 {
			x.ByKind["other"] += m.lost
		}
		slices.SortFunc(x.Waits, func(a, b Wait) int {
			return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Callee, b.Callee), cmp.Compare(a.What, b.What), cmp.Compare(a.Query, b.Query))
		})
		b.Methods = append(b.Methods, x)
	}
	slices.SortFunc(b.Methods, func(x, y Method) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Service, y.Service), cmp.Compare(x.RPC, y.RPC), cmp.Compare(x.Method, y.Method), cmp.Compare(x.Protocol, y.Protocol))
	})
}

// called names an operation on one line.
func called(o op) string {
	if o.service != "" {
		return o.service + "." + o.method
	}
	return o.method
}

func (j *joiner) writeStatements(b *Book) {
	for q, s := range j.texts {
		x := Statement{
			Query: j.l.queries.keys[q], Database: j.l.ops.keys[s.system].db, Count: s.latency.Count(), Failures: s.failures,
			Total: s.latency.Sum(), P95: s.latency.Quantile(0.95), Max: s.latency.Max(), Callers: map[string]int64{}, Examples: examplesOf(s.examples.examples, j.l.sources.keys),
		}
		for k, n := range s.callers {
			name := j.nameList[k.service]
			if o := j.l.ops.keys[k.op]; o != (op{}) {
				name += " " + called(o)
			}
			x.Callers[name] += n
		}
		if s.lost > 0 {
			x.Callers["other"] += s.lost
		}
		b.Statements = append(b.Statements, x)
	}
	slices.SortFunc(b.Statements, func(x, y Statement) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Query, y.Query))
	})
}
