package exporter

import (
	"encoding/hex"
	"math"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/firebreak-io/firebreak/correlate/live"
)

// put writes the series of one metric.
type put struct {
	to        chan<- prometheus.Metric
	desc      *prometheus.Desc
	kind      kind
	created   time.Time // when what is written was 0; of counters and histograms
	exemplars []prometheus.Exemplar
}

// since says when the counter was 0.
func (p put) since(created time.Time) put {
	if !created.IsZero() {
		p.created = created
	}
	return p
}

// as says which spans stand for what is counted.
func (p put) as(list ...live.Exemplar) put {
	p.exemplars = nil
	for i := range list {
		if x := &list[i]; x.Is() {
			p.exemplars = append(p.exemplars, prometheus.Exemplar{
				Value: x.Value, Timestamp: x.At,
				Labels: prometheus.Labels{"trace_id": hex.EncodeToString(x.Trace[:]), "span_id": hex.EncodeToString(x.Span[:])},
			})
		}
	}
	return p
}

// value writes one value.
func (p put) value(x float64, labels ...string) {
	if p.kind == counter {
		p.send(prometheus.NewConstMetricWithCreatedTimestamp(p.desc, prometheus.CounterValue, x, p.created, labels...))
		return
	}
	p.send(prometheus.NewConstMetric(p.desc, prometheus.GaugeValue, x, labels...))
}

// distribution is what a histogram counts, in classic buckets and in native ones.
type distribution struct {
	count   uint64
	sum     float64
	classic map[float64]uint64 // up to each bound
	native  map[int]int64      // by bucket
	zero    uint64
	least   float64 // up to which all are counted as zero
}

// counted writes a histogram. Who asks for protobuf and knows native histograms
// takes those buckets, and who does not the classic ones of the same series.
func (p put) counted(d distribution, labels ...string) {
	classic, err := prometheus.NewConstHistogramWithCreatedTimestamp(p.desc, d.count, d.sum, d.classic, p.created, labels...)
	if err != nil {
		p.send(nil, err)
		return
	}
	native, err := prometheus.NewConstNativeHistogram(p.desc, d.count, d.sum, d.native, nil, d.zero, live.NativeSchema, d.least, p.created, labels...)
	p.send(twice{classic, native}, err)
}

// send sends a metric, or in its place what is wrong with it.
func (p put) send(m prometheus.Metric, err error) {
	if err == nil && len(p.exemplars) > 0 {
		m, err = prometheus.NewMetricWithExemplars(m, p.exemplars...)
	}
	if err != nil {
		m = prometheus.NewInvalidMetric(p.desc, err)
	}
	p.to <- m
}

// twice is a histogram with classic buckets and native ones. The library makes
// constant ones of either kind, not of both.
type twice struct {
	prometheus.Metric
	native prometheus.Metric
}

// Write implements prometheus.Metric.
func (t twice) Write(out *dto.Metric) error {
	if err := t.Metric.Write(out); err != nil {
		return err
	}
	var other dto.Metric
	if err := t.native.Write(&other); err != nil {
		return err
	}
	h, n := out.Histogram, other.Histogram
	h.Schema, h.ZeroThreshold, h.ZeroCount = n.Schema, n.ZeroThreshold, n.ZeroCount
	h.PositiveSpan, h.PositiveDelta = n.PositiveSpan, n.PositiveDelta
	return nil
}

// durations puts what was counted of durations.
func durations(d *live.Durations, p put, labels ...string) {
	if d.Count == 0 {
		return
	}
	x := distribution{
		count: d.Count, sum: d.Sum.Seconds(), classic: map[float64]uint64{}, native: map[int]int64{},
		zero: d.Native.Zero, least: live.NativeZero.Seconds(),
	}
	sum := uint64(0)
	for i, bound := range live.Bounds {
		sum += d.Buckets[i]
		x.classic[bound] = sum
	}
	for i, n := range d.Native.Counts {
		if n > 0 {
			x.native[d.Native.Lowest+i] = int64(n)
		}
	}
	p.as(d.Exemplars[:]...).counted(x, labels...)
}

// attemptBounds are the buckets of attempts per call.
var attemptBounds = []float64{1, 2, 3, 4, 5, 8, 16}

// nativeBucket is the native bucket of a value.
func nativeBucket(v float64) int {
	return int(math.Ceil(math.Log2(v) * (1 << live.NativeSchema)))
}

// attemptsPerCall puts by how many attempts calls made. Calls may be fractions,
// where spans stand for others: it is their sums that are rounded.
func attemptsPerCall(e *live.Edge, p put) {
	x := distribution{classic: map[float64]uint64{}, native: map[int]int64{}}
	var calls float64
	numbers := make([]int, 0, len(e.ByAttempts))
	for n := range e.ByAttempts {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers) // for sums of fractions depend on the order
	bound := 0
	for _, n := range numbers {
		for ; bound < len(attemptBounds) && attemptBounds[bound] < float64(n); bound++ {
			x.classic[attemptBounds[bound]] = x.count
		}
		calls += e.ByAttempts[n]
		x.sum += e.ByAttempts[n] * float64(n)
		now := uint64(calls + 0.5)
		if n > 0 && now > x.count {
			x.native[nativeBucket(float64(n))] += int64(now - x.count)
		}
		x.count = now
	}
	for ; bound < len(attemptBounds); bound++ {
		x.classic[attemptBounds[bound]] = x.count
	}
	if x.count > 0 {
		p.as(e.MostAttempts).counted(x, e.Caller, e.Callee, e.Protocol)
	}
}
