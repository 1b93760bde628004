package correlate

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// inquiry turns what an engine has gathered into findings, and findings into a
// verdict. One inquiry makes one incident.
type inquiry struct {
	e        *Engine
	findings []incident.Finding

	workers   *pool        // the worker pool in most trouble
	threads   *dumpPool    // the request pool that dumps show busiest
	edge      *edge        // the edge whose calls fail most
	account   *ledger.Edge // the edge amplified most, by spans or access logs
	statement *statement
	convoy    *convoy
	conn      *pool // the connection pool in most trouble
	route     *route
	hot       string // service method that holds most of the workers, "Class.method"

	turned       map[string]bool // findings of calls that were turned away, not failed
	aside        map[string]bool // titles of edges that are retried beside the incident
	strange      map[string]bool // titles of all edges that have nothing to do with it, where others have
	steadyErrors bool            // errors that nothing explains come as they always do
	unsaid       bool            // most of all calls were not answered as asked

	signal  span // when trouble was seen
	base    int  // findings of other inquiries in the same report
	verdict incident.Incident
}

// find adds a finding and returns its ID.
func (q *inquiry) find(kind incident.Kind, subject, text string, s *sighting, values map[string]float64, names map[string]string) string {
	return q.findCited(kind, subject, text, s.count, s.span, s.citations(), values, names)
}

func (q *inquiry) findCited(kind incident.Kind, subject, text string, count int, sp span, cites []evidence.Citation, values map[string]float64, names map[string]string) string {
	id := "f" + strconv.Itoa(q.base+len(q.findings)+1)
	q.findings = append(q.findings, incident.Finding{
		ID: id, Kind: kind, Subject: subject, Text: text, Values: values, Names: names,
		First: sp.first, Last: sp.last, Count: count, Citations: cites,
	})
	return id
}

// of returns the findings of the given kinds.
func (q *inquiry) of(kinds ...incident.Kind) []incident.Finding {
	var list []incident.Finding
	for _, f := range q.findings {
		if slices.Contains(kinds, f.Kind) {
			list = append(list, f)
		}
	}
	return list
}

func (q *inquiry) has(kinds ...incident.Kind) bool { return len(q.of(kinds...)) > 0 }

// ids returns the IDs of the findings of the given kinds, at most six.
func (q *inquiry) ids(kinds ...incident.Kind) []string {
	var list []string
	for _, f := range q.of(kinds...) {
		if len(list) < 6 {
			list = append(list, f.ID)
		}
	}
	return list
}

// since returns the earliest time of the findings of the given kinds.
func (q *inquiry) since(kinds ...incident.Kind) time.Time {
	var s span
	for _, f := range q.of(kinds...) {
		s.add(f.First)
	}
	return s.first
}

// gather makes all findings. If some edges turn out to have nothing to do with
// what burns, all are made once more with that known.
func (q *inquiry) gather() {
	q.look()
	if aside, strange := q.bystanders(); len(aside) > 0 || q.edge != nil && strange[q.edge.title()] {
		*q = inquiry{e: q.e, base: q.base, aside: aside, strange: strange}
		q.look()
	} else {
		q.strange = strange
	}
	if q.logsTellMore() {
		q.account = nil
	}
	var all span
	for _, f := range q.findings {
		if calm[f.Kind] {
			continue
		}
		all.add(f.First)
		all.add(f.Last)
		if !q.aside[f.Subject] && !q.strange[f.Subject] {
			q.signal.add(f.First)
			q.signal.add(f.Last)
		}
	}
	if q.signal.first.IsZero() {
		q.signal = all
	}
}

func (q *inquiry) look() {
	q.poolFindings()
	q.accountFindings()
	q.counterFindings()
	q.callFindings()
	q.stackFindings()
	q.sqlFindings()
	q.routeFindings()
	q.runtimeFindings()
	q.crossFindings()
}

// calm are kinds of findings that are no trouble.
var calm = map[incident.Kind]bool{
	incident.PoolIdle: true, incident.PoolShutdown: true, incident.StackIdle: true, incident.GCQuiet: true, incident.CPUFree: true, incident.SQLFast: true,
	incident.ProbeFast: true, incident.RouteWide: true, incident.RetryNone: true, incident.Deployed: true, incident.AppErrors: true, incident.DumpStale: true, incident.DumpCut: true, incident.DumpPartial: true,
	incident.RetrySucceeded: true, incident.TimeDB: true, incident.TimeDownstream: true, incident.TimeOwn: true,
}

// --- pools

func (q *inquiry) poolFindings() {
	listed := 0
	for _, p := range q.e.sortedPools() {
		if listed >= 40 {
			break
		}
		before := len(q.findings)
		if p.kind == evidence.ConnectionPool {
			q.connectionPool(p)
		} else {
			q.workerPool(p)
		}
		if len(q.findings) > before {
			listed++
		}
	}
}

