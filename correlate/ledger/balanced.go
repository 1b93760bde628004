package ledger

import (
	"cmp"
	"slices"
)

// A client that balances load itself writes the address of the instance it chose
// into the URL, so that a request sent again to the next instance has another
// identity. Such siblings are joined only if each followed a failure, went to
// another address than the one before, and the edge is not called in loops.

// balanced looks at siblings of one operation and several identities, all sent
// to bare addresses.
func (j *joiner) balanced(run []int32) {
	for _, i := range run {
		u := &j.units[i]
		if u.ident == 0 || u.call >= 0 || u.numbered || !isAddress(j.l.peers.keys[u.peer].name) {
			return
		}
	}
	run = slices.Clone(run)
	units := j.units
	slices.SortFunc(run, func(a, b int32) int {
		return cmp.Or(cmp.Compare(units[a].start, units[b].start), cmp.Compare(units[a].head, units[b].head))
	})
	for k, i := range run[1:] {
		if j.units[i].start < j.endOf(run[k])-j.slack(run[k]) {
			return // side by side: fan-out
		}
	}
	s := j.loop(&j.units[run[0]])
	if j.learning {
		j.learnLoop(s, run)
		return
	}
	if float64(s.wentOn) >= loopShare*float64(s.candidates) {
		return
	}
	open, n := run[0], 1
	for k, i := range run[1:] {
		prev := run[k]
		if j.classAt(prev).retryable() && n < j.cfg.MaxChain && j.follows(prev, i) && j.units[prev].peer != j.units[i].peer {
			j.absorb(j.tail(open, Inferred), i, Inferred, byRetry)
			n++
			continue
		}
		open, n = i, 1
	}
}
