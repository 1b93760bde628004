package ledger

import (
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// The fixtures of the specification, as records.

func TestNumberedResends(t *testing.T) { // F1
	var m maker
	m.root()
	h := m.server(0, "shop", 0, 100*ms, http("GET /buy", 0))
	for k, code := range []int{503, 503, 200} {
		c := m.client(h, "shop", time.Duration(k)*30*ms, 20*ms, http("GET /stock/{id}", 7), status(code), ordinal(k+1), on("stock:8080"))
		m.server(c, "stock", time.Duration(k)*30*ms+ms, 10*ms, http("GET /stock/{id}", 0), status(code))
	}
	b := book(t, Config{}, m.records, 1)
	e := edgeOf(t, b, "shop", "stock", "")
	wantEdge(t, e, 1, 3)
	if !e.Exact || e.ByEvidence["explicit"] != 1 || e.ByAttempts[3] != 1 || e.Retries != 2 || e.Ceiling != 3 {
		t.Errorf("edge %+v", e)
	}
	if e.Fates.AfterRetry != 1 || e.Cumulative != 3 || e.Amplification != 3 {
		t.Errorf("fates %+v, cumulative %v", e.Fates, e.Cumulative)
	}
}

func TestPlainSiblingsWithOneIdentity(t *testing.T) { // F2
	var m maker
	m.root()
	h := m.server(0, "shop", 0, 5*time.Second, http("GET /buy", 0))
	for k, code := range []int{503, 503, 200} {
		m.client(h, "shop", time.Duration(k)*1020*ms, 20*ms, http("GET /stock/{id}", 7), status(code), on("stock:8080"))
	}
	e := edgeOf(t, book(t, Config{}, m.records, 1), "shop", "stock", "")
	wantEdge(t, e, 1, 3)
	if e.Exact || e.ByEvidence["inferred"] != 1 || e.OneSided != "consumer" {
		t.Errorf("edge %+v", e)
	}
}

func TestContainer(t *testing.T) { // F3, Go and Java
	for _, kind := range []evidence.SpanKind{evidence.KindClient, evidence.KindInternal} {
		var m maker
		m.root()
		o := func(_ *evidence.Record, s *evidence.Span) {
			s.Protocol, s.Service, s.Method = "grpc", "shop.Stock", "Get"
		}
		h := m.server(0, "shop", 0, 200*ms, http("GET /buy", 0))
		sent := m.add(h, kind, "shop", 0, 150*ms, o, as(evidence.RoleLogical))
		for k, out := range []evidence.Outcome{evidence.Unreachable, evidence.Unreachable, evidence.OK} {
			a := m.add(sent, evidence.KindInternal, "shop", time.Duration(k)*50*ms, 40*ms, o, as(evidence.RoleAttempt), ends(out), ordinal(k+1))
			recv := evidence.KindServer
			if kind == evidence.KindInternal {
				recv = kind
			}
			m.add(a, recv, "stock", time.Duration(k)*50*ms, 30*ms, o, as(evidence.RoleEntry), ends(out))
		}
		e := edgeOf(t, book(t, Config{}, m.records, 1), "shop", "stock", "")
		wantEdge(t, e, 1, 3)
		if e.ByEvidence["explicit"] != 1 || e.Fates.AfterRetry != 1 {
			t.Errorf("edge %+v", e)
		}
	}
}

func TestOneClientSeveralServers(t *testing.T) { // F4
	var m maker
	m.root()
	h := m.server(0, "shop", 0, 200*ms, http("GET /buy", 0))
	c := m.client(h, "shop", 0, 150*ms, http("GET /stock/{id}", 7), on("stock"))
	for k, code := range []int{503, 503, 200} {
		m.server(c, "stock", time.Duration(k)*50*ms, 30*ms, http("GET /stock/{id}", 0), status(code))
	}
	e := edgeOf(t, book(t, Config{}, m.records, 1), "shop", "stock", "")
	wantEdge(t, e, 1, 3)
	if e.ByEvidence["structural"] != 1 || e.Proxied != 2 || !e.Exact {
		t.Errorf("edge %+v", e)
	}
}

func TestTwoLayers(t *testing.T) { // F5
	var m maker
	m.root()
	h := m.server(0, "gateway", 0, time.Second, http("POST /buy", 0))
	for k, shape := range [][]int{{503, 503, 503}, {503, 200}} {
		base := time.Duration(k) * 300 * ms
		code := shape[len(shape)-1]
		c := m.client(h, "gateway", base, 250*ms, http("POST /orders/buy", 9), status(code), on("orders"))
		s := m.server(c, "orders", base, 240*ms, http("POST /orders/buy", 0), status(code))
		d := m.client(s, "orders", base, 200*ms, http("GET /stock/{id}", 7), status(code), on("stock"))
		for i, inner := range shape {
			m.server(d, "stock", base+time.Duration(i)*60*ms, 50*ms, http("GET /stock/{id}", 0), status(inner))
		}
	}
	b := book(t, Config{}, m.records, 1)
	x, y := edgeOf(t, b, "gateway", "orders", ""), edgeOf(t, b, "orders", "stock", "")
	wantEdge(t, x, 1, 2)
	wantEdge(t, y, 2, 5)
	if x.Amplification != 2 || y.Amplification != 2.5 || y.Inherited != 2 || y.Cumulative != 5 || x.Cumulative != 2 {
		t.Errorf("A %v %v, I %v, C %v %v", x.Amplification, y.Amplification, y.Inherited, x.Cumulative, y.Cumulative)
	}
	if b.Stacked != 1 {
		t.Errorf("stacked %d", b.Stacked)
	}
}

func TestLookAlikes(t *testing.T) {
	stmt := with(func(s *evidence.Span) {
		s.Protocol, s.DBSystem, s.DBName, s.Method, s.Table = "db", "mysql", "shop", "SELECT", "t_sku"
	})
	for _, c := range []struct {
		name   string
		make   func(m *maker, h uint64)
		callee string
		calls  float64
		hedges float64
	}{
		{"N+1", func(m *maker, h uint64) { // F6
			for k := range 30 {
				m.client(h, "shop", time.Duration(k)*2*ms, 2*ms, stmt, with(func(s *evidence.Span) { s.Ident = uint64(k + 1) }))
			}
		}, "mysql/shop", 30, 0},
		{"N+1 without text", func(m *maker, h uint64) {
			for k := range 30 {
				m.client(h, "shop", time.Duration(k)*2*ms, 2*ms, stmt)
			}
		}, "mysql/shop", 30, 0},
		{"failing loop", func(m *maker, h uint64) { // F7
			for k := range 10 {
				m.client(h, "shop", time.Duration(k)*2*ms, 2*ms, dubbo("Stock", "get"), on("10.20.0.1:20880"), ends(evidence.Failed))
			}
		}, "Stock", 10, 0},
		{"failing loop over items", func(m *maker, h uint64) {
			for k := range 10 {
				m.client(h, "shop", time.Duration(k)*20*ms, 2*ms, http("GET /stock/{id}", uint64(k+1)), on("stock"), status(503))
			}
		}, "stock", 10, 0},
		{"poll", func(m *maker, h uint64) {
			for k := range 10 {
				m.client(h, "shop", time.Duration(k)*time.Second, 2*ms, http("GET /job/{id}", 5), on("stock"))
			}
		}, "stock", 10, 0},
		{"fan-out", func(m *maker, h uint64) {
			for range 6 {
				m.client(h, "shop", 0, 50*ms, dubbo("Stock", "get"))
			}
		}, "Stock", 6, 0},
		{"fan-out in an outage", func(m *maker, h uint64) {
			for range 4 {
				m.client(h, "shop", 0, 50*ms, dubbo("Stock", "get"), ends(evidence.Timeout))
			}
		}, "Stock", 4, 0},
		{"hedge", func(m *maker, h uint64) { // F8
			m.client(h, "shop", 0, 40*ms, http("GET /stock/{id}", 7), on("stock"), ends(evidence.Cancelled))
			m.client(h, "shop", 20*ms, 20*ms, http("GET /stock/{id}", 7), on("stock"))
		}, "stock", 1, 1},
		{"forking", func(m *maker, h uint64) {
			m.client(h, "shop", 0, 20*ms, dubbo("Stock", "get"), on("10.20.0.1:20880"))
			m.client(h, "shop", 0, 21*ms, dubbo("Stock", "get"), on("10.20.0.2:20880"), ends(evidence.Cancelled))
		}, "Stock", 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m maker
			m.root()
			c.make(&m, m.server(0, "shop", 0, 20*time.Second, http("GET /buy", 0)))
			e := edgeOf(t, book(t, Config{}, m.records, 1), "shop", c.callee, "")
			wantEdge(t, e, c.calls, c.calls)
			if e.Hedges != c.hedges || e.Retries != 0 {
				t.Errorf("hedges %v, retries %v", e.Hedges, e.Retries)
			}
			if (e.Ambiguous == 1) != (c.name == "failing loop") {
				t.Errorf("ambiguous %d", e.Ambiguous)
			}
		})
	}
}

