package ledger

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// shape is a way in which a client library shows the attempts of a call.
type shape int

const (
	numberedSiblings  shape = iota // S1; S8 as the parsers read it, for http.retry_count numbers resends
	plainSiblings                  // S2 with an identity
	rpcSiblings                    // S2 of plain RPC
	container                      // S3
	sharedClient                   // S4
	clientsAndServers              // S3 over S4: a container, each of whose attempts a proxy may repeat
	told                           // S7: events tell of retries
	serverNumbers                  // S9: a header numbers the deliveries, the client has no spans
	lostClient                     // provider-only: deliveries of one client without spans
	rootless                       // S6: each attempt in a trace of its own
	redelivered                    // S10: a broker delivers a message again, in other traces
	logicalOnly                    // S5: one span of the call, nothing on the wire is visible
	shapes
)

func (s shape) String() string {
	return [...]string{"numbered", "plain", "rpc", "container", "shared", "both", "told", "server-numbers", "lost-client", "rootless", "redelivered", "logical-only"}[s]
}

// world makes traces whose truth it counts.
type world struct {
	maker
	r      *rand.Rand
	layers []shape
	most   []int // attempts
	fail   float64
	calls  []float64
	tries  []float64
	skew   map[string]time.Duration
	traces uint64 // traces of attempts of their own
}

func service(layer int) string { return fmt.Sprintf("svc%d", layer) }

func (w *world) layerOp(layer int, ident uint64) opt {
	if w.layers[layer] == rpcSiblings {
		return dubbo("com.acme.S"+service(layer+1), "get")
	}
	return http("GET /"+service(layer+1)+"/{id}", ident)
}

