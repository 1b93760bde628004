package deploy

// row is a heading of the dashboard and what stands under it.
type row struct {
	title  string
	panels []panel
}

// panel is one panel: what it shows, and how.
type panel struct {
	kind, title, about string
	width, height      int
	unit               string
	queries            []query
	limits             []float64 // from where on it is orange, and red; one is red
	none               string    // what stands where there is no series
	names              bool      // of a stat: the names of the series are what matters
	stacked            bool
	least              float64 // where the axis begins, if not at 0
}

type query struct{ expr, legend string }

const (
	chosen  = `{caller=~"$caller", callee=~"$callee"}`
	counted = `{caller=~"$caller", callee=~"$callee", reason=~"initial|retry|proxy"}`
	calls   = `sum by (caller, callee) (rate(firebreak_logical_calls_total` + chosen + `[$__rate_interval]))`
	edge    = `{{caller}} → {{callee}}`
)

// rows are the dashboard, from the question that is asked first to the last.
var rows = []row{
	{"Is it burning?", []panel{
		{
			kind: "stat", title: "Now", width: 8, height: 6, unit: "none", names: true, none: "nothing burns", limits: []float64{1},
			about:   "The links of the causal chains of firebreak's last report: what began it, what made it worse, what broke. firebreak attach shows the chain, its evidence and what to do first.",
			queries: []query{{`max by (label, role) (firebreak_incident_active)`, `{{role}}: {{label}}`}},
		},
		{
			kind: "stat", title: "Worst amplification", width: 4, height: 6, unit: "suffix:x", limits: []float64{1.1, 1.2}, none: "no calls",
			about:   "Attempts for each logical call of the edge that has most, of those above one call a second. 1.1 and 1.2 are common retry budgets.",
			queries: []query{{`max(sum by (caller, callee) (rate(firebreak_attempts_total` + counted + `[$__rate_interval])) / (` + calls + ` > 1))`, ""}},
		},
		{
			kind: "stat", title: "Worked for nobody", width: 4, height: 6, unit: "percentunit", limits: []float64{0.1, 0.2}, none: "no work",
			about:   "Share of the time of all callees that goes to callers that had given up, answers that were not used and calls that failed.",
			queries: []query{{`sum(rate(firebreak_wasted_server_seconds_total` + chosen + `[$__rate_interval])) / (sum(rate(firebreak_server_seconds_total` + chosen + `[$__rate_interval])) > 0)`, ""}},
		},
		{
			kind: "stat", title: "Calls that fail", width: 4, height: 6, unit: "percentunit", limits: []float64{0.01, 0.05}, none: "no calls",
			about:   "Share of the logical calls that fail after all their attempts.",
			queries: []query{{`sum(rate(firebreak_failed_logical_calls_total` + chosen + `[$__rate_interval])) / (sum(rate(firebreak_logical_calls_total` + chosen + `[$__rate_interval])) > 0)`, ""}},
		},
		{
			kind: "stat", title: "Age of the report", width: 4, height: 6, unit: "s", limits: []float64{60, 120}, none: "no report yet",
			about:   "How long ago firebreak concluded last. Without spans it makes no reports.",
			queries: []query{{`time() - max(firebreak_report_timestamp_seconds)`, ""}},
		},
		{
			kind: "state-timeline", title: "Chain", width: 16, height: 7, unit: "none", none: "nothing burns", limits: []float64{1},
			about:   "Which links the reports had, and when: the trigger should begin first.",
			queries: []query{{`max by (label, role) (firebreak_incident_active)`, `{{role}}: {{label}}`}},
		},
		{
			kind: "table", title: "Alerts that fire", width: 8, height: 7, unit: "none", none: "none",
			about:   "Of the rules in deploy/prometheus; docs/alerts.md says what each means.",
			queries: []query{{`ALERTS{alertname=~"Firebreak.*", alertstate="firing"}`, ""}},
		},
	}},
	{"Amplification by edge", []panel{
		{
			kind: "timeseries", title: "Attempts for each call", width: 12, height: 9, unit: "suffix:x", limits: []float64{1.1, 1.2}, least: 1,
			about:   "Attempts (first ones, retries, retries of proxies) by logical calls. 1 is no retries at all. Hedges and redirects do not count.",
			queries: []query{{`sum by (caller, callee) (rate(firebreak_attempts_total` + counted + `[$__rate_interval])) / (` + calls + ` > 0)`, edge}},
		},
		{
			kind: "timeseries", title: "Logical calls", width: 12, height: 9, unit: "reqps",
			about:   "What callers wanted done, however many attempts it took: the load of the business, without retries.",
			queries: []query{{calls, edge}},
		},
		{
			kind: "timeseries", title: "Attempts by reason", width: 8, height: 8, unit: "reqps", stacked: true,
			about:   "Why each attempt was made.",
			queries: []query{{`sum by (reason) (rate(firebreak_attempts_total` + chosen + `[$__rate_interval]))`, `{{reason}}`}},
		},
		{
			kind: "timeseries", title: "Failed attempts by error", width: 8, height: 8, unit: "reqps", stacked: true,
			about:   "How attempts fail. Timeouts whose work goes on, and refusals that are retried at once, feed a fire.",
			queries: []query{{`sum by (error) (rate(firebreak_failed_attempts_total` + chosen + `[$__rate_interval]))`, `{{error}}`}},
		},
		{
			kind: "timeseries", title: "Calls by fate", width: 8, height: 8, unit: "reqps", stacked: true,
			about:   "How logical calls end: at once, after a retry, or failed, by how. Each call is in one of them.",
			queries: []query{{`sum by (fate) (rate(firebreak_call_fates_total` + chosen + `[$__rate_interval]))`, `{{fate}}`}},
		},
		{
			kind: "heatmap", title: "Attempts that calls made", width: 8, height: 8, unit: "short",
			about:   "How many calls made so many attempts. A second dark band at the top is calls that use up all their retries.",
			queries: []query{{`sum by (le) (increase(firebreak_attempts_per_call_bucket` + chosen + `[$__rate_interval]))`, `{{le}}`}},
		},
		{
			kind: "timeseries", title: "Duration of attempts, 99 %", width: 8, height: 8, unit: "s",
			about:   "99 % of the attempts are at least that fast, as the caller saw them.",
			queries: []query{{`histogram_quantile(0.99, sum by (le, caller, callee) (rate(firebreak_attempt_duration_seconds_bucket` + chosen + `[$__rate_interval])))`, edge}},
		},
		{
			kind: "timeseries", title: "Delay before a retry, median", width: 8, height: 8, unit: "s",
			about:   "Time from the end of an attempt to the start of the next. Near zero: retried at once, without back-off.",
			queries: []query{{`histogram_quantile(0.5, sum by (le, caller, callee) (rate(firebreak_retry_delay_seconds_bucket` + chosen + `[$__rate_interval])))`, edge}},
		},
	}},
	{"Entries", []panel{
		{
			kind: "timeseries", title: "Requests from outside", width: 8, height: 8, unit: "reqps",
			about:   "The first calls of traces, by service and operation.",
			queries: []query{{`sum by (entry) (rate(firebreak_entry_requests_total[$__rate_interval]))`, `{{entry}}`}},
		},
		{
			kind: "timeseries", title: "Amplification a callee suffers", width: 8, height: 8, unit: "suffix:x", limits: []float64{1.2, 2}, least: 1,
			about:   "Attempts for each call that requests from outside want of it: the retries of all layers above it, multiplied. Two layers of three attempts are 9.",
			queries: []query{{`sum by (callee) (rate(firebreak_intended_attempts_total` + chosen + `[$__rate_interval])) / (sum by (callee) (rate(firebreak_intended_calls_total` + chosen + `[$__rate_interval])) > 0)`, `{{callee}}`}},
		},
		{
			kind: "timeseries", title: "The same, by entry", width: 8, height: 8, unit: "suffix:x", limits: []float64{1.2, 2}, least: 1,
			about:   "By where the requests came in that led to the attempts.",
			queries: []query{{`sum by (entry, callee) (rate(firebreak_entry_attempts_total{callee=~"$callee"}[$__rate_interval])) / (sum by (entry, callee) (rate(firebreak_entry_intended_calls_total{callee=~"$callee"}[$__rate_interval])) > 0)`, `{{entry}} → {{callee}}`}},
		},
		{
			kind: "timeseries", title: "Requests in which retries multiply", width: 12, height: 8, unit: "percentunit", limits: []float64{0.01},
			about:   "Share of the requests in which a call was retried inside an attempt of a retried call.",
			queries: []query{{`sum by (entry) (rate(firebreak_stacked_retries_total[$__rate_interval])) / (sum by (entry) (rate(firebreak_entry_requests_total[$__rate_interval])) > 0)`, `{{entry}}`}},
		},
		{
			kind: "timeseries", title: "Calls that are not sure", width: 12, height: 8, unit: "percentunit",
			about:   "Share of the calls of which it is inferred, or open, which attempts are theirs. Their spans lack what would tell: see docs/metrics.md.",
			queries: []query{{`sum by (caller, callee) (rate(firebreak_logical_calls_total{caller=~"$caller", callee=~"$callee", evidence!="exact"}[$__rate_interval])) / (` + calls + ` > 0)`, edge}},
		},
	}},
	{"Wasted time", []panel{
		{
			kind: "timeseries", title: "Share of the work that is for nobody", width: 8, height: 8, unit: "percentunit", limits: []float64{0.2},
			about:   "By callee. It works, but nobody waits for it any more.",
			queries: []query{{`sum by (callee) (rate(firebreak_wasted_server_seconds_total` + chosen + `[$__rate_interval])) / (sum by (callee) (rate(firebreak_server_seconds_total` + chosen + `[$__rate_interval])) > 0)`, `{{callee}}`}},
		},
		{
			kind: "timeseries", title: "Workers kept busy for nobody", width: 8, height: 8, unit: "short", stacked: true,
			about:   "Seconds a second, that is, workers: by whether the caller had given up, another answer was used or the call failed.",
			queries: []query{{`sum by (cause) (rate(firebreak_wasted_server_seconds_total` + chosen + `[$__rate_interval]))`, `{{cause}}`}},
		},
		{
			kind: "timeseries", title: "Orphaned attempts", width: 8, height: 8, unit: "reqps",
			about:   "Attempts at which the callee went on working after its caller had given up: timeouts shorter than the work takes.",
			queries: []query{{`sum by (caller, callee) (rate(firebreak_orphaned_attempts_total` + chosen + `[$__rate_interval]))`, edge}},
		},
	}},
	{"Pools", []panel{
		{
			kind: "bargauge", title: "Pools, how full", width: 8, height: 8, unit: "percentunit", limits: []float64{0.8, 1}, none: "no pool is known",
			about:   "Members in use by members there may be, of the last report. Known from logs and scraped endpoints.",
			queries: []query{{`max by (owner, pool) (firebreak_pool_members{state="active"}) / (max by (owner, pool) (firebreak_pool_members{state="max"}) > 0)`, `{{owner}} {{pool}}`}},
		},
		{
			kind: "timeseries", title: "In use", width: 8, height: 8, unit: "short",
			about:   "Workers or connections in use.",
			queries: []query{{`max by (owner, pool) (firebreak_pool_members{state="active"})`, `{{owner}} {{pool}}`}},
		},
		{
			kind: "timeseries", title: "Waiting", width: 8, height: 8, unit: "short",
			about:   "Tasks in the queue of a pool, and threads that wait for a connection.",
			queries: []query{{`max by (owner, pool, state) (firebreak_pool_members{state=~"queued|waiting"})`, `{{owner}} {{pool}} {{state}}`}},
		},
		{
			kind: "timeseries", title: "Rejections", width: 12, height: 8, unit: "reqps",
			about:   "Tasks that pools refused, and borrowers that gave up, as logs tell.",
			queries: []query{{`sum by (owner, pool) (rate(firebreak_pool_rejections_total[$__rate_interval]))`, `{{owner}} {{pool}}`}},
		},
		{
			kind: "timeseries", title: "Providers left, by stage of routing", width: 12, height: 8, unit: "short",
			about:   "Where routing leaves few providers or none, on the edge that has the fewest.",
			queries: []query{{`min by (stage) (firebreak_candidates)`, `{{stage}}`}},
		},
	}},
	{"firebreak itself", []panel{
		{
			kind: "timeseries", title: "Spans", width: 8, height: 8, unit: "reqps",
			about: "Taken in; refused for want of room (senders try again); too late to be counted; not countable.",
			queries: []query{
				{`sum(rate(firebreak_spans_received_total[$__rate_interval]))`, "received"},
				{`sum(rate(firebreak_spans_refused_total[$__rate_interval]))`, "refused"},
				{`sum(rate(firebreak_spans_late_total[$__rate_interval]))`, "late"},
				{`sum by (reason) (rate(firebreak_spans_lost_total[$__rate_interval]))`, "lost: {{reason}}"},
			},
		},
		{
			kind: "timeseries", title: "Room for waiting spans, taken", width: 8, height: 8, unit: "percentunit", limits: []float64{0.7, 0.85},
			about:   "Past 70 % traces are counted early, at 100 % spans are refused.",
			queries: []query{{`firebreak_spans_held / firebreak_spans_limit`, `{{instance}}`}},
		},
		{
			kind: "timeseries", title: "Traces counted, by why then", width: 8, height: 8, unit: "reqps", stacked: true,
			about:   "quiet: nothing came any more. aged: it went on too long. evicted: for want of room. shutdown: it was stopped.",
			queries: []query{{`sum by (reason) (rate(firebreak_traces_finalized_total[$__rate_interval]))`, `{{reason}}`}},
		},
		{
			kind: "timeseries", title: "Making a report", width: 8, height: 8, unit: "s",
			about:   "How long the last report took.",
			queries: []query{{`firebreak_report_build_seconds`, `{{instance}}`}},
		},
		{
			kind: "timeseries", title: "Share of recent traces in reports", width: 8, height: 8, unit: "percentunit",
			about:   "Reports are made of a share of the traces where more came than fit; counters count all.",
			queries: []query{{`firebreak_report_share_ratio`, `{{instance}}`}},
		},
		{
			kind: "timeseries", title: "Memory", width: 4, height: 8, unit: "bytes",
			about:   "Resident memory of the process.",
			queries: []query{{`process_resident_memory_bytes{job="firebreak"}`, `{{instance}}`}},
		},
		{
			kind: "timeseries", title: "CPU", width: 4, height: 8, unit: "short",
			about:   "Cores in use.",
			queries: []query{{`rate(process_cpu_seconds_total{job="firebreak"}[$__rate_interval])`, `{{instance}}`}},
		},
		{
			kind: "timeseries", title: "Counted under another name", width: 8, height: 8, unit: "reqps",
			about:   "Calls under __other__, as there are more edges, or methods of one, than are told apart.",
			queries: []query{{`sum by (table) (rate(firebreak_calls_folded_total[$__rate_interval]))`, `{{table}}`}},
		},
		{
			kind: "timeseries", title: "Records of logs, dumps and endpoints", width: 8, height: 8, unit: "cps",
			about: "Read, by format; skipped, as they could not be understood; log records that came by OTLP.",
			queries: []query{
				{`sum by (format) (rate(firebreak_records_total[$__rate_interval]))`, "{{format}}"},
				{`sum by (format, reason) (rate(firebreak_skipped_total[$__rate_interval]))`, "skipped: {{format}}, {{reason}}"},
				{`sum(rate(firebreak_log_records_received_total[$__rate_interval]))`, "OTLP"},
			},
		},
		{
			kind: "timeseries", title: "Sources behind", width: 8, height: 8, unit: "s", limits: []float64{60},
			about:   "How long ago what is not read yet was written.",
			queries: []query{{`firebreak_source_lag_seconds`, `{{source}}`}},
		},
		{
			kind: "table", title: "Sources that cannot be read", width: 12, height: 7, unit: "none", none: "none",
			about:   "Followed files, dump folders and endpoints of firebreak.yaml.",
			queries: []query{{`firebreak_source_up == 0`, ""}},
		},
		{
			kind: "stat", title: "Incidents kept", width: 4, height: 7, unit: "short", none: "not kept",
			about:   "Bundles of evidence, which firebreak triage opens anywhere.",
			queries: []query{{`sum(firebreak_bundles)`, ""}},
		},
		{
			kind: "stat", title: "Bundles that failed", width: 4, height: 7, unit: "short", limits: []float64{1}, none: "none",
			about:   "Evidence that could not be written, in the time that is shown.",
			queries: []query{{`sum(increase(firebreak_bundles_failed_total[$__range]))`, ""}},
		},
		{
			kind: "timeseries", title: "Requests refused", width: 4, height: 7, unit: "reqps",
			about:   "Whole requests of senders, by reason.",
			queries: []query{{`sum by (reason) (rate(firebreak_requests_refused_total[$__rate_interval]))`, `{{reason}}`}},
		},
	}},
}
