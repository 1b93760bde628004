package live

import (
	"math"
	"time"

	"github.com/firebreak-io/firebreak/correlate/ledger"
)

// Bounds are the upper limits of the buckets of Durations, in seconds.
var Bounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

// Durations counts durations twice: by Bounds, the last bucket holding the longer
// ones, and by powers of two as Prometheus' native histograms do. A duration
// within 4.4 % of a bound may stand on either side of it.
type Durations struct {
	Buckets   [len(Bounds) + 1]uint64
	Native    Native
	Exemplars [len(Bounds) + 1]Exemplar // of each bucket
	Count     uint64
	Sum       time.Duration
}

// Native counts durations in eight buckets an octave: bucket i holds those up to
// 2^(i/8) seconds and above the bucket before, which is schema 3 of Prometheus
// and scale 3 of OpenTelemetry. The ledger's buckets are as wide and begin 1.6 %
// lower: a duration so close below a limit may stand above it.
type Native struct {
	Lowest int // the bucket of Counts[0]
	Counts []uint64
	Zero   uint64 // durations up to NativeZero
}

// NativeSchema is the schema of Native, NativeZero the duration up to which all
// are one.
const (
	NativeSchema = 3
	NativeZero   = time.Microsecond
)

func (n *Native) add(middle time.Duration, count uint64) {
	if middle <= NativeZero {
		n.Zero += count
		return
	}
	i := int(math.Ceil(math.Log2(middle.Seconds()) * (1 << NativeSchema)))
	switch {
	case len(n.Counts) == 0:
		n.Lowest, n.Counts = i, []uint64{0}
	case i < n.Lowest:
		wider := make([]uint64, len(n.Counts)+n.Lowest-i)
		copy(wider[n.Lowest-i:], n.Counts)
		n.Lowest, n.Counts = i, wider
	}
	for i >= n.Lowest+len(n.Counts) {
		n.Counts = append(n.Counts, 0)
	}
	n.Counts[i-n.Lowest] += count
}

func (d *Durations) add(h *ledger.Histogram, worst *ledger.Mark, now time.Time) {
	if h == nil {
		return
	}
	at := 0
	h.Each(func(middle time.Duration, n int64) {
		for at < len(Bounds) && middle.Seconds() > Bounds[at] {
			at++
		}
		d.Buckets[at] += uint64(n)
		d.Native.add(middle, uint64(n))
	})
	d.Count += uint64(h.Count())
	d.Sum += h.Sum()
	if !worst.Is() {
		return
	}
	x := exemplar(worst, time.Duration(worst.Value).Seconds(), now)
	at = 0
	for at < len(Bounds) && x.Value > Bounds[at] {
		at++
	}
	d.Exemplars[at].take(x)
}

// Exemplar is a span that stands for others in a series.
type Exemplar struct {
	Trace [16]byte // zero: there is none
	Span  [8]byte
	Value float64
	At    time.Time // when it was counted
}

// exemplarAge is how long an exemplar stays that is worse than those after it.
const exemplarAge = time.Minute

func exemplar(m *ledger.Mark, value float64, now time.Time) Exemplar {
	return Exemplar{m.Trace, m.Span, value, now}
}

// Is reports whether there is one.
func (e *Exemplar) Is() bool { return e.Trace != [16]byte{} }

// take replaces an exemplar by one as bad, or when it is old.
func (e *Exemplar) take(x Exemplar) {
	if x.Is() && (!e.Is() || x.Value >= e.Value || x.At.Sub(e.At) >= exemplarAge) {
		*e = x
	}
}