func poolValues(p *pool) map[string]float64 {
	v := map[string]float64{}
	for name, n := range map[string]int{"pool.max": p.max, "pool.active": p.active, "pool.idle": p.idle, "pool.queued": p.queued, "pool.waiting": p.waiting} {
		if n >= 0 {
			v[name] = float64(n)
		}
	}
	if r := p.rejections(); r.count > 0 {
		v["pool.rejected"] = float64(r.count)
	}
	return v
}

// fill says "200 of 200 workers active, 0 queued".
func (p *pool) fill(word string) string {
	var parts []string
	word = lang.T(word)
	switch {
	case p.active >= 0 && p.max > 0:
		parts = append(parts, lang.Sprintf("%d of %d %s active", p.active, p.max, word))
	case p.active >= 0:
		parts = append(parts, lang.Sprintf("%d %s active", p.active, word))
	}
	if p.queued >= 0 {
		parts = append(parts, lang.Sprintf("%d queued", p.queued))
	}
	if p.waiting > 0 {
		parts = append(parts, lang.Sprintf("%d waiting", p.waiting))
	}
	return lang.Join(parts)
}

func (q *inquiry) workerPool(p *pool) {
	names := map[string]string{"pool": p.display(), "owner": p.owner, "service": p.place.Service}
	values := poolValues(p)
	own, told := p.rejected.count, p.relayed.count
	rej := p.rejections()
	switch {
	case p.shutdown.count > 0 && rej.count == 0:
		q.find(incident.PoolShutdown, p.display(), lang.Sprintf("%s refused %s while it was shutting down: not a sign of load", p.display(), plural(p.shutdown.count, "task")), &p.shutdown, nil, names)
	case rej.count > 0 && p.burst.count*2 > rej.count:
		q.find(incident.PoolBurst, p.display(), lang.Sprintf("%s refused %s though only %s: a burst outran idle workers, the pool was not full", p.display(), plural(rej.count, "request"), p.fill("workers")), rej, values, names)
	case own > 0:
		text := lang.Sprintf("%s is exhausted: %s refused", p.display(), plural(own, "request"))
		if f := p.fill("workers"); f != "" {
			text = lang.Join([]string{text, f})
		}
		q.find(incident.PoolExhausted, p.display(), text, &p.rejected, values, names)
		if q.workers == nil {
			q.workers = p
		}
	}
	if told > 0 && p.burst.count*2 <= rej.count {
		text := lang.Sprintf("callers were told %s that %s is full", times(told), p.display())
		if f := p.fill("workers"); f != "" && own == 0 {
			text = lang.Sprintf("%s: %s", text, f)
		}
		q.find(incident.PoolRejected, p.display(), text, &p.relayed, values, names)
		if q.workers == nil {
			q.workers = p
		}
	}
	if rej.count == 0 && p.full.count > 0 && p.max >= 5 {
		q.find(incident.PoolBusy, p.display(), lang.Sprintf("%s has no free worker: %s", p.display(), p.fill("workers")), &p.full, values, names)
		if q.workers == nil {
			q.workers = p
		}
	} else if rej.count == 0 && p.calm.count > 0 && p.full.count == 0 {
		q.find(incident.PoolIdle, p.display(), lang.Sprintf("%s has room: %s", p.display(), p.fill("workers")), &p.calm, values, names)
	}
	if rej.count > 0 && p.burst.count*2 <= rej.count {
		q.progressFinding(p, names)
	}
}

// progressFinding tells frozen, slow and too small apart by what the pool
// completed between two refusals.
func (q *inquiry) progressFinding(p *pool, names map[string]string) {
	rate, hold, ok := p.rate()
	if !ok {
		return
	}
	sp := span{p.first.at, p.last.at}
	cites := []evidence.Citation{p.first.cite, p.last.cite}
	values := map[string]float64{"pool.completed_per_s": round(rate, 1), "window_s": round(sp.seconds(), 1)}
	done := p.last.completed - p.first.completed
	switch {
	case rate == 0:
		if sp.seconds() >= 3 {
			q.findCited(incident.PoolFrozen, p.display(), lang.Sprintf("%s completed nothing in %s: every worker is stuck", p.display(), seconds(sp.seconds())), 0, sp, cites, values, names)
		}
	case done < int64(max(1, p.active))/2 && sp.seconds() < 60:
		q.findCited(incident.PoolSlow, p.display(), lang.Sprintf("%s completed only %s in %s", p.display(), plural(int(done), "task"), seconds(sp.seconds())), 0, sp, cites, values, names)
	default:
		values["pool.hold_s"] = round(hold, 3)
		text := lang.Sprintf("%s completed %d tasks in %s, %.0f/s: each holds its worker %s (Little's law)", p.display(), done, seconds(sp.seconds()), rate, seconds(hold))
		kind := incident.PoolSlow
		if hold < 0.2 {
			kind = incident.PoolTooSmall
			text += lang.T("; tasks are short, more arrive than it has workers for")
		}
		q.findCited(kind, p.display(), text, 0, sp, cites, values, names)
	}
}

