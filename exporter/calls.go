package exporter

import (
	"slices"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/evidence"
)

var (
	edgeLabels   = []string{"caller", "callee", "protocol"}
	methodLabels = []string{"caller", "callee", "protocol", "method"}
)

func of(labels []string, more ...string) []string { return append(slices.Clone(labels), more...) }

// perEdge calls f for each edge.
func perEdge(v view, p put, f func(e *live.Edge, p put)) {
	for i := range v.Edges {
		f(&v.Edges[i], p.since(v.Edges[i].Created))
	}
}

// edgeValue puts one value for each edge.
func edgeValue(f func(e *live.Edge) float64) func(view, put) {
	return func(v view, p put) {
		perEdge(v, p, func(e *live.Edge, p put) { p.value(f(e), e.Caller, e.Callee, e.Protocol) })
	}
}

// perMethod calls f for each method of each edge.
func perMethod(v view, p put, f func(e *live.Edge, m *live.Method, p put)) {
	for i := range v.Edges {
		e := &v.Edges[i]
		for k := range e.Methods {
			f(e, &e.Methods[k], p.since(e.Methods[k].Created))
		}
	}
}

// perEntry calls f for each entry.
func perEntry(f func(e *live.Entry, p put)) func(view, put) {
	return func(v view, p put) {
		for i := range v.Entries {
			f(&v.Entries[i], p.since(v.Entries[i].Created))
		}
	}
}

// failures names the outcomes of attempts that failed, as the label says them.
var failures = []struct {
	outcome evidence.Outcome
	label   string
}{
	{evidence.BizFailed, "business"},
	{evidence.Cancelled, "cancelled"},
	{evidence.Failed, "failed"},
	{evidence.Late, "late"},
	{evidence.NoProvider, "no-provider"},
	{evidence.Rejected, "rejected"},
	{evidence.Timeout, "timeout"},
	{evidence.Unreachable, "unreachable"},
}

func fates(f ledger.Fates) []struct {
	label string
	n     int64
} {
	return []struct {
		label string
		n     int64
	}{
		{"after-retry", f.AfterRetry},
		{"at-once", f.AtOnce},
		{"budget", f.Budget},
		{"cancelled", f.Cancelled},
		{"exhausted", f.Exhausted},
		{"failed", f.Failed},
		{"not-retryable", f.NotRetryable},
		{"rejected", f.Rejected},
		{"timed-out", f.TimedOut},
		{"unknown", f.Unknown},
	}
}

func failedCalls(f ledger.Fates) int64 {
	return f.Budget + f.Cancelled + f.Exhausted + f.Failed + f.NotRetryable + f.Rejected + f.TimedOut
}

