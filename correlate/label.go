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

// causes is the table of the causal edges that may be asserted: what may lead
// to what. A chain is a path through it.
var causes = map[incident.Label][]incident.Label{
	incident.SlowSQL:            {incident.RetryAmplification, incident.PoolStarvation},
	incident.LockContention:     {incident.RetryAmplification, incident.PoolStarvation},
	incident.DownstreamWait:     {incident.RetryAmplification, incident.PoolStarvation},
	incident.GCPause:            {incident.RetryAmplification, incident.PoolStarvation},
	incident.CPUSaturation:      {incident.RetryAmplification, incident.PoolStarvation},
	incident.Deadlock:           {incident.RetryAmplification, incident.PoolStarvation},
	incident.RetryAmplification: {incident.PoolStarvation, incident.DuplicateWrites},
	incident.PoolStarvation:     {incident.RetryAmplification},
	incident.NoProvider:         {incident.PoolStarvation, incident.RetryAmplification},
	incident.TrafficSkew:        {incident.PoolStarvation, incident.RetryAmplification},
}

// candidate is a label being weighed: points are independent kinds of evidence,
// two for one that shows it, one for one that fits it.
type candidate struct {
	label   incident.Label
	points  int
	kinds   int // kinds of evidence that each show it
	forIDs  []string
	against []string
	subject string
	brief   string // the subject in a few words, for the headline
	since   time.Time
	doubt   string // why it is less certain than its points
	whyNot  string // why another was chosen
}

func (c *candidate) support(points int, ids []string) {
	if len(ids) == 0 {
		return
	}
	c.points += points
	if points >= 2 {
		c.kinds++
	}
	for _, id := range ids {
		if len(c.forIDs) < 8 {
			c.forIDs = append(c.forIDs, id)
		}
	}
}

// triggers weighs the labels that can begin an incident, in the order in which
// they explain others: what stops a whole process first, then what its threads
// are seen to wait for.
func (q *inquiry) triggers() []*candidate {
	return []*candidate{q.deadlock(), q.noProvider(), q.gcPause(), q.lockContention(), q.slowSQL(), q.downstreamWait(), q.cpuSaturation(), q.trafficSkew(), q.duplicateWrites()}
}

func (q *inquiry) deadlock() *candidate {
	c := &candidate{label: incident.Deadlock, since: q.since(incident.LockDeadlock, incident.SQLDeadlock, incident.SelfStarved)}
	if ids := q.ids(incident.LockDeadlock); len(ids) > 0 {
		c.support(pointsHigh, ids) // the runtime itself, or a cycle of owners, proves it
		c.kinds++
		c.subject = first(q.of(incident.LockDeadlock)).Text
	} else if fs := q.of(incident.SQLDeadlock); len(fs) > 0 && fs[0].Count >= fewCalls && !q.has(incident.StackDBRead, incident.SQLRunning, incident.PoolExhausted) {
		c.support(2, q.ids(incident.SQLDeadlock))
		c.subject = lang.T("deadlocks in the database")
	} else if ids := q.ids(incident.SelfStarved); len(ids) > 0 {
		c.support(2, ids)
		c.subject = first(q.of(incident.SelfStarved)).Text
	}
	return c
}

func (q *inquiry) noProvider() *candidate {
	c := &candidate{label: incident.NoProvider, since: q.since(incident.RouteNone)}
	fs := q.of(incident.RouteNone)
	if len(fs) == 0 {
		return c
	}
	n, isolated := 0, true
	for _, f := range fs {
		n += f.Count
		isolated = isolated && q.stray(f)
	}
	if isolated && n >= fewCalls { // a few, at one moment of a long log
		c.forIDs = q.ids(incident.RouteNone)
		c.whyNot = lang.T("few calls, at one moment of a long log, found no provider")
		return c
	}
	c.subject = lang.Sprintf("%s: no provider left", fs[0].Subject)
	if len(q.of(incident.RouteEmptied)) > 0 {
		c.subject += lang.Sprintf(" after %s", q.of(incident.RouteEmptied)[0].Subject)
	}
	points := 2
	if n >= fewCalls {
		points = 3
	}
	c.support(points, q.ids(incident.RouteNone))
	c.support(2, q.ids(incident.RouteEmptied))
	// A provider that falls over leaves nobody too: then this came later.
	if at := q.refusals().first; !at.IsZero() && !c.since.IsZero() && at.Before(c.since) {
		c.points = 0
		c.against = q.ids(incident.PoolExhausted, incident.PoolRejected)
		c.whyNot = lang.T("the pool was exhausted before the first call found no provider")
	}
	if q.has(incident.Deployed) && n < fewCalls {
		c.points--
		c.doubt = lang.T("a restart may explain it")
	}
	return c
}