// call makes a logical call of a layer from span site at a moment, and returns
// how long it took and how it ended.
func (w *world) call(layer int, site uint64, at time.Duration) (time.Duration, bool) {
	w.calls[layer]++
	caller, callee := service(layer), service(layer+1)
	ident := mix(w.trace*31+uint64(layer)) | 1
	o := w.layerOp(layer, ident)
	peerOf := func() string { return fmt.Sprintf("10.20.%d.%d:8080", layer+1, w.r.IntN(3)) }
	kind := w.layers[layer]
	outcomes := []evidence.Outcome{evidence.Timeout, evidence.Rejected}
	if kind != rpcSiblings {
		outcomes = append(outcomes, evidence.Unreachable, evidence.Failed)
	}
	shared := uint64(0)
	switch kind {
	case container, clientsAndServers, sharedClient, told:
		role := evidence.RoleUnknown
		if kind == container {
			role = evidence.RoleLogical
		}
		shared = w.client(site, caller, at, 0, o, as(role), on(callee))
	case logicalOnly:
		covers := as(evidence.RoleLogical)
		if w.r.IntN(2) == 0 {
			covers = with(func(s *evidence.Span) { s.Whole = true })
		}
		shared = w.client(site, caller, at, 0, o, covers, on(callee))
	case lostClient:
		w.id++
		shared = w.id
	}
	logical := len(w.records) - 1
	from, ok := at, false
	home, message := w.trace, w.id+1
	defer func() { w.trace = home }()
	for n := 1; n <= w.most[layer]; n++ {
		if kind != logicalOnly || n == 1 { // what the library repeats by itself shows nowhere
			w.tries[layer]++
		}
		bad := w.r.Float64() < w.fail
		out := evidence.OK
		if bad {
			out = outcomes[w.r.IntN(len(outcomes))]
		}
		parent, mine := shared, -1
		extra := []opt{o, on(peerOf()), ends(out), with(func(s *evidence.Span) { s.Status = "" })}
		switch kind {
		case numberedSiblings:
			parent = w.client(site, caller, at, 0, append(extra, ordinal(n))...)
			mine = len(w.records) - 1
		case plainSiblings, rpcSiblings:
			parent = w.client(site, caller, at, 0, extra...)
			mine = len(w.records) - 1
		case container:
			parent = w.add(shared, evidence.KindInternal, caller, at, 0, append(extra, as(evidence.RoleAttempt), ordinal(n))...)
			mine = len(w.records) - 1
		case clientsAndServers:
			parent = w.client(shared, caller, at, 0, extra...)
			mine = len(w.records) - 1
		case serverNumbers:
			w.id++
			parent = w.id
		case rootless:
			w.traces++
			w.trace = 1<<40 + w.traces
			parent = w.client(0, caller, at, 0, append(extra, ordinal(n))...)
			mine = len(w.records) - 1
		case redelivered:
			w.traces++
			w.trace = 1<<40 + w.traces
		case logicalOnly: // its context is not handed on: the callee begins a trace
			w.traces++
			w.trace = 1<<40 + w.traces
			parent = 0
		}
		took := 5*ms + time.Duration(w.r.IntN(20))*ms
		deliveries := 1
		if kind == clientsAndServers && n == 1 && w.r.IntN(4) == 0 {
			deliveries = 2
			w.tries[layer]++
		}
		inner := true
		for d := range deliveries {
			if kind == told && (bad && n < w.most[layer]) {
				continue // only the last try is on record
			}
			served := []opt{o, with(func(s *evidence.Span) { s.Ident = 0 }), at2(callee, w.r.IntN(2)), ends(out)}
			if kind == serverNumbers {
				served = append(served, with(func(s *evidence.Span) { s.Ordinal = n }))
			}
			kindOf := evidence.KindServer
			if kind == redelivered {
				kindOf, parent = evidence.KindConsumer, 0
				served = append(served, with(func(s *evidence.Span) {
					s.Protocol, s.Method, s.Ident = "messaging", "process "+callee, message
				}))
			}
			if d < deliveries-1 {
				served = append(served, ends(evidence.Failed))
			}
			s := w.add(parent, kindOf, callee, at+ms, 0, append([]opt{with(func(s *evidence.Span) { s.Remote = evidence.Yes })}, served...)...)
			k := len(w.records) - 1
			if layer+1 < len(w.layers) && d == deliveries-1 {
				var spent time.Duration
				spent, inner = w.call(layer+1, s, at+2*ms)
				took += spent
				if !inner && !bad {
					w.records[k].Span.Outcome = evidence.Unreachable
				}
			}
			w.records[k].Span.Duration = took
		}
		if !inner && !bad {
			// What is below failed: so does this, in a way that is retried.
			bad, out = true, evidence.Rejected
			if mine >= 0 {
				w.records[mine].Span.Outcome = out
			}
		}
		if mine >= 0 {
			w.records[mine].Span.Duration = took + 2*ms
		}
		at += took + 3*ms
		if kind == told && bad && n < w.most[layer] {
			w.records[logical].Span.Retries = n
		}
		if !bad {
			ok = true
			if kind == told {
				w.records[logical].Span.Retries = n - 1
			}
			break
		}
		if w.layers[layer] != rpcSiblings {
			at += time.Duration(w.r.IntN(30)) * ms
		}
	}
	switch kind {
	case container, clientsAndServers, sharedClient, told, logicalOnly:
		s := w.records[logical].Span
		s.Duration = at - from
		if !ok {
			s.Outcome = evidence.Unreachable
		}
	}
	return at - from, ok
}

func at2(service string, n int) opt { return at(fmt.Sprintf("%s-%d", service, n)) }

func (w *world) make(traces int) {
	w.calls, w.tries = make([]float64, len(w.layers)), make([]float64, len(w.layers))
	for k := range traces {
		w.root()
		h := w.server(0, service(0), time.Duration(k)*50*ms, 0, http("GET /", 0))
		n := len(w.records) - 1
		d, _ := w.call(0, h, time.Duration(k)*50*ms+ms)
		w.records[n].Span.Duration = d + 2*ms
	}
}

// hurt loses, repeats and skews what was made.
func (w *world) hurt(loss float64) {
	w.skew = map[string]time.Duration{}
	var kept []*evidence.Record
	for _, r := range w.records {
		if w.r.Float64() < loss {
			continue
		}
		s, ok := w.skew[r.Place.Instance]
		if !ok {
			s = time.Duration(w.r.Int64N(int64(4*time.Second))) - 2*time.Second
			w.skew[r.Place.Instance] = s
		}
		r.Time = r.Time.Add(s)
		kept = append(kept, r)
		if w.r.IntN(20) == 0 {
			kept = append(kept, r)
		}
	}
	w.records = kept
}

