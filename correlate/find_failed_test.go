package correlate

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

var failedAt = time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)

// calmAndFailing gives an engine n calm calls of one service, and for each
// outcome one call of the same service to a second callee that ended so.
func calmAndFailing(t *testing.T, calm int, protocol string, outcomes ...evidence.Outcome) *Engine {
	t.Helper()
	e := New(Config{})
	id := uint64(0)
	span := func(trace uint64, parent uint64, s evidence.Span, service string, at time.Time) uint64 {
		id++
		binary.BigEndian.PutUint64(s.TraceID[8:], trace)
		binary.BigEndian.PutUint64(s.ID[:], id)
		binary.BigEndian.PutUint64(s.Parent[:], parent)
		s.Retries = evidence.None
		if err := e.Add(&evidence.Record{Time: at, Zoned: evidence.Yes, Place: evidence.Place{Service: service}, Cite: evidence.Citation{Source: "traces.jsonl", Line: int(id)}, Span: &s}); err != nil {
			t.Fatal(err)
		}
		return id
	}
	for i := range calm + len(outcomes) {
		at := failedAt.Add(time.Duration(i) * 100 * time.Millisecond)
		call := span(uint64(i+1), 0, evidence.Span{Kind: evidence.KindClient, Name: "GET", Duration: 20 * time.Millisecond, Outcome: evidence.OK, Protocol: "http", Method: "GET /orders/{id}", Peer: "order"}, "gateway", at)
		served := span(uint64(i+1), call, evidence.Span{Kind: evidence.KindServer, Name: "GET /orders/{id}", Duration: 18 * time.Millisecond, Outcome: evidence.OK, Protocol: "http", Method: "GET /orders/{id}"}, "order", at.Add(time.Millisecond))
		if i < calm {
			continue
		}
		s := evidence.Span{Kind: evidence.KindClient, Name: "call", Duration: 10 * time.Millisecond, Outcome: outcomes[i-calm], Protocol: protocol, Peer: "shop"}
		switch protocol {
		case "db":
			s.DBSystem, s.DBName, s.Method, s.Query = "postgresql", "shop", "SELECT", "select stock from t_sku_stock where sku_code = ?"
		case "dubbo":
			s.Service, s.Method = "com.acme.shop.SkuService", "getSkuStock"
		case "grpc":
			s.Service, s.Method = "shop.Sku", "WatchStock"
		}
		span(uint64(i+1), served, s, "order", at.Add(2*time.Millisecond))
	}
	return e
}

func many(o evidence.Outcome, n int) []evidence.Outcome {
	list := make([]evidence.Outcome, n)
	for i := range list {
		list[i] = o
	}
	return list
}

// TestNobodyIsHealthyWhoseCallsFail has calm traces beside an edge whose calls fail.
func TestNobodyIsHealthyWhoseCallsFail(t *testing.T) {
	for _, c := range []struct {
		name     string
		calm     int
		protocol string
		outcomes []evidence.Outcome
		healthy  bool
		says     string
	}{
		{"all statements time out", 50, "db", many(evidence.Timeout, 40), false, "shop"},
		{"all statements fail", 50, "db", many(evidence.Failed, 40), false, "shop"},
		{"five statements, all fail", 50, "db", many(evidence.Failed, 5), false, "shop"},
		{"the cache is not reached", 50, "redis", many(evidence.Unreachable, 40), false, "shop"},
		{"a third of the statements fail", 50, "db", append(many(evidence.OK, 20), many(evidence.Failed, 9)...), false, "shop"},
		{"four calls, all refused", 50, "dubbo", many(evidence.Rejected, 4), false, "getSkuStock"},
		{"a stray failure", 50, "db", append(many(evidence.OK, 40), evidence.Failed), true, ""},
		{"nothing fails", 50, "db", many(evidence.OK, 40), true, ""},
		{"some callers went away", 50, "dubbo", append(many(evidence.OK, 20), many(evidence.Cancelled, 40)...), true, ""},
		{"all callers went away", 50, "dubbo", many(evidence.Cancelled, 40), false, "SkuService"},
		{"callers left a stream", 50, "grpc", many(evidence.Cancelled, 40), true, ""},
		{"nobody is let in", 50, "dubbo", many(evidence.Challenged, 40), false, "SkuService"},
		{"all are told no", 50, "dubbo", many(evidence.BizFailed, 40), false, "SkuService"},
		{"most are told no", 50, "dubbo", append(many(evidence.OK, 10), many(evidence.BizFailed, 40)...), true, ""},
		{"challenged first", 50, "dubbo", append(many(evidence.OK, 20), many(evidence.Challenged, 20)...), true, ""},
	} {
		in := calmAndFailing(t, c.calm, c.protocol, c.outcomes...).Report().Incidents[0]
		if (in.Label == incident.Healthy) != c.healthy || !strings.Contains(in.Headline, c.says) {
			t.Errorf("%s: %s (%s): %s", c.name, in.Label, in.Certainty, in.Headline)
		}
		if c.says != "" && len(in.Missing) == 0 {
			t.Errorf("%s: nothing to collect", c.name)
		}
	}
}

// TestFailuresAddUp reads an access log of many paths, few of each of which fail,
// and one whose clients all went away.
func TestFailuresAddUp(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  func(i int) int
		healthy bool
	}{
		{"all is well", func(int) int { return 200 }, true},
		{"one in four", func(i int) int { return []int{200, 200, 200, 502}[i/100%4] }, false},
		{"clients go away", func(i int) int { return []int{200, 499}[i/100%2] }, false},
		{"not found", func(i int) int { return []int{200, 404}[i/100%2] }, true},
		{"not let in", func(int) int { return 401 }, false},
		{"not permitted", func(int) int { return 403 }, false},
	} {
		e := New(Config{})
		for i := range 400 {
			path := "/" + strings.Repeat("x", i%100+1)
			r := &evidence.Record{
				Time: failedAt.Add(time.Duration(i) * 10 * time.Second), Zoned: evidence.Yes, Place: evidence.Place{Service: "shop"}, Cite: evidence.Citation{Source: "shop/access.log", Line: i + 1},
				Access: &evidence.Access{Side: evidence.Provider, Software: "nginx", Verb: []byte("GET"), Path: []byte(path), Status: c.status(i), Duration: 10 * time.Millisecond, Queued: evidence.None, Attempts: evidence.None},
			}
			if err := e.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		e.AddSource(incident.Source{Path: "shop/access.log", Format: "access-log", Bytes: 1 << 20, Records: 400, From: failedAt, To: failedAt.Add(4000 * time.Second)})
		in := e.Report().Incidents[0]
		if (in.Label == incident.Healthy) != c.healthy {
			t.Errorf("%s: %s (%s): %s", c.name, in.Label, in.Certainty, in.Headline)
		}
	}
}

// TestCountedFailures reads two scrapes between which most calls failed, and none
// were retried.
func TestCountedFailures(t *testing.T) {
	before := evidence.Counter{Calls: 1000, Attempts: 1000, Retries: 0, Failed: 10, Timeouts: evidence.None, RetriesRefused: evidence.None, Overflow: evidence.None}
	after := before
	after.Calls, after.Attempts, after.Failed = 2000, 2000, 910
	in := scraped(t, before, after).Incidents[0]
	if in.Label != incident.Inconclusive || !strings.Contains(in.Headline, "900 calls or attempts failed, 90 %") {
		t.Errorf("%s: %s", in.Label, in.Headline)
	}
	after.Failed = 12
	if in := scraped(t, before, after).Incidents[0]; in.Label != incident.Healthy {
		t.Errorf("%s: %s", in.Label, in.Headline)
	}
}
