package correlate

import (
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// crossFindings join what different kinds of evidence say: which method holds
// the pool, who is refused because of it, and what those do who hold the
// connections that others wait for.
func (q *inquiry) crossFindings() {
	q.hotMethod()
	q.sharedLoss()
	q.connectionHolders()
	q.sustainedFinding()
}

// hotMethod is the service method that most busy workers are in.
func (q *inquiry) hotMethod() {
	p := q.threads
	if p == nil {
		return
	}
	c := p.counts[p.busiest()]
	fn := top(c.methods)
	n := c.methods[fn]
	if n < fewThreads || n*2 < c.busy() {
		return
	}
	class, method := splitFunc(fn)
	q.hot = joinMethod(simpleClass(class), method)
	q.findCited(incident.PoolHot, q.hot, lang.Sprintf("%s holds %d of %d workers of %s", q.hot, n, q.poolSize(p, c), p.id.pool), n, q.poolSpan(p), q.poolCites(p),
		map[string]float64{"threads": float64(n), "pool.max": float64(q.poolSize(p, c))}, map[string]string{"class": simpleClass(class), "method": method, "pool": p.id.pool})
}

// sharedLoss finds methods that are refused though another one holds the pool.
func (q *inquiry) sharedLoss() {
	hotMethod := q.hotName()
	if hotMethod == "" {
		return
	}
	refused := map[string]*sighting{}
	title := map[string]string{}
	add := func(service, method string, s *sighting, n int) {
		if method == "" || method == hotMethod || n == 0 {
			return
		}
		x := refused[method]
		if x == nil {
			x = &sighting{}
			refused[method] = x
		}
		x.count += n
		x.span.add(s.span.first)
		x.span.add(s.span.last)
		for _, c := range s.cites {
			x.citeAt(c)
		}
		title[method] = minNonEmpty(title[method], joinMethod(service, method))
	}
	for _, x := range q.e.edges {
		add(x.key.service, x.key.method, &x.rejected, x.rejected.count)
		add(x.key.service, x.key.method, &x.exhausted, x.last[evidence.Rejected])
	}
	methods := sortedKeys(refused)
	slices.SortStableFunc(methods, func(a, b string) int { return refused[b].count - refused[a].count })
	for i, m := range methods {
		if i == 3 {
			break
		}
		s := refused[m]
		text := lang.Sprintf("%s is rejected (%s)", title[m], times(s.count))
		cites := s.citations()
		values := map[string]float64{"rejected": float64(s.count)}
		for _, k := range sortedKeys(q.e.probes) {
			p := q.e.probes[k]
			if methodsMatch("", p.method, "", m) && p.slowest.Milliseconds() <= 100 {
				text += lang.Sprintf(" though it takes %d ms", p.fastest.Milliseconds())
				values["probe_ms"] = float64(p.fastest.Milliseconds())
				cites = citeUnion(4, cites[:min(len(cites), 2)], p.seen.citations())
			}
		}
		text += lang.Sprintf(": %s holds the pool they share", hotMethod)
		q.findCited(incident.PoolSharedLoss, title[m], text, s.count, s.span, cites, values, map[string]string{"method": m, "hot": hotMethod})
	}
}

// hotName is the method that is taken to hold the pool: seen in dumps, or slow
// by hand, or the one whose calls time out.
func (q *inquiry) hotName() string {
	if q.hot != "" {
		_, m := splitFunc(q.hot)
		return m
	}
	for _, f := range q.of(incident.ProbeSlow) {
		return f.Names["method"]
	}
	if q.edge != nil && (q.edge.timeouts.count > 0 || q.edge.last[evidence.Timeout] > 0) {
		return q.edge.key.method
	}
	return ""
}

// connectionHolders says what those threads do that hold the connections which
// others wait for.
func (q *inquiry) connectionHolders() {
	for _, f := range q.of(incident.StackDBPool) {
		pool := f.Subject
		var key string
		for id, p := range q.e.shapes.pools {
			if id.pool == pool && (key == "" || p.counts[p.busiest()].busy() > 0) {
				key = p.busiest()
			}
		}
		if key == "" {
			continue
		}
		borrowing := "" // the function of the user's own in which most borrow
		for _, g := range q.groupsByDump(key) {
			if v := &g.key.shape.verdict; v.kind == incident.WaitDBPool && v.app != nil {
				borrowing = v.app.Func
				break
			}
		}
		holders := map[incident.WaitKind]int{}
		app := map[incident.WaitKind]string{}
		var cites sighting
		total := 0
		for _, g := range q.groupsByDump(key) {
			v := &g.key.shape.verdict
			if v.kind == incident.WaitDBPool || v.kind == incident.WaitIdle {
				continue
			}
			if v.kind == incident.WaitDBRead || v.holdsDB || runs(g.key.shape, borrowing) {
				holders[v.kind] += g.counts[key]
				total += g.counts[key]
				if app[v.kind] == "" && v.app != nil {
					app[v.kind] = frameName(v.app)
				}
				for _, c := range g.cites.cites {
					cites.citeAt(c)
				}
			}
		}
		if total == 0 {
			continue
		}
		kinds := map[string]int{}
		for k, n := range holders {
			kinds[string(k)] = n
		}
		most := incident.WaitKind(top(kinds))
		if most != incident.WaitDBRead && holders[most]*2 > total {
			q.findCited(incident.ConnHeldAcross, pool, lang.Sprintf("%d of the %d threads that hold a connection do not run SQL with it but %s (%s)", holders[most], total, lang.T(waitWords[most]), strings.TrimSpace(app[most])), holders[most], span{f.First, f.Last}, cites.citations(),
				map[string]float64{"threads": float64(holders[most])}, map[string]string{"kind": string(most), "app_frame": app[most]})
			continue
		}
		if most == incident.WaitDBRead && !q.has(incident.StackDBRead) && q.slowDatabase() {
			q.findCited(incident.StackDBRead, pool, lang.Sprintf("the %d threads that hold the connections wait for an answer of the database, %d others wait for a connection", holders[most], int(f.Values["threads"])), holders[most], span{f.First, f.Last}, cites.citations(),
				map[string]float64{"threads": float64(holders[most])}, map[string]string{"pool": pool, "app_frame": app[most]})
		}
	}
}

// runs reports whether a function of the user's own stands in a stack: what
// waits for something else inside the function that others borrow in has
// borrowed already.
func runs(s *shape, fn string) bool {
	for _, f := range s.frames {
		if fn != "" && f.Func == fn {
			return true
		}
	}
	return false
}

// slowDatabase reports whether the database itself was seen to be slow, apart
// from stacks.
func (q *inquiry) slowDatabase() bool {
	return q.has(incident.SQLRunning, incident.SQLScan) || q.slowSQLMatters()
}

// slowSQLMatters reports whether slow executions are more than stray ones.
func (q *inquiry) slowSQLMatters() bool {
	for _, f := range q.of(incident.SQLSlow) {
		if f.Count >= fewCalls {
			return true
		}
	}
	return false
}
