package correlate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// How many threads of a pool must wait for one thing before it is said to be
// what the pool waits for.
const (
	fewThreads   = 5
	shareOfBusy  = 0.2
	busyPool     = 0.5 // share of its members that must be busy
	idlePool     = 0.8 // share idle from which a pool is said to be idle
	nearlyFull   = 0.95
	convoyShare  = 0.1
	fewWaiters   = 5
	frozenInPool = 8
	staleLong    = 10 * time.Minute
	manyRunning  = 20 // threads on the CPU at once, more than most hosts have processors for
)

var kindOfWait = map[incident.WaitKind]incident.Kind{
	incident.WaitDBRead: incident.StackDBRead, incident.WaitDBPool: incident.StackDBPool, incident.WaitRedis: incident.StackRedis, incident.WaitHTTP: incident.StackHTTP,
	incident.WaitRPC: incident.StackRPC, incident.WaitMQ: incident.StackMQ, incident.WaitLock: incident.StackLock, incident.WaitCondition: incident.StackCondition,
	incident.WaitDisk: incident.StackDisk, incident.WaitDNS: incident.StackDNS, incident.WaitLogging: incident.StackLogging, incident.WaitClassInit: incident.StackClassInit,
	incident.WaitGC: incident.StackGC, incident.WaitCPU: incident.StackCPU, incident.WaitOther: incident.StackOther,
}

// waitWords are said in the language in use.
var waitWords = map[incident.WaitKind]string{
	incident.WaitDBRead: lang.Mark("wait for an answer of the database"), incident.WaitDBPool: lang.Mark("wait for a connection from the database pool"), incident.WaitRedis: lang.Mark("wait for Redis"),
	incident.WaitHTTP: lang.Mark("wait for an HTTP answer"), incident.WaitRPC: lang.Mark("wait for a downstream RPC answer"), incident.WaitMQ: lang.Mark("wait for a message broker"), incident.WaitLock: lang.Mark("wait for a lock"),
	incident.WaitCondition: lang.Mark("wait for a condition or future"), incident.WaitDisk: lang.Mark("wait for the disk"), incident.WaitDNS: lang.Mark("wait for name resolution"), incident.WaitLogging: lang.Mark("wait for the log"),
	incident.WaitClassInit: lang.Mark("wait for class loading or initialisation"), incident.WaitGC: lang.Mark("wait for the collector"), incident.WaitCPU: lang.Mark("are running on the CPU"), incident.WaitOther: lang.Mark("wait for something else or sleep"),
}

// poolSize is how many members a pool of threads has: its configured maximum
// where that is known, else the threads in the dump.
func (q *inquiry) poolSize(p *dumpPool, c *poolCount) int {
	for _, lp := range q.e.pools {
		if lp.name == p.id.pool && lp.max > 0 && lp.kind != evidence.ConnectionPool {
			return max(lp.max, c.total)
		}
	}
	return c.total
}

func (q *inquiry) stackFindings() {
	dumps := q.e.sortedDumps()
	q.setStaleAside(dumps)
	dumps = slices.DeleteFunc(dumps, func(d *dump) bool { return q.e.dumps[d.key] == nil })
	pools := q.e.shapes.sortedPools()
	listed := 0
	for _, p := range pools {
		if listed >= 12 {
			break
		}
		if q.threadPool(p, dumps) {
			listed++
		}
	}
	q.idleFinding(pools)
	q.lockFindings(dumps)
	q.dumpFindings(dumps)
}

// setStaleAside leaves out dumps that were taken long before the pool refused
// work, or in a short burst of refusals that was over before the fire began: what
// their threads waited for was another story. Those taken long after stay: a pool
// that is still full says so itself.
func (q *inquiry) setStaleAside(dumps []*dump) {
	rej := q.refusals()
	if rej.first.IsZero() || !q.comparableClocks() {
		return
	}
	began := q.fireBegan()
	stale := map[string]bool{}
	for _, d := range dumps {
		if !d.at.IsZero() && (d.at.Before(rej.first.Add(-staleLong)) || d.at.Before(began)) {
			stale[d.key] = true
		}
	}
	if len(stale) == 0 {
		return
	}
	q.dumpFindings(slices.DeleteFunc(slices.Clone(dumps), func(d *dump) bool { return !stale[d.key] }))
	fresh := New(q.e.cfg)
	fresh.takeDumps(q.e, func(d *dump) bool { return !stale[d.key] })
	whole := *q.e
	whole.dumps, whole.shapes = fresh.dumps, fresh.shapes
	q.e = &whole
}