func (q *inquiry) gcPause() *candidate {
	c := &candidate{label: incident.GCPause, since: q.since(incident.GCPauses, incident.HeapFull, incident.ClockLeap)}
	c.support(3, q.ids(incident.GCPauses))
	c.support(2, q.ids(incident.HeapFull))
	c.support(1, q.ids(incident.ClockLeap))
	if q.has(incident.GCPauses) {
		c.support(1, q.ids(incident.OutOfMemory))
		c.support(1, q.ids(incident.CallTimeout, incident.RetryExhausted, incident.PoolExhausted))
		c.subject = first(q.of(incident.GCPauses)).Text
	} else if c.points > 0 {
		c.subject = first(q.of(incident.HeapFull, incident.ClockLeap)).Text
		c.points = min(c.points, 2)
	}
	if f := first(q.of(incident.GCPauses)); f.ID != "" && max(f.Values["gc.share"], f.Values["gc.worst_share"]) < gcShareBad && f.Values["gc.full"] < fewCalls && !q.stalled() && !q.suffering() {
		c.points = min(c.points, 1)
		c.whyNot = lang.T("a long pause or two, and nobody is seen to suffer from them")
	} else if q.rareLongPauses() {
		c.points = min(c.points, 2)
		c.doubt = lang.T("long pauses are rare and nothing is seen to suffer from them")
	}
	if q.has(incident.GCQuiet) {
		c.against = q.ids(incident.GCQuiet)
		c.whyNot = first(q.of(incident.GCQuiet)).Text
		if !q.has(incident.GCPauses) {
			c.points = 0
		}
	}
	return c
}

// stalled reports threads that waited for memory, one by one, while the process
// as a whole went on: such a collector hardly pauses at all.
func (q *inquiry) stalled() bool {
	n := 0
	for _, m := range q.e.marksOf(evidence.MarkAllocStall) {
		n += m.seen.count
	}
	return n >= fewCalls
}

// rareLongPauses reports a collector that stands still for long but rarely, as
// one that is told to each hour does, while no caller and no pool complains.
func (q *inquiry) rareLongPauses() bool {
	f := first(q.of(incident.GCPauses))
	return f.ID != "" && f.Values["gc.share"] < gcShareQuiet && !q.stalled() &&
		!q.has(incident.HeapFull, incident.OutOfMemory, incident.PoolExhausted, incident.PoolRejected, incident.PoolBusy, incident.ConnExhausted,
			incident.CallTimeout, incident.RetryExhausted, incident.RetrySucceeded, incident.RetryAmplified, incident.DownstreamSlow, incident.ClockLeap)
}