func TestRedirectsAndChallenges(t *testing.T) { // F9
	var m maker
	m.root()
	h := m.server(0, "shop", 0, time.Second, http("GET /buy", 0))
	m.client(h, "shop", 0, 10*ms, http("GET /old", 1), on("stock"), status(302), ordinal(1))
	m.client(h, "shop", 10*ms, 10*ms, http("GET /old", 2), on("stock"), status(200), ordinal(2))
	m.client(h, "shop", 100*ms, 10*ms, http("GET /key", 3), on("stock"), status(401), ordinal(1))
	m.client(h, "shop", 110*ms, 10*ms, http("GET /key", 3), on("stock"), status(200), ordinal(2))
	b := book(t, Config{}, m.records, 1)
	old, key := edgeOf(t, b, "shop", "stock", "GET /old"), edgeOf(t, b, "shop", "stock", "GET /key")
	wantEdge(t, old, 1, 1)
	wantEdge(t, key, 1, 1)
	if old.Redirects != 1 || key.Challenges != 1 || old.Physical() != 2 {
		t.Errorf("redirects %v, challenges %v", old.Redirects, key.Challenges)
	}
}

func TestOrphanedWork(t *testing.T) { // F10
	var m maker
	m.root()
	h := m.server(0, "shop", 0, time.Second, http("GET /buy", 0))
	a := m.client(h, "shop", 0, 20*ms, dubbo("Stock", "get"), ends(evidence.Timeout))
	s := m.server(a, "stock", 2*time.Second, 60*ms, dubbo("Stock", "get")) // its clock is two seconds ahead
	m.client(s, "stock", 2*time.Second+10*ms, 45*ms, with(func(s *evidence.Span) {
		s.Protocol, s.DBSystem, s.Query, s.Method = "db", "mysql", "select 1", "SELECT"
	}))
	c := m.client(h, "shop", 21*ms, 15*ms, dubbo("Stock", "get"))
	m.server(c, "stock", 2*time.Second+80*ms, 10*ms, dubbo("Stock", "get"))
	b := book(t, Config{}, m.records, 1)
	e := edgeOf(t, b, "shop", "stock", "")
	wantEdge(t, e, 1, 2)
	if e.Orphaned != 40*ms || e.Superseded != 20*ms || e.Failed != 0 || e.Server != 70*ms || e.Timeout != 20*ms || e.Orphans != 1 {
		t.Errorf("orphaned %v, superseded %v, failed %v, server %v, timeout %v", e.Orphaned, e.Superseded, e.Failed, e.Server, e.Timeout)
	}
	for _, x := range b.Methods {
		if x.Service == "stock" && (x.ByKind["db"] != 45*ms || x.Own != 25*ms) {
			t.Errorf("method %+v", x)
		}
	}
	if len(b.Statements) != 1 || b.Statements[0].Callers["stock Stock.get"] != 1 {
		t.Errorf("statements %+v", b.Statements)
	}
}

