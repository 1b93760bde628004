package otelconnector

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/firebreak-io/firebreak/exporter"
)

// metrics hands on the metrics of firebreak serve, made by the same exporter.
// Their names are those of Prometheus, suffixes included: what translates them
// back leaves such names as they are, with and without suffixes of its own.
//
// Counters and histograms are cumulative. A series that was not there at first
// starts when the last one without it was handed on, and one that is gone is
// handed on once more without a value, so that others forget it too.
type metrics struct {
	registry    *prometheus.Registry
	exponential bool
	resource    pcommon.Resource
	now         func() time.Time

	mu       sync.Mutex // one round at a time
	next     consumer.Metrics
	last     time.Time // of the last round, or when counting began
	round    uint64
	families map[string]*family
}

// family is what was handed on of a metric.
type family struct {
	name, help string
	kind       dto.MetricType
	series     map[string]*series // by the values of their labels
}

type series struct {
	start  time.Time
	round  uint64 // in which it was seen last
	labels []*dto.LabelPair
}

func newMetrics(e exporter.Engine, stats *exporter.Stats, exponential bool, resource pcommon.Resource, now func() time.Time) (*metrics, error) {
	m := &metrics{registry: prometheus.NewRegistry(), exponential: exponential, resource: resource, now: now, families: map[string]*family{}, last: now()}
	return m, m.registry.Register(exporter.NewCollector(e, stats))
}

// to says who gets them. All instances hand on to the same pipelines: the first
// one will do.
func (m *metrics) to(next consumer.Metrics) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.next == nil {
		m.next = next
	}
}

// maxPoints bounds what is handed on at once, so that it fits a request.
const maxPoints = 8192

// flush hands on all series.
func (m *metrics) flush(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.hand(ctx)
}

// close hands them on a last time.
func (m *metrics) close(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.hand(ctx)
	m.next = nil
	return err
}

func (m *metrics) hand(ctx context.Context) error {
	if m.next == nil {
		return nil
	}
	found, err := m.registry.Gather() // what is wrong with one metric does not keep the others
	errs := []error{err}
	m.round++
	b := batch{metrics: m, now: m.now()}
	b.begin()
	for _, f := range found {
		known := m.families[f.GetName()]
		if known == nil {
			known = &family{name: f.GetName(), series: map[string]*series{}}
			m.families[known.name] = known
		}
		known.help, known.kind = f.GetHelp(), f.GetType()
		for _, x := range f.GetMetric() {
			b.add(known, known.of(x, m.round, m.last), x)
			errs = append(errs, b.send(ctx, maxPoints))
		}
	}
	for _, f := range m.families {
		for key, s := range f.series {
			if s.round != m.round {
				b.add(f, s, nil)
				errs = append(errs, b.send(ctx, maxPoints))
				delete(f.series, key)
			}
		}
	}
	m.last = b.now
	return errors.Join(append(errs, b.send(ctx, 1))...)
}

// of finds the series of a metric. A new one began after the time given, or later
// if it says so itself.
func (f *family) of(x *dto.Metric, round uint64, after time.Time) *series {
	var key strings.Builder
	for _, l := range x.GetLabel() {
		key.WriteString(l.GetName())
		key.WriteByte(0xff) // is in no name
		key.WriteString(l.GetValue())
		key.WriteByte(0xff)
	}
	s := f.series[key.String()]
	if s == nil {
		s = &series{start: after, labels: x.GetLabel()}
		f.series[key.String()] = s
	}
	s.round = round
	created := x.GetCounter().GetCreatedTimestamp()
	if created == nil {
		created = x.GetHistogram().GetCreatedTimestamp()
	}
	if at := created.AsTime(); created != nil && at.After(s.start) {
		s.start = at
	}
	return s
}

// batch is what is handed on next.
type batch struct {
	*metrics
	now    time.Time
	all    pmetric.Metrics
	list   pmetric.MetricSlice
	open   string // the metric that points are added to
	metric pmetric.Metric
	points int
}

func (b *batch) begin() {
	b.all, b.open, b.points = pmetric.NewMetrics(), "", 0
	rm := b.all.ResourceMetrics().AppendEmpty()
	b.resource.CopyTo(rm.Resource())
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName(scope)
	sm.Scope().SetVersion(version())
	b.list = sm.Metrics()
}

// send hands on what there is, if that is enough.
func (b *batch) send(ctx context.Context, enough int) error {
	if b.points < enough {
		return nil
	}
	all := b.all
	b.begin()
	return b.next.ConsumeMetrics(ctx, all)
}

