package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// only keeps the spans of one side, and roots.
func only(records []*evidence.Record, kinds ...evidence.SpanKind) (kept []*evidence.Record) {
	for _, r := range records {
		for _, k := range kinds {
			if r.Span.Kind == k || r.Place.Service == "svc0" && r.Span.Kind == evidence.KindServer {
				kept = append(kept, r)
				break
			}
		}
	}
	return kept
}

func TestConsumerOnly(t *testing.T) {
	for _, k := range []shape{numberedSiblings, rpcSiblings, container} {
		w := &world{r: rand.New(rand.NewPCG(3, 3)), fail: 0.5, layers: []shape{k, k}, most: []int{3, 3}}
		w.make(300)
		records := only(w.records, evidence.KindClient, evidence.KindInternal)
		b := book(t, Config{}, records, 1)
		var calls, attempts float64
		for _, e := range b.Edges {
			if e.Caller != "" {
				calls, attempts = calls+e.Calls, attempts+e.Attempts
				if e.OneSided != "consumer" || e.Server != 0 || e.Wasted != evidence.None {
					t.Errorf("%v: edge %+v", k, e)
				}
			}
		}
		if off(calls, w.calls[0]+w.calls[1]) > 0.001 || off(attempts, w.tries[0]+w.tries[1]) > 0.001 {
			t.Errorf("%v: calls %v attempts %v, true %v %v", k, calls, attempts, w.calls, w.tries)
		}
	}
}

func TestProviderOnly(t *testing.T) {
	// n entries of one unseen client are n deliveries of one call.
	w := &world{r: rand.New(rand.NewPCG(3, 3)), fail: 0.5, layers: []shape{sharedClient}, most: []int{3}}
	w.make(300)
	b := book(t, Config{}, only(w.records, evidence.KindServer), 1)
	e := edgeOf(t, b, "", "svc1", "")
	wantEdge(t, e, w.calls[0], w.tries[0])
	if e.OneSided != "provider" || !e.Exact || e.Amplification < 1 {
		t.Errorf("edge %+v", e)
	}
	// Each from a client span of its own: arrivals, of which nothing tells the calls.
	w = &world{r: rand.New(rand.NewPCG(3, 3)), fail: 0.5, layers: []shape{rpcSiblings}, most: []int{3}}
	w.make(300)
	e = edgeOf(t, book(t, Config{}, only(w.records, evidence.KindServer), 1), "", "svc1", "")
	if e.Attempts != w.tries[0] || e.Amplification != evidence.None {
		t.Errorf("attempts %v of %v, A %v", e.Attempts, w.tries[0], e.Amplification)
	}
}

// Retries of plain RPC that fail fast on one peer are believed only if the whole
// input shows that chains on that edge behave as retries do.
func TestLearningAnEdge(t *testing.T) {
	make := func(loops bool) []*evidence.Record {
		r := rand.New(rand.NewPCG(8, 8))
		var m maker
		for k := range 400 {
			m.root()
			h := m.server(0, "shop", time.Duration(k)*time.Second, 50*ms, http("GET /buy", 0))
			at := time.Duration(k) * time.Second
			n := 3
			if loops {
				n = 6
			}
			for range n {
				out := evidence.Failed
				if r.IntN(2) == 0 {
					out = evidence.OK
				}
				m.client(h, "shop", at, 2*ms, dubbo("Stock", "get"), on("10.20.0.1:20880"), ends(out))
				at += 2 * ms
				if out == evidence.OK && !loops {
					break
				}
			}
		}
		return m.records
	}
	e := edgeOf(t, book(t, Config{}, make(false), 1), "shop", "Stock", "")
	if e.Calls != 400 || e.Retries == 0 || e.Exact {
		t.Errorf("retries: calls %v retries %v", e.Calls, e.Retries)
	}
	e = edgeOf(t, book(t, Config{}, make(true), 1), "shop", "Stock", "")
	if e.Calls != 2400 || e.Retries != 0 || e.Ambiguous == 0 {
		t.Errorf("loop: calls %v retries %v", e.Calls, e.Retries)
	}
}

