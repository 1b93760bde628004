package exporter

import (
	"cmp"
	"maps"
	"slices"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/correlate/live"
)

// losses names what is not counted, as the label says it.
var losses = map[ledger.Loss]string{
	ledger.LostNoTrace: "no-trace-id", ledger.LostNoID: "no-span-id", ledger.LostDuplicate: "duplicate", ledger.LostNegative: "negative-duration",
	ledger.LostTime: "time-out-of-range", ledger.LostSampled: "sampled", ledger.LostHuge: "trace-too-large", ledger.LostNames: "names", ledger.LostEdges: "edges",
	ledger.LostPaths: "paths", ledger.LostParent: "parent-not-seen",
}

// counts puts the values of a map, one series a key, in order.
func counts[K ~string](m map[K]int64, p put) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		p.value(float64(m[k]), clean(string(k)))
	}
}

func one(f func(v view) float64) func(view, put) {
	return func(v view, p put) { p.value(f(v)) }
}

// healthMetrics are those of firebreak itself.
var healthMetrics = []metric{
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
	{"firebreak_calls_folded_total", counter, []string{"table"}, "Calls that are counted under " + live.Other + ", because there were too many edges, or methods of one edge.", "2", func(v view, p put) {
		for _, table := range []string{"edges", "methods"} {
			if n := v.Folded[table]; n > 0 {
				p.value(float64(n), table)
			}
		}
	}},
	{"firebreak_last_span_timestamp_seconds", gauge, nil, "When the last span came.", "1", func(v view, p put) {
		if !v.Intake.LastSpan.IsZero() {
			p.value(float64(v.Intake.LastSpan.UnixMilli()) / 1000)
		}
	}},
	{"firebreak_spans_duplicate_total", counter, nil, "Spans that had come before; of the lost ones.", "1", one(func(v view) float64 { return float64(v.Losses[ledger.LostDuplicate]) })},
	{"firebreak_spans_malformed_total", counter, nil, "Spans without an ID, or with times that cannot be; of the lost ones.", "1", one(func(v view) float64 {
		l := v.Losses
		return float64(l[ledger.LostNoTrace] + l[ledger.LostNoID] + l[ledger.LostNegative] + l[ledger.LostTime])
	})},
	{"firebreak_spans_stale_total", counter, nil, "Spans that had ended ten minutes before they came, as of a backlog that is sent again. They are counted in calls all the same.", "1", one(func(v view) float64 { return float64(v.Intake.Stale) })},
	{"firebreak_sampled_spans_total", counter, []string{"sampling"}, "Spans by whether they state a sampling threshold: th, by which they are weighted, or absent, where each stands for itself.", "2", func(v view, p put) {
		p.value(float64(v.Intake.Unweighted), "absent")
		p.value(float64(v.Intake.Weighted), "th")
	}},
	{"firebreak_unpaired_total", counter, []string{"reason"}, "Attempts of which one end was not seen: no span of the provider, or of the consumer that the provider's names as its parent.", "2", func(v view, p put) {
		p.value(float64(v.NoConsumer), "no-consumer-span")
		p.value(float64(v.NoProvider), "no-provider-span")
	}},
	{"firebreak_state_bytes", gauge, []string{"store"}, "What is kept in memory: spans that wait, recent records, IDs of closed traces, raw lines of followed files. The runtime's own needs come on top.", "4", func(v view, p put) {
		for _, s := range v.Stores {
			p.value(float64(s.Bytes), s.Name)
		}
	}},
	{"firebreak_state_limit_bytes", gauge, []string{"store"}, "How much of that may be kept.", "4", func(v view, p put) {
		for _, s := range v.Stores {
			p.value(float64(s.Limit), s.Name)
		}
	}},
	{"firebreak_series_overflow_total", counter, []string{"table"}, "What was counted under " + live.Other + " because a table was full: calls of edges and methods, requests of entries, attempts of entries and callees, sources.", "5", func(v view, p put) {
		all := maps.Clone(v.Folded)
		if all == nil {
			all = map[string]int64{}
		}
		if n := v.Intake.SourcesFolded; n > 0 {
			all["sources"] = int64(n)
		}
		counts(all, p)
	}},
}
