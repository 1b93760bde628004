package correlate

import (
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// What makes a statement worth a finding.
const (
	fewSessions = 5
	manyRows    = 10_000
	scanRatio   = 1000
	staleAfter  = 2 * time.Minute
)

// prepareSQL joins statements that were cut by their source to the whole ones,
// and plans to the statements on their table.
func (e *Engine) prepareSQL() {
	keys := sortedKeys(e.sql)
	for _, k := range keys {
		s := e.sql[k]
		if s == nil || !s.truncated {
			continue
		}
		stem := strings.TrimRight(strings.TrimSuffix(k, "?"), " ")
		if len(stem) < 30 {
			continue
		}
		var whole *statement
		for _, other := range keys {
			o := e.sql[other]
			if o == nil || o == s || o.truncated || !strings.HasPrefix(other, stem) {
				continue
			}
			if whole != nil {
				whole = nil // not unique: leave it apart
				break
			}
			whole = o
		}
		if whole != nil {
			whole.absorb(s)
			delete(e.sql, k)
		}
	}
	for _, s := range e.sql {
		s.settle()
	}
	slices.SortFunc(e.plans, func(a, b plan) int { return a.at.compare(b.at) })
	for _, p := range e.plans {
		for _, node := range p.nodes {
			if node.Scan && node.Table != "" {
				e.joinPlan(node, p.at)
			}
		}
	}
	e.plans = nil
	e.joinShards()
}

// joinPlan gives a scan to the statement on its table that weighs most.
func (e *Engine) joinPlan(node evidence.PlanNode, at cited) {
	rows := max(node.Rows, node.ActualRows)
	for _, s := range e.sortedSQL() {
		if mentionsTable(s.fingerprint, node.Table) {
			s.fullScan, s.table = evidence.Yes, node.Table
			s.planned(rows, at, node.Table)
			return
		}
	}
	s := e.statement(lang.Sprintf("(a statement on %s, text not in the evidence)", node.Table))
	if s != nil {
		s.fullScan, s.table = evidence.Yes, node.Table
		s.planned(rows, at, node.Table)
	}
}

func mentionsTable(fp, table string) bool {
	table = strings.ToLower(strings.Trim(table, "`\""))
	if i := strings.LastIndexByte(table, '.'); i >= 0 {
		table = table[i+1:]
	}
	fp = strings.ToLower(fp)
	for i := strings.Index(fp, table); i >= 0 && table != ""; {
		before := i == 0 || !wordByte(fp[i-1])
		end := i + len(table)
		after := end == len(fp) || !wordByte(fp[end])
		if before && after {
			return true
		}
		j := strings.Index(fp[end:], table)
		if j < 0 {
			break
		}
		i = end + j
	}
	return false
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// absorb adds what was seen of a cut form of the same statement.
func (s *statement) absorb(o *statement) {
	for _, pair := range []struct{ to, from *sighting }{{&s.waits, &o.waits}, {&s.metaWaits, &o.metaWaits}, {&s.deadlocks, &o.deadlocks}} {
		pair.to.merge(pair.from)
	}
	s.tally.merge(&o.tally)
	s.client.merge(&o.client)
	for k, r := range o.running {
		if mine := s.running[k]; mine != nil {
			mine.sessions += r.sessions
			mine.locked += r.locked
			mine.longest = max(mine.longest, r.longest)
		} else {
			s.running[k] = r
		}
	}
	s.waiting += o.waiting
	s.rowsKnown += o.rowsKnown
}

func (q *inquiry) sqlFindings() {
	q.e.prepareSQL()
	listed := 0
	for _, s := range q.e.sortedSQL() {
		if listed >= 15 {
			break
		}
		before := len(q.findings)
		q.statementFindings(s)
		if len(q.findings) > before {
			listed++
			if q.statement == nil {
				q.statement = s
			}
		}
	}
	q.metaLock()
	q.lockWaitFindings()
	q.fastFinding()
	q.databaseMarks()
}

// statementSubject is how a statement is named: what it reads, then its text.
func (s *statement) subject() string { return clip(s.fingerprint, 160) }

func (s *statement) names() map[string]string {
	return map[string]string{"fingerprint": clip(s.fingerprint, 400), "table": s.table, "engine": s.engine}
}

func (q *inquiry) statementFindings(s *statement) {
	names := s.names()
	peak := s.peak()
	locked := s.metaWaits.count > 0 || peak.locked*2 > peak.sessions && peak.locked > 0
	if peak.sessions >= fewSessions && (peak.longest >= time.Second || peak.sessions >= 2*fewSessions) {
		text := lang.Sprintf("%d sessions run one statement at once", peak.sessions)
		if peak.longest > 0 {
			text += lang.Sprintf(", the longest for %s", seconds(peak.longest.Seconds()))
		}
		text = lang.Sprintf("%s: %s", text, clip(s.fingerprint, 200))
		kind := incident.SQLRunning
		if locked {
			kind = incident.SQLLockWait
			text = lang.Sprintf("%d of %d sessions that run one statement wait for a lock: %s", peak.locked, peak.sessions, clip(s.fingerprint, 200))
		}
		q.findCited(kind, s.subject(), text, peak.sessions, span{peak.at.at, peak.at.at}, []evidence.Citation{peak.at.cite}, map[string]float64{"sql.running": float64(peak.sessions), "sql.longest_s": round(peak.longest.Seconds(), 1)}, names)
	}
	lockLike := s.waiting >= fewCalls && s.waiting*2 > s.rowsKnown && changes(s.fingerprint)
	if n := s.slow.count; n > 0 {
		p95 := round(s.p95(), 1)
		text := lang.Sprintf("%s of at least 1 s, up to %s (%s in all): %s", plural(n, "execution"), seconds(s.longest.Seconds()), seconds(s.total.Seconds()), clip(s.fingerprint, 200))
		values := map[string]float64{"sql.count": float64(s.seen.count), "sql.total_s": round(s.total.Seconds(), 1), "sql.p95_s": p95, "sql.max_s": round(s.longest.Seconds(), 3)}
		if s.rowsMax >= 0 {
			values["sql.rows_examined"] = float64(s.rowsMax)
		}
		if lockLike {
			text += lang.T("; it examines next to nothing, so it waits (a row lock) rather than works")
			q.find(incident.SQLLockWait, s.subject(), text, &s.slow, values, names)
		} else {
			q.find(incident.SQLSlow, s.subject(), text, &s.slow, values, names)
		}
	}
	rows := max(s.scanRows, s.rowsMax)
	ratio := s.rowsMax >= manyRows && s.rowsSent >= 0 && s.rowsMax >= scanRatio*max(1, s.rowsSent)
	if (s.fullScan == evidence.Yes || ratio) && rows >= manyRows {
		at := s.scanAt
		switch {
		case s.rowsMax > s.scanRows:
			at = s.rowsAt
		case at.cite.Source == "" && s.scanSeen.cite.Source != "":
			at = s.scanSeen
		}
		table := s.table
		if table == "" {
			table = lang.T("its table")
		}
		text := lang.Sprintf("a statement reads %s rows of %s without an index that fits: %s", human(rows), table, clip(s.fingerprint, 200))
		q.findCited(incident.SQLScan, s.subject(), text, 1, span{at.at, at.at}, []evidence.Citation{at.cite}, map[string]float64{"sql.rows_examined": float64(rows)}, names)
	}
	if n := s.waits.count - s.edged - s.metaWaits.count; n > 0 && !(locked && peak.sessions >= fewSessions) {
		q.find(incident.SQLLockWait, s.subject(), lang.Sprintf("%s for a lock, whose holder is not shown: %s", waits(n), clip(s.fingerprint, 200)), &s.waits, map[string]float64{"sql.waiting": float64(n)}, names)
	}
}

// waits says "1 session waits" or "5 sessions wait".
func waits(n int) string {
	if n == 1 {
		return lang.T("1 session waits")
	}
	return lang.Sprintf("%d sessions wait", n)
}

// metaLock is the queue behind one metadata lock, whatever its statements.
func (q *inquiry) metaLock() {
	var all sighting
	var worst *statement
	for _, s := range q.e.sortedSQL() {
		if s.metaWaits.count > 0 {
			all.merge(&s.metaWaits)
			if worst == nil || s.metaWaits.count > worst.metaWaits.count {
				worst = s
			}
		}
	}
	if worst == nil {
		return
	}
	text := lang.Sprintf("%s for a metadata lock, most: %s", waits(all.count), clip(worst.fingerprint, 160))
	cites := all.citations()
	if idle := q.e.idle; idle.age >= time.Minute {
		text += lang.Sprintf("; session %s has slept for %s and may hold it", idle.id, seconds(idle.age.Seconds()))
		cites = citeUnion(4, cites[:min(len(cites), 2)], []evidence.Citation{idle.at.cite})
	}
	names := worst.names()
	if q.e.idle.age >= time.Minute {
		names["session"] = q.e.idle.id
	}
	for _, s := range q.e.sortedSQL() {
		if s.metaWaits.count > 0 && ddl(s.fingerprint) {
			names["ddl"] = clip(s.fingerprint, 120)
			text += lang.Sprintf("; the change that waits in front: %s", clip(s.fingerprint, 80))
			break
		}
	}
	q.findCited(incident.SQLMetaLock, worst.subject(), text, all.count, all.span, cites, nil, names)
}

// ddl reports statements that change a table's definition.
func ddl(fp string) bool {
	f := strings.ToLower(fp)
	for _, verb := range []string{"alter ", "drop ", "truncate ", "rename ", "optimize ", "create "} {
		if strings.HasPrefix(f, verb) {
			return true
		}
	}
	return false
}

// changes reports statements that take row locks.
func changes(fp string) bool {
	f := strings.ToLower(fp)
	return strings.HasPrefix(f, "update") || strings.HasPrefix(f, "delete") || strings.HasPrefix(f, "insert") || strings.HasPrefix(f, "replace") || strings.Contains(f, "for update") || strings.Contains(f, "lock in share mode")
}

func (q *inquiry) lockWaitFindings() {
	keys := sortedKeys(q.e.trx)
	slices.SortStableFunc(keys, func(a, b string) int { return q.e.trx[b].seen.count - q.e.trx[a].seen.count })
	for i, k := range keys {
		if i == 5 {
			break
		}
		w := q.e.trx[k]
		text := lang.Sprintf("%s for a lock in the database", waits(w.seen.count))
		if w.object != "" {
			text += lang.Sprintf(" on %s", w.object)
		}
		if w.longest > 0 {
			text += lang.Sprintf(", up to %s", seconds(w.longest.Seconds()))
		}
		if w.blocker != "" {
			text += lang.Sprintf("; session %s holds it", w.blocker)
			if w.blockerState != "" {
				text = lang.Sprintf("%s (%s)", text, w.blockerState)
			}
			if w.blockerText != "" {
				text = lang.Sprintf("%s: %s", text, clip(w.blockerText, 160))
			}
		}
		q.find(incident.SQLLockWait, w.object, text, &w.seen, map[string]float64{"sql.waiting": float64(w.seen.count), "sql.longest_s": round(w.longest.Seconds(), 1)}, map[string]string{"blocker": w.blocker, "object": w.object, "statement": clip(w.blockerText, 200)})
	}
	for i, m := range q.e.marksOf("sql.idle-trx") {
		if i == 5 {
			break
		}
		text := lang.Sprintf("session %s idles inside a transaction", m.key.subject)
		if m.max > 0 {
			text += lang.Sprintf(" (%s old)", seconds(m.max))
		}
		q.find(incident.SQLIdleTrx, m.key.subject, text, &m.seen, nil, map[string]string{"session": m.key.subject})
	}
}

// fastFinding says that the database answered quickly, where its log shows
// enough statements and none slow.
func (q *inquiry) fastFinding() {
	var all sighting
	var quick int64
	for _, s := range q.e.sortedSQL() {
		if s.slow.count > 0 || s.waits.count > 0 || s.peak().longest >= time.Second {
			return
		}
		if s.byClient {
			continue
		}
		all.merge(&s.seen)
		quick += s.quick
	}
	if all.count >= 20 && float64(quick) >= 0.95*float64(all.count) {
		q.find(incident.SQLFast, "database", lang.Sprintf("%d statements logged, %d of them under 100 ms and none of 1 s", all.count, quick), &all, map[string]float64{"sql.count": float64(all.count)}, nil)
	}
}

func (q *inquiry) databaseMarks() {
	for _, m := range q.e.marksOf(evidence.MarkTooManyConns) {
		q.find(incident.ConnLimit, m.key.subject, lang.Sprintf("the database refuses connections: its limit is reached (%s)", times(m.seen.count)), &m.seen, nil, nil)
		break
	}
	for i, m := range q.e.marksOf(evidence.MarkLockTimeout) {
		if i < 3 {
			q.find(incident.SQLLockWait, m.key.subject, lang.Sprintf("a lock wait in the database ended by its timeout (%s)", times(m.seen.count)), &m.seen, map[string]float64{"sql.waiting": float64(m.seen.count)}, nil)
		}
	}
	var dead sighting
	for _, m := range q.e.marksOf(evidence.MarkDBDeadlock) {
		dead.merge(&m.seen)
	}
	for _, k := range sortedKeys(q.e.sql) {
		dead.merge(&q.e.sql[k].deadlocks)
	}
	if dead.count > 0 {
		q.find(incident.SQLDeadlock, "database", lang.Sprintf("the database resolved deadlocks (%s in the evidence)", times(dead.count)), &dead, map[string]float64{"sql.deadlocks": float64(dead.count)}, nil)
	}
	for _, m := range q.e.marksOf(evidence.MarkDuplicateKey) {
		q.find(incident.DuplicateWrite, m.key.subject, lang.Sprintf("a write arrived again and met its own key %s (%s)", clip(m.key.subject, 80), times(m.seen.count)), &m.seen, map[string]float64{"writes.duplicate": float64(m.seen.count)}, map[string]string{"key": m.key.subject})
		break
	}
	for i, m := range q.e.marksOf(evidence.MarkReplay) {
		if i < 3 {
			q.find(incident.DuplicateWrite, m.key.subject, lang.Sprintf("business key %s was executed again (%s)", clip(m.key.subject, 80), times(m.seen.count)), &m.seen, map[string]float64{"writes.duplicate": float64(m.seen.count)}, map[string]string{"key": m.key.subject})
		}
	}
	for i, m := range q.e.marksOf(evidence.MarkDBLost) {
		if i < 2 {
			q.find(incident.ConnUnreachable, "database", lang.Sprintf("the connection to the database was lost or refused (%s)", times(m.seen.count)), &m.seen, nil, nil)
		}
	}
}