func (q *inquiry) connectionPool(p *pool) {
	names := map[string]string{"pool": p.display(), "resource": p.resource, "service": p.place.Service}
	values := poolValues(p)
	what := lang.T("connection pool")
	switch p.resource {
	case "db":
		what = lang.T("database connection pool")
	case "redis":
		what = lang.T("Redis connection pool")
	case "http":
		what = lang.T("HTTP connection pool")
	}
	rej := p.rejections()
	if p.waited > 0 {
		values["pool.waited_s"] = round(p.waited.Seconds(), 3)
	}
	if rej.count > 0 {
		text := lang.Sprintf("%s %s is exhausted: %s gave up waiting", what, p.display(), plural(rej.count, "borrower"))
		if p.max > 0 && p.active >= 0 && p.active*10 < p.max*9 {
			text = lang.Sprintf("%s of %s %s gave up waiting though it was not full: connections cannot be opened fast enough, or its lock is contended", plural(rej.count, "borrower"), what, p.display())
		}
		if p.waited > 0 {
			text += lang.Sprintf(" (up to %s)", seconds(p.waited.Seconds()))
		}
		if f := p.fill("connections"); f != "" {
			text = lang.Join([]string{text, f})
		}
		q.find(incident.ConnExhausted, p.display(), text, rej, values, names)
		if q.conn == nil {
			q.conn = p
		}
	}
	if rej.count == 0 && p.waits.count >= someCalls {
		q.find(incident.ConnExhausted, p.display(), lang.Sprintf("%s waited up to %s for a connection of %s %s", plural(p.waits.count, "borrower"), seconds(p.waited.Seconds()), what, p.display()), &p.waits, values, names)
	}
	if p.unreachable.count > 0 {
		q.find(incident.ConnUnreachable, p.display(), lang.Sprintf("what is behind %s %s cannot be reached (%s)", what, p.display(), times(p.unreachable.count)), &p.unreachable, nil, names)
	}
	if p.leak.count > 0 {
		q.find(incident.ConnLeak, p.display(), lang.Sprintf("borrowers of %s keep their connections, a leak (reported %s)", p.display(), times(p.leak.count)), &p.leak, nil, names)
	}
}

// --- words and numbers

func plural(n int, noun string) string {
	many := noun + "s"
	if stem := strings.TrimSuffix(noun, "y"); stem != noun && !strings.ContainsAny(stem[max(0, len(stem)-1):], "aeiou") {
		many = stem + "ies"
	}
	return lang.Plural(int64(n), strconv.Itoa(n), noun, many)
}

func times(n int) string {
	switch n {
	case 1:
		return lang.T("once")
	case 2:
		return lang.T("twice")
	}
	return lang.Sprintf("%d times", n)
}

// seconds prints a duration the way people say it: 4 ms, 0.9 s, 3.1 s, 2 min.
func seconds(s float64) string {
	switch {
	case s < 0.0995:
		return strconv.FormatFloat(round(s*1000, 0), 'f', -1, 64) + " ms"
	case s < 120:
		return strconv.FormatFloat(round(s, 1), 'f', -1, 64) + " s"
	case s < 7200:
		return strconv.FormatFloat(round(s/60, 0), 'f', -1, 64) + " min"
	}
	return strconv.FormatFloat(round(s/3600, 1), 'f', -1, 64) + " h"
}

func round(x float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(x*p) / p
}

// significant keeps three digits of a number of any size.
func significant(x float64) float64 {
	if x == 0 {
		return 0
	}
	return round(x, 2-int(math.Floor(math.Log10(math.Abs(x)))))
}

// human prints a large count with a unit: 2.48 M, 18 k, 950.
func human(n int64) string {
	switch {
	case n >= 1_000_000:
		return strconv.FormatFloat(round(float64(n)/1e6, 2), 'f', -1, 64) + " M"
	case n >= 10_000:
		return strconv.FormatFloat(round(float64(n)/1e3, 0), 'f', -1, 64) + " k"
	}
	return strconv.FormatInt(n, 10)
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	cut := string(r[:n-1])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)*2/3 {
		cut = strings.TrimRight(cut[:i], " ,;:") // never within a number or a name
	}
	return cut + "…"
}