// A loop whose items all time out is not a retry where the edge is known to be
// called in loops and the peer stays the same.
func TestLoopOfTimeouts(t *testing.T) {
	var m maker
	for k := range 100 {
		m.root()
		h := m.server(0, "shop", time.Duration(k)*time.Minute, time.Minute, http("GET /buy", 0))
		for n := range 6 {
			out, d := evidence.OK, 5*ms
			if k%4 == 0 && n > 1 {
				out, d = evidence.Timeout, time.Second
			}
			m.client(h, "shop", time.Duration(k)*time.Minute+time.Duration(n)*time.Second, d, dubbo("Stock", "get"), on("10.20.0.1:20880"), ends(out))
		}
	}
	e := edgeOf(t, book(t, Config{}, m.records, 1), "shop", "Stock", "")
	if e.Calls != 600 || e.Retries != 0 || e.Ambiguous != 25 {
		t.Errorf("calls %v retries %v ambiguous %d", e.Calls, e.Retries, e.Ambiguous)
	}
}

// Spans that hang below a client span without being its attempts.
func TestCallsBelowAClientSpan(t *testing.T) {
	var m maker
	m.root()
	h := m.server(0, "shop", 0, time.Second, http("GET /buy", 0))
	a := m.client(h, "shop", 0, 20*ms, http("GET /price", 1), on("price"))
	m.client(a, "shop", 30*ms, 20*ms, http("GET /stock", 2), on("stock")) // its context leaked
	feign := m.client(h, "shop", 100*ms, 90*ms, http("GET", 3), on("order"))
	m.client(feign, "shop", 100*ms, 20*ms, http("GET /orders", 3), on("order"), status(503))
	m.client(feign, "shop", 140*ms, 20*ms, http("GET /orders", 3), on("order"))
	b := book(t, Config{}, m.records, 1)
	wantEdge(t, edgeOf(t, b, "shop", "price", ""), 1, 1)
	wantEdge(t, edgeOf(t, b, "shop", "stock", ""), 1, 1)
	wantEdge(t, edgeOf(t, b, "shop", "order", ""), 1, 2)
}

// What a provider calls after its own caller gave up is wasted, too.
func TestWasteIsInherited(t *testing.T) {
	var m maker
	m.root()
	h := m.server(0, "gateway", 0, 120*ms, http("GET /buy", 0))
	c := m.client(h, "gateway", 0, 100*ms, dubbo("Order", "place"), ends(evidence.Timeout))
	s := m.server(c, "order", time.Hour, 500*ms, dubbo("Order", "place"))
	d := m.client(s, "order", time.Hour+50*ms, 100*ms, dubbo("Stock", "get"))
	m.server(d, "stock", 0, 90*ms, dubbo("Stock", "get"))
	e := m.client(s, "order", time.Hour+200*ms, 100*ms, dubbo("Stock", "hold"))
	m.server(e, "stock", 0, 80*ms, dubbo("Stock", "hold"))
	b := book(t, Config{}, m.records, 1)
	order, get, hold := edgeOf(t, b, "gateway", "order", ""), edgeOf(t, b, "order", "stock", "get"), edgeOf(t, b, "order", "stock", "hold")
	if order.Orphaned != 400*ms || get.Orphaned != 40*ms || hold.Orphaned != 80*ms || order.Fates.Abandoned != 1 || order.Fates.TimedOut != 1 {
		t.Errorf("orphaned %v %v %v, fates %+v", order.Orphaned, get.Orphaned, hold.Orphaned, order.Fates)
	}
	if order.Failed != 100*ms || order.Wasted != 1 {
		t.Errorf("failed %v, wasted %v", order.Failed, order.Wasted)
	}
}

