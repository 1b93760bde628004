package correlate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (q *inquiry) routeFindings() {
	for i, r := range q.e.sortedRoutes() {
		if i == 10 {
			break
		}
		names := map[string]string{"service": r.service, "method": r.method, "router": r.culprit, "consumer": r.consumer}
		short := cmp.Or(shortService(r.service), lang.T("a service"))
		values := map[string]float64{}
		if len(r.stages) > 0 {
			values["candidates.first"], values["candidates.last"] = float64(r.stages[0].Count), float64(r.stages[len(r.stages)-1].Count)
		}
		if r.empty.count > 0 {
			q.find(incident.RouteNone, short, lang.Sprintf("%s to %s found no provider%s", plural(r.empty.count, "call"), short, stageWords(r)), &r.empty, values, names)
			if q.route == nil {
				q.route = r
			}
			if r.culprit != "" {
				text := lang.Sprintf("%s left nobody of %s", r.culprit, short)
				if r.message != "" {
					text = lang.Sprintf("%s: %s", text, clip(r.message, 120))
				}
				q.find(incident.RouteEmptied, r.culprit, text, &r.empty, values, names)
			}
		}
		if r.narrowed.count > 0 {
			q.find(incident.RouteNarrow, short, lang.Sprintf("routing left %d of %d candidates of %s%s", r.stages[len(r.stages)-1].Count, r.stages[0].Count, short, stageWords(r)), &r.narrowed, values, names)
			if q.route == nil {
				q.route = r
			}
			if strings.Contains(stageWords(r), "Tag") {
				q.find(incident.RouteGrey, short, lang.Sprintf("a tag router decides for %s%s", short, stageWords(r)), &r.narrowed, values, names)
			}
		} else if r.wide.count > 0 && r.empty.count == 0 {
			q.find(incident.RouteWide, short, lang.Sprintf("routing left %d candidates of %s", max(r.least, 0), short), &r.wide, values, names)
		}
	}
	q.candidateFindings()
	q.skewFindings()
}

// stageWords lists candidates by stage, dropping routers that changed nothing.
func stageWords(r *route) string {
	var parts []string
	prev := -1
	for i, s := range r.stages {
		if i == 0 || s.Count != prev || i == len(r.stages)-1 {
			parts = append(parts, fmt.Sprintf("%s %d", s.Name, s.Count))
		}
		prev = s.Count
	}
	if len(parts) == 0 {
		return ""
	}
	return lang.Sprintf(" (%s)", strings.Join(parts, " -> "))
}

// candidateFindings reads (P/Q): how many candidates were left for calls that
// failed.
func (q *inquiry) candidateFindings() {
	for _, x := range q.e.sortedEdges() {
		if len(x.candidates) == 0 {
			continue
		}
		most, one := 0, 0
		var all sighting
		for n, s := range x.candidates {
			most = max(most, n)
			if n == 1 {
				one += s.count
			}
			all.merge(s)
		}
		least := most
		for n := range x.candidates {
			least = min(least, n)
		}
		if r := q.e.routes[x.key.service]; r != nil && len(r.stages) > 0 && !q.has(incident.RouteNarrow) {
			if d := r.stages[0].Count; d >= 3 && least*3 <= d && (len(r.stages) > 1 || d >= lsAtLeast) && mostly(x.candidates, d/3) {
				q.find(incident.RouteNarrow, x.title(), lang.Sprintf("%s: routing left %d of %d candidates", x.title(), least, d), &all, map[string]float64{"candidates.first": float64(d), "candidates.last": float64(least)}, map[string]string{"service": x.key.service, "method": x.key.method, "consumer": x.key.consumer})
				return
			}
		}
		if most > 1 && !q.has(incident.RouteNarrow) {
			q.find(incident.RouteWide, x.title(), lang.Sprintf("%s: routing left %d candidates when its calls failed", x.title(), most), &all, map[string]float64{"candidates.last": float64(most)}, edgeNames(x))
		}
		return // the edge in most trouble is enough
	}
}

// lsAtLeast is the smallest count of QoS `ls` that is set against the candidates
// of calls: Dubbo 2.7 counts a provider once for each way of registering.
const lsAtLeast = 5

// mostly reports whether most calls were left with at most n candidates: a few
// may have been made while providers were still coming.
func mostly(candidates map[int]*sighting, n int) bool {
	few, all := 0, 0
	for c, s := range candidates {
		all += s.count
		if c <= n {
			few += s.count
		}
	}
	return few*2 > all
}

