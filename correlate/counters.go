package correlate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// Scraped counters say how many calls and attempts there were, not which. A
// process counts from its start, so two readings are needed to know what
// happened in between; one says only what the process is used to.

// counterKey is one counted edge of one process.
type counterKey struct {
	impl, consumer  string
	process         string // instance and folder: replicas count for themselves
	side            evidence.Side
	service, method string
}

// counter is what was read of one edge, whatever the order of the readings.
type counter struct {
	key         counterKey
	least, most evidence.Counter // readings since the process started, by attempts and calls
	readings    int
	grown       evidence.Counter // sum of what readings within one input say it grew
	grew        int
	seen        sighting
}

// enoughCounted is how many calls counters must tell of before a share of them
// means something.
const enoughCounted = 100

func (e *Engine) addCounter(r *evidence.Record) {
	c := r.Counter
	k := counterKey{c.Impl, cmp.Or(r.Place.Service, r.Place.Instance, folder(r.Cite.Source)), r.Place.Instance + "\x00" + folder(r.Cite.Source), c.Side, serviceName(c.Service), methodName(c.Method)}
	x := e.counters[k]
	if x == nil {
		if len(e.counters) >= maxKeys {
			e.lost++
			return
		}
		if e.counters == nil {
			e.counters = map[counterKey]*counter{}
		}
		x = &counter{key: k}
		e.counters[k] = x
	}
	x.seen.add(r, 1)
	if c.Delta {
		if x.grew++; x.grew == 1 {
			x.grown = *c
			return
		}
		eachCount(&x.grown, c, func(sum *int64, n int64) {
			if n >= 0 {
				*sum = max(0, *sum) + n
			}
		})
		return
	}
	if x.readings++; x.readings == 1 {
		x.least, x.most = *c, *c
		return
	}
	eachCount(&x.least, c, func(least *int64, n int64) { *least = min(*least, n) })
	eachCount(&x.most, c, func(most *int64, n int64) { *most = max(*most, n) })
}

// eachCount visits the numbers of two readings side by side.
func eachCount(a, b *evidence.Counter, do func(a *int64, b int64)) {
	for _, p := range [...]struct {
		a *int64
		b int64
	}{
		{&a.Calls, b.Calls},
		{&a.Attempts, b.Attempts},
		{&a.Retries, b.Retries},
		{&a.Failed, b.Failed},
		{&a.Timeouts, b.Timeouts},
		{&a.RetriesRefused, b.RetriesRefused},
		{&a.Overflow, b.Overflow},
	} {
		do(p.a, p.b)
	}
}

// between is what happened between readings; false if there was but one, and
// the numbers are those since the process started.
func (x *counter) between() (evidence.Counter, bool) {
	switch {
	case x.grew > 0:
		return x.grown, true
	case x.readings < 2 || x.least == x.most:
		return x.most, false
	}
	d := x.most
	eachCount(&d, &x.least, func(n *int64, before int64) {
		if before >= 0 {
			*n -= before
		}
	})
	return d, true
}

func (x *counter) title() string {
	name := joinMethod(x.key.service, x.key.method)
	if x.key.method != "" && x.key.impl != "grpc" && x.key.impl != "dubbo" {
		name = x.key.service + " " + x.key.method
	}
	if x.key.consumer == "" {
		return name
	}
	return x.key.consumer + " -> " + name
}

func (e *Engine) sortedCounters() []*counter {
	list := make([]*counter, 0, len(e.counters))
	for _, x := range e.counters {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b *counter) int {
		p, _ := a.between()
		q, _ := b.between()
		return cmp.Or(cmp.Compare(q.Attempts-q.Calls, p.Attempts-p.Calls), cmp.Compare(a.key.service, b.key.service), cmp.Compare(a.key.method, b.key.method),
			cmp.Compare(a.key.consumer, b.key.consumer), cmp.Compare(a.key.process, b.key.process), cmp.Compare(a.key.impl, b.key.impl), cmp.Compare(a.key.side, b.key.side))
	})
	return list
}

// counterFindings say what scraped counters tell of retries and refusals.
func (q *inquiry) counterFindings() {
	for i, x := range q.e.sortedCounters() {
		if i == 20 {
			return
		}
		c, between := x.between()
		since := "between two scrapes"
		if !between {
			since = "since the process started: one scrape does not tell when"
		}
		names := map[string]string{"consumer": x.key.consumer, "service": x.key.service, "method": x.key.method, "edge": x.title()}
		if c.Calls >= enoughCounted && c.Attempts >= c.Calls {
			amp := float64(c.Attempts) / float64(c.Calls)
			values := map[string]float64{"calls": float64(c.Calls), "attempts": float64(c.Attempts), "amplification": round(amp, 2)}
			text := fmt.Sprintf("%s: %s attempts for %s calls, %.1fx (counted by %s, %s)", x.title(), human(c.Attempts), human(c.Calls), amp, x.key.impl, since)
			switch {
			case amp >= amplifiedFrom && between:
				q.find(incident.RetryAmplified, x.title(), text, &x.seen, values, names)
			case amp >= 1+retryBudget:
				q.find(incident.RetryBudget, x.title(), text, &x.seen, values, names)
			case between:
				q.find(incident.RetryNone, x.title(), text, &x.seen, values, names)
			}
		}
		for _, refused := range []struct {
			n    int64
			what string
		}{{c.RetriesRefused, "retries were refused by a retry budget or limit"}, {c.Overflow, "requests were refused by a full queue or an open breaker"}} {
			if refused.n >= fewCalls && between {
				q.find(incident.Limited, x.title(), fmt.Sprintf("%s: %s %s (counted by %s, %s)", x.title(), human(refused.n), refused.what, x.key.impl, since), withCount(&x.seen, refused.n), nil, map[string]string{"peer": x.key.service})
			}
		}
	}
}

// counterEdges are edges on the basis of scraped counters.
func (q *inquiry) counterEdges() []incident.Edge {
	list := []incident.Edge{}
	for _, x := range q.e.sortedCounters() {
		c, between := x.between()
		if c.Attempts < 1 || c.Calls < 1 || len(list) == 30 {
			continue
		}
		o := incident.Edge{
			Consumer: x.key.consumer, Service: x.key.service, Method: x.key.method, Basis: "metrics", Exact: true, Calls: ptr(c.Calls), Attempts: ptr(c.Attempts),
			Amplification: ptr(round(float64(c.Attempts)/float64(c.Calls), 3)), Outcomes: map[string]int64{}, Citations: x.seen.citations(),
		}
		if !between {
			o.Scope = "since-start"
		}
		for name, n := range map[string]int64{"failed": c.Failed, "timeout": c.Timeouts, "rejected": c.Overflow} {
			if n > 0 {
				o.Outcomes[name] = n
			}
		}
		list = append(list, o)
	}
	return list
}
