package otelconnector

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/exporter"
)

// still is an engine at a moment.
type still struct{ edges []live.Edge }

func (s *still) Snapshot() *live.Snapshot { return &live.Snapshot{Edges: s.edges} }
func (*still) Latest() *live.Published    { return nil }

func edge(callee string, calls float64) live.Edge {
	return live.Edge{Caller: "web", Callee: callee, Protocol: "grpc", Methods: []live.Method{{Name: "Get", Initial: calls}}}
}

// points are the points of a sum, by callee.
func points(all pmetric.Metrics, name string) map[string]pmetric.NumberDataPoint {
	found := map[string]pmetric.NumberDataPoint{}
	for _, m := range all.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
		if m.Name() == name {
			for _, p := range m.Sum().DataPoints().All() {
				callee, _ := p.Attributes().Get("callee")
				found[callee.AsString()] = p
			}
		}
	}
	return found
}

func TestSeriesComeAndGo(t *testing.T) {
	at := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
	began, now := at, at
	e := &still{}
	m, err := newMetrics(e, &exporter.Stats{}, false, pcommon.NewResource(), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	sink := new(consumertest.MetricsSink)
	m.to(sink)
	m.to(consumertest.NewErr(errors.New("the second is not needed")))
	type point struct {
		start time.Duration // after it began
		value float64       // -1: none any more
	}
	for _, round := range []struct {
		edges []live.Edge
		want  map[string]point
	}{
		{[]live.Edge{edge("order", 2)}, map[string]point{"order": {0, 2}}},
		{[]live.Edge{edge("order", 5), edge("stock", 1)}, map[string]point{"order": {0, 5}, "stock": {15 * time.Second, 1}}},
		{[]live.Edge{edge("stock", 3)}, map[string]point{"order": {0, -1}, "stock": {15 * time.Second, 3}}},
		{[]live.Edge{edge("stock", 3)}, map[string]point{"stock": {15 * time.Second, 3}}},
		{[]live.Edge{edge("order", 1), edge("stock", 3)}, map[string]point{"order": {60 * time.Second, 1}, "stock": {15 * time.Second, 3}}},
	} {
		now = now.Add(15 * time.Second)
		e.edges = round.edges
		sink.Reset()
		if err := m.flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		got := map[string]point{}
		for callee, p := range points(sink.AllMetrics()[0], "firebreak_attempts_total") {
			x := point{p.StartTimestamp().AsTime().Sub(began), p.DoubleValue()}
			if p.Flags().NoRecordedValue() {
				x.value = -1
			}
			got[callee] = x
			if !p.Timestamp().AsTime().Equal(now) {
				t.Errorf("%s is of %v", callee, p.Timestamp())
			}
		}
		if !maps.Equal(got, round.want) {
			t.Errorf("handed on %v, want %v", got, round.want)
		}
	}
	if err := m.close(context.Background()); err != nil {
		t.Error(err)
	}
	sink.Reset()
	if err := m.flush(context.Background()); err != nil || len(sink.AllMetrics()) != 0 {
		t.Error("something was handed on after the end", err)
	}
}

func TestManySeriesAreHandedOnInParts(t *testing.T) {
	e := &still{}
	for i := range 2_000 {
		e.edges = append(e.edges, edge(string(rune('a'+i%26))+time.Duration(i).String(), 1))
	}
	m, err := newMetrics(e, &exporter.Stats{}, false, pcommon.NewResource(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	sink := new(consumertest.MetricsSink)
	m.to(sink)
	if err := m.flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, all := range sink.AllMetrics() {
		if n := all.DataPointCount(); n > maxPoints {
			t.Errorf("%d points at once", n)
		}
		calls += len(points(all, "firebreak_attempts_total"))
	}
	if calls != 2_000 {
		t.Errorf("%d edges", calls)
	}
}

func TestWhatCannotBeHandedOnIsSaid(t *testing.T) {
	m, err := newMetrics(&still{}, &exporter.Stats{}, false, pcommon.NewResource(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("full")
	m.to(consumertest.NewErr(full))
	if err := m.flush(context.Background()); !errors.Is(err, full) {
		t.Error(err)
	}
}

// histograms makes a point of each form of a histogram.
func histograms(t *testing.T, exponential bool) pmetric.Metric {
	t.Helper()
	h := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "firebreak_attempt_duration_seconds", Buckets: []float64{0.1, 1}, NativeHistogramBucketFactor: 1.1, // schema 3
	})
	for _, v := range []float64{0.05, 0.5, 0.5, 0.99, 1, 16} {
		h.Observe(v)
	}
	h.(prometheus.ExemplarObserver).ObserveWithExemplar(0.5, prometheus.Labels{"trace_id": "0102030405060708090a0b0c0d0e0f10", "span_id": "0102030405060708"})
	m, err := newMetrics(&still{}, &exporter.Stats{}, exponential, pcommon.NewResource(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	m.registry = prometheus.NewRegistry()
	m.registry.MustRegister(h)
	sink := new(consumertest.MetricsSink)
	m.to(sink)
	if err := m.flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := sink.AllMetrics()[0].ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)
	if got.Unit() != "s" || got.Name() != "firebreak_attempt_duration_seconds" {
		t.Errorf("it is %s in %s", got.Name(), got.Unit())
	}
	return got
}

func TestHistograms(t *testing.T) {
	p := histograms(t, false).Histogram().DataPoints().At(0)
	if got := p.BucketCounts().AsRaw(); p.Count() != 7 || !slices.Equal(got, []uint64{1, 5, 1}) || !slices.Equal(p.ExplicitBounds().AsRaw(), []float64{0.1, 1}) {
		t.Errorf("%d in %v", p.Count(), got)
	}
	if x := p.Exemplars(); x.Len() != 1 || x.At(0).TraceID() != [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16} || x.At(0).SpanID() != [8]byte{1, 2, 3, 4, 5, 6, 7, 8} {
		t.Errorf("%d exemplars", x.Len())
	}
	e := histograms(t, true).ExponentialHistogram().DataPoints().At(0)
	got := map[int32]uint64{}
	for i, n := range e.Positive().BucketCounts().AsRaw() {
		if n > 0 {
			got[e.Positive().Offset()+int32(i)] = n
		}
	}
	// Bucket i holds what is above 2^(i/8) and not above 2^((i+1)/8).
	want := map[int32]uint64{-35: 1, -9: 3, -1: 2, 31: 1}
	if e.Scale() != 3 || e.Count() != 7 || !reflect.DeepEqual(got, want) {
		t.Errorf("scale %d: %v, want %v", e.Scale(), got, want)
	}
}
