package correlate

import (
	"maps"
	"slices"

	"github.com/firebreak-io/firebreak/evidence"
)

// A callee may fail all its methods alike, a few times each: no method is in
// trouble worth telling of, the callee is. Its edges are then told of as one.

// spreadOver is over how many methods a consumer's trouble with a service must
// be spread to be told of as the service's.
const spreadOver = 4

// spreadEdges returns the edges to tell of: those of one consumer and service of
// which none stands out are one, without a method.
func (q *inquiry) spreadEdges() []*edge {
	list := q.e.sortedEdges()
	groups := map[edgeKey][]*edge{}
	for _, x := range list {
		if x.key.service != "" && x.trouble() > 0 {
			k := edgeKey{consumer: x.key.consumer, service: x.key.service}
			groups[k] = append(groups[k], x)
		}
	}
	merged := map[edgeKey]*edge{}
	for k, group := range groups {
		if len(group) < spreadOver || slices.ContainsFunc(group, q.standsOut) {
			continue
		}
		sum := &edge{key: k, by: map[int]int64{}, last: map[evidence.Outcome]int{}, modes: map[string]int{}}
		for _, x := range group {
			sum.merge(x)
		}
		if q.standsOut(sum) {
			merged[k] = sum
		}
	}
	if len(merged) == 0 {
		return list
	}
	out := slices.Collect(maps.Values(merged))
	sortEdges(out)
	for _, x := range list {
		if merged[edgeKey{consumer: x.key.consumer, service: x.key.service}] == nil {
			out = append(out, x)
		}
	}
	return out
}

// standsOut reports an edge with enough trouble to be told of for itself.
func (q *inquiry) standsOut(x *edge) bool {
	for _, s := range []*sighting{&x.exhausted, &x.retried, &x.timeouts, &x.rejected, &x.limited, &x.failed, &x.unreach} {
		if s.count >= someCalls && q.loud(s) {
			return true
		}
	}
	return false
}

// merge adds what another edge saw.
func (x *edge) merge(o *edge) {
	for _, p := range [...][2]*sighting{
		{&x.exhausted, &o.exhausted},
		{&x.succeeded, &o.succeeded},
		{&x.once, &o.once},
		{&x.timeouts, &o.timeouts},
		{&x.rejected, &o.rejected},
		{&x.limited, &o.limited},
		{&x.lastLimit, &o.lastLimit},
		{&x.late, &o.late},
		{&x.failed, &o.failed},
		{&x.unreach, &o.unreach},
		{&x.retried, &o.retried},
		{&x.sameTarget, &o.sameTarget},
		{&x.providerSlow, &o.providerSlow},
	} {
		p[0].merge(p[1])
	}
	x.calls, x.attempts = x.calls+o.calls, x.attempts+o.attempts
	x.ceiling, x.timeout = max(x.ceiling, o.ceiling), max(x.timeout, o.timeout)
	for n, c := range o.by {
		x.by[n] += c
	}
	for k, n := range o.last {
		x.last[k] += n
	}
	for k, n := range o.modes {
		x.modes[k] += n
	}
	mergeSightings(&x.providers, o.providers)
	mergeSightings(&x.candidates, o.candidates)
	mergeSightings(&x.tried, o.tried)
}

func mergeSightings[K comparable](into *map[K]*sighting, from map[K]*sighting) {
	for k, s := range from {
		if *into == nil {
			*into = map[K]*sighting{}
		}
		if (*into)[k] == nil {
			(*into)[k] = &sighting{}
		}
		(*into)[k].merge(s)
	}
}
