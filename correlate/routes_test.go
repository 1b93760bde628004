package correlate

import (
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

func TestACallThatFoundNobodyCountsOnce(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	rec := func(line, ms int, thread, logger, message string) *evidence.Record {
		return &evidence.Record{
			Time: at.Add(time.Duration(ms) * time.Millisecond), Thread: thread, Logger: logger, Cite: evidence.Citation{Source: "order/app.log", Line: line},
			Route: &evidence.Route{Service: "com.acme.SkuService", Empty: true, Message: message},
		}
	}
	const chain, cluster, web = "o.a.d.rpc.cluster.SingleRouterChain", "o.a.d.r.c.s.FailoverClusterInvoker", "com.acme.shop.Web"
	for _, c := range []struct {
		name    string
		records []*evidence.Record
		want    int
	}{
		{"after routing, after the filter, and caught", []*evidence.Record{rec(1, 0, "exec-1", chain, ""), rec(9, 1, "exec-1", cluster, "no provider available after connectivity filter"), rec(12, 3, "exec-1", web, "")}, 1},
		{"two calls of a thread", []*evidence.Record{rec(1, 0, "exec-1", chain, ""), rec(9, 1, "exec-1", web, ""), rec(20, 5, "exec-1", chain, ""), rec(29, 6, "exec-1", web, "")}, 2},
		{"two threads", []*evidence.Record{rec(1, 0, "exec-1", chain, ""), rec(9, 1, "exec-2", chain, "")}, 2},
		{"nothing tells layers apart", []*evidence.Record{rec(1, 0, "exec-1", "", ""), rec(9, 1, "exec-1", "", "")}, 2},
	} {
		e := New(Config{})
		for _, r := range c.records {
			if err := e.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		e.settle()
		if got := e.routes["com.acme.SkuService"].empty.count; got != c.want {
			t.Errorf("%s: %d calls, want %d", c.name, got, c.want)
		}
	}
}
