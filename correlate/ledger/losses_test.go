package ledger

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Spans get lost, clocks differ by up to two seconds, nothing comes in order and
// some comes twice: calls, attempts and their ratio stay within 5 % of the truth
// wherever a trace still tells of them, and no edge with losses claims to be
// exact.
func TestTruthWithLosses(t *testing.T) {
	for first := range shapes {
		for layers := 1; layers <= 4; layers++ {
			for k, loss := range []float64{0.01, 0.05} {
				r := rand.New(rand.NewPCG(uint64(first)*10+uint64(layers), uint64(k)))
				w := &world{r: r, fail: []float64{0.2, 0.5}[r.IntN(2)]}
				for l := range layers {
					kind, most := first, 3
					if l > 0 {
						kind, most = shape(r.IntN(int(shapes))), 1+r.IntN(3)
					}
					w.layers, w.most = append(w.layers, kind), append(w.most, most)
				}
				w.make(600)
				w.hurt(loss)
				b := book(t, Config{}, w.records, 4)
				for l, kind := range w.layers {
					w.nearTruth(t, b, l, kind, loss)
				}
			}
		}
	}
}

// nearTruth compares what a book says of a layer with what was done there.
func (w *world) nearTruth(t *testing.T, b *Book, l int, kind shape, loss float64) {
	t.Helper()
	calls, attempts, exact := w.layerSum(b, l)
	ratio, truth := attempts/calls, w.tries[l]/w.calls[l]
	if d := off(ratio, truth); d > 0.05 {
		t.Errorf("loss %v, failing %v, layer %d of %v: amplification %.3f, true %.3f", loss, w.fail, l, w.layers, ratio, truth)
	}
	// Where a side has no spans, or each attempt a trace of its own, a lost span
	// leaves nothing behind.
	near := 0.05
	switch kind {
	case serverNumbers, lostClient, rootless, redelivered, logicalOnly:
		near = 0.05 + loss*1.2
		if exact && kind == logicalOnly {
			t.Errorf("loss %v, layer %d of %v: claims to be exact", loss, l, w.layers)
		}
	case sharedClient, clientsAndServers, told:
		// A delivery of several below one span, and what a lost span told.
		near = 0.05 + loss*0.6
		fallthrough
	default:
		if exact && loss > 0.01 {
			t.Errorf("loss %v, layer %d of %v: claims to be exact: attempts %v, true %v", loss, l, w.layers, attempts, w.tries[l])
		}
	}
	if off(calls, w.calls[l]) > near || off(attempts, w.tries[l]) > near {
		t.Errorf("loss %v, failing %v, layer %d of %v: calls %v attempts %v, true %v %v", loss, w.fail, l, w.layers, calls, attempts, w.calls[l], w.tries[l])
	}
}

// What looks like retries and is none stays so when spans of it are lost.
func TestLookAlikesWithLosses(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(w *world, h uint64, at time.Duration)
	}{
		{"fan-out", func(w *world, h uint64, at time.Duration) {
			for k := range 5 {
				w.served(h, at, time.Duration(20+k)*ms, evidence.OK, http("GET /stock/{id}", uint64(k+1)))
			}
		}},
		{"fan-out in an outage", func(w *world, h uint64, at time.Duration) {
			for range 4 {
				w.served(h, at, 50*ms, evidence.Timeout, dubbo("Stock", "get"))
			}
		}},
		{"batch of which items fail", func(w *world, h uint64, at time.Duration) {
			for k := range 6 {
				w.served(h, at+time.Duration(k)*30*ms, 20*ms, []evidence.Outcome{evidence.OK, evidence.Failed}[w.r.IntN(2)], http("GET /stock/{id}", uint64(k+1)))
			}
		}},
		{"polling", func(w *world, h uint64, at time.Duration) {
			for k := range 6 {
				w.served(h, at+time.Duration(k)*30*ms, 20*ms, evidence.OK, http("GET /job/{id}", 5))
			}
		}},
		{"redirect", func(w *world, h uint64, at time.Duration) {
			w.served(h, at, 20*ms, evidence.Redirected, http("GET /old", 5), ordinal(1))
			w.served(h, at+25*ms, 20*ms, evidence.OK, http("GET /new", 6), ordinal(2))
		}},
		{"challenge", func(w *world, h uint64, at time.Duration) {
			w.served(h, at, 20*ms, evidence.Challenged, http("GET /x", 5), ordinal(1))
			w.served(h, at+25*ms, 20*ms, evidence.OK, http("GET /x", 5), ordinal(2))
		}},
		{"hedge", func(w *world, h uint64, at time.Duration) {
			w.served(h, at, 40*ms, evidence.Cancelled, http("GET /stock/{id}", 7))
			w.served(h, at+20*ms, 20*ms, evidence.OK, http("GET /stock/{id}", 7))
		}},
	} {
		w := &world{r: rand.New(rand.NewPCG(7, 7))}
		for k := range 500 {
			w.root()
			at := time.Duration(k) * time.Second
			c.make(w, w.server(0, "shop", at, 500*ms, http("GET /buy", 0)), at)
		}
		w.hurt(0.05)
		for _, e := range book(t, Config{}, w.records, 2).Edges {
			if e.Retries > 0 {
				t.Errorf("%s: %v retries of %v calls on %s > %s, by %v", c.name, e.Retries, e.Calls, e.Caller, e.Callee, e.ByEvidence)
			}
		}
	}
}

// served makes a client's span and its server's.
func (w *world) served(h uint64, at, took time.Duration, out evidence.Outcome, opts ...opt) {
	opts = append(opts, ends(out), on("stock:8080"))
	c := w.client(h, "shop", at, took+2*ms, opts...)
	w.server(c, "stock", at+ms, took, append(opts, with(func(s *evidence.Span) { s.Ident, s.Ordinal, s.Numbers = 0, 0, false }), at2("stock", w.r.IntN(3)))...)
}
