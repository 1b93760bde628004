package ledger

import (
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// countCall adds what a proxy or client tells of one call, and returns how many
// attempts it says there were; -1 if it does not say.
func (a *accessLog) countCall(e *accessSum, x *evidence.Access, call evidence.Outcome, start int64, ex example) int {
	e.calls++
	e.seenCalls++
	e.span(start, ex.dur)
	e.call.Add(x.Duration)
	var win *windowSum
	if start != 0 {
		win = a.grid.at(&e.series, start)
	}
	if win != nil {
		win.calls++
	}
	if x.Hidden {
		e.hidden++
	}
	if len(x.Upstreams) == 0 && x.Attempts < 0 {
		e.outcomes[call]++
		e.fates.add(accessFate(call, 1))
		if win != nil && isFailure(call) {
			win.failures++
		}
		e.attempt.Add(x.Duration)
		e.example(ex)
		return -1
	}
	e.counted = true
	n := 0
	if len(x.Upstreams) > 0 {
		n = a.countTries(e, x, win)
	} else {
		n = x.Attempts
		e.attempts += float64(n)
		e.retries += float64(max(0, n-1))
		e.outcomes[call]++
		e.attempt.Add(x.Duration)
		if n > 1 {
			e.hidden += float64(n - 1)
		}
		if win != nil {
			win.attempts += int64(n)
			if isFailure(call) {
				win.failures++
			}
		}
	}
	e.by[min(n, maxBy)]++
	e.ceiling = max(e.ceiling, n)
	if n > 1 {
		e.retried++
		e.evidence[Structural]++
	} else {
		e.evidence[Single]++
	}
	e.fates.add(accessFate(call, n))
	if call == evidence.Cancelled {
		e.fates.Abandoned++
	}
	ex.attempts = n
	e.example(ex)
	return n
}

// countTries adds the tries that a line lists. The first of a later group is an
// internal redirect; within a group each further one is a retry.
func (a *accessLog) countTries(e *accessSum, x *evidence.Access, win *windowSum) int {
	n, moved := 0, false
	for i := range x.Upstreams {
		u := &x.Upstreams[i]
		redirect := i > 0 && u.Group != x.Upstreams[i-1].Group
		if redirect {
			e.redirects++
		} else {
			n++
			e.attempts++
			if i > 0 {
				e.retries++
				moved = moved || u.Addr != x.Upstreams[i-1].Addr
			}
		}
		o := evidence.StatusOutcome(u.Status)
		if i == len(x.Upstreams)-1 && (o == evidence.OutcomeUnknown || o == evidence.OK) { // gRPC fails with status 200
			o = outcomeOf(x)
		}
		e.outcomes[o]++
		bucket := bucketOf(u.Duration)
		e.attempt.addTo(bucket, u.Duration)
		if o == evidence.Timeout {
			e.timedOut(u.Duration)
		}
		if win != nil {
			win.attempts++
			if u.Duration >= 0 {
				win.timed++
				win.busy += u.Duration
			}
			if isFailure(o) {
				win.failures++
			}
		}
		if u.Addr != "" && u.Group == x.Upstreams[0].Group { // those of another location are no providers of this one
			p := e.nearProvider(u.Addr, hardNames*a.cfg.MaxProviders)
			if p == nil {
				e.otherProviders++
				continue
			}
			p.attempts++
			if isFailure(o) {
				p.failures++
			}
			p.busy += max(0, u.Duration)
			p.latency.addTo(bucket, u.Duration)
		}
	}
	if n > 1 {
		e.severals++
		if !moved {
			e.sameOnly++
		}
	}
	// Where a proxy counts its tries but names only the last, the others are known
	// by number.
	if more := x.Attempts - n; more > 0 {
		n += more
		e.attempts += float64(more)
		e.retries += float64(more)
		e.hidden += float64(more)
		if win != nil {
			win.attempts += int64(more)
		}
	}
	return n
}

// nearProvider is a provider's sum by its address; nil if there are too many.
func (e *accessSum) nearProvider(addr string, limit int) *providerSum {
	near := &e.near[quickHash(addr)%uint64(len(e.near))]
	if near.sum != nil && near.addr == addr {
		return near.sum
	}
	p := e.providers[addr]
	if p == nil {
		if len(e.providers) >= limit {
			return nil
		}
		if e.providers == nil {
			e.providers = map[string]*providerSum{}
		}
		addr = strings.Clone(addr)
		p = &providerSum{}
		e.providers[addr] = p
	}
	near.addr, near.sum = addr, p
	return p
}

type nearProvider struct {
	addr string
	sum  *providerSum
}