// layerSum is what the book says of a layer, its callers known or not. What a
// collapsed call led to arrives from nobody, and is none of the layer's.
func (w *world) layerSum(b *Book, layer int) (calls, attempts float64, exact bool) {
	exact = true
	for i := range b.Edges {
		e := &b.Edges[i]
		if e.Callee == service(layer+1) && (w.layers[layer] != logicalOnly || e.Caller != "") {
			calls, attempts, exact = calls+e.Calls, attempts+e.Attempts, exact && e.Exact
		}
	}
	return calls, attempts, exact
}

func TestTruthOfEveryShape(t *testing.T) {
	for first := range shapes {
		for layers := 1; layers <= 4; layers++ {
			for most := 1; most <= 6; most++ {
				name := fmt.Sprintf("%v/%d-layers/%d-attempts", first, layers, most)
				r := rand.New(rand.NewPCG(uint64(first)*100+uint64(layers), uint64(most)))
				w := &world{r: r, fail: []float64{0, 0.1, 0.5, 0.9, 1}[r.IntN(5)]}
				traces := 50
				for l := range layers {
					k, n := first, most
					if l > 0 {
						k, n = shape(r.IntN(int(shapes))), 1+r.IntN(3)
					}
					w.layers, w.most = append(w.layers, k), append(w.most, n)
				}
				w.make(traces)
				w.hurt(0)
				b := book(t, Config{}, w.records, uint64(most))
				for l, k := range w.layers {
					calls, attempts, exact := w.layerSum(b, l)
					near := 0.0
					if k == plainSiblings || k == rpcSiblings {
						near = 0.05
					} else if exact == (k == logicalOnly) {
						t.Errorf("%s: layer %d (%v): exact is %v", name, l, k, exact)
					}
					if off(calls, w.calls[l]) > near || off(attempts, w.tries[l]) > near {
						t.Errorf("%s, failing %v: layer %d of %v (most %v): calls %v attempts %v, true %v %v", name, w.fail, l, w.layers, w.most, calls, attempts, w.calls[l], w.tries[l])
					}
				}
			}
		}
	}
}

func off(got, want float64) float64 {
	if want == 0 {
		return math.Abs(got)
	}
	return math.Abs(got-want) / want
}

// Redeliveries of a broker, each in a trace of its own (S10), and resends
// without a parent (S6).
func TestTruthAcrossTraces(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var m maker
	var calls, attempts float64
	for k := range 500 {
		n := 1 + r.IntN(5)
		calls, attempts = calls+1, attempts+float64(n)
		for i := range n {
			out := evidence.Failed
			if i == n-1 {
				out = evidence.OK
			}
			m.root()
			m.add(0, evidence.KindConsumer, "stock", time.Duration(k*10+i)*ms, 5*ms, ends(out), with(func(s *evidence.Span) {
				s.Protocol, s.Method, s.Ident = "messaging", "process orders", uint64(k+1)
			}))
			m.root()
			m.client(0, "job", time.Duration(k*10+i)*ms, 5*ms, http("GET /x", uint64(k+1)), ends(out), ordinal(i+1), on("vendor"))
		}
	}
	b := book(t, Config{}, m.records, 3)
	wantEdge(t, edgeOf(t, b, "", "stock", ""), calls, attempts)
	e := edgeOf(t, b, "job", "vendor", "")
	wantEdge(t, e, calls, attempts)
	if len(e.ByAttempts) != 5 {
		t.Errorf("by attempts %v", e.ByAttempts)
	}
}

// Two layers of three attempts make nine, as a product.
func TestPathsMultiply(t *testing.T) {
	w := &world{r: rand.New(rand.NewPCG(1, 1)), fail: 1, layers: []shape{rpcSiblings, numberedSiblings}, most: []int{3, 3}}
	w.make(50)
	b := book(t, Config{}, w.records, 1)
	if len(b.Paths) != 1 {
		t.Fatalf("paths %+v", b.Paths)
	}
	p := b.Paths[0]
	if p.Amplification != 9 || p.Load != 9 || p.Roots != 50 || p.Leaf != 450 || len(p.Layers) != 3 || p.Layers[1].Amplification != 3 || p.Layers[2].Amplification != 3 {
		t.Errorf("path %+v", p)
	}
	e := edgeOf(t, b, "svc1", "svc2", "")
	if e.Inherited != 3 || e.Cumulative != 9 {
		t.Errorf("I %v C %v", e.Inherited, e.Cumulative)
	}
}