// add adds a point: the value of x, or that there is none any more.
func (b *batch) add(f *family, s *series, x *dto.Metric) {
	b.points++
	fresh := b.open != f.name
	if fresh {
		b.open, b.metric = f.name, b.list.AppendEmpty()
		b.metric.SetName(f.name)
		b.metric.SetDescription(f.help)
		b.metric.SetUnit(unit(f.name))
	}
	now, start := pcommon.NewTimestampFromTime(b.now), pcommon.NewTimestampFromTime(s.start)
	switch {
	case f.kind == dto.MetricType_HISTOGRAM && b.isExponential(fresh, x):
		if fresh {
			b.metric.SetEmptyExponentialHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		}
		p := b.metric.ExponentialHistogram().DataPoints().AppendEmpty()
		p.SetTimestamp(now)
		p.SetStartTimestamp(start)
		attributes(p.Attributes(), s.labels)
		if x == nil {
			p.SetFlags(p.Flags().WithNoRecordedValue(true))
			return
		}
		exponential(p, x.GetHistogram())
	case f.kind == dto.MetricType_HISTOGRAM:
		if fresh {
			b.metric.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		}
		p := b.metric.Histogram().DataPoints().AppendEmpty()
		p.SetTimestamp(now)
		p.SetStartTimestamp(start)
		attributes(p.Attributes(), s.labels)
		if x == nil {
			p.SetFlags(p.Flags().WithNoRecordedValue(true))
			return
		}
		explicit(p, x.GetHistogram())
	case f.kind == dto.MetricType_COUNTER:
		if fresh {
			sum := b.metric.SetEmptySum()
			sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
			sum.SetIsMonotonic(true)
		}
		p := b.metric.Sum().DataPoints().AppendEmpty()
		p.SetStartTimestamp(start)
		number(p, now, s, x, x.GetCounter().GetValue())
		if e := x.GetCounter().GetExemplar(); e != nil {
			exemplar(p.Exemplars(), e)
		}
	default:
		if fresh {
			b.metric.SetEmptyGauge()
		}
		number(b.metric.Gauge().DataPoints().AppendEmpty(), now, s, x, x.GetGauge().GetValue())
	}
}

// isExponential says in which form a histogram is handed on: one metric has one.
func (b *batch) isExponential(fresh bool, x *dto.Metric) bool {
	if !fresh {
		return b.metric.Type() == pmetric.MetricTypeExponentialHistogram
	}
	return b.exponential && (x == nil || x.GetHistogram().Schema != nil)
}

func number(p pmetric.NumberDataPoint, now pcommon.Timestamp, s *series, x *dto.Metric, value float64) {
	p.SetTimestamp(now)
	attributes(p.Attributes(), s.labels)
	if x == nil {
		p.SetFlags(p.Flags().WithNoRecordedValue(true))
		return
	}
	p.SetDoubleValue(value)
}

// attributes are the labels that say something: one without a value says as much
// as one that is absent.
func attributes(to pcommon.Map, labels []*dto.LabelPair) {
	to.EnsureCapacity(len(labels))
	for _, l := range labels {
		if l.GetValue() != "" {
			to.PutStr(l.GetName(), l.GetValue())
		}
	}
}

// unit is the unit that a name ends in, as UCUM writes it.
func unit(name string) string {
	name = strings.TrimSuffix(name, "_total")
	switch {
	case strings.HasSuffix(name, "_seconds"):
		return "s"
	case strings.HasSuffix(name, "_bytes"):
		return "By"
	case strings.HasSuffix(name, "_ratio"):
		return "1"
	}
	return ""
}

func explicit(p pmetric.HistogramDataPoint, h *dto.Histogram) {
	p.SetCount(h.GetSampleCount())
	p.SetSum(h.GetSampleSum())
	below := uint64(0)
	for _, x := range h.GetBucket() {
		if x.GetUpperBound() < inf {
			p.ExplicitBounds().Append(x.GetUpperBound())
			p.BucketCounts().Append(x.GetCumulativeCount() - below)
			below = x.GetCumulativeCount()
		}
		if e := x.GetExemplar(); e != nil {
			exemplar(p.Exemplars(), e)
		}
	}
	p.BucketCounts().Append(h.GetSampleCount() - below)
}

// exponential takes over the native buckets. Bucket i of Prometheus ends at
// base^i and of OpenTelemetry begins there.
func exponential(p pmetric.ExponentialHistogramDataPoint, h *dto.Histogram) {
	p.SetCount(h.GetSampleCount())
	p.SetSum(h.GetSampleSum())
	p.SetScale(h.GetSchema())
	p.SetZeroCount(h.GetZeroCount())
	p.SetZeroThreshold(h.GetZeroThreshold())
	counts, deltas := p.Positive().BucketCounts(), h.GetPositiveDelta()
	count := int64(0)
	for i, span := range h.GetPositiveSpan() {
		if i == 0 {
			p.Positive().SetOffset(span.GetOffset() - 1)
		} else {
			counts.Append(make([]uint64, max(0, span.GetOffset()))...)
		}
		for range min(int(span.GetLength()), len(deltas)) {
			count += deltas[0]
			deltas = deltas[1:]
			counts.Append(uint64(count))
		}
	}
	for _, e := range h.GetExemplars() {
		exemplar(p.Exemplars(), e)
	}
}

func exemplar(to pmetric.ExemplarSlice, e *dto.Exemplar) {
	x := to.AppendEmpty()
	x.SetDoubleValue(e.GetValue())
	x.SetTimestamp(pcommon.NewTimestampFromTime(e.GetTimestamp().AsTime()))
	for _, l := range e.GetLabel() {
		var trace [16]byte
		var span [8]byte
		switch raw, err := hex.DecodeString(l.GetValue()); {
		case err == nil && l.GetName() == "trace_id" && copy(trace[:], raw) == len(raw):
			x.SetTraceID(trace)
		case err == nil && l.GetName() == "span_id" && copy(span[:], raw) == len(raw):
			x.SetSpanID(span)
		default:
			x.FilteredAttributes().PutStr(l.GetName(), l.GetValue())
		}
	}
}
