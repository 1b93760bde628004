package correlate

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// AddSource tells the engine about an input that has been read, or could not be.
func (e *Engine) AddSource(s incident.Source) { e.sources = append(e.sources, s) }

// Exclude tells the engine that n records lay outside the window that the user
// asked for. If none with a time is left, what remains cannot be judged: it
// may be of any time.
func (e *Engine) Exclude(n int) { e.excluded += n }

// outside reports whether the window left out everything that has a time.
func (e *Engine) outside() bool { return e.excluded > 0 && e.timed == 0 }

// readLogs reports whether a source was read whose silence says something: a log
// of the application or the database. A plan or a list of sessions that shows no
// trouble does not say that there was none.
func (e *Engine) readLogs() bool {
	for _, s := range e.sources {
		for _, f := range strings.Split(s.Format, ", ") {
			if strings.HasSuffix(f, "log") && s.Bytes > 0 {
				return true
			}
		}
	}
	return false
}

// readInVain reports whether a source held text that was no log and of which
// nothing was understood: what it says may be the trouble.
func (e *Engine) readInVain() bool {
	for _, s := range e.sources {
		if s.Bytes > 0 && s.Records == 0 && s.Format == "text" {
			return true
		}
	}
	return false
}

// servedWell reports whether spans or access logs show requests that nearly all
// ended well.
func (e *Engine) servedWell() bool {
	var served, failed int64
	for _, x := range e.accounts() {
		for k, n := range x.Outcomes {
			served += n
			switch k {
			case evidence.Failed, evidence.Timeout, evidence.Rejected, evidence.NoProvider, evidence.Late, evidence.Unreachable:
				failed += n
			}
		}
	}
	return served >= manyCalls && failed*100 < served
}

// Report concludes from what has been added. It is a fresh value; the engine
// keeps no hold on it. Walks and actions are left to the runbooks.
func (e *Engine) Report() *incident.Report {
	e.settle()
	whole := &inquiry{e: e}
	whole.gather()
	incidents, findings := []incident.Incident{}, whole.findings
	if several := e.severalIncidents(); len(several) > 0 {
		incidents, findings = nil, nil
		for _, q := range several {
			incidents = append(incidents, q.verdict)
			findings = append(findings, q.findings...)
		}
	} else {
		incidents = append(incidents, whole.conclude())
	}
	r := &incident.Report{
		Schema: incident.Schema, Tool: incident.Tool{Version: cmp.Or(e.cfg.Version, "devel")},
		Window:    e.span.window(),
		Incidents: incidents,
		Findings:  append([]incident.Finding{}, findings...),
		Edges:     slices.Concat(whole.accountEdges(), whole.counterEdges(), whole.edges()), Paths: whole.paths(), Traces: whole.traces(), Pools: whole.pools(), Stacks: whole.stacks(), SQL: whole.fingerprints(), Timeline: whole.timeline(),
		Sources: e.sortedSources(),
	}
	if said := e.sampling(); len(said) > 0 {
		r.Sources = append(r.Sources, incident.Source{Path: "(spans)", Records: int(e.book.Spans), Problems: said})
	}
	r.Sources = append(r.Sources, e.sayShards()...)
	if n := e.lost + e.shapes.lost; n > 0 {
		r.Sources = append(r.Sources, incident.Source{Path: "(engine)", Problems: []string{lang.Sprintf("%d observations were dropped because a store was full", n)}, Skipped: n})
	}
	return r
}

// sampling says what the counts of spans leave out or weigh.
func (e *Engine) sampling() []string {
	var said []string
	if e.book == nil || e.book.Spans == 0 {
		return nil
	}
	b := e.book
	if b.Share < 1 {
		said = append(said, lang.Sprintf("one trace in %d was kept to bound memory, chosen by its ID: shares hold, counts are of those", int(1/b.Share+0.5)))
	}
	switch {
	case b.Weighted > 0 && b.Unweighted > 0:
		said = append(said, lang.Sprintf("%d calls state how they were sampled, %d do not: their counts mix", b.Weighted, b.Unweighted))
	case b.Weighted > 0:
		said = append(said, lang.T("calls and attempts are weighted by how their traces were sampled; how they ended is counted as seen"))
	}
	if s := e.collapsed(); s != "" {
		said = append(said, s)
	}
	unsent := 0
	for _, r := range e.routes {
		unsent += r.empty.count
	}
	if unsent > 0 {
		said = append(said, lang.Sprintf("calls that found no provider were never sent and have no span: logs tell of %d, spans count the others", unsent))
	}
	for _, l := range []ledger.Loss{ledger.LostParent, ledger.LostHuge, ledger.LostNames, ledger.LostEdges} {
		if n := b.Losses[l]; n > 0 && n*50 >= b.Spans {
			said = append(said, lang.Sprintf("%d times: %s", n, lang.T(string(l))))
		}
	}
	return said
}

