package exporter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// metric is one metric: what stands of it in the documentation, and where its
// values come from.
type metric struct {
	name   string
	kind   kind
	labels []string
	help   string
	bound  string // how many series there can be
	values func(v view, put put)
}

type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
)

// view is the state of a moment.
type view struct {
	*live.Snapshot
	published *live.Published // nil before the first report
}

// put writes one series: a value, or for a histogram what it counts.
type put struct {
	value   func(v float64, labels ...string)
	counted func(count uint64, sum float64, buckets map[float64]uint64, labels ...string)
}

var (
	edgeLabels   = []string{"caller", "callee", "protocol"}
	methodLabels = []string{"caller", "callee", "protocol", "method"}
)

func of(labels []string, more ...string) []string { return append(slices.Clone(labels), more...) }

// perEdge puts one value for each edge.
func perEdge(f func(e *live.Edge) float64) func(view, put) {
	return func(v view, p put) {
		for i := range v.Edges {
			e := &v.Edges[i]
			p.value(f(e), e.Caller, e.Callee, e.Protocol)
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

// losses names what is not counted, as the label says it.
var losses = map[ledger.Loss]string{
	ledger.LostNoTrace: "no-trace-id", ledger.LostNoID: "no-span-id", ledger.LostDuplicate: "duplicate", ledger.LostNegative: "negative-duration",
	ledger.LostTime: "time-out-of-range", ledger.LostSampled: "sampled", ledger.LostHuge: "trace-too-large", ledger.LostNames: "names", ledger.LostEdges: "edges",
	ledger.LostPaths: "paths", ledger.LostParent: "parent-not-seen",
}

func durations(d *live.Durations, p put, labels ...string) {
	if d.Count == 0 {
		return
	}
	buckets, sum := map[float64]uint64{}, uint64(0)
	for i, bound := range live.Bounds {
		sum += d.Buckets[i]
		buckets[bound] = sum
	}
	p.counted(d.Count, d.Sum.Seconds(), buckets, labels...)
}

// attemptBounds are the buckets of attempts per call.
var attemptBounds = []float64{1, 2, 3, 4, 5, 8, 16}

func attemptsPerCall(e *live.Edge, p put) {
	var count, sum float64
	below := make([]float64, len(attemptBounds))
	for _, n := range slices.Sorted(maps.Keys(e.ByAttempts)) { // in order, for sums of fractions depend on it
		calls := e.ByAttempts[n]
		count += calls
		sum += calls * float64(n)
		for i, bound := range attemptBounds {
			if float64(n) <= bound {
				below[i] += calls
			}
		}
	}
	if count <= 0 {
		return
	}
	buckets := map[float64]uint64{}
	for i, bound := range attemptBounds {
		buckets[bound] = uint64(below[i] + 0.5)
	}
	p.counted(uint64(count+0.5), sum, buckets, e.Caller, e.Callee, e.Protocol)
}

// counts puts the values of a map, one series a key, in order.
func counts[K ~string](m map[K]int64, p put) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		p.value(float64(m[k]), string(k))
	}
}

func one(f func(v view) float64) func(view, put) {
	return func(v view, p put) { p.value(f(v)) }
}

// ofReport puts a value of the last report; nothing before the first.
func ofReport(f func(p *live.Published) float64) func(view, put) {
	return func(v view, p put) {
		if v.published != nil {
			p.value(f(v.published))
		}
	}
}

// burning tells the links of the incidents that the last report found.
func burning(v view, p put) {
	if v.published == nil {
		return
	}
	type link struct{ label, role string }
	seen := map[link]bool{}
	for _, in := range v.published.Report.Incidents {
		if in.Label == incident.Healthy || in.Label == incident.Inconclusive {
			continue
		}
		for _, l := range in.Chain {
			seen[link{string(l.Label), string(l.Role)}] = true
		}
	}
	for _, l := range slices.SortedFunc(maps.Keys(seen), func(a, b link) int {
		return cmp.Or(cmp.Compare(a.label, b.label), cmp.Compare(a.role, b.role))
	}) {
		p.value(1, l.label, l.role)
	}
}

const maxPools = 200

func poolMembers(v view, p put) {
	if v.published == nil {
		return
	}
	type name struct{ pool, owner string }
	seen := map[name]bool{}
	for _, pool := range v.published.Report.Pools {
		n := name{clean(pool.Name), clean(pool.Owner)}
		if seen[n] || len(seen) == maxPools {
			continue
		}
		seen[n] = true
		for _, s := range []struct {
			state string
			n     *int
		}{{"active", pool.Active}, {"idle", pool.Idle}, {"max", pool.Max}, {"queued", pool.Queued}, {"waiting", pool.Waiting}} {
			if s.n != nil {
				p.value(float64(*s.n), n.owner, n.pool, s.state)
			}
		}
	}
}

func clean(s string) string { return strings.ToValidUTF8(s, "�") }

// metrics are all of them, in the order of the documentation.
var metrics = []metric{
	{"firebreak_logical_calls_total", counter, methodLabels, "Logical calls: what callers wanted done, however many attempts it took.", "edges x methods", func(v view, p put) {
		perMethod(v, func(e *live.Edge, m *live.Method) { p.value(m.Calls, e.Caller, e.Callee, e.Protocol, m.Name) })
	}},
	{"firebreak_attempts_total", counter, of(methodLabels, "reason"), "Attempts on the wire, by why they were made; initial, retry and proxy count towards amplification.", "edges x methods x 7", func(v view, p put) {
		perMethod(v, func(e *live.Edge, m *live.Method) {
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
	{"firebreak_failed_attempts_total", counter, of(edgeLabels, "error"), "Attempts that failed, by how.", "edges x 8", func(v view, p put) {
		for i := range v.Edges {
			e := &v.Edges[i]
			for _, f := range failures {
				if n := e.Outcomes[f.outcome]; n > 0 {
					p.value(float64(n), e.Caller, e.Callee, e.Protocol, f.label)
				}
			}
		}
	}},
	{"firebreak_failed_logical_calls_total", counter, edgeLabels, "Logical calls that failed after all their attempts.", "edges", perEdge(func(e *live.Edge) float64 { return float64(failedCalls(e.Fates)) })},
	{"firebreak_call_fates_total", counter, of(edgeLabels, "fate"), "Logical calls by how they ended; each is counted once.", "edges x 10", func(v view, p put) {
		for i := range v.Edges {
			e := &v.Edges[i]
			for _, f := range fates(e.Fates) {
				if f.n > 0 {
					p.value(float64(f.n), e.Caller, e.Callee, e.Protocol, f.label)
				}
			}
		}
	}},
	{"firebreak_retried_calls_total", counter, edgeLabels, "Logical calls that made two attempts or more.", "edges", perEdge(func(e *live.Edge) float64 { return float64(e.Retried) })},
	{"firebreak_abandoned_calls_total", counter, edgeLabels, "Logical calls whose caller had given up while the callee went on working.", "edges", perEdge(func(e *live.Edge) float64 { return float64(e.Fates.Abandoned) })},
	{"firebreak_ambiguous_groups_total", counter, edgeLabels, "Groups of like calls that may be retries or a loop; they are counted as single calls.", "edges", perEdge(func(e *live.Edge) float64 { return float64(e.Ambiguous) })},
	{"firebreak_attempts_per_call", histogram, edgeLabels, "Attempts that logical calls made.", "edges x 10", func(v view, p put) {
		for i := range v.Edges {
			attemptsPerCall(&v.Edges[i], p)
		}
	}},
	{"firebreak_attempt_duration_seconds", histogram, edgeLabels, "Durations of attempts as the caller saw them, or the callee where the caller was not seen.", "edges x 18", func(v view, p put) {
		for i := range v.Edges {
			e := &v.Edges[i]
			durations(&e.Durations, p, e.Caller, e.Callee, e.Protocol)
		}
	}},
	{"firebreak_retry_delay_seconds", histogram, edgeLabels, "Time between the end of an attempt and the start of the next.", "edges x 18", func(v view, p put) {
		for i := range v.Edges {
			e := &v.Edges[i]
			durations(&e.Gaps, p, e.Caller, e.Callee, e.Protocol)
		}
	}},
	{"firebreak_server_seconds_total", counter, edgeLabels, "Time that callees worked at attempts.", "edges", perEdge(func(e *live.Edge) float64 { return e.Server.Seconds() })},
	{"firebreak_wasted_server_seconds_total", counter, of(edgeLabels, "cause"), "Time that callees worked for nobody: after the caller had given up, for an answer that was not used, or for calls that failed. No second is in two of them.", "edges x 3", func(v view, p put) {
		for i := range v.Edges {
			e := &v.Edges[i]
			for _, w := range []struct {
				cause   string
				seconds float64
			}{{"failed", e.Failed.Seconds()}, {"orphaned", e.Orphaned.Seconds()}, {"superseded", e.Superseded.Seconds()}} {
				p.value(w.seconds, e.Caller, e.Callee, e.Protocol, w.cause)
			}
		}
	}},
	{"firebreak_orphaned_attempts_total", counter, edgeLabels, "Attempts at which the callee went on working after the caller had given up.", "edges", perEdge(func(e *live.Edge) float64 { return float64(e.Orphans) })},
	{"firebreak_stacked_traces_total", counter, nil, "Traces in which a call was retried inside an attempt of a retried call: there retries multiply.", "1", one(func(v view) float64 { return float64(v.Stacked) })},

	{"firebreak_incident_active", gauge, []string{"label", "role"}, "1 for each link of the causal chains of the last report; absent if there is none.", "39", burning},
	{"firebreak_pool_members", gauge, []string{"owner", "pool", "state"}, "Members of pools as the last report has them, from logs.", "200 pools x 5", poolMembers},
	{"firebreak_report_timestamp_seconds", gauge, nil, "When the last report was made.", "1", ofReport(func(p *live.Published) float64 { return float64(p.At.UnixMilli()) / 1000 })},
	{"firebreak_report_build_seconds", gauge, nil, "How long making the last report took.", "1", ofReport(func(p *live.Published) float64 { return p.Took.Seconds() })},
	{"firebreak_report_records", gauge, nil, "Records that the last report was made of.", "1", ofReport(func(p *live.Published) float64 { return float64(p.Records) })},
	{"firebreak_report_share_ratio", gauge, nil, "Share of the recent traces that reports are made of; below 1 where memory bounds them. Counters count all.", "1", one(func(v view) float64 { return v.Intake.RecentShare })},

	{"firebreak_spans_received_total", counter, []string{"transport"}, "Spans that were taken in and acknowledged.", "2", func(v view, p put) { counts(v.Intake.Received, p) }},
	{"firebreak_spans_refused_total", counter, []string{"transport"}, "Spans that were refused for want of room; their senders were asked to send them again later.", "2", func(v view, p put) { counts(v.Intake.Refused, p) }},
	{"firebreak_spans_late_total", counter, nil, "Spans of traces that had been counted before; they are in no counter of calls.", "1", one(func(v view) float64 { return float64(v.Intake.Late) })},
	{"firebreak_spans_lost_total", counter, []string{"reason"}, "Spans, or what they told, that could not be counted, by reason.", "11", func(v view, p put) {
		said := map[string]int64{}
		for why, n := range v.Losses {
			said[cmp.Or(losses[why], "other")] += n
		}
		counts(said, p)
	}},
	{"firebreak_log_records_received_total", counter, nil, "Log records that were taken in.", "1", one(func(v view) float64 { return float64(v.Intake.Logs) })},
	{"firebreak_traces_finalized_total", counter, []string{"reason"}, "Traces that were counted, by why then: quiet, aged, evicted for want of room, shutdown.", "4", func(v view, p put) { counts(v.Finalized, p) }},
	{"firebreak_traces_open", gauge, nil, "Traces that more is expected of.", "1", one(func(v view) float64 { return float64(v.Intake.TracesOpen) })},
	{"firebreak_spans_held", gauge, nil, "Spans that wait for their trace to be done.", "1", one(func(v view) float64 { return float64(v.Intake.SpansHeld) })},
	{"firebreak_spans_limit", gauge, nil, "Spans that may wait.", "1", one(func(v view) float64 { return float64(v.MaxSpans) })},
	{"firebreak_calls_folded_total", counter, []string{"table"}, "Calls that are counted under " + live.Other + ", because there were too many edges, or methods of one edge.", "2", func(v view, p put) { counts(v.Folded, p) }},
	{"firebreak_last_span_timestamp_seconds", gauge, nil, "When the last span came.", "1", func(v view, p put) {
		if !v.Intake.LastSpan.IsZero() {
			p.value(float64(v.Intake.LastSpan.UnixMilli()) / 1000)
		}
	}},
}

func perMethod(v view, f func(e *live.Edge, m *live.Method)) {
	for i := range v.Edges {
		e := &v.Edges[i]
		for k := range e.Methods {
			f(e, &e.Methods[k])
		}
	}
}

// Table is the documentation's table of metrics, in Markdown.
func Table() string {
	var b strings.Builder
	b.WriteString("| Metric | Type | Labels | Meaning | Series |\n|---|---|---|---|---|\n")
	for _, m := range metrics {
		labels := "–"
		if len(m.labels) > 0 {
			labels = "`" + strings.Join(m.labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.name, m.kind, labels, m.help, m.bound)
	}
	return b.String()
}

// valueType is what Prometheus calls a kind.
func (k kind) valueType() prometheus.ValueType {
	if k == counter {
		return prometheus.CounterValue
	}
	return prometheus.GaugeValue
}