func (q *inquiry) lockContention() *candidate {
	c := &candidate{label: incident.LockContention, since: q.since(incident.LockConvoy, incident.StackLock, incident.StackLogging, incident.StackClassInit, incident.SQLLockWait, incident.SQLMetaLock)}
	inProcess := q.threadsOfKind(incident.StackLock) + q.threadsOfKind(incident.StackLogging) + q.threadsOfKind(incident.StackClassInit)
	told := inProcess == 0 && q.has(incident.LockConvoy) // a selection of threads says how many wait behind one
	if told {
		inProcess = q.threadsOfKind(incident.LockConvoy)
	}
	inDatabase := 0
	for _, f := range q.of(incident.SQLLockWait, incident.SQLMetaLock) {
		inDatabase += max(1, f.Count)
	}
	elsewhere := q.threadsOfKind(incident.StackDBRead) + q.threadsOfKind(incident.StackRPC) + q.threadsOfKind(incident.StackHTTP)
	if inProcess > 0 && inProcess >= elsewhere {
		c.support(3, q.ids(incident.StackLock, incident.StackLogging, incident.StackClassInit))
		c.support(2, q.ids(incident.LockConvoy))
		if told {
			c.points++
		}
		if f := first(q.of(incident.LockConvoy)); f.ID != "" {
			c.subject = f.Text
			if f.Values["dumps"] > 1 {
				c.points++
			}
		} else {
			c.subject = first(q.of(incident.StackLock, incident.StackLogging, incident.StackClassInit)).Text
		}
		c.support(1, q.ids(incident.PoolExhausted, incident.PoolRejected, incident.CallTimeout, incident.RetryExhausted))
	}
	few := inDatabase > 0 && q.runningFree() == 0 && q.distress() && (q.hasBlocker() || q.has(incident.SQLIdleTrx))
	if (inDatabase >= fewCalls || few) && inDatabase >= q.runningFree() {
		c.support(3, q.ids(incident.SQLLockWait, incident.SQLMetaLock))
		c.support(1, q.ids(incident.SQLIdleTrx))
		c.support(1, q.ids(incident.StackDBRead))
		c.support(1, q.ids(incident.PoolExhausted, incident.PoolRejected, incident.CallTimeout, incident.RetryExhausted, incident.ConnExhausted))
		for _, f := range q.of(incident.SQLLockWait) {
			if f.Names["blocker"] != "" {
				c.points++
				c.kinds++
				c.subject = f.Text
				break
			}
		}
		if f := first(q.of(incident.SQLMetaLock)); f.ID != "" && f.Count*2 > inDatabase {
			c.subject = f.Text
			c.brief = lang.Sprintf("metadata lock, %s", waits(f.Count))
			if f.Names["ddl"] != "" {
				c.brief += lang.Sprintf(" behind %s", changeBrief(f.Names["ddl"]))
			}
		}
		if c.subject == "" {
			c.subject = first(q.of(incident.SQLMetaLock, incident.SQLLockWait)).Text
		}
	}
	if c.points == 0 && inDatabase > 0 {
		c.forIDs = q.ids(incident.SQLLockWait, incident.SQLMetaLock)
		c.whyNot = lang.T("few sessions wait for locks, more run")
	}
	return c
}

// runningFree is how many sessions ran statements without waiting for a lock.
func (q *inquiry) runningFree() int {
	n := 0
	for _, f := range q.of(incident.SQLRunning) {
		n += f.Count
	}
	return n
}

func (q *inquiry) threadsOfKind(k incident.Kind) int {
	n := 0
	for _, f := range q.of(k) {
		n += int(f.Values["threads"])
	}
	return n
}

func (q *inquiry) slowSQL() *candidate {
	c := &candidate{label: incident.SlowSQL, since: q.since(incident.StackDBRead, incident.SQLRunning, incident.SQLSlow)}
	distress := q.distress()
	if fs := q.of(incident.StackDBRead); len(fs) > 0 {
		c.support(2, q.ids(incident.StackDBRead))
		if fs[0].Values["dumps"] > 1 && fs[0].Values["threads.least"] >= fewThreads {
			c.points++
		}
	}
	c.support(2, q.ids(incident.SQLRunning))
	if q.slowSQLMatters() && (distress || q.has(incident.StackDBRead)) {
		c.support(2, q.ids(incident.SQLSlow))
	} else if q.has(incident.SQLSlow) && c.points > 0 {
		c.support(1, q.ids(incident.SQLSlow))
	}
	if c.points > 0 {
		c.support(1, q.ids(incident.SQLScan))
		if distress {
			c.points++
		}
	} else if distress && q.has(incident.SQLScan) {
		c.support(2, q.ids(incident.SQLScan))
	}
	if fs := q.of(incident.TimeDB); len(fs) > 0 && distress && !q.waitsInDatabase() {
		// A statement that only reads is slow by itself; one that writes may wait for a lock.
		points := 2
		if onlyReads(fs[0].Names["query"]) {
			points = 3
		}
		c.support(points, q.ids(incident.TimeDB))
	}
	if q.statement != nil {
		c.subject = q.statementWords()
		c.brief = q.statement.brief()
	} else if f := first(q.of(incident.StackDBRead)); f.ID != "" {
		c.subject = f.Text
	}
	if q.has(incident.SQLFast) {
		c.against = append(c.against, q.ids(incident.SQLFast)...)
		c.points -= 2
		c.whyNot = first(q.of(incident.SQLFast)).Text
	}
	if c.points == 0 && q.has(incident.SQLSlow, incident.SQLScan) {
		c.forIDs = q.ids(incident.SQLSlow, incident.SQLScan)
		c.whyNot = lang.T("slow statements are there, but no pool or caller is seen in trouble because of them")
	}
	// A borrow queue whose holders are not shown to be slow is a pool too small.
	if q.threadsOfKind(incident.StackDBPool) > 0 && !q.slowDatabase() && c.points > 0 {
		c.doubt = lang.T("threads wait for a connection, and nothing shows that the statements themselves are slow")
		c.points = min(c.points, 2)
	}
	return c
}

