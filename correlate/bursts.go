package correlate

import (
	"slices"
	"time"
)

// A pool that is cold, or a deployment, makes a short burst of refusals; a fire that
// begins a minute later is another story. Dubbo dumps threads at the first refusal
// and then not again for ten minutes, so all that there is may be of the burst.
const (
	calmBetween = 3   // empty buckets of time that part a burst from what follows
	burstShare  = 0.1 // of all refusals are in it, at most
	calmIsRare  = 0.5 // no calm later is so long, against the first: else it flickers
)

// fireBegan is when the pools began to refuse work for good, after a burst that was
// over before; zero if there was none.
func (q *inquiry) fireBegan() time.Time {
	var all sighting
	for _, p := range q.e.sortedPools() {
		all.merge(p.rejections())
	}
	at := make([]int64, 0, len(all.buckets))
	total := 0
	for b, n := range all.buckets {
		at = append(at, b)
		total += n
	}
	slices.Sort(at)
	began, before, seen := -1, int64(0), 0
	for i := 1; i < len(at); i++ {
		seen += all.buckets[at[i-1]]
		calm := at[i] - at[i-1] - 1
		switch {
		case began < 0 && calm >= calmBetween:
			if float64(seen) > burstShare*float64(total) {
				return time.Time{}
			}
			began, before = i, calm
		case began >= 0 && float64(calm) > calmIsRare*float64(before):
			return time.Time{}
		}
	}
	if began < 0 {
		return time.Time{}
	}
	return time.Unix(0, at[began]*int64(bucketSize)).UTC()
}