// The critical path counts what ran in parallel once.
func TestWhereAMethodsTimeWent(t *testing.T) {
	var m maker
	sql := func(q string) opt {
		return with(func(s *evidence.Span) {
			s.Protocol, s.DBSystem, s.DBName, s.Method, s.Query = "db", "mysql", "shop", "SELECT", q
		})
	}
	for k := range 10 {
		m.root()
		at := time.Duration(k) * time.Second
		h := m.server(0, "stock", at, 100*ms, dubbo("Stock", "get"))
		m.client(h, "stock", at+10*ms, 60*ms, sql("select stock from t_sku_stock"))
		m.client(h, "stock", at+20*ms, 30*ms, http("GET /vendor", uint64(k+1)), on("vendor"))
		m.client(h, "stock", at+80*ms, 50*ms, http("GET /late", uint64(k+1)), on("vendor")) // outlives its parent
	}
	b := book(t, Config{}, m.records, 1)
	x := b.Methods[0]
	if x.Total != time.Second || x.Own != 200*ms || x.ByKind["db"] != 600*ms || x.ByKind["http"] != 200*ms || x.Waits[0].Query == "" {
		t.Errorf("method %+v", x)
	}
	q := b.Statements[0]
	if q.Count != 10 || q.Total != 600*ms || q.Max != 60*ms || q.Database != "mysql/shop" || q.Callers["stock Stock.get"] != 10 || len(q.Examples) == 0 {
		t.Errorf("statement %+v", q)
	}
}

func TestWindowsAndProviders(t *testing.T) {
	var m maker
	for k := range 600 {
		m.root()
		at := time.Duration(k) * time.Second
		h := m.server(0, "shop", at, 100*ms, http("GET /buy", 0))
		out, d, where := evidence.OK, 10*ms, k%2
		if k >= 300 && where == 0 {
			out, d = evidence.Timeout, 50*ms
		}
		c := m.client(h, "shop", at, d, dubbo("Stock", "get"), ends(out))
		m.server(c, "stock", at, d*4, dubbo("Stock", "get"), at2("stock", where))
	}
	e := edgeOf(t, book(t, Config{}, m.records, 1), "shop", "stock", "")
	var calls, failures, late int64
	for _, w := range e.Windows {
		calls, failures = calls+w.Calls, failures+w.Failures
		if !w.From.Before(epoch.Add(300 * time.Second)) {
			late += w.Failures
		}
	}
	if len(e.Windows) != 120 || calls != 600 || failures != 150 || late != 150 || e.Timeout != 50*ms || e.TimeoutCount != 150 {
		t.Errorf("%d windows, calls %d, failures %d, late %d, timeout %v x %d", len(e.Windows), calls, failures, late, e.Timeout, e.TimeoutCount)
	}
	if len(e.Providers) != 2 || e.Providers[0].Name != "stock-0" || e.Providers[0].Failures != 150 || e.Providers[0].P95 < e.Providers[1].P95 {
		t.Errorf("providers %+v", e.Providers)
	}
}

// Bounds hold, and what they cost is counted (F14).
func TestCaps(t *testing.T) {
	var m maker
	m.root()
	h := m.server(0, "shop", 0, time.Hour, http("GET /buy", 0))
	for k := range 20_000 {
		m.client(h, "shop", time.Duration(k)*ms, ms, http(fmt.Sprintf("GET /p%d", k), uint64(k+1)), on("stock"), status(503))
	}
	b := book(t, Config{MaxNames: 5_000}, m.records, 1)
	if len(b.Edges) > 2_001 || b.Losses[LostNames] == 0 || b.Losses[LostEdges] == 0 || b.Losses[LostHuge] != 20_001 {
		t.Errorf("%d edges, losses %v", len(b.Edges), b.Losses)
	}
	var calls float64
	for _, e := range b.Edges {
		calls += e.Calls
	}
	if calls != 20_001 {
		t.Errorf("calls %v", calls)
	}
}

func TestQuantiles(t *testing.T) {
	var h Histogram
	for i := range 1000 {
		h.Add(time.Duration(i+1) * ms)
	}
	for q, want := range map[float64]time.Duration{0.5: 500 * ms, 0.95: 950 * ms, 0.99: 990 * ms} {
		if got := h.Quantile(q); off(float64(got), float64(want)) > 0.045 {
			t.Errorf("q %v: %v, want %v", q, got, want)
		}
	}
	var o Histogram
	o.Add(time.Hour)
	o.merge(&h)
	if o.Max() != time.Hour || o.Count() != 1001 || (&Histogram{}).Quantile(0.5) != 0 {
		t.Errorf("merged %v", o.latency())
	}
	for d := time.Duration(1); d > 0 && d < 1<<62; d += d/7 + 1 {
		if b := bucketOf(d); b > 0 && (floor(b) > d || floor(b+1) <= d && b < 62*8) {
			t.Fatalf("%v in bucket %d: %v…%v", d, b, floor(b), floor(b+1))
		}
	}
}