func TestResendsInTheirOwnTraces(t *testing.T) { // F11
	var m maker
	for k, code := range []int{503, 503, 200} {
		m.root()
		m.client(0, "job", time.Duration(k)*time.Second, 10*ms, http("GET /stock", 7), on("stock"), status(code), ordinal(k+1))
	}
	e := edgeOf(t, book(t, Config{}, m.records, 1), "job", "stock", "")
	wantEdge(t, e, 1, 3)
	if e.ByAttempts[3] != 1 || len(e.ByAttempts) != 1 {
		t.Errorf("by attempts %v", e.ByAttempts)
	}
}

func TestDamage(t *testing.T) { // F12
	var m maker
	m.root()
	c := m.client(99, "shop", 0, 10*ms, http("GET /stock", 7), on("stock"))
	m.server(c, "stock", 0, -5, http("GET /stock", 0))
	m.records = append(m.records, m.records...)
	b := book(t, Config{}, m.records, 1)
	e := edgeOf(t, b, "shop", "stock", "")
	wantEdge(t, e, 1, 1)
	if b.Losses[LostDuplicate] != 2 || b.Losses[LostNegative] != 1 || e.Slots != evidence.None {
		t.Errorf("losses %v, slots %v", b.Losses, e.Slots)
	}
}

func TestWeights(t *testing.T) { // F13
	var m maker
	for _, w := range []float64{4, 0} {
		m.root()
		h := m.server(0, "shop", 0, 10*ms, http("GET /buy", 0))
		m.client(h, "shop", 0, 10*ms, http("GET /stock", 7), on("stock"), with(func(s *evidence.Span) { s.Weight = w }))
	}
	b := book(t, Config{}, m.records, 1)
	wantEdge(t, edgeOf(t, b, "shop", "stock", ""), 5, 5)
	if b.Weighted != 1 {
		t.Errorf("weighted %d", b.Weighted)
	}
}

