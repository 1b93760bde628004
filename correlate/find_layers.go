package correlate

import (
	"fmt"
	"strings"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// proxiedLayers says, where spans do not show it, that retries of a proxy, by its
// access log, and of the application behind it, by its own log, multiply.
func (q *inquiry) proxiedLayers() {
	if q.has(incident.RetryLayers) {
		return
	}
	for i := range q.e.accounts() {
		x := &q.e.accounts()[i]
		if x.Basis != ledger.FromAccess || x.OneSided == "provider" || x.Calls < fewCalls || x.Amplification < layerFrom || len(x.Examples) == 0 {
			continue
		}
		below := q.retriesOf(x)
		if below == nil {
			continue
		}
		product := x.Amplification * below.amplification()
		text := fmt.Sprintf("retries of 2 layers multiply: %s %.1fx × %s %.1fx = %.1fx (access logs, and calls that failed by logs)", accountTitle(x), x.Amplification, below.title(), below.amplification(), product)
		cites := citeUnion(keepCites, []evidence.Citation{x.Examples[0].Cite}, below.exhausted.citations())
		q.findCited(incident.RetryLayers, accountTitle(x), text, int(x.Calls), span{}, cites, map[string]float64{"amplification": round(product, 2), "layers": 2}, nil)
		return
	}
}

// retriesOf is the edge on which the callee of an account retried most while the
// account's calls went on, by the callee's own log; nil without one.
func (q *inquiry) retriesOf(x *ledger.Edge) *edge {
	var most *edge
	for _, y := range q.e.sortedEdges() {
		s := y.exhausted.span
		if y.calls < fewCalls || y.amplification() < layerFrom || !sameService(x.Callee, y.key.consumer) || s.first.IsZero() || s.first.After(x.Last) || x.First.After(s.last) {
			continue
		}
		if most == nil || y.amplification() > most.amplification() {
			most = y
		}
	}
	return most
}

// sameService reports whether two names mean one service: upstream groups and
// clusters are named with domains and numbers, applications without.
func sameService(a, b string) bool {
	short := func(s string) string {
		s, _, _ = strings.Cut(strings.ToLower(s), ".")
		return baseName(s)
	}
	return a != "" && short(a) != "" && short(a) == short(b)
}