// threadPool makes the findings about one pool of threads; false if it is of
// no interest.
func (q *inquiry) threadPool(p *dumpPool, dumps []*dump) bool {
	key := p.busiest()
	c := p.counts[key]
	if d := q.e.dumps[key]; d != nil && d.meta.Partial {
		return false
	}
	size := q.poolSize(p, c)
	busy := c.busy()
	request := requestPool(p.id.pool)
	if busy < fewThreads || !request && busy < 20 {
		return false
	}
	if float64(busy) < busyPool*float64(size) {
		return false
	}
	names := map[string]string{"pool": p.id.pool, "process": strings.Trim(p.id.process, "/")}
	cites := q.poolCites(p)
	sp := q.poolSpan(p)
	values := map[string]float64{"pool.max": float64(size), "pool.active": float64(busy), "pool.idle": float64(c.idle)}
	if request && float64(busy) >= nearlyFull*float64(size) && busy >= frozenInPool {
		q.findCited(incident.PoolBusy, p.id.pool, lang.Sprintf("%d of %d threads of %s are busy%s", busy, size, p.id.pool, inDumps(p)), busy, sp, cites, values, names)
		if q.threads == nil {
			q.threads = p
		}
	}
	if q.threads == nil && request {
		q.threads = p
	}

	kinds := make([]incident.WaitKind, 0, len(c.kinds))
	for k := range c.kinds {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b incident.WaitKind) int {
		if c.kinds[a] != c.kinds[b] {
			return c.kinds[b] - c.kinds[a]
		}
		return strings.Compare(string(a), string(b))
	})
	found := false
	for _, k := range kinds {
		n := c.kinds[k]
		fk, ok := kindOfWait[k]
		if !ok || n < fewThreads || float64(n) < shareOfBusy*float64(busy) {
			continue
		}
		found = true
		g := q.topGroup(p, key, k)
		words := lang.T(waitWords[k])
		if k == incident.WaitRedis || k == incident.WaitHTTP {
			if b := q.borrowers(p, key, k); b*5 >= n*4 { // nobody talks to it: its pool is what they wait for
				fk, words = incident.StackDBPool, map[incident.WaitKind]string{incident.WaitRedis: lang.T("wait for a connection from the Redis pool"), incident.WaitHTTP: lang.T("wait for a connection from the HTTP client's pool")}[k]
			}
		}
		text := lang.Sprintf("%d of %d threads of %s %s%s", n, size, p.id.pool, words, inDumps(p))
		fn := map[string]string{"pool": p.id.pool, "process": names["process"]}
		fc := cites
		if g != nil {
			if f := g.key.shape.verdict.app; f != nil {
				text += lang.Sprintf(", most under %s", frameName(f))
				fn["app_frame"] = frameName(f)
			}
			if f := g.key.shape.verdict.entry; f != nil {
				class, method := splitFunc(f.Func)
				fn["class"], fn["method"] = simpleClass(class), method
			}
			fc = citeUnion(4, g.cites.citations(), cites)
		}
		if fk == incident.StackDBPool {
			if lent := q.lender(p.id.process, cites); lent != nil && lent.fill("connections") != "" {
				text = lang.Semicolons([]string{text, lang.Sprintf("%s: %s", lent.display(), lent.fill("connections"))})
				fn["connections"] = lent.display()
				fc = citeUnion(5, fc[:min(len(fc), 4)], []evidence.Citation{lent.worst.cite})
			}
		}
		vals := map[string]float64{"threads": float64(n), "pool.max": float64(size), "pool.active": float64(busy), "dumps": float64(len(p.counts))}
		if low := p.fewest(k); len(p.counts) > 1 {
			vals["threads.least"] = float64(low)
		}
		q.findCited(fk, p.id.pool, text, n, sp, fc, vals, fn)
	}
	if n := c.kinds[incident.WaitCondition]; n == size && n >= frozenInPool {
		q.selfStarved(p, key, n, sp, cites)
	}
	return found
}

// borrowers counts the threads of a wait kind that wait for a member of a pool
// of connections rather than for an answer.
func (q *inquiry) borrowers(p *dumpPool, dump string, k incident.WaitKind) int {
	n := 0
	for _, g := range q.groupsByDump(dump) {
		if g.key.pool == p.id && g.key.shape.verdict.kind == k && g.key.shape.verdict.detail == "borrow" {
			n += g.counts[dump]
		}
	}
	return n
}

// fewest is the smallest number of threads that waited for k in any dump of
// the pool.
func (p *dumpPool) fewest(k incident.WaitKind) int {
	least := -1
	for _, c := range p.counts {
		if n := c.kinds[k]; least < 0 || n < least {
			least = n
		}
	}
	return max(0, least)
}

