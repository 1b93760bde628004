package ledger

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

func (m *maker) access(service, source string, at time.Duration, x evidence.Access) {
	m.records = append(m.records, &evidence.Record{
		Time: epoch.Add(at), Place: evidence.Place{Service: service}, Access: &x, Cite: evidence.Citation{Source: source, Line: len(m.records) + 1},
	})
}

func line1(side evidence.Side, path string, status int) evidence.Access {
	return evidence.Access{
		Side: side, Started: true, Verb: []byte("GET"), Path: []byte(path), Status: status, Attempts: evidence.None, Duration: 10 * ms,
		Queued: evidence.None,
	}
}

func up(group int, addr string, status int) evidence.Upstream {
	return evidence.Upstream{Addr: addr, Status: status, Group: group, Duration: 5 * ms, Connect: evidence.None, Header: evidence.None}
}

func TestUpstreamLists(t *testing.T) {
	var m maker
	one := line1(evidence.Consumer, "/stock/1001?x=1", 200)
	one.Backend, one.Upstreams = "stock", []evidence.Upstream{up(0, "10.20.0.1:80", 502), up(0, "10.20.0.2:80", 200)}
	m.access("nginx", "nginx/access.log", 0, one)
	two := line1(evidence.Consumer, "/stock/1002", 404)
	two.Backend, two.Upstreams = "stock", []evidence.Upstream{up(0, "10.20.0.1:80", 500), up(1, "10.20.0.9:80", 404)}
	m.access("nginx", "nginx/access.log", time.Second, two)
	three := line1(evidence.Consumer, "/stock/1003", 504)
	three.Backend, three.Attempts = "stock", 3
	m.access("nginx", "nginx/access.log", 2*time.Second, three)
	never := line1(evidence.Consumer, "/stock/1004", 503)
	never.Backend, never.Attempts = "stock", 0
	m.access("nginx", "nginx/access.log", 3*time.Second, never)
	b := book(t, Config{}, m.records, 1)
	e := edgeOf(t, b, "nginx", "stock", "GET /stock/{id}")
	wantEdge(t, e, 4, 6)
	if e.Redirects != 1 || e.Retries != 3 || e.ByAttempts[0] != 1 || e.ByAttempts[1] != 1 || e.ByAttempts[2] != 1 || e.ByAttempts[3] != 1 {
		t.Errorf("redirects %v retries %v by %v", e.Redirects, e.Retries, e.ByAttempts)
	}
	if e.Fates.AfterRetry != 1 || e.Fates.NotRetryable != 1 || e.Fates.Exhausted != 1 || e.Fates.Rejected != 1 || e.Basis != FromAccess {
		t.Errorf("fates %+v", e.Fates)
	}
}

func TestPlainLogsTellNoAmplification(t *testing.T) {
	var m maker
	for k := range 4 {
		x := line1(evidence.Provider, "/stock/1001", 503)
		x.Client = []byte("10.20.0.7:5512")
		if k == 3 {
			x.Status = 200
		}
		m.access("stock", "stock/access.log", time.Duration(k)*time.Second, x)
	}
	b := book(t, Config{}, m.records, 1)
	e := edgeOf(t, b, "", "stock", "")
	if e.Calls != evidence.None || e.Attempts != 4 || e.Amplification != evidence.None || e.Repeats != 3 {
		t.Errorf("calls %v attempts %v A %v repeats %d", e.Calls, e.Attempts, e.Amplification, e.Repeats)
	}
	if len(b.Arrivals) != 1 || b.Arrivals[0].Callers["10.20.0.7"] != 4 {
		t.Errorf("arrivals %+v", b.Arrivals)
	}
}

func TestRequestIDsJoinHops(t *testing.T) {
	var m maker
	for k := range 100 {
		id := fmt.Appendf(nil, "req-%d", k)
		x := line1(evidence.Consumer, fmt.Sprintf("/stock/%d", k), 200)
		x.RequestID, x.Backend, x.Attempts = id, "stock", 1+k%3
		m.access("nginx", "nginx/access.log", time.Duration(k)*time.Second, x)
		for n := range 1 + k%3 {
			y := line1(evidence.Provider, fmt.Sprintf("/stock/%d", k), 200)
			y.RequestID = id
			m.access("stock", "stock/access.log", time.Duration(k)*time.Second+time.Duration(n)*time.Millisecond, y)
		}
	}
	b := book(t, Config{}, m.records, 1)
	if len(b.Hops) != 1 {
		t.Fatalf("hops %+v", b.Hops)
	}
	h := b.Hops[0]
	if h.Caller != "nginx" || h.Callee != "stock" || h.Calls != 100 || h.Arrivals != 199 || !h.Joined || h.ByArrivals[3] != 33 || h.Attempts != 199 {
		t.Errorf("hop %+v", h)
	}
}