// skewFindings compares pools of equal kind on several providers.
func (q *inquiry) skewFindings() {
	var list []*pool
	for _, p := range q.e.sortedPools() {
		if p.impl == "dubbo" && p.tasks > 0 && !q.toldTwice(p) {
			list = append(list, p)
		}
	}
	if len(list) < 2 {
		return
	}
	slices.SortFunc(list, func(a, b *pool) int { return cmp.Or(cmp.Compare(b.tasks, a.tasks), cmp.Compare(a.key, b.key)) })
	first, rest := list[0], int64(0)
	for _, p := range list[1:] {
		rest += p.tasks
	}
	mean := rest / int64(len(list)-1)
	suffers := first.rejections().count > 0 || first.full.count > 0
	if mean > 0 && first.tasks >= 3*mean && suffers && list[1].rejections().count == 0 && list[1].full.count == 0 {
		s := first.seen
		for _, p := range list[1:] {
			s.merge(&p.seen)
		}
		q.find(incident.RouteSkew, first.display(), lang.Sprintf("%s took %s tasks, the other providers %s on average", first.display(), human(first.tasks), human(mean)), &s, map[string]float64{"tasks": float64(first.tasks), "tasks.others": float64(mean)}, map[string]string{"pool": first.display()})
	}
}

// toldTwice reports a pool that is known by its port alone (from a console), while
// another, of the same port, whose name has the host, was seen in the same folder.
func (q *inquiry) toldTwice(p *pool) bool {
	port, ok := strings.CutPrefix(p.name, "dubbo:")
	if !ok {
		return false
	}
	for _, other := range q.e.pools {
		if other == p || !strings.HasSuffix(poolAddress(other.name), ":"+port) || other.impl != p.impl {
			continue
		}
		for _, a := range other.seen.cites {
			for _, b := range p.seen.cites {
				if folder(a.cite.Source) == folder(b.cite.Source) {
					return true
				}
			}
		}
	}
	return false
}

// How much standing still makes the collector the trigger, or clears it.
const (
	gcShareBad   = 0.2
	gcShareQuiet = 0.05
	gcLongest    = 1.0
	gcShortest   = 0.5
	heapFull     = 0.9
	cpuBusy      = 0.9
	cpuFree      = 0.7
)

func (q *inquiry) runtimeFindings() {
	q.gcFindings()
	for _, m := range q.e.marksOf(evidence.MarkClockLeap) {
		if m.max >= 1 {
			q.find(incident.ClockLeap, m.key.place, lang.Sprintf("the process or host stood still for up to %s (%s)", seconds(m.max), times(m.seen.count)), &m.seen, map[string]float64{"pause_s": round(m.max, 1)}, nil)
			break
		}
	}
	if m := q.e.marksOf(evidence.MarkCPU); len(m) > 0 {
		x := m[0]
		avg := x.sum / float64(max(1, x.seen.count))
		switch {
		case avg >= cpuBusy || x.max >= 0.97 && avg >= 0.8:
			q.find(incident.CPUBusy, x.key.place, lang.Sprintf("processors are %d %% busy on average, %d %% at most", int(avg*100), int(x.max*100)), &x.seen, map[string]float64{"cpu.busy": round(avg, 2)}, nil)
		case x.max <= cpuFree:
			q.find(incident.CPUFree, x.key.place, lang.Sprintf("processors are at most %d %% busy", int(x.max*100)), &x.seen, map[string]float64{"cpu.busy": round(x.max, 2)}, nil)
		}
	}
	for _, m := range q.e.marksOf(evidence.MarkThrottled) {
		if m.max > 0.1 {
			q.find(incident.Throttled, m.key.place, lang.Sprintf("the container was throttled in %d %% of its periods", int(m.max*100)), &m.seen, map[string]float64{"cpu.throttled": round(m.max, 2)}, nil)
			break
		}
	}
	for _, k := range []struct {
		mark string
		kind incident.Kind
		text string
	}{
		{evidence.MarkOOM, incident.OutOfMemory, lang.T("the JVM ran out of memory in %s (%s)")},
		{evidence.MarkBreakerOpen, incident.BreakerOpen, lang.T("breaker %s opened or refused (%s)")},
		{evidence.MarkBulkheadFull, incident.Limited, lang.T("bulkhead %s is full (%s)")},
		{evidence.MarkRateLimited, incident.Limited, lang.T("limiter %s refused (%s)")},
		{evidence.MarkDownstream, incident.DownstreamSlow, lang.T("outgoing calls to %s timed out or were refused (%s)")},
		{evidence.MarkDeploy, incident.Deployed, lang.T("%s was started or stopped (%s)")},
		{evidence.MarkLeak, incident.ConnLeak, lang.T("a borrower of %s keeps its member: a leak, or a slow holder (%s)")},
	} {
		marks := q.e.marksOf(k.mark)
		if k.mark == evidence.MarkLeak {
			marks = q.e.leaks()
		}
		for i, m := range marks {
			if i == 3 {
				break
			}
			if k.kind == incident.DownstreamSlow && !q.loud(&m.seen) {
				continue
			}
			subject := cmp.Or(m.key.subject, m.key.place, "it")
			text := fmt.Sprintf(k.text, clip(subject, 80), times(m.seen.count))
			if k.kind == incident.Deployed && m.text != "" {
				text = lang.Sprintf("%s: %s (%s)", clip(subject, 80), clip(m.text, 80), times(m.seen.count))
			}
			q.find(k.kind, subject, text, &m.seen, nil, map[string]string{"peer": subject})
		}
	}
	q.errorFinding()
}