// statementWords is "t_sku_stock full scan, 2.48 M rows, 173/200 threads wait for it".
func (q *inquiry) statementWords() string {
	s := q.statement
	var parts []string
	rows := max(s.scanRows, s.rowsMax)
	switch {
	case s.fullScan == evidence.Yes && s.table != "" && rows >= manyRows:
		parts = append(parts, lang.Sprintf("%s full scan", s.table), lang.Sprintf("%s rows", human(rows)))
	case rows >= manyRows:
		parts = append(parts, clip(s.fingerprint, 60), lang.Sprintf("%s rows examined", human(rows)))
	default:
		parts = append(parts, clip(s.fingerprint, 80))
	}
	if p := s.peak(); p.sessions >= fewSessions {
		parts = append(parts, lang.Sprintf("%d running at once", p.sessions))
	} else if s.longest > 0 {
		parts = append(parts, lang.Sprintf("up to %s", seconds(s.longest.Seconds())))
	}
	if f := first(q.of(incident.StackDBRead)); f.ID != "" && f.Values["pool.max"] > 0 {
		parts = append(parts, lang.Sprintf("%d/%d threads wait for the database", int(f.Values["threads"]), int(f.Values["pool.max"])))
	}
	return lang.Join(parts)
}

// brief is "t_sku_stock full scan", or the statement.
func (s *statement) brief() string {
	if s.fullScan == evidence.Yes && s.table != "" {
		return lang.Sprintf("%s full scan", s.table)
	}
	return statementBrief(s.fingerprint)
}

// remote are the waits for something outside the process and its database. A
// borrower that sleeps or computes keeps its connection all the same, but
// nothing downstream is to blame.
var remote = map[incident.WaitKind]bool{
	incident.WaitHTTP: true, incident.WaitRPC: true, incident.WaitRedis: true, incident.WaitMQ: true, incident.WaitDNS: true,
	incident.WaitDisk: true, incident.WaitCondition: true, // a future, as a rule that of a call
}

