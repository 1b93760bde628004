package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/firebreak-io/firebreak/collector/otlp"
	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/evidence"
)

// listed is a sink that remembers the spans it is given.
type listed struct {
	mu    sync.Mutex
	spans map[string]evidence.Span // the last of each name
	count map[string]int
	from  evidence.Place
}

func (l *listed) Admit(string, int) bool { return true }
func (l *listed) Done(int)               {}
func (l *listed) AddLogs(int)            {}

func (l *listed) Add(r *evidence.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spans[r.Span.Name] = *r.Span
	l.count[r.Span.Name]++
	l.from = r.Place
}

// serveBriefly runs serve while some requests of 100 traces are sent.
func serveBriefly(t *testing.T, change func(*config)) string {
	t.Helper()
	var errs bytes.Buffer
	a := newApp(analyse)
	a.stderr = &errs
	o := defaultConfig()
	o.OTLP.GRPC, o.OTLP.HTTP, o.Web.Listen = freeAddress(t), "", []string{"127.0.0.1:0"}
	o.Limits.Lateness, o.Limits.MaxAge, o.Report.Every = time.Hour, time.Hour, time.Hour
	change(o)
	ctx, stop := context.WithCancel(t.Context())
	err := a.serve(ctx, o, func(served) {
		defer stop()
		client := grpcClient(t, o.OTLP.GRPC)
		for n := range 20 {
			caller, callee, _, _ := burst(5*n, 5)
			for _, req := range []ptraceotlp.ExportRequest{caller, callee} {
				if _, err := client.Export(ctx, req); err != nil {
					t.Error(err)
				}
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
	return errs.String()
}

// TestOwnTraces sends what serve tells of its work to another receiver of ours.
func TestOwnTraces(t *testing.T) {
	got := &listed{spans: map[string]evidence.Span{}, count: map[string]int{}}
	at := freeAddress(t)
	receiver, err := otlp.Start(t.Context(), otlp.Config{HTTP: at}, got)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := receiver.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	said := serveBriefly(t, func(c *config) { c.Telemetry = telemetryConfig{Endpoint: "http://" + at, Traces: true} })
	for _, name := range []string{"receive", "join", "publish", "report"} {
		if got.count[name] == 0 {
			t.Errorf("no span %q: %v\n%s", name, got.count, said)
		}
	}
	publish, report := got.spans["publish"], got.spans["report"]
	if report.Parent != publish.ID || report.TraceID != publish.TraceID || publish.Parent != ([8]byte{}) {
		t.Errorf("a report is no part of publishing it: %+v, %+v", report, publish)
	}
	if got.from.Service != "firebreak" || got.from.Instance == "" {
		t.Errorf("sent by %+v", got.from)
	}
	// 40 requests came in a moment.
	if got.count["receive"] > 10 {
		t.Errorf("%d spans of requests", got.count["receive"])
	}
}

// TestOwnMetrics sends the metrics of /metrics.
func TestOwnMetrics(t *testing.T) {
	var calls float64
	var scale int32 = -99
	var service string
	var exemplars []string
	var mu sync.Mutex
	to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		req := pmetricotlp.NewExportRequest()
		if err := req.UnmarshalProto(body); err != nil || r.URL.Path != "/otlp/v1/metrics" {
			t.Errorf("%s: %v", r.URL, err)
		}
		mu.Lock()
		defer mu.Unlock()
		calls = 0
		for _, rm := range req.Metrics().ResourceMetrics().All() {
			name, _ := rm.Resource().Attributes().Get("service.name")
			service = name.AsString()
			for _, sm := range rm.ScopeMetrics().All() {
				for _, m := range sm.Metrics().All() {
					switch {
					case m.Name() == "firebreak_retried_calls_total":
						for _, p := range m.Sum().DataPoints().All() {
							for _, x := range p.Exemplars().All() {
								exemplars = append(exemplars, x.TraceID().String()+"/"+x.SpanID().String())
							}
						}
					case m.Name() == "firebreak_logical_calls_total":
						calls += total(m.Sum().DataPoints(), "stock")
					case m.Name() == "firebreak_attempts_per_call" && m.Type() == pmetric.MetricTypeExponentialHistogram:
						scale = m.ExponentialHistogram().DataPoints().At(0).Scale()
					}
				}
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer to.Close()
	said := serveBriefly(t, func(c *config) { c.Telemetry = telemetryConfig{Endpoint: to.URL + "/otlp", Metrics: true} })
	if calls != 100 || scale != 3 || service != "firebreak" {
		t.Errorf("%v calls of 100, histograms of scale %d, from %q\n%s", calls, scale, service, said)
	}
	if len(exemplars) != 1 || strings.Trim(exemplars[0], "/0") == "" || len(exemplars[0]) != 49 {
		t.Errorf("exemplars %v", exemplars)
	}
}

// total sums the points of one callee.
func total(points pmetric.NumberDataPointSlice, callee string) (sum float64) {
	for _, p := range points.All() {
		if v, ok := p.Attributes().Get("callee"); ok && v.Type() == pcommon.ValueTypeStr && v.Str() == callee {
			sum += p.DoubleValue()
		}
	}
	return sum
}

// TestTelemetryThatNobodyTakes must not keep serve from running and ending well.
func TestTelemetryThatNobodyTakes(t *testing.T) {
	to := httptest.NewServer(http.NotFoundHandler())
	defer to.Close()
	said := serveBriefly(t, func(c *config) { c.Telemetry = telemetryConfig{Endpoint: to.URL, Traces: true, Metrics: true} })
	if !strings.Contains(said, "what=telemetry") {
		t.Errorf("nothing is said of it:\n%s", said)
	}
}

func TestTelemetryIsOffByDefault(t *testing.T) {
	told, err := startTelemetry(t.Context(), defaultConfig().Telemetry, nil)
	if err != nil || told.tracer != nil || told.self != nil || told.send(t.Context(), nil) != nil || len(told.ends) != 0 || told.Close(t.Context()) != nil {
		t.Errorf("%+v, %v", told, err)
	}
}

func TestTelemetryIntoItself(t *testing.T) {
	for _, x := range []struct {
		endpoint, listener string
		own                bool
	}{
		{"http://localhost:4318", "localhost:4318", true},
		{"http://127.0.0.1:4318", "localhost:4318", true},
		{"http://[::1]:4318", "localhost:4318", true},
		{"http://127.0.0.1:4318/otlp", "0.0.0.0:4318", true},
		{"http://localhost:4318", ":4318", true},
		{"http://0.0.0.0:4318", "127.0.0.1:4318", true},
		{"http://10.20.0.1:4318", "10.20.0.1:4318", true},
		{"https://localhost", "localhost:443", true},
		{"http://localhost", "localhost:80", true},
		{"http://localhost:4318", "localhost:4317", false},
		{"http://10.20.0.1:4318", "127.0.0.1:4318", false},
		{"http://10.20.0.1:4318", "10.20.0.2:4318", false},
		{"http://127.0.0.1:4318", "10.20.0.2:4318", false},
		{"http://203.0.113.7:4318", "0.0.0.0:4318", false},
	} {
		u, err := url.Parse(x.endpoint)
		if err != nil {
			t.Fatal(err)
		}
		if got := leadsTo(u, x.listener); got != x.own {
			t.Errorf("%s at %s: %v", x.endpoint, x.listener, got)
		}
	}
	for endpoint, want := range map[string]string{
		"http://localhost:4318":  "where firebreak itself listens",
		"http://127.0.0.1:9464/": "where firebreak itself listens",
		"collector:4318":         "is no URL of http or https",
		"http://":                "is no URL of http or https",
	} {
		_, err := configured(t, "telemetry: {traces: true, endpoint: \""+endpoint+"\"}\n", nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "firebreak.yaml:1:") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

func TestSparse(t *testing.T) {
	s := newSparse(time.Hour)
	ask := func(parent context.Context, name string) bool {
		return s.ShouldSample(sdktrace.SamplingParameters{ParentContext: parent, Name: name}).Decision == sdktrace.RecordAndSample
	}
	with := func(flags trace.TraceFlags, remote bool) context.Context {
		return trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, TraceFlags: flags, Remote: remote}))
	}
	got := []bool{
		ask(t.Context(), "join"), ask(t.Context(), "join"), ask(t.Context(), "report"),
		ask(with(trace.FlagsSampled, false), "report"), ask(with(0, false), "other"), ask(with(trace.FlagsSampled, true), "receive"), ask(with(trace.FlagsSampled, true), "receive"),
	}
	if want := []bool{true, false, true, true, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("sampled %v, want %v", got, want)
	}
	for n := range 2 * maxSpanNames {
		ask(t.Context(), strings.Repeat("x", n))
	}
	if len(s.last) != maxSpanNames {
		t.Errorf("%d names are remembered", len(s.last))
	}
}

// TestBundleIsPartOfPublishing freezes an incident and looks at the spans
// of that.
func TestBundleIsPartOfPublishing(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("")
	w := startWatched(t, time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC), func(c *config) { c.Incidents.Dir, c.Detect.Hold = t.TempDir(), 1 })
	w.watch.tracer = tracer
	w.engine = live.New(live.Config{Now: w.watch.now, Version: version(), Observed: w.watch.observe, Tracer: tracer})
	w.watch.engine = w.engine
	w.read("../../testdata/incidents/reference-slow-sql-retries")
	w.engine.Publish()
	ids := map[string]trace.SpanContext{}
	parents := map[string]trace.SpanID{}
	for _, s := range spans.Ended() {
		ids[s.Name()], parents[s.Name()] = s.SpanContext(), s.Parent().SpanID()
	}
	if !ids["bundle"].IsValid() || parents["bundle"] != ids["publish"].SpanID() || parents["report"] != ids["publish"].SpanID() {
		t.Errorf("%v in %v\n%s", ids, parents, w.log.String())
	}
	if s := w.watch.stats()(); s.Written != 1 || s.Kept != 1 || s.Bytes == 0 {
		t.Errorf("%+v", s)
	}
}