// TestManyRoutesInAnyOrder reads a server's log of some thousand paths forwards
// and backwards: the same ones are told apart.
func TestManyRoutesInAnyOrder(t *testing.T) {
	const paths = 3000
	var m maker
	word := func(k int) string {
		return string([]byte{'a' + byte(k/676%26), 'a' + byte(k/26%26), 'a' + byte(k%26)})
	}
	for k := range paths {
		x := line1(evidence.Provider, "/"+word(k), 500)
		m.access("shop", "shop/access.log", time.Duration(k)*ms, x)
		if k >= paths-50 { // the busiest stand last
			for range 20 {
				m.access("shop", "shop/access.log", time.Duration(k)*ms, x)
			}
		}
	}
	var books []*Book
	for range 2 {
		slices.Reverse(m.records)
		l := New(Config{})
		for _, r := range m.records {
			l.AddAccess(r)
		}
		books = append(books, l.Close())
	}
	if len(books[0].Edges) != len(books[1].Edges) {
		t.Fatalf("%d and %d edges", len(books[0].Edges), len(books[1].Edges))
	}
	failed := int64(0)
	for i := range books[0].Edges {
		x, y := &books[0].Edges[i], &books[1].Edges[i]
		if x.Method != y.Method || x.Attempts != y.Attempts || x.Outcomes[evidence.Failed] != y.Outcomes[evidence.Failed] {
			t.Errorf("%d: %s %v, %s %v", i, x.Method, x.Attempts, y.Method, y.Attempts)
		}
		failed += x.Outcomes[evidence.Failed]
	}
	if want := int64(paths + 50*20); failed != want {
		t.Errorf("%d failures told, want %d", failed, want)
	}
}

// TestOneRequestIDForMany has a gateway's request ID on all that it asked for.
func TestOneRequestIDForMany(t *testing.T) {
	type arrival struct {
		at, dur time.Duration
		status  int
	}
	for _, c := range []struct {
		name  string
		of    func(k int) []arrival
		calls int64 // of one hundred requests, how many were asked for
	}{
		{"sent again after failures", func(int) []arrival {
			return []arrival{{0, 10 * ms, 503}, {60 * ms, 10 * ms, 503}, {120 * ms, 10 * ms, 200}}
		}, 100},
		{"sent again at once", func(int) []arrival { return []arrival{{0, 10 * ms, 502}, {10 * ms, 10 * ms, 502}} }, 100},
		{"sent again after timeouts", func(k int) []arrival {
			return []arrival{{0, 4000 * ms, 200}, {time.Second, 3900 * ms, 200}, {2 * time.Second, 3800 * ms, 200}}
		}, 100},
		{"the caller went away, and sent it again", func(int) []arrival { return []arrival{{0, 1000 * ms, 499}, {1000 * ms, 20 * ms, 200}} }, 100},
		{"parts of a page, at once", func(int) []arrival {
			return []arrival{{0, 80 * ms, 200}, {1 * ms, 90 * ms, 200}, {2 * ms, 70 * ms, 200}}
		}, 300},
		{"parts at once, all of which fail", func(int) []arrival {
			return []arrival{{0, 80 * ms, 503}, {1 * ms, 90 * ms, 503}, {2 * ms, 70 * ms, 503}}
		}, 300},
		{"one part after the other", func(int) []arrival {
			return []arrival{{0, 10 * ms, 200}, {12 * ms, 10 * ms, 200}, {30 * ms, 10 * ms, 200}}
		}, 300},
		{"one part after the other, some fail", func(k int) []arrival {
			if k%10 == 0 {
				return []arrival{{0, 10 * ms, 500}, {12 * ms, 10 * ms, 500}, {30 * ms, 10 * ms, 500}}
			}
			return []arrival{{0, 10 * ms, 200}, {12 * ms, 10 * ms, 200}, {30 * ms, 10 * ms, 200}}
		}, 300},
		{"waves of parts that overlap", func(k int) []arrival {
			return []arrival{{0, 3000 * ms, 200}, {time.Duration(60+37*k%900) * ms, 3000 * ms, 200}}
		}, 200},
	} {
		var m maker
		arrivals := int64(0)
		for k := range 100 {
			id := fmt.Appendf(nil, "req-%d", k)
			at := time.Duration(k) * 10 * time.Second
			x := line1(evidence.Consumer, "/graphql", 200)
			x.RequestID, x.Duration = id, 9*time.Second
			m.access("gateway", "gateway/access.log", at, x)
			for _, a := range c.of(k) {
				y := line1(evidence.Provider, "/graphql", a.status)
				y.RequestID, y.Duration = id, a.dur
				m.access("products", "products/access.log", at+3*ms+a.at, y)
				arrivals++
			}
		}
		h := book(t, Config{}, m.records, 1).Hops[0]
		if h.Calls != c.calls || h.Arrivals != arrivals || !h.Joined {
			t.Errorf("%s: %d calls, %d arrivals; want %d, %d", c.name, h.Calls, h.Arrivals, c.calls, arrivals)
		}
	}
}

