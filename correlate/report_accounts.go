package correlate

import (
	"math"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// maxAccounts bounds the edges that a report lists from spans and access logs.
const maxAccounts = 50

// accountEdges are the edges as spans and access logs tell of them: all calls,
// not only those that failed. They come before what logs say of the same edges,
// and are never added to it.
func (q *inquiry) accountEdges() []incident.Edge {
	list := []incident.Edge{}
	for i := range q.e.accounts() {
		x := &q.e.accounts()[i]
		if x.Protocol == "db" || x.Protocol == "redis" || x.Calls+x.Attempts == 0 {
			continue
		}
		if len(list) == maxAccounts {
			break
		}
		list = append(list, accountEdge(x))
	}
	return list
}

func accountEdge(x *ledger.Edge) incident.Edge {
	names := accountNamesOf(x)
	o := incident.Edge{
		Consumer: x.Caller, Service: serviceName(x.Service), Method: names["method"], Protocol: x.Protocol, Basis: string(x.Basis), Exact: x.Exact,
		Attempts: ptr(wholeNumber(x.Attempts)), Outcomes: map[string]int64{}, Fates: fates(&x.Fates), OtherSends: otherSends(x),
	}
	if o.Service == "" {
		o.Service = x.Callee
	} else if x.Callee != o.Service {
		o.Provider = x.Callee
	}
	if x.Calls > 0 && x.Amplification > 0 {
		o.Calls, o.Amplification = ptr(wholeNumber(x.Calls)), ptr(round(x.Amplification, 3))
		o.ByAttempts = map[string]int64{}
		for n, c := range x.ByAttempts {
			o.ByAttempts[strconv.Itoa(n)] = wholeNumber(c)
		}
		if peak := amplifiedStretch(x).amplification(); x.Retried > 0 && peak >= 1.1*x.Amplification {
			o.Peak = ptr(round(peak, 2))
		}
		if x.RetryShare > 0 {
			o.RetryShare = ptr(round(x.RetryShare, 3))
		}
		if x.Cumulative > 0 {
			o.Cumulative = ptr(round(x.Cumulative, 3))
		}
	}
	if x.Ceiling > 1 {
		o.Ceiling = ptr(x.Ceiling)
	}
	if x.Timeout > 0 {
		o.TimeoutMS = ptr(x.Timeout.Milliseconds())
	}
	for k, n := range x.Outcomes {
		if n > 0 {
			o.Outcomes[k.String()] = n
		}
	}
	if x.Fates.Abandoned > 0 {
		o.Abandoned = ptr(x.Fates.Abandoned)
	}
	if x.Ambiguous > 0 {
		o.Ambiguous = ptr(x.Ambiguous)
	}
	if x.Orphaned > 0 {
		o.OrphanedS = ptr(round(x.Orphaned.Seconds(), 3))
	}
	if x.Wasted > 0 {
		o.WastedShare = ptr(round(x.Wasted, 3))
	}
	if x.Attempt.Count > 0 {
		o.AttemptP95MS = ptr(x.Attempt.P95.Milliseconds())
	}
	if x.Call.Count > 0 {
		o.CallP95MS = ptr(x.Call.P95.Milliseconds())
	}
	for i, p := range x.Providers {
		if i == 10 {
			break
		}
		s := incident.ProviderShare{Name: p.Name, Attempts: p.Attempts, Failures: p.Failures}
		if p.Busy > 0 {
			s.BusyS, s.P95MS = ptr(round(p.Busy.Seconds(), 3)), ptr(p.P95.Milliseconds())
		}
		o.Providers = append(o.Providers, s)
	}
	o.Citations = accountSighting(x, 0, x.First, x.Last).citations()
	return o
}

// collapsed says which counts of attempts are lower bounds, because a span covers
// a whole call and its library's own retries are not seen; empty if none are.
func (e *Engine) collapsed() string {
	calls, edges := 0.0, []string{}
	for i := range e.book.Edges {
		if x := &e.book.Edges[i]; x.Collapses() {
			calls += x.Collapsed
			edges = append(edges, accountTitle(x))
		}
	}
	if len(edges) == 0 {
		return ""
	}
	const named = 2
	names := strings.Join(edges[:min(named, len(edges))], ", ")
	if more := len(edges) - named; more > 0 {
		names = lang.Sprintf("%s and %d more", names, more)
	}
	return lang.Sprintf("%d calls have one span each that covers whatever the client's library sent (%s): retries inside it are not seen, attempts are at least as many as calls", wholeNumber(calls), names)
}

// whole is the nearest whole number: weights of sampled spans are fractions.
func wholeNumber(x float64) int64 { return int64(math.Round(x)) }

func fates(f *ledger.Fates) map[string]int64 {
	all := map[string]int64{
		"ok-at-once": f.AtOnce, "ok-after-retry": f.AfterRetry, "exhausted": f.Exhausted, "timed-out": f.TimedOut, "rejected": f.Rejected, "cancelled": f.Cancelled,
		"not-retryable": f.NotRetryable, "budget-exhausted": f.Budget, "failed": f.Failed, "unknown": f.Unknown,
	}
	for k, n := range all {
		if n == 0 {
			delete(all, k)
		}
	}
	return all
}

func otherSends(x *ledger.Edge) map[string]int64 {
	all := map[string]int64{"hedges": wholeNumber(x.Hedges), "transparent": wholeNumber(x.Transparent), "redirects": wholeNumber(x.Redirects), "challenges": wholeNumber(x.Challenges)}
	for k, n := range all {
		if n == 0 {
			delete(all, k)
		}
	}
	return all
}

// paths are the ways on which retries multiplied most.
func (q *inquiry) paths() []incident.Path {
	if q.e.book == nil {
		return nil
	}
	var list []incident.Path
	for _, p := range q.e.book.Paths {
		if len(list) == 10 {
			break
		}
		o := incident.Path{Layers: []incident.Layer{}, Amplification: round(p.Amplification, 3), Load: round(p.Load, 3)}
		var cites []evidence.Citation
		in := p.In
		if f := p.Front; f != nil && f.Amplification > 0 {
			// The proxy whose access log tells what spans begin after.
			o.Layers = append(o.Layers, incident.Layer{Edge: accountTitle(f), Calls: wholeNumber(f.Calls), Attempts: wholeNumber(f.Attempts), FanOut: 1, Amplification: round(f.Amplification, 3)})
			o.Amplification, o.Load = round(p.WithFront, 3), round(p.Load*f.Amplification, 3)
			in /= f.Amplification
			for _, ex := range f.Examples[:min(1, len(f.Examples))] {
				cites = append(cites, exampleCite(ex))
			}
		}
		for _, l := range p.Layers {
			x := ledger.Edge{Caller: l.Caller, Callee: l.Callee, Service: l.Service, Method: l.Method}
			o.Layers = append(o.Layers, incident.Layer{Edge: accountTitle(&x), Calls: wholeNumber(l.Calls), Attempts: wholeNumber(l.Attempts), FanOut: round(l.FanOut, 3), Amplification: round(l.Amplification, 3)})
			cites = citeUnion(keepCites, cites, q.layerCites(l))
		}
		if p.In > 0 {
			o.InPerS, o.OutPerS = ptr(significant(in)), ptr(significant(p.Out))
		}
		o.Citations = cites
		list = append(list, o)
	}
	return list
}
