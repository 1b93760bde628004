package ledger

// exampleKind is what a call is an example of.
type exampleKind uint8

// The kinds of examples, in the order in which they are listed.
const (
	pickMost exampleKind = iota
	pickAfterRetry
	pickOrphaned
	pickSlowest
	pickKinds
)

// pick is the call that is the best example of its kind so far. It names the
// call by places in what is joined, which do not depend on the order of the
// input: the trace is joined once more when the example is wanted.
type pick struct {
	ok       bool
	failed   bool // it used up its attempts
	attempts int
	value    int64
	at       int   // where its trace begins in joiner.all
	head     int32 // the span that names the call
}

// picks are an edge's examples. Of equal ones the first stays, traces being
// joined in the order of a hash of their IDs.
type picks [pickKinds]pick

// consider takes a call that is a better example than the one before.
func (p *picks) consider(j *joiner, c *call, attempts int, f fate) {
	x := pick{ok: true, failed: f == fateExhausted, attempts: attempts, value: c.end - c.start, at: j.at, head: j.units[c.unit].head}
	if attempts > 1 {
		old := &p[pickMost]
		if !old.ok || attempts > old.attempts || attempts == old.attempts && (x.failed && !old.failed || x.failed == old.failed && x.value > old.value) {
			*old = x
		}
		if f == fateAfterRetry && !p[pickAfterRetry].ok {
			p[pickAfterRetry] = x
		}
	}
	if old := &p[pickSlowest]; !old.ok || x.value > old.value {
		*old = x
	}
	if x.value = c.orphaned; x.value > 0 {
		if old := &p[pickOrphaned]; !old.ok || x.value > old.value {
			*old = x
		}
	}
}

// The bounds of what is shown of traces.
const (
	maxTracedEdges = 12
	maxTraces      = 3 // of one edge
)

// exemplify draws the examples of the foremost edges, which are in order.
func (j *joiner) exemplify(edges []Edge) {
	j.replaying = true
	defer func() { j.replaying = false }()
	left := maxTracedEdges
	for i := range edges {
		e := &edges[i]
		if p := e.picks; p != nil && left > 0 && tracedProtocol(e.Protocol) {
			if e.Traces = j.drawn(p); len(e.Traces) > 0 {
				left--
			}
		}
		e.picks = nil
	}
}

// tracedProtocol leaves out statements: a trace shows them inside the calls that
// made them.
func tracedProtocol(p string) bool { return p != "db" && p != "redis" }

// drawn draws the first few of an edge's examples that are of different traces.
func (j *joiner) drawn(p *picks) []Trace {
	var list []Trace
	seen := map[int]bool{}
	for kind := range pickKinds {
		x := &p[kind]
		if !x.ok || seen[x.at] || len(list) == maxTraces {
			continue
		}
		seen[x.at] = true
		t := j.draw(x)
		t.Why = [...]string{"most-attempts", "success-after-retry", "orphaned", "slowest"}[kind]
		if kind == pickMost && x.failed {
			t.Why = "exhausted"
		}
		list = append(list, t)
	}
	return list
}