func (q *inquiry) downstreamWait() *candidate {
	kinds := []incident.Kind{incident.StackRPC, incident.StackHTTP, incident.StackRedis, incident.StackMQ, incident.StackDNS, incident.StackDisk}
	c := &candidate{label: incident.DownstreamWait, since: q.since(append(kinds, incident.DownstreamSlow, incident.ConnHeldAcross)...)}
	n := 0
	for _, k := range kinds {
		n += q.threadsOfKind(k)
	}
	if deeper := q.oneHopDown(); deeper.ID != "" {
		n -= q.threadsOfKind(incident.StackRPC)
		kinds = kinds[1:]
		c.against = []string{deeper.ID}
		c.whyNot = lang.Sprintf("the callee itself is seen: %s", deeper.Text)
	}
	if n > 0 && n >= q.threadsOfKind(incident.StackDBRead) {
		c.support(3, q.ids(kinds...))
		f := first(q.of(kinds...))
		c.subject = f.Text
		if f.Values["dumps"] > 1 {
			c.points++
		}
	}
	if f := first(q.of(incident.ConnHeldAcross)); f.ID != "" && remote[incident.WaitKind(f.Names["kind"])] {
		c.support(3, q.ids(incident.ConnHeldAcross))
		c.subject = f.Text
	}
	if f := first(q.of(incident.DownstreamSlow)); f.ID != "" {
		switch seen := q.threadsOfKind(incident.StackDBRead) + q.threadsOfKind(incident.StackDBPool) + q.threadsOfKind(incident.StackLock) + q.threadsOfKind(incident.StackCPU); {
		case q.apart(f):
			c.whyNot = lang.T("outgoing calls failed at another time than callers suffered")
		case f.Count < someCalls && seen > max(0, n):
			c.support(1, q.ids(incident.DownstreamSlow)) // threads are seen to wait for something else
		default:
			c.support(2, q.ids(incident.DownstreamSlow))
		}
		if c.subject == "" {
			c.subject = f.Text
		}
	}
	if f := first(q.of(incident.TimeDownstream)); f.ID != "" && q.distress() && len(c.against) == 0 {
		c.support(2, q.ids(incident.TimeDownstream))
		if c.subject == "" {
			c.subject = f.Text
		}
	}
	if c.points > 0 {
		c.support(1, q.ids(incident.PoolExhausted, incident.PoolRejected, incident.CallTimeout, incident.RetryExhausted, incident.PoolBusy))
		c.support(1, q.ids(incident.BreakerOpen))
	}
	return c
}

// oneHopDown returns what the workers of another pool wait for, where some wait
// for an RPC answer and others, one hop down, for something else: then the RPC
// wait is passed on, not begun here.
func (q *inquiry) oneHopDown() incident.Finding {
	callers := map[string]bool{}
	for _, f := range q.of(incident.StackRPC) {
		callers[f.Subject] = true
	}
	if len(callers) == 0 {
		return incident.Finding{}
	}
	for _, f := range q.of(incident.StackDBRead, incident.StackDBPool, incident.StackLock, incident.StackHTTP, incident.StackRedis, incident.StackMQ, incident.StackCPU, incident.StackLogging, incident.StackClassInit, incident.StackDisk, incident.StackOther, incident.StackCondition) {
		if !callers[f.Subject] && (f.Kind != incident.StackOther && f.Kind != incident.StackCondition || float64(f.Values["threads"]) >= busyPool*f.Values["pool.max"] && f.Values["dumps"] > 1) {
			return f
		}
	}
	return incident.Finding{}
}

func (q *inquiry) cpuSaturation() *candidate {
	c := &candidate{label: incident.CPUSaturation, since: q.since(incident.StackCPU, incident.CPUBusy, incident.Throttled)}
	c.support(2, q.ids(incident.CPUBusy))
	if n := q.threadsOfKind(incident.StackCPU); n >= manyRunning && float64(n) >= busyPool*first(q.of(incident.StackCPU)).Values["pool.max"] {
		c.support(3, q.ids(incident.StackCPU))
	} else if n >= frozenInPool || n > 0 && q.has(incident.CPUBusy, incident.Throttled) {
		c.support(2, q.ids(incident.StackCPU))
		if f := first(q.of(incident.StackCPU)); f.Values["dumps"] > 1 {
			c.points++
		}
	}
	c.support(2, q.ids(incident.Throttled))
	if c.points > 0 {
		c.subject = first(q.of(incident.StackCPU, incident.CPUBusy, incident.Throttled)).Text
		c.support(1, q.ids(incident.PoolExhausted, incident.CallTimeout, incident.RetryExhausted))
	}
	if q.has(incident.CPUFree) {
		c.against = q.ids(incident.CPUFree)
		c.whyNot = first(q.of(incident.CPUFree)).Text
		c.points = min(c.points, 1)
	}
	if c.points < 2 {
		c.points = 0
	}
	return c
}

func (q *inquiry) trafficSkew() *candidate {
	c := &candidate{label: incident.TrafficSkew, since: q.since(incident.RouteSkew, incident.RouteNarrow)}
	c.support(3, q.ids(incident.RouteSkew))
	if q.has(incident.RouteNarrow) && (q.poolInTrouble() || q.has(incident.RouteSkew)) {
		c.support(2, q.ids(incident.RouteNarrow))
		c.support(1, q.ids(incident.RetrySameTarget))
		if q.has(incident.PoolExhausted, incident.PoolRejected) {
			c.points++
		}
	} else if q.has(incident.RouteNarrow) {
		c.forIDs = q.ids(incident.RouteNarrow)
		c.whyNot = lang.T("routing left few candidates, but no pool behind them is seen in trouble")
	}
	if c.points > 0 {
		c.subject = first(q.of(incident.RouteSkew, incident.RouteNarrow)).Text
	}
	return c
}

