package correlate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// Errors that nobody knows explain nothing, but many of them are no calm either:
// unless they come as they always do, or calls are seen to succeed beside them.

const (
	trickleCovers  = 10 * 60 // seconds that a log must cover to show what it always holds
	tricklePeak    = 4       // times its mean rate that a trickle rises to at most,
	trickleFew     = 5       // or so many in a bucket of time
	tricklePerMin  = 60      // from which on errors are no trickle
	trickleBytes   = 5_000   // of log for each error, below which errors are most of what it holds
	trickleEarly   = 0.15    // share of the errors that came in the first third of its time
	errorsTold     = 3       // kinds of errors that are named
	errorsWholeLog = 0.7     // share of a log's time that a trickle lasts
)

// errorFinding says how many errors were logged that nothing explains, of which
// kinds, and whether they come as they always do.
func (q *inquiry) errorFinding() {
	var all sighting
	classes := map[string]int{}
	for _, m := range q.e.marksOf(evidence.MarkAppError) {
		all.merge(&m.seen)
		classes[m.key.subject] += m.seen.count
	}
	if all.count == 0 {
		return
	}
	names := sortedKeys(classes)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(classes[b], classes[a]) })
	var worst []string
	for _, n := range names[:min(len(names), errorsTold)] {
		worst = append(worst, fmt.Sprintf("%s (%d)", clip(n, 80), classes[n]))
	}
	text := lang.Sprintf("%s logged that explain nothing by themselves: %s", plural(all.count, "error"), strings.Join(worst, ", "))
	peak := all.peak()
	if peak > 1 {
		text += lang.Sprintf(", up to %d in ten seconds", peak)
	}
	values := map[string]float64{"errors.peak_10s": float64(peak)}
	if all.count >= manyErrors && q.trickle(&all) {
		text += lang.T("; they come at a steady rate all the time that the log covers")
		q.steadyErrors = true
	}
	q.find(incident.AppErrors, "application", text, &all, values, nil)
}

// peak is how many were seen in one bucket of time.
func (s *sighting) peak() int {
	most := 0
	for _, n := range s.buckets {
		most = max(most, n)
	}
	return most
}

// trickle reports errors that come as evenly, from the beginning of their log to
// its end, as those that an application always has.
func (q *inquiry) trickle(s *sighting) bool {
	covered := q.covered(s).Seconds()
	lasted := s.span.seconds()
	if covered < trickleCovers || lasted < errorsWholeLog*covered || s.perMinute() >= tricklePerMin {
		return false
	}
	mean := float64(s.count) / (lasted / bucketSize.Seconds())
	if float64(s.peak()) > max(tricklePeak*mean, trickleFew) {
		return false
	}
	early, third := 0, s.span.first.Add(s.span.last.Sub(s.span.first)/3).UnixNano()/int64(bucketSize)
	for b, n := range s.buckets {
		if b <= third {
			early += n
		}
	}
	var bytes int64
	for _, src := range q.e.sources {
		if slices.ContainsFunc(s.cites, func(c cited) bool { return c.cite.Source == src.Path }) {
			bytes += src.Bytes
		}
	}
	return float64(early) >= trickleEarly*float64(s.count) && bytes >= trickleBytes*int64(s.count)
}

// callsSucceed reports whether calls are seen to succeed: by spans, access logs
// or counters.
func (q *inquiry) callsSucceed() bool { return q.e.servedWell() || q.e.countedWell() }