// gcView is what the collectors of one place did.
type gcView struct {
	place                           string
	all, pauses, full, stall, seen  sighting
	total, longest, observed, after float64 // seconds, seconds, seconds, and the share used after a full collection
	longestAt                       cited
	apart                           bool // the longest pause was not when callers suffered
	sums                            map[int64]float64
	collector                       string
}

// window is how many seconds the view covers, at least as far as is known.
func (v *gcView) window() float64 { return max(v.observed, v.all.span.seconds()) }

// share is how much of the time the place stood still.
func (v *gcView) share() float64 {
	if w := v.window(); w > 0 {
		return min(1, v.total/w)
	}
	return 0
}

// worst is the largest share of two successive buckets of time that the place
// stood still: a quiet morning does not make a bad minute good.
func (v *gcView) worst() float64 {
	most := 0.0
	for b, sum := range v.sums {
		if pair := min(sum, bucketSize.Seconds()) + min(v.sums[b+1], bucketSize.Seconds()); pair > most {
			most = pair
		}
	}
	return most / (2 * bucketSize.Seconds())
}

// gcViews tells the collectors of each place apart, those that stood still the
// most first: one process in trouble must not be averaged away by the others.
func (q *inquiry) gcViews() []*gcView {
	views := map[string]*gcView{}
	for _, kind := range []string{evidence.MarkGCPause, evidence.MarkGCFull, evidence.MarkAllocStall, evidence.MarkHeapFull, evidence.MarkGCObserved} {
		for _, m := range q.e.marksOf(kind) {
			v := views[m.key.place]
			if v == nil {
				v = &gcView{place: m.key.place}
				views[m.key.place] = v
			}
			switch kind {
			case evidence.MarkHeapFull:
				v.after = max(v.after, m.max)
				continue
			case evidence.MarkGCObserved:
				// Each input covers a time of its own: rotated files follow each other.
				v.observed += m.sum
				v.collector = minNonEmpty(v.collector, m.text)
				v.seen.merge(&m.seen)
				continue
			case evidence.MarkGCPause:
				v.pauses.merge(&m.seen)
			case evidence.MarkGCFull:
				v.full.merge(&m.seen)
			case evidence.MarkAllocStall:
				v.stall.merge(&m.seen)
			}
			v.all.merge(&m.seen)
			if m.max > v.longest || m.max == v.longest && m.maxAt.compare(v.longestAt) < 0 {
				v.longest, v.longestAt = m.max, m.maxAt
			}
			if m.key.subject == evidence.LongestOnly {
				continue
			}
			if kind != evidence.MarkAllocStall { // stalls of several threads overlap
				v.total += m.sum
			}
			for b, sum := range m.sums {
				if v.sums == nil {
					v.sums = map[int64]float64{}
				}
				v.sums[b] += sum
			}
		}
	}
	list := slices.Collect(maps.Values(views))
	slices.SortFunc(list, func(a, b *gcView) int {
		return cmp.Or(cmp.Compare(b.share(), a.share()), cmp.Compare(b.longest, a.longest), cmp.Compare(b.after, a.after), cmp.Compare(a.place, b.place))
	})
	return list
}

// burns reports whether the collector stood in the way of requests that may
// take limit seconds.
func (v *gcView) burns(limit float64) bool {
	return v.window() >= 1 && v.share() >= gcShareBad || v.worst() >= gcShareBad || v.longest >= limit && v.longest >= gcShortest && !v.apart ||
		v.full.count >= 3 && v.after >= heapFull || v.stall.count >= fewCalls
}