func TestDubboLogsOfBothEnds(t *testing.T) {
	var m maker
	call := func(side evidence.Side, key string) evidence.Access {
		return evidence.Access{
			Side: side, Software: "dubbo", Started: true, Service: "com.acme.Stock", Method: "deduct", Status: evidence.None,
			Attempts: evidence.None, Duration: evidence.None, Queued: evidence.None, Key: []byte(key), Client: []byte("10.20.1.1:40000"),
		}
	}
	for k := range 600 {
		at := time.Duration(k) * 100 * ms
		key := fmt.Sprintf("order-%d", k)
		m.access("order", "order/dubbo.log", at, call(evidence.Consumer, key))
		for n := range 3 {
			m.access(fmt.Sprintf("product-%d", n%2), "product/dubbo.log", at+time.Duration(n)*time.Second, call(evidence.Provider, key))
		}
	}
	b := book(t, Config{}, m.records, 1)
	if len(b.Hops) != 1 || b.Hops[0].Caller != "order" || b.Hops[0].Callee != "product-0, product-1" || b.Hops[0].Joined {
		t.Fatalf("hops %+v", b.Hops)
	}
	if a := b.Hops[0].Amplification; a < 2.85 || a > 3.15 {
		t.Errorf("amplification %v", a)
	}
	d := b.Duplicates[0]
	if d.Keys != 600 || d.Executions != 1800 || d.Most != 3 || d.Median != time.Second || d.Regular != 1 || len(d.Cites) != 3 || d.Method != "deduct" {
		t.Errorf("duplicates %+v", d)
	}
}

func TestRoutes(t *testing.T) {
	for path, want := range map[string]string{
		"/":                     "/",
		"/cart/42":              "/cart/{id}",
		"/api/v2/users/1001/ok": "/api/v2/users/{id}/ok",
		"/o/3f2b8c1e-9a77-4c1d-8f00-aaaabbbbcccc": "/o/{id}",
		"/f/deadbeef01":              "/f/{id}",
		"/sku/SKU-10023":             "/sku/{id}",
		"/oauth2/token?code=1":       "/oauth2/token",
		"http://shop.example/a/7?x":  "/a/{id}",
		"/a;jsessionid=77/b":         "/a",
		"":                           "",
		"*":                          "*",
		"/1/2/3/4/5/6/7/8/9/a/b/c/d": "/{id}/{id}/{id}/{id}/{id}/{id}/{id}/{id}/{id}/a/b/c/{more}",
	} {
		if got := string(appendRoute(nil, []byte(path))); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func TestOneRouteOfManyIsOther(t *testing.T) {
	var m maker
	for k := range 40 {
		for range 40 - k {
			x := line1(evidence.Consumer, "/r"+string(rune('a'+k/26))+string(rune('a'+k%26)), 200)
			x.Attempts = 1
			m.access("nginx", "nginx/access.log", 0, x)
		}
	}
	b := book(t, Config{MaxRoutes: 10}, m.records, 1)
	var calls float64
	for _, e := range b.Edges {
		if e.Caller == "nginx" {
			calls += e.Calls
		}
	}
	other := edgeOf(t, b, "nginx", "", "other")
	if calls != 820 || other.Calls != 465 {
		t.Errorf("calls %v, other %v", calls, other.Calls)
	}
}
