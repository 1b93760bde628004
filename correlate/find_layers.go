package correlate

import (
	"fmt"
	"strings"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// layerFinding says that retries of several layers multiply.
func (q *inquiry) layerFinding() {
	if q.e.book == nil {
		return
	}
	defer q.proxiedLayers()
	for _, p := range q.e.book.Paths {
		var factors []string
		product, cites := 1.0, []evidence.Citation(nil)
		in := p.In
		if f := p.Front; f != nil && f.Amplification >= layerFrom && f.Calls >= fewCalls {
			factors = append(factors, fmt.Sprintf("%s %.1fx", accountTitle(f), f.Amplification))
			product *= f.Amplification
			in /= f.Amplification
			for _, ex := range f.Examples[:min(1, len(f.Examples))] {
				cites = append(cites, exampleCite(ex))
			}
		}
		for _, l := range p.Layers {
			if l.Amplification >= layerFrom && l.Calls >= fewCalls {
				x := ledger.Edge{Caller: l.Caller, Callee: l.Callee, Service: l.Service, Method: l.Method}
				factors = append(factors, fmt.Sprintf("%s %.1fx", accountTitle(&x), l.Amplification))
				product *= l.Amplification
				cites = citeUnion(keepCites, cites, q.layerCites(l))
			}
		}
		if len(factors) < 2 || len(cites) == 0 {
			continue
		}
		text := lang.Sprintf("retries of %d layers multiply: %s = %.1fx", len(factors), strings.Join(factors, " × "), product)
		values := map[string]float64{"amplification": round(product, 2), "layers": float64(len(factors))}
		if p.In > 0 {
			text += lang.Sprintf("; %s/s come in, %s/s arrive at the last", trim(in), trim(p.Out))
			values["load.in_per_s"], values["load.out_per_s"] = significant(in), significant(p.Out)
		}
		q.findCited(incident.RetryLayers, factors[0], text, int(p.Roots), span{}, cites, values, nil)
		return
	}
}

// budgetFinding says that a layer retries for longer than the layer above waits:
// what it does after that is for nobody.
func (q *inquiry) budgetFinding() {
	if q.e.book == nil {
		return
	}
	for _, p := range q.e.book.Paths {
		for i := 1; i < len(p.Layers); i++ {
			above, below := q.accountOf(p.Layers[i-1]), q.accountOf(p.Layers[i])
			if above == nil || below == nil || above.Timeout <= 0 || below.Timeout <= 0 || below.Ceiling < 2 || above.TimeoutCount < fewCalls || below.TimeoutCount < fewCalls {
				continue
			}
			d := ledger.Deadlines([]ledger.DeadlineLayer{
				{Name: accountTitle(above), Timeout: above.Timeout, Retries: max(0, above.Ceiling-1)},
				{Name: accountTitle(below), Timeout: below.Timeout, Retries: below.Ceiling - 1},
			})[1]
			if d.Over <= 0 {
				continue
			}
			text := lang.Sprintf("%s may take %d ms x %d attempts = %s, but its caller waits %d ms: %d of the %d attempts can end in time", accountTitle(below), below.Timeout.Milliseconds(), d.Attempts, seconds(d.Needs.Seconds()), d.Left.Milliseconds(), d.Useful, d.Attempts)
			s := accountSighting(below, below.TimeoutCount, below.First, below.Last)
			for _, ex := range above.Examples[:min(1, len(above.Examples))] {
				s.citeAt(cited{cite: exampleCite(ex)})
			}
			q.find(incident.CallBudget, accountTitle(below), text, s, map[string]float64{"timeout_ms": float64(below.Timeout.Milliseconds()), "budget_ms": float64(d.Left.Milliseconds()), "needs_ms": float64(d.Needs.Milliseconds()), "ceiling": float64(below.Ceiling)}, accountNamesOf(below))
			return
		}
	}
}

// accountOf is the account of a path's layer on spans; nil if it is beyond the
// book's cap.
func (q *inquiry) accountOf(l ledger.Layer) *ledger.Edge {
	accounts := q.e.accounts()
	for i := range accounts {
		x := &accounts[i]
		if x.Basis == ledger.FromSpans && x.Caller == l.Caller && x.Callee == l.Callee && x.Service == l.Service && x.Method == l.Method {
			return x
		}
	}
	return nil
}

func (q *inquiry) layerCites(l ledger.Layer) []evidence.Citation {
	for _, x := range q.e.accounts() {
		if x.Caller == l.Caller && x.Callee == l.Callee && x.Service == l.Service && x.Method == l.Method && len(x.Examples) > 0 {
			return []evidence.Citation{exampleCite(x.Examples[0])}
		}
	}
	return nil
}

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
		text := lang.Sprintf("retries of 2 layers multiply: %s %.1fx × %s %.1fx = %.1fx (access logs, and calls that failed by logs)", accountTitle(x), x.Amplification, below.title(), below.amplification(), product)
		cites := citeUnion(keepCites, []evidence.Citation{exampleCite(x.Examples[0])}, below.exhausted.citations())
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