func (q *inquiry) duplicateWrites() *candidate {
	c := &candidate{label: incident.DuplicateWrites, since: q.since(incident.DuplicateWrite)}
	fs := q.of(incident.DuplicateWrite)
	if len(fs) == 0 {
		return c
	}
	if len(q.behindDuplicates(incident.RetryWrite, incident.RetrySucceeded, incident.RetryExhausted, incident.CallLate)) > 0 {
		c.support(2, q.ids(incident.DuplicateWrite))
		c.support(1, idsOf(q.behindDuplicates(incident.MessageRedelivered)))
		c.support(2, idsOf(q.behindDuplicates(incident.RetryWrite)))
		c.support(1, idsOf(q.behindDuplicates(incident.CallLate, incident.RetrySucceeded)))
		c.subject = fs[0].Text
	} else if again := q.behindDuplicates(incident.MessageRedelivered); len(again) > 0 {
		c.support(2, q.ids(incident.DuplicateWrite))
		c.support(1, idsOf(again))
		c.subject = fs[0].Text
	} else if q.has(incident.RetryAmplified) && len(q.behindDuplicates(incident.RetryAmplified)) == 0 {
		c.forIDs = q.ids(incident.DuplicateWrite)
		c.whyNot = lang.T("writes ran twice, and the retries that are seen are of another service")
	} else if fs[0].Values["writes.retried"] >= fewCalls {
		// The provider's own log shows attempts: who made them was not saved.
		c.support(2, q.ids(incident.DuplicateWrite))
		c.subject = fs[0].Text
	} else {
		c.forIDs = q.ids(incident.DuplicateWrite)
		c.whyNot = lang.T("a key met itself, but no retry is seen")
	}
	return c
}

// amplifier weighs retries.
func (q *inquiry) amplifier() *candidate {
	c := &candidate{label: incident.RetryAmplification, since: q.since(incident.RetryAmplified)}
	c.support(3, q.amplifiedIDs())
	if c.points == 0 {
		if q.has(incident.RetryExhausted, incident.RetrySucceeded) {
			c.forIDs = q.ids(incident.RetryExhausted, incident.RetrySucceeded)
			c.whyNot = lang.T("retries are seen, but too few for the time that the evidence covers")
		} else if q.has(incident.RetryNone) {
			c.against = q.ids(incident.RetryNone)
			c.whyNot = first(q.of(incident.RetryNone)).Text
		}
		return c
	}
	c.support(1, q.ids(incident.RetryCeiling))
	c.support(1, q.ids(incident.RetryLayers))
	c.support(1, q.ids(incident.PoolExhausted, incident.PoolRejected))
	c.support(1, q.ids(incident.CallLate))
	if x := q.account; x != nil {
		amp := x.Amplification
		c.subject = fmt.Sprintf("%s %.1fx", accountTitle(x), amp)
		if peak := amplifiedStretch(x).amplification(); peak >= 1.1*amp {
			c.subject = lang.Sprintf("%s %.1fx while it retried, %.1fx over all", accountTitle(x), peak, amp)
			amp = peak
		}
		c.subject += lang.Sprintf(" (%s attempts for %s calls)", human(int64(x.Attempts)), human(int64(x.Calls)))
		c.brief = fmt.Sprintf("%s %.1fx", accountName(x), amp)
		if f := first(q.of(incident.RetryLayers)); f.ID != "" {
			c.subject = f.Text
		}
		if x.Exact && x.Retried >= manyCalls {
			c.points++
		}
	} else if q.edge == nil {
		f := first(q.of(incident.RetryAmplified))
		c.subject = f.Text
		c.brief = fmt.Sprintf("%s %.1fx", f.Subject, f.Values["amplification"])
	} else {
		x := q.edge
		c.subject = lang.Sprintf("%s %.1fx (%d attempts for %s)", x.title(), x.amplification(), x.attempts, plural(int(x.calls), "call"))
		c.brief = fmt.Sprintf("%s %.1fx", x.name(), x.amplification())
		if x.exhausted.count+int(x.calls) >= 20 {
			c.points++
		}
	}
	return c
}