// pauseReach is how long before or after the trouble a pause may lie and still
// have to do with it.
const pauseReach = 10 * time.Second

// apart reports a finding whose time, as far as clocks allow to say, is another
// than that in which callers suffered.
func (q *inquiry) apart(f incident.Finding) bool { return q.outside(q.distressSpan(), f.First, f.Last) }

func (q *inquiry) outside(trouble span, first, last time.Time) bool {
	return !trouble.first.IsZero() && !first.IsZero() && q.comparableClocks() && (last.Before(trouble.first.Add(-pauseReach)) || first.After(trouble.last.Add(pauseReach)))
}

// distressSpan is when callers or pools were seen to suffer.
func (q *inquiry) distressSpan() span {
	if s := q.refusals(); !s.first.IsZero() {
		return s
	}
	var s span
	for _, f := range q.of(incident.RetryExhausted, incident.RetryAmplified, incident.CallTimeout, incident.ConnExhausted) {
		if f.Count >= fewCalls {
			s.add(f.First)
			s.add(f.Last)
		}
	}
	return s
}

// calm reports whether the collector is known not to have stood in the way.
func (v *gcView) calm() bool {
	return v.longest < gcShortest && v.share() < gcShareQuiet && v.worst() < gcShareBad/2 && v.window() > 0
}

func (q *inquiry) gcFindings() {
	limit := gcLongest
	if q.edge != nil && q.edge.timeout > 0 {
		limit = q.edge.timeout.Seconds()
	}
	views := q.gcViews()
	trouble := q.distressSpan()
	for _, v := range views {
		// A long pause well before anybody suffered, as of a process that starts,
		// or well after, is not what they suffered from.
		v.apart = q.outside(trouble, v.longestAt.at, v.longestAt.at)
	}
	say := func(kind incident.Kind, v *gcView) {
		text := lang.Sprintf("the collector%s paused %d %% of %s, the longest pause %s, %s", v.of(views), int(100*v.share()+0.5), seconds(v.window()), seconds(v.longest), plural(v.full.count, "full collection"))
		if w := v.worst(); w >= 2*v.share() && w >= gcShareBad {
			text += lang.Sprintf(", %d %% of its worst 20 s", int(100*w+0.5))
		}
		if v.stall.count > 0 {
			text = lang.Join([]string{text, plural(v.stall.count, "allocation stall")})
		}
		values := map[string]float64{"gc.share": round(v.share(), 3), "gc.worst_share": round(v.worst(), 3), "gc.longest_s": round(v.longest, 3), "gc.pauses": float64(v.pauses.count), "gc.full": float64(v.full.count)}
		e := v.evidence(&v.all)
		cites := e.citations()
		if kind == incident.GCPauses {
			cites = citeUnion(keepCites, []evidence.Citation{v.longestAt.cite}, cites)
		}
		q.findCited(kind, cmp.Or(v.collector, "collector"), text, e.count, e.span, cites, values, nil)
	}
	calm := len(views) > 0
	for _, v := range views {
		if v.burns(limit) && !q.has(incident.GCPauses) {
			say(incident.GCPauses, v)
		}
		calm = calm && v.calm() && !v.burns(limit)
	}
	if calm {
		say(incident.GCQuiet, views[0]) // the others paused less
	}
	for _, v := range views {
		if v.after >= heapFull {
			q.find(incident.HeapFull, "heap", lang.Sprintf("the heap%s is %d %% full after a full collection", v.of(views), int(v.after*100)), v.evidence(&v.full), map[string]float64{"heap.full": round(v.after, 2)}, nil)
			break
		}
	}
}

// of names the place, if there are several.
func (v *gcView) of(views []*gcView) string {
	if len(views) < 2 || v.place == "" {
		return ""
	}
	return lang.Sprintf(" of %s", v.place)
}

// evidence is what to cite: what is best, or whatever there is.
func (v *gcView) evidence(best *sighting) *sighting {
	for _, s := range []*sighting{best, &v.all} {
		if s.count > 0 {
			return s
		}
	}
	return &v.seen
}

// refusals is when worker pools refused work.
func (q *inquiry) refusals() span {
	var s span
	for _, f := range q.of(incident.PoolExhausted, incident.PoolRejected) {
		s.add(f.First)
		s.add(f.Last)
	}
	return s
}