// severalIncidents concludes for each scope of the evidence and returns those
// that are incidents, if there is more than one kind or time or if setting
// calm parts aside left one; nil if the evidence is one.
func (e *Engine) severalIncidents() []*inquiry {
	var list []*inquiry
	next := 0
	for _, s := range e.scopes() {
		q := &inquiry{e: s, base: next}
		q.gather()
		q.verdict = q.conclude()
		if q.verdict.Label == incident.Healthy || q.verdict.Label == incident.Inconclusive {
			continue
		}
		next += len(q.findings)
		list = append(list, q)
	}
	list = withoutLeads(list)
	if len(list) < 2 {
		return nil
	}
	// One cause that shows at several services at once is one incident.
	for i, a := range list {
		for _, b := range list[:i] {
			sameTime := !a.signal.first.After(b.signal.last.Add(quietGap)) && !b.signal.first.After(a.signal.last.Add(quietGap))
			if sameTime && (a.verdict.Label == b.verdict.Label || a.statement != nil && b.statement != nil && a.statement.fingerprint == b.statement.fingerprint) {
				return nil
			}
		}
	}
	return list
}

// withoutLeads leaves out what is hardly an incident beside one that is, within
// its time: a few signs of low certainty, or something by itself, as a pause in
// a process whose callers suffer from what the other incident shows.
func withoutLeads(list []*inquiry) []*inquiry {
	all := slices.Clone(list)
	return slices.DeleteFunc(list, func(a *inquiry) bool {
		alone := len(a.verdict.Chain) < 2 && a.verdict.Label == incident.GCPause
		if a.verdict.Certainty != incident.Low && !alone {
			return false
		}
		return slices.ContainsFunc(all, func(b *inquiry) bool {
			if a == b || b.verdict.Certainty == incident.Low || alone && len(b.verdict.Chain) < 2 && b.workers == nil {
				return false
			}
			return !a.signal.first.After(b.signal.last.Add(orderSlack)) && !b.signal.first.After(a.signal.last.Add(orderSlack))
		})
	})
}

func ptr[T any](v T) *T { return &v }

