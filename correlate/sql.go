package correlate

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// statement is everything seen of one fingerprint.
type statement struct {
	fingerprint string
	truncated   bool
	engine      string
	tally                // finished executions, as whoever saw most of them saw them
	client      tally    // the same executions as the client measured them: never added
	byClient    bool     // tally is the client's
	waits       sighting // waits for a lock in the database
	metaWaits   sighting // waits for a metadata lock
	deadlocks   sighting
	rowsMax     int64
	rowsSent    int64 // of the execution that examined most
	rowsAt      cited
	fullScan    evidence.Tri
	scanSeen    cited // the earliest execution that scanned
	scanAt      cited // its plan
	scanRows    int64 // of its plan
	table       string
	running     map[string]*running // by snapshot
	edged       int                 // waits whose holder a lock edge names
	waiting     int64               // long executions that examined next to nothing
	rowsKnown   int64
}

// tally counts finished executions as one side saw them.
type tally struct {
	seen      sighting
	slow      sighting // of at least a second
	total     time.Duration
	longest   time.Duration
	longestAt cited
	histogram histogram
	quick     int64 // under 100 ms
}

func (t *tally) add(r *evidence.Record, d time.Duration, n int64) {
	at := cited{r.Time, r.Cite}
	t.seen.add(r, int(n))
	if d < 0 {
		return
	}
	t.total += d * time.Duration(n)
	t.histogram.add(d, n)
	if d > t.longest || d == t.longest && (t.longestAt.cite.Source == "" || at.compare(t.longestAt) < 0) {
		t.longest, t.longestAt = d, at
	}
	if d >= time.Second {
		t.slow.add(r, int(n))
	}
	if d < 100*time.Millisecond {
		t.quick += n
	}
}

func (t *tally) merge(o *tally) {
	t.seen.merge(&o.seen)
	t.slow.merge(&o.slow)
	t.total += o.total
	for b, n := range o.histogram.counts {
		if t.histogram.counts == nil {
			t.histogram.counts = map[int]int64{}
		}
		t.histogram.counts[b] += n
	}
	if o.longest > t.longest || o.longest == t.longest && o.longestAt.cite.Source != "" && (t.longestAt.cite.Source == "" || o.longestAt.compare(t.longestAt) < 0) {
		t.longest, t.longestAt = o.longest, o.longestAt
	}
	t.quick += o.quick
}

// settle takes the side that saw more executions: a slow log leaves out the quick
// ones, a pool's filter too, spans leave out what was not sampled. Adding them
// would count executions twice.
func (s *statement) settle() {
	if s.client.seen.count > s.seen.count {
		s.tally, s.client, s.byClient = s.client, s.tally, true
	}
}

// running is how many sessions ran a statement in one snapshot.
type running struct {
	sessions int
	longest  time.Duration
	at       cited
	locked   int
}

// plan is an EXPLAIN whose statement was not with it.
type plan struct {
	nodes []evidence.PlanNode
	at    cited
}

// lockWait is who waits for whom in the database.
type lockWait struct {
	blocker, blockerText, blockerState, object string
	seen                                       sighting
	longest                                    time.Duration
}

const maxPlans = 1000

func (e *Engine) statement(fp string) *statement {
	s := e.sql[fp]
	if s == nil {
		if len(e.sql) >= maxKeys {
			e.lost++
			return nil
		}
		s = &statement{fingerprint: fp, rowsMax: evidence.None, rowsSent: evidence.None, scanRows: evidence.None, running: map[string]*running{}}
		e.sql[fp] = s
	}
	return s
}

func (e *Engine) addSQL(r *evidence.Record) {
	q := r.SQL
	at := cited{r.Time, r.Cite}
	if q.Origin == evidence.PlanOnly && q.Fingerprint == "" {
		if len(e.plans) < maxPlans {
			e.plans = append(e.plans, plan{slices.Clone(q.Plan), at})
		} else {
			e.lost++
		}
		return
	}
	if q.Waits != nil {
		e.addLockEdge(r)
	}
	if q.Origin == evidence.IdleSession {
		e.addIdle(r)
		if q.InTrx == evidence.Yes {
			e.addIdleTrx(r)
		}
		return
	}
	fp := q.Fingerprint
	if fp == "" {
		fp = strings.Join(strings.Fields(q.Text), " ")
		if fp == "" {
			return
		}
	}
	s := e.statement(fp)
	if s == nil {
		return
	}
	s.truncated = s.truncated || q.Truncated
	s.engine = minNonEmpty(s.engine, q.Engine)
	n := max(1, q.Count)
	for _, node := range q.Plan {
		if node.Scan {
			rows := max(node.Rows, node.ActualRows)
			s.planned(rows, at, node.Table)
			s.fullScan = evidence.Yes
		}
		if s.table == "" {
			s.table = node.Table
		}
	}
	switch q.Origin {
	case evidence.Digest:
		// Counters since a reset say what a statement costs, not what happened
		// in the incident: one execution of average cost stands for them.
		s.finished(r, q, 1)
	case evidence.SlowLog, evidence.ClientSlow:
		s.finished(r, q, n)
	case evidence.Running, evidence.LockWait:
		key := r.Cite.Source + "\x00" + strconv.Itoa(q.Snapshot)
		if q.Snapshot == 0 && q.Origin == evidence.Running {
			key += r.Time.String() // one message lists what ran at its time
		}
		run := s.running[key]
		if run == nil {
			if len(s.running) >= 10_000 {
				e.lost++
				return
			}
			run = &running{at: at}
			s.running[key] = run
		}
		if at.compare(run.at) < 0 {
			run.at = at
		}
		run.sessions += int(n)
		run.longest = max(run.longest, q.Duration)
		meta := strings.Contains(strings.ToLower(q.State), "metadata lock")
		if meta {
			s.metaWaits.add(r, int(n))
		}
		if q.Origin == evidence.LockWait || meta || strings.Contains(q.State, "level lock") || strings.HasPrefix(q.State, "Lock|") {
			run.locked += int(n)
			s.waits.add(r, int(n))
			if q.Waits != nil {
				s.edged += int(n)
			}
		}
	case evidence.Deadlock:
		s.deadlocks.add(r, int(n))
	}
}