func inDumps(p *dumpPool) string {
	if n := len(p.counts); n > 1 {
		return lang.Sprintf(" (%d dumps)", n)
	}
	return ""
}

// selfStarved is a pool all of whose workers wait for futures that need a
// worker of the same pool.
func (q *inquiry) selfStarved(p *dumpPool, key string, n int, sp span, cites []evidence.Citation) {
	g := q.topGroup(p, key, incident.WaitCondition)
	if g == nil || g.key.shape.verdict.detail != "future" || g.counts[key]*10 < n*9 {
		return
	}
	q.findCited(incident.SelfStarved, p.id.pool, lang.Sprintf("all %d workers of %s wait for futures and none is free to complete them", n, p.id.pool), n, sp, cites, nil, map[string]string{"pool": p.id.pool})
}

func (q *inquiry) poolCites(p *dumpPool) []evidence.Citation {
	var s sighting
	for _, c := range p.counts {
		s.citeAt(c.cite)
	}
	return s.citations()
}

func (q *inquiry) poolSpan(p *dumpPool) span {
	var sp span
	for k := range p.counts {
		if d := q.e.dumps[k]; d != nil {
			sp.add(d.at)
		}
	}
	return sp
}

// topGroup is the largest group of a wait kind in one dump of a pool.
func (q *inquiry) topGroup(p *dumpPool, dump string, k incident.WaitKind) *group {
	for _, g := range q.groupsByDump(dump) {
		if g.key.pool == p.id && g.key.shape.verdict.kind == k {
			return g
		}
	}
	return nil
}

func (q *inquiry) groupsByDump(dump string) []*group {
	var list []*group
	for _, g := range q.e.shapes.sortedGroups() {
		if g.counts[dump] > 0 {
			list = append(list, g)
		}
	}
	slices.SortStableFunc(list, func(a, b *group) int { return b.counts[dump] - a.counts[dump] })
	return list
}

// idleFinding says that the request pools are idle, where all are.
func (q *inquiry) idleFinding(pools []*dumpPool) {
	var idle []*dumpPool
	for _, p := range pools {
		if !requestPool(p.id.pool) {
			continue
		}
		c := p.counts[p.busiest()]
		if d := q.e.dumps[p.busiest()]; d != nil && (d.meta.Partial || d.meta.Truncated) {
			continue // what is not in it may be busy
		}
		if float64(c.busy()) > (1-idlePool)*float64(max(c.total, q.poolSize(p, c))) {
			if c.busy() >= fewThreads {
				return
			}
			continue // few threads, but not idle ones
		}
		if c.total > 0 {
			idle = append(idle, p)
		}
	}
	for i, p := range idle {
		if i == 3 {
			break
		}
		c := p.counts[p.busiest()]
		q.findCited(incident.StackIdle, p.id.pool, lang.Sprintf("%d of %d threads of %s are idle%s", c.idle, c.total, p.id.pool, inDumps(p)), c.idle, q.poolSpan(p), q.poolCites(p), map[string]float64{"pool.active": float64(c.busy()), "pool.idle": float64(c.idle)}, map[string]string{"pool": p.id.pool})
	}
}

