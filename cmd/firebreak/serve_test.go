package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/firebreak-io/firebreak/collector/otlp"
	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/exporter"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/parsers"
	"github.com/firebreak-io/firebreak/runbooks"
)

// freeAddress returns an address that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// fleet is an engine that takes in spans over sockets, with a clock that the
// test moves.
type fleet struct {
	t          *testing.T
	engine     *live.Engine
	grpc, http string
	client     ptraceotlp.GRPCClient

	mu sync.Mutex
	at time.Time
}

func startFleet(t *testing.T, c live.Config) *fleet {
	t.Helper()
	f := &fleet{t: t, grpc: freeAddress(t), http: freeAddress(t), at: time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)}
	books, err := runbooks.Load("")
	if err != nil {
		t.Fatal(err)
	}
	c.Now, c.Conclude, c.Fingerprint = f.now, books.Apply, parsers.Fingerprint
	f.engine = live.New(c)
	r, err := otlp.Start(t.Context(), otlp.Config{GRPC: f.grpc, HTTP: f.http}, f.engine)
	if err != nil {
		t.Fatal(err)
	}
	f.client = grpcClient(t, f.grpc)
	t.Cleanup(func() {
		if err := r.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return f
}

func grpcClient(t *testing.T, addr string) ptraceotlp.GRPCClient {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return ptraceotlp.NewGRPCClient(conn)
}

func (f *fleet) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

func (f *fleet) pass(d time.Duration) {
	f.mu.Lock()
	f.at = f.at.Add(d)
	f.mu.Unlock()
	f.engine.Advance()
}

// post sends a request over HTTP, as protobuf or as JSON.
func (f *fleet) post(req ptraceotlp.ExportRequest, asJSON bool) error {
	kind, marshal := "application/x-protobuf", req.MarshalProto
	if asJSON {
		kind, marshal = "application/json", req.MarshalJSON
	}
	body, err := marshal()
	if err != nil {
		return err
	}
	resp, err := http.Post("http://"+f.http+"/v1/traces", kind, bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %w", resp.Status, err)
	}
	return nil
}

// burst makes the spans of some traces: a request at order asks stock one to
// four times, each time but the last answered 503, each send numbered. The halves
// hold the spans of the caller and of the callee.
func burst(first, n int) (caller, callee ptraceotlp.ExportRequest, attempts, spans int) {
	halves := [2]ptrace.Traces{ptrace.NewTraces(), ptrace.NewTraces()}
	var lists [2]ptrace.SpanSlice
	for i, service := range []string{"order", "stock"} {
		rs := halves[i].ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", service)
		lists[i] = rs.ScopeSpans().AppendEmpty().Spans()
	}
	epoch := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	for i := first; i < first+n; i++ {
		start := epoch.Add(time.Duration(i) * time.Millisecond)
		add := func(half, k, parent int, name string, kind ptrace.SpanKind, at, took time.Duration) ptrace.Span {
			s := lists[half].AppendEmpty()
			var trace [16]byte
			var id [8]byte
			binary.BigEndian.PutUint64(trace[8:], uint64(i+1))
			binary.BigEndian.PutUint64(id[:], uint64(i)<<8|uint64(k))
			s.SetTraceID(trace)
			s.SetSpanID(id)
			if parent > 0 {
				binary.BigEndian.PutUint64(id[:], uint64(i)<<8|uint64(parent))
				s.SetParentSpanID(id)
			}
			s.SetName(name)
			s.SetKind(kind)
			s.SetStartTimestamp(pcommon.NewTimestampFromTime(start.Add(at)))
			s.SetEndTimestamp(pcommon.NewTimestampFromTime(start.Add(at + took)))
			s.Attributes().PutStr("http.request.method", strings.Fields(name)[0])
			spans++
			return s
		}
		root := add(0, 1, 0, "POST /orders", ptrace.SpanKindServer, 0, time.Second)
		root.Attributes().PutStr("http.route", "/orders")
		root.Attributes().PutInt("http.response.status_code", 200)
		tries := 1 + i%4
		for k := range tries {
			attempts++
			at, status := time.Duration(k)*200*time.Millisecond, int64(503)
			if k == tries-1 {
				status = 200
			}
			c := add(0, 2+2*k, 1, "GET", ptrace.SpanKindClient, at+time.Millisecond, 100*time.Millisecond)
			c.Attributes().PutStr("server.address", "stock")
			c.Attributes().PutStr("url.full", fmt.Sprintf("http://stock/stock/%d", i))
			c.Attributes().PutInt("http.response.status_code", status)
			if k > 0 {
				c.Attributes().PutInt("http.request.resend_count", int64(k))
			}
			s := add(1, 3+2*k, 2+2*k, "GET /stock/{id}", ptrace.SpanKindServer, at+2*time.Millisecond, 90*time.Millisecond)
			s.Attributes().PutStr("http.route", "/stock/{id}")
			s.Attributes().PutInt("http.response.status_code", status)
		}
	}
	return ptraceotlp.NewExportRequestFromTraces(halves[0]), ptraceotlp.NewExportRequestFromTraces(halves[1]), attempts, spans
}

// TestLiveCountsAreTheTruth sends spans over gRPC and HTTP at once, the caller's
// by one and the callee's by the other, while traces are being counted.
func TestLiveCountsAreTheTruth(t *testing.T) {
	const rounds, senders, requests, perRequest = 3, 2, 28, 200
	f := startFleet(t, live.Config{MaxRecent: 2_000})
	var calls, attempts, spans int
	for round := range rounds {
		var wg sync.WaitGroup
		var mu sync.Mutex
		for sender := range senders {
			wg.Go(func() {
				for i := range requests {
					first := ((round*senders+sender)*requests + i) * perRequest
					caller, callee, a, n := burst(first, perRequest)
					if sender == 1 { // the other way round
						caller, callee = callee, caller
					}
					one := f.post(callee, i%8 == 0)
					_, other := f.client.Export(t.Context(), caller)
					if one != nil || other != nil {
						t.Error(one, other)
					}
					mu.Lock()
					calls, attempts, spans = calls+perRequest, attempts+a, spans+n
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		f.pass(11 * time.Second)
	}
	if spans < 200_000 {
		t.Fatalf("only %d spans", spans)
	}
	server := exporter.NewServer(f.engine, "test")
	families, err := server.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, fam := range families {
		for _, m := range fam.GetMetric() {
			key := fam.GetName()
			for _, l := range m.GetLabel() {
				if l.GetName() != "protocol" && l.GetName() != "evidence" && l.GetName() != "method" && l.GetValue() != "" {
					key += " " + l.GetValue()
				}
			}
			got[key] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	for key, want := range map[string]int{
		"firebreak_logical_calls_total stock order":          calls,
		"firebreak_logical_calls_total order":                calls,
		"firebreak_attempts_total stock order initial":       calls,
		"firebreak_attempts_total stock order retry":         attempts - calls,
		"firebreak_failed_logical_calls_total stock order":   0,
		"firebreak_call_fates_total stock order at-once":     calls / 4,
		"firebreak_call_fates_total stock order after-retry": calls * 3 / 4,
		"firebreak_retried_calls_total stock order":          calls * 3 / 4,
		"firebreak_traces_finalized_total quiet":             calls,
		"firebreak_spans_late_total":                         0,
		"firebreak_spans_held":                               0,
	} {
		if got[key] != float64(want) {
			t.Errorf("%s is %v, want %d", key, got[key], want)
		}
	}
	if n := got["firebreak_spans_received_total grpc"] + got["firebreak_spans_received_total http"]; n != float64(spans) || got["firebreak_spans_received_total http"] == 0 {
		t.Errorf("%v of %d spans came", n, spans)
	}
}

// TestOverloadLosesNothingSilently sends more than fits, from several senders at
// once that do not come back: what was acknowledged is counted, exactly, and the
// rest was refused.
func TestOverloadLosesNothingSilently(t *testing.T) {
	f := startFleet(t, live.Config{MaxSpans: 3_000})
	var mu sync.Mutex
	accepted, refused, calls := 0, 0, 0
	for round := range 4 {
		var wg sync.WaitGroup
		for sender := range 4 {
			wg.Go(func() {
				for i := range 5 {
					const n = 100
					caller, callee, _, spans := burst(((round*4+sender)*5+i)*n, n)
					// In one request, so that traces are whole.
					td := caller.Traces()
					callee.Traces().ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
					var err error
					if sender%2 == 0 {
						_, err = f.client.Export(t.Context(), ptraceotlp.NewExportRequestFromTraces(td))
					} else {
						err = f.post(ptraceotlp.NewExportRequestFromTraces(td), false)
					}
					mu.Lock()
					if err == nil {
						accepted, calls = accepted+spans, calls+n
					} else {
						refused += spans
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		f.pass(2 * time.Second) // room is made before the lateness is over
	}
	f.engine.Flush()
	s := f.engine.Snapshot()
	var received, turned int64
	for _, transport := range []string{otlp.GRPC, otlp.HTTP} {
		received += s.Intake.Received[transport]
		turned += s.Intake.Refused[transport]
	}
	if received != int64(accepted) || turned != int64(refused) || refused == 0 || accepted == 0 {
		t.Errorf("accepted %d, counted %d; refused %d, counted %d", accepted, received, refused, turned)
	}
	for _, e := range s.Edges {
		if e.Callee == "stock" && e.Methods[0].Calls != float64(calls) {
			t.Errorf("%v calls are counted of %d acknowledged", e.Methods[0].Calls, calls)
		}
	}
}

// TestLiveReportIsTheOfflineReport sends the spans of a known incident.
func TestLiveReportIsTheOfflineReport(t *testing.T) {
	const dir = "../../testdata/incidents/traces-layers-of-retries"
	f := startFleet(t, live.Config{})
	file, err := os.Open(dir + "/otel/traces.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 64<<20)
	for i := 0; lines.Scan(); i++ {
		req := ptraceotlp.NewExportRequest()
		if err := req.UnmarshalJSON(lines.Bytes()); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			_, err = f.client.Export(t.Context(), req)
		} else {
			err = f.post(req, i%3 == 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	f.engine.Publish()
	offline, _, err := analyse(t.Context(), request{paths: []string{dir + "/otel"}, zone: time.UTC}, func(progress) {})
	if err != nil {
		t.Fatal(err)
	}

	server := exporter.NewServer(f.engine, "test")
	h, err := server.Handler()
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	defer srv.Close()
	source := remoteSource(t, srv.URL)
	reading, err := source.Next(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	chain := func(r *incident.Report) string {
		var b strings.Builder
		for _, in := range r.Incidents {
			fmt.Fprintln(&b, in.Label, in.Certainty, in.ActFirst, in.Headline)
			for _, l := range in.Chain {
				fmt.Fprintln(&b, " ", l.Role, l.Label, l.Subject)
			}
		}
		edges, err := json.Marshal(len(r.Edges))
		if err != nil {
			t.Fatal(err)
		}
		return b.String() + string(edges)
	}
	if a, b := chain(reading.Report), chain(offline); a != b {
		t.Errorf("live:\n%s\noffline:\n%s", a, b)
	}
	if reading.Revision != f.engine.Latest().Revision || len(reading.Report.Incidents[0].Walk) == 0 {
		t.Errorf("revision %d, %d steps", reading.Revision, len(reading.Report.Incidents[0].Walk))
	}
}

func remoteSource(t *testing.T, address string) *remote {
	t.Helper()
	books, err := runbooks.Load("")
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRemote(address, books)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestServeCountsWhatItHasWhenItStops starts the whole command, sends spans and
// stops it.
func TestServeCountsWhatItHasWhenItStops(t *testing.T) {
	var errs bytes.Buffer
	a := newApp(analyse)
	a.stderr = &errs
	o := defaultConfig()
	o.OTLP.GRPC, o.OTLP.HTTP, o.Web.Listen = freeAddress(t), freeAddress(t), []string{"127.0.0.1:0"}
	o.Limits.Lateness, o.Limits.MaxAge, o.Report.Every = time.Hour, time.Hour, time.Hour
	ctx, stop := context.WithCancel(t.Context())
	var engine *live.Engine
	err := a.serve(ctx, o, func(at served) {
		engine = at.engine
		go func() {
			defer stop()
			caller, callee, _, _ := burst(0, 100)
			client := grpcClient(t, o.OTLP.GRPC)
			for _, req := range []ptraceotlp.ExportRequest{caller, callee} {
				if _, err := client.Export(ctx, req); err != nil {
					t.Error(err)
				}
			}
			for _, path := range []string{"/-/ready", "/metrics", "/"} {
				resp, err := http.Get("http://" + at.web[0] + path)
				if err != nil {
					t.Error(err)
					return
				}
				text, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode != http.StatusOK || path == "/metrics" && !strings.Contains(string(text), "firebreak_build_info") {
					t.Errorf("%s: %s\n%s", path, resp.Status, text)
				}
			}
		}()
	})
	if err != nil {
		t.Fatal(err)
	}
	p, counted := engine.Latest(), engine.Snapshot()
	if p == nil || len(p.Report.Edges) == 0 {
		t.Error("there is no last report, or it has no edges")
	}
	if counted.Finalized[live.Shutdown] != 100 || counted.Intake.SpansHeld != 0 {
		t.Errorf("finalized %v, %d spans held", counted.Finalized, counted.Intake.SpansHeld)
	}
	if !strings.Contains(errs.String(), "traces=100") {
		t.Errorf("it did not count 100 traces when it stopped:\n%s", errs.String())
	}
}

func TestServeRefusesWhatMakesNoSense(t *testing.T) {
	for _, x := range []struct{ args, want string }{
		{"serve --otlp-grpc=0.0.0.0:4317", "others can reach 0.0.0.0:4317"},
		{"serve --web.listen-address=:9464", "others can reach :9464"},
		{"serve --otlp-grpc= --otlp-http=", "nothing would come in"},
		{"serve --otlp-grpc=4317", "is no address"},
		{"serve --lateness=2m", "--max-age"},
		{"serve --log.level=loud", "--log.level"},
		{"serve --lateness=0s", "not above zero"},
		{"serve --max-spans=-1", "no whole number above zero"},
		{"serve --memory-limit=much", "no size"},
		{"serve here", "serve"},
		{"attach", "attach takes one URL"},
		{"attach ftp://x", "is no address"},
	} {
		var errs bytes.Buffer
		a := newApp(analyse)
		a.stdout, a.stderr = io.Discard, &errs
		if code := a.run(strings.Fields(x.args)); code != exitUsage || !strings.Contains(errs.String(), x.want) {
			t.Errorf("%s: exit %d, %s", x.args, code, errs.String())
		}
	}
}
