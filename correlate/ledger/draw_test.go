package ledger

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// sketch draws a trace as lines: what a reader of the report sees of it.
func sketch(t *Trace) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v", t.Why, t.Duration)
	if t.More > 0 {
		fmt.Fprintf(&b, " +%d", t.More)
	}
	for _, s := range t.Spans {
		fmt.Fprintf(&b, "\n%s%s %s %v+%v", strings.Repeat("  ", s.Depth), s.Service, s.Method, s.Start, s.Duration)
		if s.Of > 0 {
			fmt.Fprintf(&b, " %d/%d", s.Attempt, s.Of)
		}
		for _, x := range []struct {
			on   bool
			word string
		}{{s.Sent != "", s.Sent}, {s.Focus, "focus"}, {s.Orphaned, "orphaned"}, {s.Query != "", s.Query}} {
			if x.on {
				b.WriteString(" " + x.word)
			}
		}
	}
	return b.String()
}

// slowStock makes a trace in which every attempt times out after a second while
// the provider, whose clock is wrong, goes on for three.
func slowStock(m *maker, skew time.Duration) {
	m.root()
	h := m.server(0, "shop", 0, 3200*ms, http("GET /buy", 0), status(500))
	for k := range 3 {
		from := time.Duration(k) * 1010 * ms
		c := m.client(h, "shop", from, time.Second, dubbo("Stock", "get"), ends(evidence.Timeout), on("stock"))
		s := m.server(c, "stock", from+skew+2*ms, 3*time.Second, dubbo("Stock", "get"), ends(evidence.OK))
		m.client(s, "stock", from+skew+5*ms, 2900*ms, with(func(s *evidence.Span) {
			s.Protocol, s.DBSystem, s.Method, s.Query, s.Outcome = "db", "mysql", "SELECT", "select ?", evidence.OK
		}))
	}
}

func TestTraceOfExhaustedCall(t *testing.T) {
	for _, skew := range []time.Duration{0, 5 * time.Second, -5 * time.Second} {
		var m maker
		slowStock(&m, skew)
		e := edgeOf(t, book(t, Config{}, m.records, 1), "shop", "stock", "")
		if len(e.Traces) != 1 {
			t.Fatalf("%d traces", len(e.Traces))
		}
		got := sketch(&e.Traces[0])
		if skew > 0 {
			continue // a caller that gave up may have been early: what comes late is left alone
		}
		began, query := []string{"2ms", "1.012s", "2.022s"}, []string{"5ms", "1.015s", "2.025s"}
		all := "5.022s"
		if skew < 0 {
			began, query = []string{"0s", "1.01s", "2.02s"}, []string{"3ms", "1.013s", "2.023s"}
			all = "5.02s"
		}
		want := "exhausted " + all + "\nshop GET /buy 0s+3.2s 1/1"
		for k := range 3 {
			sent := []string{"", " retry", " retry"}[k]
			want += fmt.Sprintf("\n  shop get %v+1s %d/3%s focus\n    stock get %s+3s focus orphaned\n      stock SELECT %s+2.9s 1/1 orphaned select ?",
				time.Duration(k)*1010*ms, k+1, sent, began[k], query[k])
		}
		if got != want {
			t.Errorf("skew %v: got\n%s\nwant\n%s", skew, got, want)
		}
	}
}

func TestTracesOfAnEdge(t *testing.T) {
	var m maker
	tries := func(took time.Duration, codes ...int) {
		m.root()
		h := m.server(0, "shop", 0, time.Second, http("GET /buy", 0))
		for k, code := range codes {
			m.client(h, "shop", time.Duration(k)*(took+ms), took, http("GET /stock", 7), status(code), ordinal(k+1), on("stock"))
		}
	}
	tries(10*ms, 503, 503, 200)
	tries(10*ms, 503, 503, 503)
	tries(300*ms, 200)
	tries(10*ms, 503, 200)
	e := edgeOf(t, book(t, Config{}, m.records, 1), "shop", "stock", "")
	var whys []string
	for _, x := range e.Traces {
		whys = append(whys, x.Why)
	}
	if got := strings.Join(whys, " "); got != "exhausted success-after-retry slowest" {
		t.Errorf("got %s", got)
	}
}