// Calls made side by side, each retried after its timeout, against items that
// workers take one after the other.
func TestParallelCalls(t *testing.T) {
	for _, c := range []struct {
		name      string
		workers   bool
		calls     float64
		ambiguous int64
	}{{"retried", false, 3, 0}, {"workers", true, 9, 1}} {
		t.Run(c.name, func(t *testing.T) {
			var m maker
			m.root()
			h := m.server(0, "shop", 0, 5*time.Second, http("GET /buy", 0))
			for k := range 3 {
				at := time.Duration(k) * 7 * ms
				for n := range 3 {
					out, d := evidence.Timeout, time.Second
					if c.workers && (n+k)%2 == 0 {
						out, d = evidence.OK, 300*ms
					}
					m.client(h, "shop", at, d, dubbo("Stock", "get"), on("10.20.0.1:20880"), ends(out))
					at += d + ms/2
				}
			}
			e := edgeOf(t, book(t, Config{}, m.records, 1), "shop", "Stock", "")
			if e.Calls != c.calls || e.Attempts != 9 || e.Ambiguous != c.ambiguous {
				t.Errorf("calls %v attempts %v ambiguous %d", e.Calls, e.Attempts, e.Ambiguous)
			}
		})
	}
}

// Zipkin lets both sides share one span ID (F15).
func TestSharedSpans(t *testing.T) {
	shared := func(id uint64) opt {
		return func(_ *evidence.Record, s *evidence.Span) {
			s.Shared, s.Remote = true, evidence.Unknown
			for i := range 8 {
				s.ID[i] = byte(id >> (56 - 8*i))
			}
		}
	}
	var m maker
	m.root()
	h := m.server(0, "shop", 0, time.Second, http("GET /buy", 0))
	for k, code := range []int{503, 503, 200} {
		c := m.client(h, "shop", time.Duration(k)*30*ms, 20*ms, http("GET /stock/{id}", 7), status(code), ordinal(k+1), on("stock:8080"))
		m.server(h, "stock", time.Duration(k)*30*ms+ms, 10*ms, http("GET /stock/{id}", 0), status(code), shared(c))
		m.client(c, "stock", time.Duration(k)*30*ms+2*ms, 5*ms, http("GET /db", 0), on("vendor"))
	}
	one := m.client(h, "shop", 500*ms, 100*ms, http("GET /price", 8), on("price"))
	for k, code := range []int{503, 200} {
		m.server(h, "price", 500*ms+time.Duration(k)*50*ms, 10*ms, http("GET /price", 0), status(code), shared(one))
	}
	b := book(t, Config{}, m.records, 1)
	wantEdge(t, edgeOf(t, b, "shop", "stock", ""), 1, 3)
	wantEdge(t, edgeOf(t, b, "shop", "price", ""), 1, 2)
	e := edgeOf(t, b, "stock", "vendor", "")
	wantEdge(t, e, 3, 3)
	if e.Inherited != 3 || b.Losses[LostDuplicate] != 0 {
		t.Errorf("I %v, losses %v", e.Inherited, b.Losses)
	}
}

// A client that balances load itself sends a retry to another address.
func TestBalancedByTheClient(t *testing.T) {
	for _, loops := range []bool{false, true} {
		var m maker
		want := 0.0
		for k := range 60 {
			m.root()
			h := m.server(0, "shop", time.Duration(k)*time.Second, 800*ms, http("GET /buy", 0))
			want++
			for n := range 4 {
				code, item := 503, k
				if n == 2 {
					code = 200
				}
				if loops {
					item = k*10 + n
				}
				if n == 3 && !loops {
					break
				}
				peer := fmt.Sprintf("10.20.0.%d:8080", n%3)
				m.client(h, "shop", time.Duration(k)*time.Second+time.Duration(n)*10*ms, 9*ms, http("GET /stock/{id}", uint64(item*3+n%3+1)), on(peer), status(code))
				if loops && n > 0 {
					want++
				}
			}
		}
		e := edgeOf(t, book(t, Config{}, m.records, 1), "shop", "", "")
		if e.Calls != want || loops != (e.Retries == 0) {
			t.Errorf("loops %v: calls %v of %v, retries %v", loops, e.Calls, want, e.Retries)
		}
	}
}