// starvation weighs full pools.
func (q *inquiry) starvation() *candidate {
	kinds := []incident.Kind{incident.PoolExhausted, incident.PoolRejected, incident.PoolBusy, incident.ConnExhausted, incident.ConnLimit}
	c := &candidate{label: incident.PoolStarvation, since: q.since(kinds...)}
	c.support(3, q.ids(incident.PoolExhausted))
	if q.has(incident.PoolRejected) {
		c.support(2, q.ids(incident.PoolRejected))
	}
	c.support(2, q.ids(incident.ConnExhausted))
	c.support(2, q.ids(incident.StackDBPool))
	c.support(1, q.ids(incident.PoolBusy))
	c.support(1, q.ids(incident.ConnLeak))
	if f := first(q.of(incident.ConnHeldAcross)); f.ID != "" && !remote[incident.WaitKind(f.Names["kind"])] {
		c.support(1, q.ids(incident.ConnHeldAcross))
	}
	if f := first(q.of(incident.ConnLimit)); f.Count >= fewCalls {
		c.support(2, q.ids(incident.ConnLimit))
	} else {
		c.support(1, q.ids(incident.ConnLimit))
	}
	switch {
	case q.refusingWorkers(c):
	case q.has(incident.ConnExhausted):
		c.subject = first(q.of(incident.ConnExhausted)).Text
	case q.has(incident.StackDBPool):
		c.subject = first(q.of(incident.StackDBPool)).Text
	case q.has(incident.PoolBusy):
		c.subject = first(q.of(incident.PoolBusy)).Text
	default:
		c.subject = first(q.of(kinds...)).Text
	}
	if q.has(incident.PoolBurst) && c.points == 0 {
		c.forIDs = q.ids(incident.PoolBurst)
		c.whyNot = lang.T("the pool refused while it had idle workers: a burst, not starvation")
	}
	if q.has(incident.PoolShutdown) && c.points == 0 {
		c.against = q.ids(incident.PoolShutdown)
		c.whyNot = lang.T("refusals come from a pool that was shutting down")
	}
	return c
}

// suffering reports whether callers or pools are seen to be in trouble, pauses of
// the collector left aside.
func (q *inquiry) suffering() bool {
	if q.has(incident.PoolExhausted, incident.PoolRejected, incident.ConnExhausted, incident.RetryAmplified, incident.PoolBusy) {
		return true
	}
	for _, f := range q.of(incident.CallTimeout, incident.RetryExhausted) {
		if f.Count >= fewCalls {
			return true
		}
	}
	return slices.ContainsFunc(q.of(incident.CallFailed), func(f incident.Finding) bool { return f.Count >= someCalls && !q.turned[f.ID] })
}

// distress reports whether callers or pools are seen to suffer.
func (q *inquiry) distress() bool { return q.suffering() || q.has(incident.GCPauses) }

// holdingWords stand in reads that wait for something else than rows: locks of
// rows, named locks, a replica, the clock.
var holdingWords = []string{
	"for update", "for share", "key update", "key share", "lock in share", "updlock", "xlock", "tablock", "holdlock",
	"get_lock", "advisory", "applock", "dbms_lock", "pos_wait", "wait_for", "sleep",
}

// onlyReads reports whether a statement is a plain read of a table, which locks
// do not hold up. Without a table it calls a function, which may do anything.
func onlyReads(statement string) bool {
	s := strings.ToLower(strings.TrimSpace(statement))
	return strings.HasPrefix(s, "select") && strings.Contains(s, " from ") &&
		!slices.ContainsFunc(holdingWords, func(w string) bool { return strings.Contains(s, w) })
}

func first(fs []incident.Finding) incident.Finding {
	if len(fs) == 0 {
		return incident.Finding{}
	}
	return fs[0]
}
