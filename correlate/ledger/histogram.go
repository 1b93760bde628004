package ledger

import (
	"math/bits"
	"time"
)

// Histogram counts durations in buckets of equal ratio, eight an octave: a
// quantile read from it is within 4.4 % of the true one. Its zero value is
// empty and ready. Durations below a microsecond share the first bucket.
type Histogram struct {
	buckets []uint32 // from lowest on
	lowest  int
	n       int64
	sum     time.Duration
	max     time.Duration
}

// steps are 2^(k/8) for k in 1…7, as fractions of 2^63.
var steps = [7]uint64{
	0x8b95c1e3ea8bd6e7, 0x9837f0518db8a96f, 0xa5fed6a9b15138ea, 0xb504f333f9de6484,
	0xc5672a115506dadd, 0xd744fccad69d6af4, 0xeac0c6e7dd24392e,
}

// bucketOf numbers the bucket of d.
func bucketOf(d time.Duration) int {
	if d < time.Microsecond {
		return 0
	}
	v := uint64(d)
	n := bits.LeadingZeros64(v)
	v <<= n
	k := int(stepsBelow[v>>57&63])
	if k < len(steps) && v >= steps[k] {
		k++
	}
	return (63-n)*8 + k
}

// stepsBelow is how many steps lie at or below each 64th of an octave; two steps
// are farther apart than that.
var stepsBelow = func() (below [64]uint8) {
	for i := range below {
		for below[i] < uint8(len(steps)) && steps[below[i]] <= (64+uint64(i))<<57 {
			below[i]++
		}
	}
	return below
}()

// floor is the smallest duration of a bucket.
func floor(bucket int) time.Duration {
	octave, k := bucket/8, bucket%8
	m := uint64(1) << 63
	if k > 0 {
		m = steps[k-1]
	}
	return time.Duration(m >> (63 - octave))
}

// place makes room for a bucket.
func (h *Histogram) place(b int) {
	switch {
	case len(h.buckets) == 0:
		h.lowest, h.buckets = b, append(h.buckets, 0)
	case b < h.lowest:
		wider := make([]uint32, len(h.buckets)+h.lowest-b)
		copy(wider[h.lowest-b:], h.buckets)
		h.lowest, h.buckets = b, wider
	case b >= h.lowest+len(h.buckets):
		for b >= h.lowest+len(h.buckets) {
			h.buckets = append(h.buckets, 0)
		}
	}
}

// Add counts one duration; negative ones are unknown and not counted.
func (h *Histogram) Add(d time.Duration) {
	h.addTo(bucketOf(d), d)
}

// addTo counts a duration whose bucket is known.
func (h *Histogram) addTo(b int, d time.Duration) {
	if d < 0 {
		return
	}
	if i := uint(b - h.lowest); i >= uint(len(h.buckets)) {
		h.place(b)
	}
	h.buckets[b-h.lowest]++
	h.n++
	h.sum += d
	h.max = max(h.max, d)
}

// merge adds what another histogram counted.
func (h *Histogram) merge(o *Histogram) {
	for i, n := range o.buckets {
		if n == 0 {
			continue
		}
		b := o.lowest + i
		h.place(b)
		h.buckets[b-h.lowest] += n
	}
	h.n += o.n
	h.sum += o.sum
	h.max = max(h.max, o.max)
}

// Each calls f for every bucket that is not empty, the shortest first, with a
// duration in its middle and how many fell into it.
func (h *Histogram) Each(f func(middle time.Duration, n int64)) {
	for i, n := range h.buckets {
		if n > 0 {
			f(min((floor(h.lowest+i)+floor(h.lowest+i+1))/2, h.max), int64(n))
		}
	}
}

// Count is how many durations were counted.
func (h *Histogram) Count() int64 { return h.n }

// Sum is their sum.
func (h *Histogram) Sum() time.Duration { return h.sum }

// Max is the largest of them, exactly; zero if there were none.
func (h *Histogram) Max() time.Duration { return h.max }

// Mean is their mean; zero if there were none.
func (h *Histogram) Mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return h.sum / time.Duration(h.n)
}

// Quantile is the duration below which the share q of them lies, as the middle
// of its bucket; zero if there were none.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	rank, seen := int64(q*float64(h.n)), int64(0)
	rank = min(rank, h.n-1)
	for i, c := range h.buckets {
		if seen += int64(c); seen > rank {
			low, high := floor(h.lowest+i), floor(h.lowest+i+1)
			if h.lowest+i == 0 {
				low = 0
			}
			return min((low+high)/2, h.max)
		}
	}
	return h.max
}

// latency sums the histogram up.
func (h *Histogram) latency() Latency {
	return Latency{
		Count: h.n, Mean: h.Mean(), P50: h.Quantile(0.5), P95: h.Quantile(0.95), P99: h.Quantile(0.99), Max: h.max,
	}
}