// Dubbo with the OpenTelemetry agent: no identity, no number, no wait.
func TestFailoverOfPlainRPC(t *testing.T) {
	for _, c := range []struct {
		name     string
		outcomes []evidence.Outcome
		peers    []string
		calls    float64
	}{
		{"timeouts", []evidence.Outcome{evidence.Timeout, evidence.Timeout, evidence.OK}, []string{"a", "a", "a"}, 1},
		{"exhausted", []evidence.Outcome{evidence.Timeout, evidence.Timeout, evidence.Timeout}, []string{"a", "b", "a"}, 1},
		{"refused", []evidence.Outcome{evidence.Rejected, evidence.Rejected, evidence.OK}, []string{"a", "a", "a"}, 1},
		{"moved", []evidence.Outcome{evidence.Failed, evidence.Failed, evidence.OK}, []string{"a", "b", "a"}, 1},
		{"failed fast", []evidence.Outcome{evidence.Failed, evidence.Failed, evidence.OK}, []string{"a", "a", "a"}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m maker
			m.root()
			h := m.server(0, "shop", 0, 5*time.Second, http("GET /buy", 0))
			at := time.Duration(0)
			for k, o := range c.outcomes {
				d := 2 * ms
				if o == evidence.Timeout {
					d = time.Second
				}
				m.client(h, "shop", at, d, dubbo("Stock", "get"), ends(o), on(c.peers[k]))
				at += d
			}
			var calls, attempts float64
			for _, e := range book(t, Config{}, m.records, 1).Edges {
				if e.Caller == "shop" {
					calls, attempts = calls+e.Calls, attempts+e.Attempts
				}
			}
			if calls != c.calls || attempts != 3 {
				t.Errorf("calls %v, attempts %v", calls, attempts)
			}
		})
	}
}
