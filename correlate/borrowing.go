package correlate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// borrowing weighs a pool of connections as what began it: its borrowers wait,
// and nothing shows that what they run is slow. Workers that wait for a
// connection fill their own pool, and calls that are retried are retried because
// of that wait: neither begins by itself.
func (q *inquiry) borrowing() *candidate {
	kinds := []incident.Kind{incident.StackDBPool, incident.ConnExhausted, incident.ConnLeak}
	c := &candidate{label: incident.PoolStarvation, since: q.since(kinds...)}
	waiting := q.threadsOfKind(incident.StackDBPool)
	elsewhere := 0
	for _, f := range q.findings {
		if strings.HasPrefix(string(f.Kind), "stack.") && f.Kind != incident.StackDBPool && f.Kind != incident.StackIdle {
			elsewhere = max(elsewhere, int(f.Values["threads"]))
		}
	}
	if f := first(q.of(incident.ConnExhausted)); f.Count >= fewCalls && (elsewhere <= waiting || q.has(incident.RetryAmplified)) {
		c.support(2, q.ids(incident.ConnExhausted))
		c.subject = f.Text // it names the pool and says how many gave up
		c.brief = q.conn.brief()
	}
	if waiting >= fewThreads && waiting > elsewhere {
		c.support(2, q.ids(incident.StackDBPool))
		if first(q.of(incident.StackDBPool)).Values["dumps"] > 1 {
			c.points++
		}
		if c.subject == "" {
			q.nameLender(c)
		}
	}
	if c.points > 0 {
		c.support(1, q.ids(incident.ConnLeak))
	}
	return c
}

// nameLender makes the pool of connections the subject of a candidate, where it
// is known, and else the threads that wait for one.
func (q *inquiry) nameLender(c *candidate) {
	f := first(q.of(incident.StackDBPool))
	n, of := int(f.Values["threads"]), int(f.Values["pool.max"])
	p := q.lender(f.Names["process"], f.Citations)
	if p == nil {
		c.subject = f.Text
		c.brief = lang.Sprintf("connections, %d/%d threads of %s wait for one", n, of, f.Subject)
		return
	}
	c.brief = p.brief()
	c.subject = lang.Sprintf("%s; %d of %d threads of %s wait for a connection", c.brief, n, of, f.Subject)
}

// brief is "connection pool HikariPool-1 2/2, 21 waiting".
func (p *pool) brief() string {
	name := lang.Sprintf("connection pool %s", p.display())
	switch {
	case p.active >= 0 && p.max > 0:
		name += fmt.Sprintf(" %d/%d", p.active, p.max)
	case p.active >= 0:
		name = lang.Join([]string{name, lang.Sprintf("%d connections active", p.active)})
	}
	parts := []string{name}
	if p.waiting > 0 {
		parts = append(parts, lang.Sprintf("%d waiting", p.waiting))
	}
	if n := p.rejections().count; n > 0 {
		parts = append(parts, lang.Sprintf("%s gave up waiting", plural(n, "borrower")))
	}
	return lang.Join(parts)
}

// starvedBorrowers is the pool of workers as the victim of a pool of
// connections: full because its workers wait for a connection.
func (q *inquiry) starvedBorrowers() *candidate {
	kinds := []incident.Kind{incident.PoolExhausted, incident.PoolRejected, incident.PoolBusy}
	c := &candidate{label: incident.PoolStarvation, since: q.since(kinds...)}
	for _, k := range kinds {
		c.support(2, q.ids(k))
	}
	if !q.refusingWorkers(c) {
		c.subject = first(q.of(kinds...)).Text
	}
	return c
}

// refusingWorkers makes a pool of workers that refused work the subject of a
// candidate; false if there is none.
func (q *inquiry) refusingWorkers(c *candidate) bool {
	p := q.workers
	if p == nil || !q.has(incident.PoolExhausted, incident.PoolRejected) {
		return false
	}
	c.subject = p.display()
	if p.active >= 0 && p.max > 0 {
		c.subject += fmt.Sprintf(" %d/%d", p.active, p.max)
	}
	c.brief = c.subject
	if p.queued >= 0 {
		c.subject += lang.Sprintf(", %d queued", p.queued)
	}
	if n := p.rejections().count; n > 0 {
		c.subject = lang.Join([]string{c.subject, plural(n, "rejection")})
	}
	return true
}

// lender is the pool of connections that the threads of a process wait for: one
// of that process, or of its folder, that has no member left. Where several
// might be meant, none is.
func (q *inquiry) lender(process string, cites []evidence.Citation) *pool {
	var near, far []*pool
	for _, p := range q.e.sortedPools() {
		if p.kind != evidence.ConnectionPool || p.waiting <= 0 && p.rejections().count == 0 && (p.max <= 0 || p.active < p.max) {
			continue
		}
		far = append(far, p)
		at := folder(p.worst.cite.Source)
		if p.place.Instance != "" && strings.Contains(process, p.place.Instance) ||
			slices.ContainsFunc(cites, func(c evidence.Citation) bool { return at == folder(c.Source) }) {
			near = append(near, p)
		}
	}
	if len(near) == 0 {
		near = far
	}
	if short := slices.DeleteFunc(slices.Clone(near), func(p *pool) bool { return p.waiting <= 0 && p.rejections().count == 0 }); len(short) > 0 {
		near = short
	}
	if len(near) == 1 {
		return near[0]
	}
	return nil
}
