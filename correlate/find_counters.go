package correlate

import (
	"cmp"
	"slices"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

const (
	mostCounted  = 20  // edges of which counters are told of each thing
	habitual     = 1.5 // times its share of before, below which a share of failures is what it always is
	slowedFrom   = 5   // times its mean of before, from which a method became slow
	slowedSecond = 1.0 // seconds that it then takes at least
)

// counterFindings say what scraped counters tell of retries, failures, times and
// refusals.
func (q *inquiry) counterFindings() {
	list := q.e.sortedCounters()
	for _, x := range list[:min(len(list), mostCounted)] {
		q.countedRetries(x)
	}
	q.countedFailures(list)
	q.countedTimes(list)
	q.countedRefusals(list)
}

// sinceWords says of what time a counter tells.
func sinceWords(between bool) string {
	if between {
		return lang.T("between two scrapes")
	}
	return lang.T("since the process started: one scrape does not tell when")
}

func (x *counter) names() map[string]string {
	return map[string]string{"consumer": x.key.consumer, "service": x.key.service, "method": x.key.method, "edge": x.title()}
}

func (q *inquiry) countedRetries(x *counter) {
	c, between := x.sum, x.since
	if c.Calls < enoughCounted || c.Attempts < c.Calls {
		return
	}
	amp := float64(c.Attempts) / float64(c.Calls)
	values := map[string]float64{"calls": float64(c.Calls), "attempts": float64(c.Attempts), "amplification": round(amp, 2)}
	text := lang.Sprintf("%s: %s attempts for %s calls, %.1fx (counted by %s, %s)", x.title(), human(c.Attempts), human(c.Calls), amp, x.key.impl, sinceWords(between))
	switch {
	case amp >= amplifiedFrom && between && !q.aside[x.title()]:
		q.find(incident.RetryAmplified, x.title(), text, &x.seen, values, x.names())
	case amp >= 1+retryBudget:
		q.find(incident.RetryBudget, x.title(), text, &x.seen, values, x.names())
	case between:
		q.find(incident.RetryNone, x.title(), text, &x.seen, values, x.names())
	}
}

// calleeKey is a callee as one kind of counter sees it, whichever of its methods
// is asked and whichever process counts.
type calleeKey struct {
	impl, consumer, service string
	side                    evidence.Side
}

// calleeSum is what the counters of one callee tell together.
type calleeSum struct {
	counter
	failing []*counter // methods that fail by themselves, the worst first
	methods int        // of which some calls failed
	earlier evidence.Counter
	known   bool // what it was before is known of some
}

// countedFailures tell of the callees whose calls fail: of a few methods by
// name, of many together.
func (q *inquiry) countedFailures(list []*counter) {
	sums := map[calleeKey]*calleeSum{}
	for _, x := range list {
		k := calleeKey{x.key.impl, x.key.consumer, x.key.service, x.key.side}
		s := sums[k]
		if s == nil {
			s = &calleeSum{counter: counter{key: counterKey{impl: k.impl, consumer: k.consumer, service: k.service, side: k.side}, since: true}}
			sums[k] = s
		}
		s.add(x)
	}
	callees := make([]*calleeSum, 0, len(sums))
	for _, s := range sums {
		callees = append(callees, s)
	}
	failed := func(x *counter) int64 { n, _ := failures(&x.sum); return n }
	slices.SortFunc(callees, func(a, b *calleeSum) int {
		return cmp.Or(cmp.Compare(failed(&b.counter), failed(&a.counter)), cmp.Compare(a.key.service, b.key.service), cmp.Compare(a.key.consumer, b.key.consumer),
			cmp.Compare(a.key.impl, b.key.impl), cmp.Compare(a.key.side, b.key.side))
	})
	told := 0
	for _, s := range callees {
		if told >= mostCounted {
			return
		}
		together := s.methods > 3 && q.countedFailure(&s.counter, s.earlier, s.known, s.methods)
		if together {
			told++
		}
		slices.SortStableFunc(s.failing, func(a, b *counter) int { return cmp.Compare(failed(b), failed(a)) })
		for i, x := range s.failing {
			if i == 3 {
				break
			}
			earlier, known := x.before()
			if q.countedFailure(x, earlier, known, 1) {
				told++
			}
		}
		if len(s.failing) == 0 && !together && s.methods > 1 && q.countedFailure(&s.counter, s.earlier, s.known, s.methods) {
			told++
		}
	}
}

func (s *calleeSum) add(x *counter) {
	c := x.sum
	s.since = s.since && x.since
	eachCount(&s.sum, &c, func(sum *int64, n int64) {
		if n > 0 {
			*sum += n
		}
	})
	n, share := failures(&c)
	if n > 0 {
		s.methods++
		s.seen.merge(withCount(&x.seen, n))
	}
	if n >= someCalls && share >= failedShare {
		s.failing = append(s.failing, x)
	}
	if earlier, ok := x.before(); ok {
		s.known = true
		eachCount(&s.earlier, &earlier, func(sum *int64, n int64) {
			if n > 0 {
				*sum += n
			}
		})
	}
}

// countedFailure tells of a counter's failures, if they are many and more than
// it always has. It reports whether there was anything to say.
func (q *inquiry) countedFailure(x *counter, earlier evidence.Counter, known bool, methods int) bool {
	n, share := failures(&x.sum)
	if n < someCalls || share < failedShare || !x.since && (share < largeShare || n < enoughCounted) {
		return false
	}
	_, was := failures(&earlier)
	known = known && max(earlier.Calls, earlier.Attempts) >= enoughCounted
	if x.since && known && share < largeShare && share < habitual*was {
		return false
	}
	title := x.title()
	text := lang.Sprintf("%s: %s calls or attempts failed, %d %% (counted by %s, %s)", title, human(n), int(100*share), x.key.impl, sinceWords(x.since))
	if methods > 1 {
		text = lang.Sprintf("%s: %s calls or attempts of %d methods failed, %d %% (counted by %s, %s)", title, human(n), methods, int(100*share), x.key.impl, sinceWords(x.since))
	}
	if x.since && known {
		text += lang.Sprintf("; before that %d %% had", int(100*was))
	}
	late := x.sum.Timeouts
	if late >= someCalls && late*10 >= n*8 && x.since {
		q.find(incident.CallTimeout, title, lang.Sprintf("%s, nearly all of them by their timeout", text), withCount(&x.seen, n), map[string]float64{"failed.share": round(share, 2)}, x.names())
		return true
	}
	q.find(incident.CallFailed, title, text, withCount(&x.seen, n), map[string]float64{"failed.share": round(share, 2)}, x.names())
	return true
}

// countedTimes tell of methods that take far longer than they did before.
func (q *inquiry) countedTimes(list []*counter) {
	type slowed struct {
		x        *counter
		now, was float64
	}
	var all []slowed
	for _, x := range list {
		earlier, known := x.before()
		n, before := max(x.sum.Attempts, x.sum.Calls), max(earlier.Attempts, earlier.Calls)
		if !known || !x.since || n < manyCalls || before < enoughCounted || x.sum.Took <= 0 || earlier.Took <= 0 {
			continue
		}
		s := slowed{x, float64(x.sum.Took) / 1e6 / float64(n), float64(earlier.Took) / 1e6 / float64(before)}
		if s.now >= slowedSecond && s.now >= slowedFrom*s.was {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b slowed) int { return cmp.Compare(b.x.sum.Took, a.x.sum.Took) })
	for _, s := range all[:min(len(all), 5)] {
		n := max(s.x.sum.Attempts, s.x.sum.Calls)
		q.find(incident.CallSlow, s.x.title(), lang.Sprintf("%s: %s calls took %s each on average, before that %s (counted by %s, %s)", s.x.title(), human(n), seconds(s.now), seconds(s.was), s.x.key.impl, sinceWords(true)),
			withCount(&s.x.seen, n), map[string]float64{"mean_s": round(s.now, 3), "mean_before_s": round(s.was, 3)}, s.x.names())
	}
}

func (q *inquiry) countedRefusals(list []*counter) {
	told := 0
	for _, x := range list {
		for _, refused := range []struct {
			n    int64
			what string
		}{{x.sum.RetriesRefused, lang.T("retries were refused by a retry budget or limit")}, {x.sum.Overflow, lang.T("requests were refused by a full queue or an open breaker")}} {
			if refused.n >= fewCalls && x.since && told < mostCounted {
				told++
				q.find(incident.Limited, x.title(), lang.Sprintf("%s: %s %s (counted by %s, %s)", x.title(), human(refused.n), refused.what, x.key.impl, sinceWords(true)), withCount(&x.seen, refused.n), nil, map[string]string{"peer": x.key.service})
			}
		}
	}
}

// countedWell reports whether counters show, between scrapes, requests that
// nearly all ended well, or no worse than they always do.
func (e *Engine) countedWell() bool {
	var n, failed int64
	for _, x := range e.sortedCounters() {
		if !x.since {
			continue
		}
		n += max(x.sum.Attempts, x.sum.Calls, 0)
		bad, share := failures(&x.sum)
		earlier, known := x.before()
		if _, was := failures(&earlier); !known || share >= habitual*was {
			failed += bad
		}
	}
	return n >= enoughCounted && failed*100 < n
}
