package exporter

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/internal/golden"
)

// still is an engine that stands still.
type still struct {
	snapshot *live.Snapshot
	last     *live.Published
	news     chan *live.Published
}

func (s *still) Snapshot() *live.Snapshot { return s.snapshot }
func (s *still) Latest() *live.Published  { return s.last }

func (s *still) Wait(ctx context.Context, after uint64) (*live.Published, error) {
	if s.last != nil && s.last.Revision != after {
		return s.last, nil
	}
	select {
	case p := <-s.news:
		return p, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// example is an engine that has seen some of everything.
func example() *still {
	at := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
	four, two := 4, 2
	order := live.Edge{
		Caller: "order", Callee: "stock", Protocol: "http",
		Methods: []live.Method{
			{Name: "GET /stock/{id}", Calls: 100, Joined: ledger.Joined{Exact: 90, Inferred: 6, Ambiguous: 4}, Intended: 50, IntendedAttempts: 250, Created: at.Add(-time.Hour), Initial: 100, Retries: 150, Proxied: 10, Hedges: 3, Transparent: 2, Redirects: 1, Challenges: 4},
			{Name: live.Other, Calls: 7, Joined: ledger.Joined{Exact: 7}, Initial: 7},
		},
		Retried: 75, Ambiguous: 2,
		Fates:      ledger.Fates{AtOnce: 20, AfterRetry: 30, Exhausted: 45, TimedOut: 5, NotRetryable: 4, Unknown: 3, Abandoned: 40},
		Outcomes:   map[evidence.Outcome]int64{evidence.OK: 50, evidence.Timeout: 190, evidence.Rejected: 20},
		ByAttempts: map[int]float64{1: 32, 2: 25, 3: 49, 20: 1},
		Server:     90 * time.Second, Orphaned: 40 * time.Second, Superseded: 5 * time.Second, Failed: 20 * time.Second, Orphans: 120,
	}
	worst := live.Exemplar{Trace: [16]byte{0xab, 15: 1}, Span: [8]byte{0xcd, 7: 2}, Value: 20, At: at}
	order.Created, order.MostAttempts = at.Add(-time.Hour), worst
	worst.Value = 61.5
	order.FailedCall, order.FailedBy = worst, map[evidence.Outcome]live.Exemplar{evidence.Timeout: worst}
	order.Durations = live.Durations{Count: 260, Sum: 200 * time.Second, Native: live.Native{Lowest: -30, Counts: []uint64{40, 9, 40: 200, 78: 10}, Zero: 1}}
	order.Durations.Exemplars[len(live.Bounds)] = worst
	order.Durations.Buckets[6], order.Durations.Buckets[9], order.Durations.Buckets[len(live.Bounds)] = 50, 200, 10
	order.Gaps = live.Durations{Count: 150, Sum: 15 * time.Second, Native: live.Native{Lowest: -27, Counts: []uint64{150}}}
	order.Gaps.Buckets[6] = 150
	return &still{
		snapshot: &live.Snapshot{
			Edges:   []live.Edge{{Callee: "order", Protocol: "http", Methods: []live.Method{{Name: "POST /orders", Calls: 20, Joined: ledger.Joined{Exact: 20}, Intended: 20, IntendedAttempts: 20, Initial: 20}}}, order},
			Started: at.Add(-2 * time.Hour),
			Entries: []live.Entry{
				{Stacked: 1},
				{Name: "order POST /orders", Requests: 20, Stacked: 2, Created: at.Add(-time.Hour), Reach: []live.Reach{
					{Callee: "order", Attempts: 20, Intended: 20}, {Callee: "stock", Attempts: 250, Intended: 50},
				}},
			},
			NoProvider: 9, NoConsumer: 8,
			Rejections: []live.Rejection{{Owner: "10.20.0.1:20880", Pool: "DubboServerHandler", Count: 31}},
			Stores:     []live.Store{{Name: "recent", Bytes: 4096, Limit: 1 << 20}, {Name: "spans", Bytes: 40 * 96, Limit: 1000 * 156}},
			Finalized:  map[live.Finalized]int64{live.Quiet: 20, live.Evicted: 1}, Stacked: 3,
			Losses: map[ledger.Loss]int64{ledger.LostDuplicate: 5, ledger.LostParent: 2}, Folded: map[string]int64{"methods": 7}, MaxSpans: 1000,
			Intake: live.Intake{
				Received: map[string]int64{"grpc": 500, "http": 30}, Refused: map[string]int64{"grpc": 64}, Logs: 12, Late: 4, Stale: 3, Weighted: 30, Unweighted: 500, LastSpan: at,
				SpansHeld: 40, TracesOpen: 6, RecentKept: 530, RecentShare: 0.5,
			},
		},
		last: &live.Published{
			Revision: 7, At: at, Took: 120 * time.Millisecond, Records: 530,
			Report: &incident.Report{
				Incidents: []incident.Incident{{Label: incident.SlowSQL, Chain: []incident.Link{
					{Role: incident.Trigger, Label: incident.SlowSQL}, {Role: incident.Amplifier, Label: incident.RetryAmplification},
				}}},
				Edges: []incident.Edge{{Candidates: []incident.Stage{{Stage: "directory", Count: 5}, {Stage: "tag", Count: 2}}}, {Candidates: []incident.Stage{{Stage: "tag", Count: 0}}}},
				Pools: []incident.Pool{{Name: "DubboServerHandler", Owner: "stock", Max: &four, Active: &four, Queued: &two}},
			},
		},
	}
}

// serving is a server of the example, and of what stands around it.
func serving() *Server {
	s := NewServer(example(), "test")
	s.Stats = Stats{
		Sources: func() live.SourceStats {
			return live.SourceStats{
				Records: map[string]int64{"dubbo-log": 40, "jstack": 2}, Skipped: map[live.FormatReason]int64{{Format: "jstack", Reason: "cut"}: 1},
				Sources: []live.SourceState{
					{Source: "/var/log/shop/*.log", Kind: "file", Up: true, Lag: 2 * time.Second, LagBytes: 4096, Last: time.Date(2026, 3, 14, 9, 29, 58, 0, time.UTC)},
					{Source: "http://10.20.1.5:6060/debug/pprof/goroutine", Kind: "goroutines", Lag: -1, LagBytes: -1},
				},
			}
		},
		Bundles: func() live.BundleStats {
			return live.BundleStats{Written: 3, Failed: 1, Removed: map[string]int64{"age": 2}, Kept: 1, Bytes: 1 << 20}
		},
		Noticed: func() live.NoticedStats {
			return live.NoticedStats{Opened: map[string]int64{"slow-sql": 2, "gc-pause": 1}, Open: map[string]int64{"slow-sql": 1, "gc-pause": 0}}
		},
		Requests: func() live.RequestStats {
			return live.RequestStats{
				Taken: map[string]int64{"grpc": 9, "http": 3}, Refused: map[string]int64{"too-large": 2}, Converted: map[string]int64{"tempo": 1},
				Skipped: map[string]int64{"span without a trace ID or a span ID": 1}, Bytes: 32 << 10, MaxBytes: 64 << 20,
			}
		},
	}
	return s
}

func page(t *testing.T, s *Server, path string) (int, string, http.Header) {
	t.Helper()
	h, err := s.Handler()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(body), w.Result().Header
}

func TestMetricsPage(t *testing.T) {
	code, text, _ := page(t, serving(), "/metrics")
	if code != http.StatusOK {
		t.Fatal(code, text)
	}
	golden.Check(t, "testdata/metrics.txt", []byte(text))
}

func TestMetricsOfNothing(t *testing.T) {
	e := live.New(live.Config{})
	code, text, _ := page(t, NewServer(e, "test"), "/metrics")
	if code != http.StatusOK || strings.Contains(text, "firebreak_incident_active{") {
		t.Fatal(code, text)
	}
}

func TestMetricNames(t *testing.T) {
	s := serving()
	problems, err := testutil.GatherAndLint(s.Registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	seen := map[string]bool{}
	families, err := s.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		seen[f.GetName()] = true
	}
	for _, m := range metrics {
		if !seen[m.name] {
			t.Errorf("the example lacks %s", m.name)
		}
	}
}

// TestMetricsDocument compares docs/metrics.md with the table of metrics; with
// -update it rewrites the table there.
func TestMetricsDocument(t *testing.T) {
	golden.CheckSection(t, "../docs/metrics.md", "metrics", Table())
}

func TestReport(t *testing.T) {
	e := example()
	s := NewServer(e, "test")
	code, text, head := page(t, s, ReportPath)
	r, err := incident.ReadJSON(strings.NewReader(text))
	if code != http.StatusOK || err != nil || head.Get(RevisionHeader) != "7" || r.Incidents[0].Label != incident.SlowSQL || !r.GeneratedAt.Equal(e.last.At) {
		t.Fatalf("%d %v %v\n%s", code, err, head, text)
	}
	if !e.last.Report.GeneratedAt.IsZero() {
		t.Error("the published report was changed")
	}
	if !json.Valid([]byte(text)) || !bytes.Contains([]byte(text), []byte(incident.Schema)) {
		t.Error("no report")
	}
	if code, _, _ := page(t, s, ReportPath+"?after=soon"); code != http.StatusBadRequest {
		t.Errorf("%d", code)
	}
}

func TestReportWaits(t *testing.T) {
	e := example()
	e.news = make(chan *live.Published)
	s := NewServer(e, "test")
	h, err := s.Handler()
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	defer srv.Close()
	ask := func() chan *http.Response {
		c := make(chan *http.Response, 1)
		go func() {
			resp, err := http.Get(srv.URL + ReportPath + "?after=" + strconv.Itoa(7))
			if err != nil {
				t.Error(err)
			}
			c <- resp
		}()
		return c
	}
	first := ask()
	next := *e.last
	next.Revision = 8
	e.news <- &next
	resp := <-first
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get(RevisionHeader) != "8" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
	second := ask()
	s.Leave()
	resp = <-second
	resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		t.Errorf("who waited when it ended was told %s", resp.Status)
	}
}

func TestHealth(t *testing.T) {
	s := NewServer(example(), "test")
	for _, x := range []struct {
		ready bool
		path  string
		want  int
	}{
		{false, "/-/healthy", 200}, {false, "/-/ready", 503}, {true, "/-/ready", 200}, {true, "/", 200}, {true, "/nowhere", 404},
	} {
		s.SetReady(x.ready)
		if code, text, _ := page(t, s, x.path); code != x.want {
			t.Errorf("%s, ready %v: %d %s", x.path, x.ready, code, text)
		}
	}
	h, err := s.Handler()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, ReportPath, nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST is answered %d", w.Code)
	}
}
