package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

func TestProxyInFrontOfAPath(t *testing.T) {
	var m maker
	for k := range 100 {
		at := time.Duration(k) * time.Second
		x := line1(evidence.Consumer, fmt.Sprintf("/stock/%d", k), 504)
		x.Upstreams = []evidence.Upstream{up(0, "10.20.0.1:80", 504), up(0, "10.20.0.2:80", 504)}
		m.access("nginx", "nginx/access.log", at, x)
		for range 2 { // each of its attempts is a trace of its own
			m.root()
			h := m.server(0, "gateway", at, 800*ms, http("GET /stock/", 0))
			for n := range 3 {
				m.client(h, "gateway", at+time.Duration(n)*200*ms, 200*ms, dubbo("Stock", "get"), ends(evidence.Timeout))
			}
		}
	}
	b := book(t, Config{}, m.records, 1)
	p := b.Paths[0]
	if p.Front == nil || p.Front.Caller != "nginx" || p.Front.Amplification != 2 || p.Amplification != 3 || p.WithFront != 6 {
		t.Errorf("path %+v", p)
	}
}

func TestSameRoute(t *testing.T) {
	for _, c := range []struct {
		masked, route string
		want          bool
	}{
		{"GET /stock/{id}", "GET /stock/", true},
		{"GET /stock/{id}", "GET /stock/{sku}", true},
		{"GET /stock/{id}", "GET /stock/:sku", true},
		{"GET /stock/{id}", "GET /stock", false},
		{"GET /stock/{id}", "GET /stocks/", false},
		{"GET /stock", "GET /stock/{id}", false},
		{"POST /stock/{id}", "GET /stock/{id}", false},
		{"GET /a/b/c", "GET /a/**", true},
		{"", "GET /", false},
	} {
		if got := sameRoute(c.masked, c.route); got != c.want {
			t.Errorf("%q %q: %v", c.masked, c.route, got)
		}
	}
}