// known returns a pointer to n, or nil for None.
func known(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

func (q *inquiry) edges() []incident.Edge {
	list := []incident.Edge{}
	for _, x := range q.e.sortedEdges() {
		if len(list) >= 50 {
			break
		}
		if x.trouble() == 0 && x.calls == 0 {
			continue
		}
		o := incident.Edge{Consumer: x.key.consumer, Service: x.key.service, Method: x.key.method, Basis: "logs", Scope: "failed-calls", Outcomes: map[string]int64{}}
		if x.calls > 0 {
			o.Calls, o.Attempts, o.Amplification = ptr(x.calls), ptr(x.attempts), ptr(round(x.amplification(), 2))
			o.ByAttempts = map[string]int64{}
			for n, c := range x.by {
				o.ByAttempts[strconv.Itoa(n)] = c
			}
		}
		if x.ceiling > 0 {
			o.Ceiling = ptr(x.ceiling)
		} else if p := q.e.policy[x.key.service+"."+x.key.method]; p != nil && p.retries >= 0 {
			o.Ceiling = ptr(p.retries + 1)
		}
		if x.timeout > 0 {
			o.TimeoutMS = ptr(x.timeout.Milliseconds())
		}
		for name, n := range map[string]int{
			"timeout": x.timeouts.count + x.last[evidence.Timeout], "rejected": x.rejected.count + x.limited.count + x.last[evidence.Rejected], "late": x.late.count,
			"unreachable": x.unreach.count + x.last[evidence.Unreachable], "failed": x.failed.count + x.last[evidence.Failed],
			"retried-ok": x.succeeded.count, "exhausted": x.exhausted.count,
		} {
			if n > 0 {
				o.Outcomes[name] = int64(n)
			}
		}
		o.Candidates = q.candidates(x)
		var s sighting
		for _, part := range []*sighting{&x.exhausted, &x.timeouts, &x.rejected, &x.limited, &x.late, &x.succeeded, &x.once, &x.unreach, &x.failed, &x.providerSlow} {
			for _, c := range part.cites {
				s.citeAt(c)
			}
		}
		o.Citations = s.citations()
		list = append(list, o)
	}
	return list
}

// candidates lists what was left by stage: from router snapshots of the
// service, then from (P/Q).
func (q *inquiry) candidates(x *edge) []incident.Stage {
	var list []incident.Stage
	if r := q.e.routes[x.key.service]; r != nil {
		for _, s := range r.stages {
			list = append(list, incident.Stage{Stage: s.Name, Count: s.Count})
		}
	}
	least := -1
	for n := range x.candidates {
		if least < 0 || n < least {
			least = n
		}
	}
	if least >= 0 && !slices.ContainsFunc(list, func(s incident.Stage) bool { return s.Stage == "after-route" }) {
		list = append(list, incident.Stage{Stage: "after-route", Count: least})
	}
	tried := -1
	for n := range x.tried {
		tried = max(tried, n)
	}
	if tried >= 0 {
		list = append(list, incident.Stage{Stage: "tried", Count: tried})
	}
	return list
}

func (q *inquiry) pools() []incident.Pool {
	list := []incident.Pool{}
	seen := map[string]int{}
	for _, p := range q.e.sortedPools() {
		if len(list) >= 50 {
			break
		}
		o := incident.Pool{
			Name: p.display(), Kind: p.kind.String(), Owner: p.owner, Max: known(p.max), Active: known(p.active), Idle: known(p.idle), Queued: known(p.queued), Waiting: known(p.waiting),
			Citations: citeUnion(4, []evidence.Citation{p.worst.cite}, p.seen.citations()),
		}
		if p.kind == evidence.PoolUnknown {
			o.Kind = "thread"
		}
		if n := p.rejections().count; n > 0 {
			o.Rejected = ptr(int64(n))
		}
		if rate, hold, ok := p.rate(); ok {
			o.CompletedPerSecond = ptr(round(rate, 1))
			if rate > 0 {
				o.HoldSeconds = ptr(round(hold, 3))
			}
		}
		for _, f := range q.of(incident.PoolFrozen, incident.PoolSlow, incident.PoolTooSmall) {
			if f.Subject == p.display() {
				o.Diagnosis = map[incident.Kind]string{incident.PoolFrozen: "frozen", incident.PoolSlow: "slow", incident.PoolTooSmall: "too-small"}[f.Kind]
			}
		}
		if p.shutdown.count > 0 && p.rejections().count == 0 {
			o.Diagnosis = "shutting-down"
		}
		seen[o.Name] = len(list)
		list = append(list, o)
	}
	for _, p := range q.e.shapes.sortedPools() {
		c := p.counts[p.busiest()]
		kinds := map[string]int{}
		for k, n := range c.kinds {
			kinds[string(k)] = n
		}
		if i, ok := seen[p.id.pool]; ok {
			list[i].ByWaitKind = kinds
			if list[i].Idle == nil && list[i].Max != nil && c.total >= *list[i].Max {
				list[i].Idle = ptr(c.idle) // only where the dump shows the whole pool
			}
			list[i].Citations = citeUnion(5, list[i].Citations, q.poolCites(p))
			continue
		}
		if !requestPool(p.id.pool) && c.busy() < 20 || len(list) >= 60 {
			continue
		}
		seen[p.id.pool] = len(list)
		list = append(list, incident.Pool{Name: p.id.pool, Kind: "thread", Active: ptr(c.busy()), Idle: ptr(c.idle), ByWaitKind: kinds, Citations: q.poolCites(p)})
	}
	return list
}

func (q *inquiry) stacks() []incident.StackGroup {
	list := []incident.StackGroup{}
	idle := 0
	for _, g := range q.e.shapes.sortedGroups() {
		if len(list) >= 60 {
			break
		}
		v := &g.key.shape.verdict
		if v.kind == incident.WaitIdle {
			if !requestPool(g.key.pool.pool) || idle >= 5 {
				continue
			}
			idle++
		}
		o := incident.StackGroup{
			Pool: g.key.pool.pool, Threads: g.most(), State: g.key.shape.state.String(), WaitKind: v.kind, AppFrame: frameName(v.app), Dumps: len(g.counts),
			Top: topFrames(g.key.shape), Lock: top(g.locks), Citations: g.citations(),
		}
		if o.State == "UNKNOWN" {
			o.State = ""
		}
		list = append(list, o)
	}
	return list
}

// topFrames shows a shape: its first frames, the deciding one, and the user's
// own.
func topFrames(s *shape) []string {
	list := []string{}
	for i, f := range s.frames {
		if i < 4 || f.Func == s.verdict.decided || f == s.verdict.app || f == s.verdict.entry {
			if name := f.Func; !slices.Contains(list, name) && len(list) < 8 {
				list = append(list, name)
			}
		}
	}
	return list
}

func (q *inquiry) fingerprints() []incident.Fingerprint {
	list := []incident.Fingerprint{}
	for _, s := range q.e.sortedSQL() {
		if len(list) >= 30 {
			break
		}
		o := incident.Fingerprint{Fingerprint: clip(s.fingerprint, 2000), Table: s.table}
		if s.seen.count > 0 {
			o.Count = ptr(int64(s.seen.count))
			if s.longest > 0 || len(s.histogram.counts) > 0 {
				o.TotalSeconds, o.MaxSeconds, o.P95Seconds = ptr(round(s.total.Seconds(), 3)), ptr(round(s.longest.Seconds(), 3)), ptr(round(s.p95(), 3))
			}
		}
		if n := max(s.rowsMax, s.scanRows); n >= 0 {
			o.RowsExamined = ptr(n)
		}
		if s.fullScan == evidence.Yes {
			o.FullScan = ptr(true)
		} else if s.fullScan == evidence.No {
			o.FullScan = ptr(false)
		}
		var cites sighting
		for _, part := range []*sighting{&s.slow, &s.seen, &s.waits, &s.metaWaits, &s.deadlocks} {
			for _, c := range part.cites {
				cites.citeAt(c)
			}
		}
		if p := s.peak(); p.sessions > 0 {
			o.RunningNow = ptr(p.sessions)
			cites.citeAt(p.at)
		}
		if n := s.waits.count; n > 0 {
			o.LockWaits = ptr(n)
		}
		for _, at := range []cited{s.scanSeen, s.scanAt} {
			if at.cite.Source != "" {
				cites.citeAt(at)
			}
		}
		if s == q.statement && q.hot != "" && len(q.of(incident.StackDBRead)) > 0 {
			threads := first(q.of(incident.StackDBRead))
			o.Method, o.DAOFrame = q.hot, threads.Names["app_frame"]
			for _, c := range threads.Citations[:min(1, len(threads.Citations))] {
				cites.citeAt(cited{cite: c})
			}
		}
		o.Citations = cites.citations()
		list = append(list, o)
	}
	return list
}

// timeline draws the signals that have times on one axis of at most 120 points.
func (q *inquiry) timeline() []incident.Series {
	type signal struct {
		name string
		s    sighting
	}
	signals := []signal{{name: lang.Mark("rejections")}, {name: lang.Mark("timeouts")}, {name: lang.Mark("calls that exhausted their retries")}, {name: lang.Mark("answers after the timeout")}, {name: lang.Mark("statements of 1 s or more")}, {name: lang.Mark("connection pool timeouts")}, {name: lang.Mark("calls without a provider")}}
	for _, p := range q.e.pools {
		if p.kind == evidence.ConnectionPool {
			signals[5].s.merge(p.rejections())
		} else {
			signals[0].s.merge(p.rejections())
		}
	}
	for _, x := range q.e.edges {
		signals[1].s.merge(&x.timeouts)
		signals[2].s.merge(&x.exhausted)
		signals[3].s.merge(&x.late)
	}
	for _, s := range q.e.sql {
		signals[4].s.merge(&s.slow)
	}
	for _, r := range q.e.routes {
		signals[6].s.merge(&r.empty)
	}
	var window span
	for _, s := range signals {
		window.add(s.s.span.first)
		window.add(s.s.span.last)
	}
	list := []incident.Series{}
	if window.first.IsZero() {
		return list
	}
	width := bucketSize
	for window.last.Sub(window.first)/width > 120 {
		width *= 2
	}
	for _, s := range signals {
		if len(s.s.buckets) == 0 {
			continue
		}
		sums := map[int64]int{}
		for b, n := range s.s.buckets {
			sums[b*int64(bucketSize)/int64(width)] += n
		}
		out := incident.Series{Signal: s.name, Unit: "1/s", Onset: s.s.span.first, Points: []incident.Point{}}
		for b := window.first.UnixNano() / int64(width); b <= window.last.UnixNano()/int64(width); b++ {
			out.Points = append(out.Points, incident.Point{At: time.Unix(0, b*int64(width)).UTC(), Value: significant(float64(sums[b]) / width.Seconds())})
		}
		list = append(list, out)
	}
	return list
}

func (e *Engine) sortedSources() []incident.Source {
	list := append([]incident.Source{}, e.sources...)
	slices.SortStableFunc(list, func(a, b incident.Source) int { return strings.Compare(a.Path, b.Path) })
	return list
}