// callMetrics are those of calls: what is on the wire, and what was wanted.
var callMetrics = []metric{
	{"firebreak_logical_calls_total", counter, of(methodLabels, "evidence"), "Logical calls: what callers wanted done, however many attempts it took. evidence says how sure it is which attempts are theirs: exact, inferred from what siblings look like, or ambiguous, which may be retries or a loop and are counted as single calls.", "22,000 x 3", func(v view, p put) {
		perMethod(v, p, func(e *live.Edge, m *live.Method, p put) {
			for _, x := range []struct {
				evidence string
				n        float64
			}{{"ambiguous", m.Joined.Ambiguous}, {"exact", m.Joined.Exact}, {"inferred", m.Joined.Inferred}} {
				if x.n > 0 || x.evidence == "exact" {
					p.value(x.n, e.Caller, e.Callee, e.Protocol, m.Name, x.evidence)
				}
			}
		})
	}},
	{"firebreak_attempts_total", counter, of(methodLabels, "reason"), "Attempts on the wire, by why they were made; initial, retry and proxy count towards amplification.", "22,000 x 7", func(v view, p put) {
		perMethod(v, p, func(e *live.Edge, m *live.Method, p put) {
			for _, r := range []struct {
				reason string
				n      float64
			}{{"auth", m.Challenges}, {"hedge", m.Hedges}, {"initial", m.Initial}, {"proxy", m.Proxied}, {"redirect", m.Redirects}, {"retry", m.Retries}, {"transparent", m.Transparent}} {
				if r.n > 0 || r.reason == "initial" {
					p.value(r.n, e.Caller, e.Callee, e.Protocol, m.Name, r.reason)
				}
			}
		})
	}},
	{"firebreak_intended_calls_total", counter, methodLabels, "Calls that requests from outside wanted, with the retries of all callers above folded away; of traces whose beginning was seen.", "22,000", func(v view, p put) {
		perMethod(v, p, func(e *live.Edge, m *live.Method, p put) { p.value(m.Intended, e.Caller, e.Callee, e.Protocol, m.Name) })
	}},
	{"firebreak_intended_attempts_total", counter, methodLabels, "Attempts of the same traces, so that their ratio is the amplification that the callee suffers from all layers above it.", "22,000", func(v view, p put) {
		perMethod(v, p, func(e *live.Edge, m *live.Method, p put) {
			p.value(m.IntendedAttempts, e.Caller, e.Callee, e.Protocol, m.Name)
		})
	}},
	{"firebreak_failed_attempts_total", counter, of(edgeLabels, "error"), "Attempts that failed, by how.", "edges x 8", func(v view, p put) {
		perEdge(v, p, func(e *live.Edge, p put) {
			for _, f := range failures {
				if n := e.Outcomes[f.outcome]; n > 0 {
					p.as(e.FailedBy[f.outcome]).value(float64(n), e.Caller, e.Callee, e.Protocol, f.label)
				}
			}
		})
	}},
	{"firebreak_failed_logical_calls_total", counter, edgeLabels, "Logical calls that failed after all their attempts.", "edges", func(v view, p put) {
		perEdge(v, p, func(e *live.Edge, p put) {
			p.as(e.FailedCall).value(float64(failedCalls(e.Fates)), e.Caller, e.Callee, e.Protocol)
		})
	}},
	{"firebreak_call_fates_total", counter, of(edgeLabels, "fate"), "Logical calls by how they ended; each is counted once.", "edges x 10", func(v view, p put) {
		perEdge(v, p, func(e *live.Edge, p put) {
			for _, f := range fates(e.Fates) {
				if f.n > 0 {
					p.value(float64(f.n), e.Caller, e.Callee, e.Protocol, f.label)
				}
			}
		})
	}},
	{"firebreak_retried_calls_total", counter, edgeLabels, "Logical calls that made two attempts or more.", "edges", func(v view, p put) {
		perEdge(v, p, func(e *live.Edge, p put) {
			p.as(e.MostAttempts).value(float64(e.Retried), e.Caller, e.Callee, e.Protocol)
		})
	}},
	{"firebreak_abandoned_calls_total", counter, edgeLabels, "Logical calls whose caller had given up while the callee went on working.", "edges", edgeValue(func(e *live.Edge) float64 { return float64(e.Fates.Abandoned) })},
	{"firebreak_ambiguous_groups_total", counter, edgeLabels, "Groups of like calls that may be retries or a loop; they are counted as single calls.", "edges", edgeValue(func(e *live.Edge) float64 { return float64(e.Ambiguous) })},
	{"firebreak_attempts_per_call", histogram, edgeLabels, "Attempts that logical calls made.", "edges x 10", func(v view, p put) {
		perEdge(v, p, attemptsPerCall)
	}},
	{"firebreak_attempt_duration_seconds", histogram, edgeLabels, "Durations of attempts as the caller saw them, or the callee where the caller was not seen.", "edges x 18", func(v view, p put) {
		perEdge(v, p, func(e *live.Edge, p put) { durations(&e.Durations, p, e.Caller, e.Callee, e.Protocol) })
	}},
	{"firebreak_retry_delay_seconds", histogram, edgeLabels, "Time between the end of an attempt and the start of the next.", "edges x 18", func(v view, p put) {
		perEdge(v, p, func(e *live.Edge, p put) { durations(&e.Gaps, p, e.Caller, e.Callee, e.Protocol) })
	}},
	{"firebreak_server_seconds_total", counter, edgeLabels, "Time that callees worked at attempts.", "edges", edgeValue(func(e *live.Edge) float64 { return e.Server.Seconds() })},
	{"firebreak_wasted_server_seconds_total", counter, of(edgeLabels, "cause"), "Time that callees worked for nobody: after the caller had given up, for an answer that was not used, or for calls that failed. No second is in two of them.", "edges x 3", func(v view, p put) {
		perEdge(v, p, func(e *live.Edge, p put) {
			for _, w := range []struct {
				cause   string
				seconds float64
			}{{"failed", e.Failed.Seconds()}, {"orphaned", e.Orphaned.Seconds()}, {"superseded", e.Superseded.Seconds()}} {
				p.value(w.seconds, e.Caller, e.Callee, e.Protocol, w.cause)
			}
		})
	}},
	{"firebreak_orphaned_attempts_total", counter, edgeLabels, "Attempts at which the callee went on working after the caller had given up.", "edges", edgeValue(func(e *live.Edge) float64 { return float64(e.Orphans) })},
	{"firebreak_stacked_traces_total", counter, nil, "Traces in which a call was retried inside an attempt of a retried call: there retries multiply.", "1", one(func(v view) float64 { return float64(v.Stacked) })},
	{"firebreak_stacked_retries_total", counter, []string{"entry"}, "The same by where their requests come in; entry is empty where the beginning of the trace was not seen.", "200 entries", perEntry(func(e *live.Entry, p put) { p.value(float64(e.Stacked), e.Name) })},
	{"firebreak_entry_requests_total", counter, []string{"entry"}, "Requests that come in from outside: the first calls of traces, by service and operation.", "200 entries", perEntry(func(e *live.Entry, p put) {
		if e.Name != "" {
			p.value(e.Requests, e.Name)
		}
	})},
	{"firebreak_entry_attempts_total", counter, []string{"entry", "callee"}, "Attempts at a service, by where the requests came in that led to them.", "5,000 pairs", perEntry(func(e *live.Entry, p put) {
		for i := range e.Reach {
			r := &e.Reach[i]
			p.since(r.Created).value(r.Attempts, e.Name, r.Callee)
		}
	})},
	{"firebreak_entry_intended_calls_total", counter, []string{"entry", "callee"}, "Calls of a service that those requests wanted, with the retries of all callers above folded away.", "5,000 pairs", perEntry(func(e *live.Entry, p put) {
		for i := range e.Reach {
			r := &e.Reach[i]
			p.since(r.Created).value(r.Intended, e.Name, r.Callee)
		}
	})},
}