// planned notes a plan that reads a whole table; the plan with most rows stays.
func (s *statement) planned(rows int64, at cited, table string) {
	if rows > s.scanRows || rows == s.scanRows && (s.scanAt.cite.Source == "" || at.compare(s.scanAt) < 0) {
		s.scanRows, s.scanAt, s.table = rows, at, table
	}
}

func (s *statement) finished(r *evidence.Record, q *evidence.Statement, n int64) {
	at := cited{r.Time, r.Cite}
	if q.Origin == evidence.ClientSlow {
		s.client.add(r, q.Duration, n)
	} else {
		s.add(r, q.Duration, n)
	}
	if q.Duration >= 0 && q.RowsExamined >= 0 {
		s.rowsKnown += n
		if q.Duration >= time.Second && q.RowsExamined < 1000 {
			s.waiting += n
		}
	}
	if q.RowsExamined > s.rowsMax || q.RowsExamined == s.rowsMax && at.compare(s.rowsAt) < 0 {
		s.rowsMax, s.rowsSent, s.rowsAt = q.RowsExamined, q.RowsSent, at
	}
	if q.FullScan == evidence.Yes {
		s.fullScan = evidence.Yes
		if s.scanSeen.cite.Source == "" || at.compare(s.scanSeen) < 0 {
			s.scanSeen = at
		}
	}
}

func (e *Engine) addLockEdge(r *evidence.Record) {
	w := r.SQL.Waits
	key := w.Blocker + "\x00" + w.Object
	x := e.trx[key]
	if x == nil {
		if len(e.trx) >= maxKeys {
			e.lost++
			return
		}
		x = &lockWait{blocker: w.Blocker, object: w.Object}
		e.trx[key] = x
	}
	x.blockerText = minNonEmpty(x.blockerText, w.BlockerText)
	x.blockerState = minNonEmpty(x.blockerState, w.BlockerState)
	x.seen.add(r, 1)
	x.longest = max(x.longest, w.Waited, r.SQL.Duration)
}

// idleSession is the session that has slept longest.
type idleSession struct {
	id  string
	age time.Duration
	at  cited
}

func (e *Engine) addIdle(r *evidence.Record) {
	s := idleSession{r.SQL.Session, r.SQL.Duration, cited{r.Time, r.Cite}}
	if s.age > e.idle.age || s.age == e.idle.age && s.age > 0 && s.at.compare(e.idle.at) < 0 {
		e.idle = s
	}
}

func (e *Engine) addIdleTrx(r *evidence.Record) {
	k := markKey{"sql.idle-trx", r.SQL.Session, r.Cite.Source}
	x := e.marks[k]
	if x == nil {
		if len(e.marks) >= maxKeys {
			e.lost++
			return
		}
		x = &mark{key: k, text: r.SQL.Text}
		e.marks[k] = x
	}
	x.seen.add(r, 1)
	x.max = max(x.max, r.SQL.TrxAge.Seconds())
}

// peak returns the snapshot in which most sessions ran the statement.
func (s *statement) peak() running {
	var best running
	keys := make([]string, 0, len(s.running))
	for k := range s.running {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if r := s.running[k]; r.sessions > best.sessions {
			best = *r
		}
	}
	return best
}

// histogram counts durations on a log scale, eight buckets an octave (±4.4 %).
type histogram struct{ counts map[int]int64 }

func (h *histogram) add(d time.Duration, n int64) {
	if h.counts == nil {
		h.counts = map[int]int64{}
	}
	b := math.MinInt32
	if d > 0 {
		b = int(math.Floor(math.Log2(d.Seconds()) * 8))
	}
	h.counts[b] += n
}

// quantile returns the upper bound, in seconds, of the bucket that holds the
// q-th part.
func (h *histogram) quantile(q float64) float64 {
	var total int64
	keys := make([]int, 0, len(h.counts))
	for b, n := range h.counts {
		total += n
		keys = append(keys, b)
	}
	slices.Sort(keys)
	rank := int64(math.Ceil(q * float64(total)))
	var seen int64
	for _, b := range keys {
		seen += h.counts[b]
		if seen >= rank {
			if b == math.MinInt32 {
				return 0
			}
			return math.Exp2(float64(b+1) / 8)
		}
	}
	return 0
}

// p95 is the time in seconds under which 95 of 100 executions stayed.
func (s *statement) p95() float64 { return min(s.histogram.quantile(0.95), s.longest.Seconds()) }

// sortedSQL lists statements: what runs now, then what cost most.
func (e *Engine) sortedSQL() []*statement {
	list := make([]*statement, 0, len(e.sql))
	for _, s := range e.sql {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *statement) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), cmp.Compare(b.total, a.total), cmp.Compare(a.fingerprint, b.fingerprint))
	})
	return list
}

// weight orders statements by sessions running them for a second or more, then
// by total time.
func (s *statement) weight() float64 {
	p := s.peak()
	w := s.total.Seconds()
	if p.longest >= time.Second {
		w += float64(p.sessions) * max(1, p.longest.Seconds())
	}
	return w
}
