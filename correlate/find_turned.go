package correlate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// Calls that a caller withdrew, that were not let in or that the callee answered
// with an error of its own are ordinary while they are some of many: a challenge
// comes before a request with credentials, a poll asks until there is something.
// An edge on which nearly nothing else happens is not healthy.

// nearlyAll is the share of an edge's calls from which it says that something is
// wrong that none of them was answered as asked, though none failed.
const nearlyAll = 0.9

// turnedAway sums up the calls that did not fail and were not answered as asked.
type turnedAway struct {
	withdrawn, challenged, refused int64
	seen                           sighting
}

func (t *turnedAway) add(x *ledger.Edge) {
	n := x.Outcomes[evidence.Challenged] + x.Outcomes[evidence.BizFailed]
	t.challenged += x.Outcomes[evidence.Challenged]
	t.refused += x.Outcomes[evidence.BizFailed]
	if x.Basis != ledger.FromAccess && !streams(x.Method) { // those of access logs are failures already
		n += x.Outcomes[evidence.Cancelled]
		t.withdrawn += x.Outcomes[evidence.Cancelled]
	}
	if n > 0 {
		t.seen.merge(accountSighting(x, n, x.First, x.Last))
	}
}

func (t *turnedAway) sum() int64 { return t.withdrawn + t.challenged + t.refused }

// streamWords stand in the names of methods whose calls last until the caller
// leaves.
var streamWords = []string{"watch", "stream", "subscribe", "listen", "tail", "follow", "reflection", "/events"}

func streams(method string) bool {
	method = strings.ToLower(method)
	for _, w := range streamWords {
		if strings.Contains(method, w) {
			return true
		}
	}
	return false
}

// turnedAwayFindings say of which callees nearly no call was answered as asked,
// and note where that is so of most of all calls.
func (q *inquiry) turnedAwayFindings(list []*callsEnded, total map[ledger.Basis]*callsEnded) {
	slices.SortFunc(list, func(a, b *callsEnded) int {
		return cmp.Or(cmp.Compare(b.turned.sum(), a.turned.sum()), cmp.Compare(a.caller, b.caller), cmp.Compare(a.callee, b.callee), cmp.Compare(a.basis, b.basis))
	})
	said := 0
	for _, c := range list {
		if said < mostCalm && !c.told && float64(c.failed) < largeShare*float64(c.all) && q.turnedAwayFinding(c) {
			said++
		}
	}
	for _, c := range total {
		q.unsaid = q.unsaid || c.turned.sum() >= someCalls && float64(c.turned.sum()+c.failed) > mostShare*float64(c.all)
	}
}

// turnedAwayFinding says of whom nearly no call was answered as asked. It
// reports whether there was anything to say.
func (q *inquiry) turnedAwayFinding(c *callsEnded) bool {
	t := &c.turned
	n := t.sum() + c.failed
	if t.sum() < someCalls || float64(n) < nearlyAll*float64(c.all) {
		return false
	}
	title := cmp.Or(c.callee, lang.T("calls"))
	if c.caller != "" {
		title = c.caller + " -> " + title
	}
	text := lang.Sprintf("%s: %d of %s were not answered as asked, %d %% (%s)", title, n, plural(int(c.all), "attempt"), int(100*float64(n)/float64(c.all)), c.basisWords())
	for _, part := range []struct {
		n   int64
		say string
	}{
		{t.withdrawn, lang.Sprintf("; %d were withdrawn by the caller", t.withdrawn)},
		{t.challenged, lang.Sprintf("; %d lacked valid credentials (401)", t.challenged)},
		{t.refused, lang.Sprintf("; %d were told no (403, 404, not permitted, not valid)", t.refused)},
		{c.failed, lang.Sprintf("; %d failed", c.failed)},
	} {
		if part.n > 0 {
			text += part.say
		}
	}
	s := t.seen
	s.count = int(n)
	id := q.find(incident.CallFailed, title, text, &s, map[string]float64{"failed.share": round(float64(n)/float64(c.all), 2)}, map[string]string{"consumer": c.caller, "service": c.callee})
	if q.turned == nil {
		q.turned = map[string]bool{}
	}
	q.turned[id] = true
	return true
}
