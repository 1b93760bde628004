package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// arrive adds a request that reached a server.
func (a *accessLog) arrive(e *accessSum, x *evidence.Access, call evidence.Outcome, start int64, ex example) {
	e.attempts++
	e.span(start, ex.dur)
	e.attempt.Add(x.Duration)
	e.outcomes[call]++
	if start != 0 {
		if w := a.grid.at(&e.series, start); w != nil {
			w.attempts++
			if x.Duration >= 0 {
				w.timed++
				w.busy += x.Duration
			}
			if isFailure(call) {
				w.failures++
			}
		}
	}
	if x.Ordinal > 0 {
		e.counted = true
		if x.Ordinal == 1 {
			e.calls++
		} else {
			e.retries++
			e.by[min(x.Ordinal-1, maxBy)]--
		}
		e.by[min(x.Ordinal, maxBy)]++
		e.evidence[Explicit]++
		e.ceiling = max(e.ceiling, x.Ordinal)
		ex.attempts = x.Ordinal
	}
	if c := hostBytes(x.Client); len(c) > 0 {
		if !e.callers.add(c, hardNames*a.cfg.MaxProviders) {
			e.moreCallers++
		}
	}
	e.example(ex)
}

func hostBytes(addr []byte) []byte {
	colon := -1
	for i, c := range addr {
		if c == ':' {
			if colon >= 0 {
				return addr
			}
			colon = i
		}
	}
	if colon > 0 {
		return addr[:colon]
	}
	return addr
}

// writeArrivals lists what each process received, largest first.
func (a *accessLog) writeArrivals(b *Book) {
	for k, e := range a.arrivals {
		x := Arrivals{
			Callee: a.servers.keys[k.server], Instance: a.instances.keys[k.instance], Method: a.methods.keys[k.method],
			Count: int64(e.attempts), Latency: e.attempt.latency(), Callers: map[string]int64{},
		}
		for o, n := range e.outcomes {
			if isFailure(evidence.Outcome(o)) {
				x.Failures += n
			}
		}
		callers := slices.DeleteFunc(slices.Clone(e.callers.slots), func(c tallySlot) bool { return c.count == 0 })
		slices.SortFunc(callers, func(x, y tallySlot) int { return cmp.Or(cmp.Compare(y.count, x.count), cmp.Compare(x.text, y.text)) })
		rest := e.moreCallers
		for i, c := range callers {
			if i < a.cfg.MaxProviders {
				x.Callers[c.text] = c.count
			} else {
				rest += c.count
			}
		}
		if rest > 0 {
			x.Callers["other"] += rest
		}
		w, list := a.grid.windows(&e.series)
		x.Windows = w.book(list)
		if e.first != 0 {
			x.First, x.Last = time.Unix(0, e.first).UTC(), time.Unix(0, e.last).UTC()
		}
		if ex := examplesOf(e.examples, a.sources.keys); len(ex) > 0 {
			x.Cite = ex[0].Cite
		}
		b.Arrivals = append(b.Arrivals, x)
	}
	slices.SortFunc(b.Arrivals, func(x, y Arrivals) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Callee, y.Callee), cmp.Compare(x.Instance, y.Instance), cmp.Compare(x.Method, y.Method))
	})
	if len(b.Arrivals) > a.cfg.MaxEdges {
		b.Arrivals = b.Arrivals[:a.cfg.MaxEdges]
	}
}

// mergeInstances sums arrivals over the processes of a server.
func mergeInstances(a *accessLog, arrivals map[arrivalKey]*accessSum) map[arrivalKey]*accessSum {
	merged := map[arrivalKey]*accessSum{}
	keys := make([]arrivalKey, 0, len(arrivals))
	for k := range arrivals {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y arrivalKey) int {
		return cmp.Or(cmp.Compare(a.instances.keys[x.instance], a.instances.keys[y.instance]))
	})
	for _, k := range keys {
		e := arrivals[k]
		k.instance = 0
		if m := merged[k]; m != nil {
			m.merge(e, a)
		} else {
			c := &accessSum{protocol: e.protocol, service: e.service, method: e.method}
			c.merge(e, a)
			merged[k] = c
		}
	}
	return merged
}

// merge adds the arrivals of another process.
func (e *accessSum) merge(o *accessSum, a *accessLog) {
	e.calls += o.calls
	e.attempts += o.attempts
	e.retries += o.retries
	e.repeats += o.repeats
	e.counted = e.counted || o.counted
	e.ceiling = max(e.ceiling, o.ceiling)
	for i := range o.by {
		e.by[i] += o.by[i]
	}
	for i := range o.outcomes {
		e.outcomes[i] += o.outcomes[i]
	}
	for i := range o.evidence {
		e.evidence[i] += o.evidence[i]
	}
	e.attempt.merge(&o.attempt)
	e.span(o.first, o.last-o.first)
	for _, x := range o.examples {
		e.example(x)
	}
	step := int64(a.grid.step())
	for i, w := range o.list {
		if m := a.grid.at(&e.series, (o.base+int64(i))*step); m != nil {
			m.calls += w.calls
			m.attempts += w.attempts
			m.failures += w.failures
			m.timed += w.timed
			m.busy += w.busy
		}
	}
}