func (q *inquiry) lockFindings(dumps []*dump) {
	var worst *convoy
	var worstDump *dump
	again := 0
	for _, d := range dumps {
		for _, cycle := range d.cycles {
			var who []string
			for _, h := range cycle {
				who = append(who, lang.Sprintf("%s waits for %s held by %s", h.Thread, h.Lock, h.Owner))
			}
			q.findCited(incident.LockDeadlock, "deadlock", lang.Sprintf("%d threads are deadlocked: %s", len(cycle), clip(lang.Semicolons(who), 400)), len(cycle), span{d.at, d.at}, citeUnion(5, d.proofs, []evidence.Citation{d.cite}), map[string]float64{"threads": float64(len(cycle))}, nil)
			break // one cycle a dump is enough to say so
		}
		for i := range d.convoys {
			c := &d.convoys[i]
			if c.waiters < fewWaiters || float64(c.waiters) < convoyShare*float64(q.threadsOf(d, c.pool)) {
				continue
			}
			if worst == nil || c.waiters > worst.waiters {
				worst, worstDump = c, d
			}
		}
	}
	if worst == nil {
		return
	}
	cites := []evidence.Citation{worst.cite.cite}
	if worst.ownerKnown {
		cites = append(cites, worst.ownerCite)
	}
	for _, d := range dumps {
		if slices.ContainsFunc(d.convoys, func(c convoy) bool {
			return c.class == worst.class && c.app == worst.app && c.waiters >= fewWaiters
		}) {
			again++
		}
	}
	class := worst.class
	if class == "" {
		class = lang.T("a lock")
	}
	who := plural(worst.waiters, "thread")
	if worst.pool != "" {
		who += lang.Sprintf(" of %s", worst.pool)
	}
	text := lang.Sprintf("%s wait for one lock (%s)", who, class)
	if worst.app != "" {
		text += lang.Sprintf(" in %s", worst.app)
	}
	switch {
	case worst.ownerKnown:
		text += lang.Sprintf("; its owner %s", worst.owner)
		if worst.ownerKind == incident.WaitCPU {
			text += lang.T(" is running")
		} else {
			text += lang.Sprintf(" itself waits (%s)", string(worst.ownerKind))
		}
		if worst.ownerAt != "" {
			text += lang.Sprintf(" at %s", worst.ownerAt)
		}
	case worst.owner != "":
		text += lang.Sprintf("; its owner is %s", worst.owner)
	default:
		text += lang.T("; its owner is not in the dump")
	}
	if again > 1 {
		text += lang.Sprintf("; in %d dumps", again)
	}
	class, method := "", worst.method
	if method != "" {
		class, method = splitFunc(worst.method)
	}
	kind := incident.LockConvoy
	q.findCited(kind, worst.class, text, worst.waiters, span{worstDump.at, worstDump.at}, cites, map[string]float64{"threads": float64(worst.waiters), "dumps": float64(max(1, again))},
		map[string]string{"lock": worst.class, "owner": worst.owner, "owner_kind": string(worst.ownerKind), "owner_at": worst.ownerAt, "app_frame": worst.app, "class": simpleClass(class), "method": method, "pool": worst.pool})
	q.convoy = worst
}

func (q *inquiry) threadsOf(d *dump, pool string) int {
	n := 0
	for id, p := range q.e.shapes.pools {
		if id.pool == pool && p.counts[d.key] != nil {
			n += p.counts[d.key].total
		}
	}
	return n
}

func (q *inquiry) dumpFindings(dumps []*dump) {
	for i, d := range dumps {
		if i == 10 {
			break
		}
		cites := []evidence.Citation{d.cite}
		sp := span{d.at, d.at}
		if d.meta.Truncated {
			q.findCited(incident.DumpPartial, d.source, lang.Sprintf("the dump in %s is incomplete: %d threads could be read", d.source, d.threads), 1, sp, cites, nil, nil)
		}
		if d.meta.MaxFrames > 0 && d.cut > 0 {
			q.findCited(incident.DumpCut, d.source, lang.Sprintf("the dump in %s shows at most %d frames of a thread, and %d of its threads had more: deciding frames may be missing", d.source, d.meta.MaxFrames, d.cut), d.cut, sp, cites, nil, nil)
		}
		if d.meta.HeapFull >= 0.97 {
			q.findCited(incident.HeapFull, d.source, lang.Sprintf("the old generation is %d %% full in the dump", int(d.meta.HeapFull*100)), 1, sp, cites, map[string]float64{"heap.full": round(d.meta.HeapFull, 2)}, nil)
		}
		rej := q.refusals()
		if d.at.IsZero() || rej.first.IsZero() {
			continue
		}
		if began := q.fireBegan(); d.at.Before(began) && d.at.After(rej.first.Add(-staleAfter)) {
			gap := began.Sub(d.at)
			q.findCited(incident.DumpStale, d.source, lang.Sprintf("the dump in %s was taken %s before nearly all of the refusals, with calm between: it may not show the trouble", d.source, seconds(gap.Seconds())), 1, sp, cites, map[string]float64{"gap_s": round(gap.Seconds(), 0)}, nil)
			continue
		}
		if d.at.After(rej.last.Add(staleAfter)) || d.at.Before(rej.first.Add(-staleAfter)) {
			how := lang.T("the dump in %s was taken %s after the pool refused work: it may not show the trouble")
			gap := d.at.Sub(rej.last)
			if d.at.Before(rej.first) {
				how = lang.T("the dump in %s was taken %s before the pool refused work: it may not show the trouble")
				gap = rej.first.Sub(d.at)
			}
			q.findCited(incident.DumpStale, d.source, fmt.Sprintf(how, d.source, seconds(gap.Seconds())), 1, sp, cites, map[string]float64{"gap_s": round(gap.Seconds(), 0)}, nil)
		}
	}
}