// A call in the middle of a wide trace is shown with what led to it and its
// attempts, whatever stands beside it.
func TestTraceIsCutAroundItsCall(t *testing.T) {
	var m maker
	m.root()
	at := m.server(0, "edge", 0, 10*time.Second, http("GET /", 0))
	for depth := range 5 {
		s := fmt.Sprintf("hop%d", depth)
		for n := range 40 {
			m.client(at, s, time.Duration(n)*ms, ms, with(func(s *evidence.Span) { s.Protocol, s.Method, s.Query = "db", "SELECT", fmt.Sprint("q", n) }))
		}
		c := m.client(at, s, 50*ms, 9*time.Second, http("GET /"+s, 0), on(s+"x"), status(200))
		at = m.server(c, s+"x", 51*ms, 8*time.Second, http("GET /"+s, 0), status(200))
	}
	for k, code := range []int{503, 503, 503} {
		c := m.client(at, "last", time.Duration(100+20*k)*ms, 10*ms, http("GET /stock", 7), status(code), ordinal(k+1), on("stock"))
		m.server(c, "stock", time.Duration(101+20*k)*ms, 5*ms, http("GET /stock", 0), status(code))
	}
	b := book(t, Config{}, m.records, 1)
	e := edgeOf(t, b, "last", "stock", "")
	x := e.Traces[0]
	if x.Why != "exhausted" || len(x.Spans) != maxDrawn || x.More != len(m.records)-maxDrawn || x.Spans[0].Method != "GET /" || x.Spans[0].Depth != 0 {
		t.Errorf("%s", sketch(&x))
	}
	focus := 0
	for _, s := range x.Spans {
		if s.Focus {
			focus++
		}
	}
	if focus != 6 {
		t.Errorf("%d spans of the call:\n%s", focus, sketch(&x))
	}
}

// What is true of every trace that is drawn, whatever it was made of.
func TestDrawnTraces(t *testing.T) {
	drawn, cut := 0, 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 9))
		var m maker
		randomTraces(&m, r, 30)
		if seed%4 == 0 {
			randomTraces(&m, r, 200)
			for _, rec := range m.records {
				rec.Span.TraceID = [16]byte{15: 1 + rec.Span.TraceID[15]%4} // a few large ones
			}
		}
		edges := 0
		for _, e := range book(t, Config{MaxTraceSpans: 1 + r.IntN(200)}, m.records, seed).Edges {
			if len(e.Traces) > 0 {
				edges++
			}
			if len(e.Traces) > maxTraces || edges > maxTracedEdges {
				t.Fatalf("%d traces of edge %d", len(e.Traces), edges)
			}
			for _, x := range e.Traces {
				drawn++
				if x.More > 0 {
					cut++
				}
				checkDrawn(t, &x)
			}
		}
	}
	if drawn < 100 || cut < 20 {
		t.Errorf("only %d traces were drawn, %d of them cut", drawn, cut)
	}
}

func checkDrawn(t *testing.T, x *Trace) {
	t.Helper()
	if len(x.Spans) == 0 || len(x.Spans) > maxDrawn || x.More < 0 || x.More > 0 && len(x.Spans) < maxDrawn || x.Duration < 0 {
		t.Fatalf("%d spans and %d more, %v", len(x.Spans), x.More, x.Duration)
	}
	var open []TraceSpan // from the root to the span before
	focus := false
	for _, s := range x.Spans {
		if s.Depth > len(open) || s.Depth < 0 {
			t.Fatalf("a span at depth %d after %d\n%s", s.Depth, len(open), sketch(x))
		}
		open = append(open[:s.Depth], s)
		if s.Depth > 0 && s.Parent != open[s.Depth-1].ID {
			t.Fatalf("span %s of %s stands below %s\n%s", s.ID, s.Parent, open[s.Depth-1].ID, sketch(x))
		}
		if s.Start < 0 || s.Start > x.Duration || s.Duration < 0 || s.Attempt > s.Of || (s.Attempt == 0) != (s.Of == 0) {
			t.Fatalf("%+v of\n%s", s, sketch(x))
		}
		focus = focus || s.Focus
	}
	if !focus {
		t.Fatalf("no span of the call\n%s", sketch(x))
	}
}
