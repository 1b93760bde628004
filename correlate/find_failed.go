package correlate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// Nobody is healthy whose calls fail. Edges are told of one by one where enough
// of their calls failed to say so; what many small edges of one callee, or a
// handful of calls, add up to is told here.

// largeShare is the share of failed calls from which even a few say that
// something is wrong; mostShare that from which a long quiet log does not make
// them stray events.
const (
	largeShare = 0.2
	mostShare  = 0.5
)

// tellsOfFailure reports whether so many of all calls failed that they are told of.
func tellsOfFailure(failed int64, all float64) bool {
	share := float64(failed) / max(1, all)
	return failed >= someCalls && share >= failedShare || failed >= fewCalls && share >= largeShare
}

// callsEnded sums up how the calls of one caller to one callee ended.
type callsEnded struct {
	caller, callee string
	basis          ledger.Basis
	failed, all    int64
	gaveUp         int64 // of the failed, those whose callers went away (access logs)
	seen           sighting
	turned         turnedAway
	told           bool // a finding of one of its edges says so already
}

// add takes in one edge. Callers go away from streams and from hedges that were
// not needed, too: only an access log's 499 counts as a failure.
func (c *callsEnded) add(x *ledger.Edge) {
	c.turned.add(x)
	failed := int64(0)
	for o, n := range x.Outcomes {
		c.all += n
		switch o {
		case evidence.Failed, evidence.Timeout, evidence.Rejected, evidence.NoProvider, evidence.Unreachable:
			failed += n
		case evidence.Cancelled:
			if x.Basis == ledger.FromAccess {
				failed += n
				c.gaveUp += n
			}
		}
	}
	if failed > 0 {
		c.failed += failed
		c.seen.merge(failing(x, failed))
	}
}

// calleeFindings say of whom a large share of the calls failed where no edge's
// own finding does.
func (q *inquiry) calleeFindings() {
	told := map[string]bool{}
	for _, f := range q.of(incident.CallFailed) {
		told[f.Names["consumer"]+"\x00"+f.Names["service"]] = true
	}
	sums := map[[3]string]*callsEnded{}
	total := map[ledger.Basis]*callsEnded{}
	accounts := q.e.accounts()
	for i := range accounts {
		x := &accounts[i]
		callee := accountNamesOf(x)["service"]
		key := [3]string{string(x.Basis), x.Caller, callee}
		c := sums[key]
		if c == nil {
			c = &callsEnded{caller: x.Caller, callee: callee, basis: x.Basis, told: told[x.Caller+"\x00"+callee]}
			sums[key] = c
		}
		c.add(x)
		all := total[x.Basis]
		if all == nil {
			all = &callsEnded{basis: x.Basis, callee: lang.T("all calls")}
			total[x.Basis] = all
		}
		all.add(x)
	}
	list := make([]*callsEnded, 0, len(sums))
	for _, c := range sums {
		if !c.told && tellsOfFailure(c.failed, float64(c.all)) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *callsEnded) int {
		return cmp.Or(cmp.Compare(b.failed, a.failed), cmp.Compare(a.caller, b.caller), cmp.Compare(a.callee, b.callee), cmp.Compare(a.basis, b.basis))
	})
	for _, c := range list[:min(len(list), mostCalm)] {
		q.calleeFinding(c)
	}
	q.turnedAwayFindings(slices.Collect(maps.Values(sums)), total)
	if q.has(incident.CallFailed, incident.CallTimeout, incident.PoolRejected, incident.RetryAmplified) {
		return
	}
	for _, basis := range []ledger.Basis{ledger.FromSpans, ledger.FromAccess} { // a handful of calls in all
		if c := total[basis]; c != nil && c.failed > 0 && float64(c.failed) >= largeShare*float64(c.all) {
			q.calleeFinding(c)
		}
	}
}

func (q *inquiry) calleeFinding(c *callsEnded) {
	title := cmp.Or(c.callee, lang.T("calls"))
	if c.caller != "" {
		title = c.caller + " -> " + title
	}
	share := float64(c.failed) / float64(c.all)
	text := lang.Sprintf("%s: %d of %s did not succeed, %d %% (%s)", title, c.failed, plural(int(c.all), "attempt"), int(100*share), c.basisWords())
	if c.gaveUp > 0 {
		text += lang.Sprintf("; of %d the caller went away", c.gaveUp)
	}
	s := c.seen
	s.count = int(c.failed)
	q.find(incident.CallFailed, title, text, &s, map[string]float64{"failed.share": round(share, 2)}, map[string]string{"consumer": c.caller, "service": c.callee})
}

func (c *callsEnded) basisWords() string {
	if c.basis == ledger.FromAccess {
		return lang.T("access logs")
	}
	return lang.T("spans of all calls")
}

// failedMost reports a finding of failures that are most of an edge's calls:
// however few, and in however long a log, they are no stray events.
func failedMost(f *incident.Finding) bool {
	return f.Kind == incident.CallFailed && f.Count >= fewCalls && f.Values["failed.share"] >= mostShare
}
