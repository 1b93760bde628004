package parsers

import (
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// blocking reads a query that joins waiting sessions to those that block them:
//
//	 blocked_pid | blocked_user | blocking_pid | blocking_user |    blocked_statement     | current_statement_in_blocking_process
//	-------------+--------------+--------------+---------------+--------------------------+---------------------------------------
//	        8105 | shop_rw      |         8102 | shop_rw       | update t set b=b+10 …    | select pg_sleep(3)
//
// There are many of these about, and all name their columns after the same words.
func (r *pgTableReader) blocking() error {
	r.clock()
	r.in.snapshots++
	t := r.t
	blocked, blocker := t.col(pgBlockedPid...), t.col(pgBlockingPid...)
	text := r.sided(true, "query", "statement")
	blockerText := r.sided(false, "query", "statement")
	waiting := map[string]bool{}
	for _, row := range t.rows {
		waiting[t.get(row, blocked)] = true
	}
	for i, row := range t.rows {
		p := t.get(row, blocked)
		if !allDigits([]byte(p)) {
			continue
		}
		s := pgNewStatement(evidence.LockWait)
		s.Snapshot = r.in.snapshots
		s.Session, s.User = p, t.get(row, r.sided(true, "user", "usename"))
		s.DB = t.get(row, t.col("datname", "database", "db"))
		s.Text = t.get(row, text)
		s.Fingerprint = pgFingerprint(s.Text)
		s.Command = "active"
		s.Duration = r.age(row, append([]string{
			"blocked_duration", "waiting_duration", "wait_duration", "wait_time", "blocked_for", "waiting_for", "blocked_time", "wait_age", "waited", "blocked_age",
		}, pgAges...))
		r.edge = evidence.LockEdge{
			Blocker:     pgFirstHolder(t.get(row, blocker), waiting),
			BlockerText: t.get(row, blockerText), BlockerState: t.get(row, r.sided(false, "state")),
			Object: t.get(row, t.col("relation", "relname", "locked_relation", "locked_item", "object", "table_name", "table", "locktype", "lock_type")),
			Mode:   t.get(row, t.col("blocked_mode", "waiting_mode", "mode", "lock_mode")),
			Waited: s.Duration,
		}
		s.Waits = &r.edge
		began, zoned := r.now, r.zone
		if !began.IsZero() && s.Duration > 0 {
			began = began.Add(-s.Duration)
		}
		if err := r.send(i, began, zoned, s); err != nil {
			return err
		}
	}
	return nil
}

// sided returns the column whose name has one of some words and is of the
// waiting or of the blocking side.
func (r *pgTableReader) sided(waiting bool, words ...string) int {
	for i, c := range r.t.columns {
		of := strings.Contains(c, "block") && !strings.Contains(c, "blocked") || strings.Contains(c, "holder") ||
			strings.Contains(c, "holding") || strings.HasPrefix(c, "other_") || strings.HasPrefix(c, "locking_")
		if strings.Contains(c, "pid") || of == waiting {
			continue
		}
		for _, w := range words {
			if strings.Contains(c, w) {
				return i
			}
		}
	}
	return -1
}

// locks reads pg_locks: a lock that is not granted is a wait, and whoever holds
// a conflicting lock on the same thing is its blocker.
func (r *pgTableReader) locks() error {
	r.clock()
	r.in.snapshots++
	t := r.t
	pid, mode, granted := t.col("pid", "procpid"), t.col("mode"), t.col("granted")
	name := t.col("relation", "relname", "relation_name", "table_name")
	waiting := map[string]bool{}
	for _, row := range t.rows {
		if !pgTrue(t.get(row, granted)) {
			waiting[t.get(row, pid)] = true
		}
	}
	for i, row := range t.rows {
		p := t.get(row, pid)
		if pgTrue(t.get(row, granted)) || t.get(row, granted) == "" || !allDigits([]byte(p)) {
			continue
		}
		s := pgNewStatement(evidence.LockWait)
		s.Snapshot = r.in.snapshots
		s.Session, s.User = p, t.get(row, t.col("usename", "user"))
		s.Text = t.get(row, t.col("query", "current_query"))
		s.Fingerprint = pgFingerprint(s.Text)
		r.edge = evidence.LockEdge{Object: t.get(row, name), Mode: t.get(row, mode), Waited: r.since(row, t.col("waitstart"))}
		if r.edge.Object == "" {
			r.edge.Object = strings.TrimSpace(t.get(row, t.col("locktype")) + " " + t.get(row, t.col("transactionid")))
		}
		if r.edge.Waited < 0 {
			r.edge.Waited = r.age(row, pgAges)
		}
		if b := r.holder(row, waiting); b != nil {
			r.edge.Blocker = t.get(b, pid)
			r.edge.BlockerText = t.get(b, t.col("query", "current_query"))
			r.edge.BlockerState = t.get(b, t.col("state"))
		}
		s.Duration = r.edge.Waited
		s.Waits = &r.edge
		began, zoned := r.time(row, t.col("waitstart", "query_start"))
		if began.IsZero() {
			began, zoned = r.now, r.zone
		}
		if err := r.send(i, began, zoned, s); err != nil {
			return err
		}
	}
	return nil
}

// holder finds a row whose lock stands in a row's way, best of a session that
// does not wait itself.
func (r *pgTableReader) holder(row []string, waiting map[string]bool) []string {
	t := r.t
	key := func(row []string) string {
		var k strings.Builder
		some := false
		for _, c := range [...]string{"relation", "relname", "transactionid", "virtualxid", "classid", "objid", "page", "tuple"} {
			v := t.get(row, t.col(c))
			some = some || v != ""
			k.WriteString(v + "|")
		}
		if !some {
			return ""
		}
		return t.get(row, t.col("locktype")) + "|" + k.String()
	}
	want := key(row)
	if want == "" {
		return nil
	}
	pid, mode, granted := t.col("pid", "procpid"), t.col("mode"), t.col("granted")
	var found []string
	for _, b := range t.rows {
		if !pgTrue(t.get(b, granted)) || t.get(b, pid) == t.get(row, pid) || key(b) != want ||
			!pgConflict(t.get(row, mode), t.get(b, mode)) {
			continue
		}
		if !waiting[t.get(b, pid)] {
			return b
		}
		if found == nil {
			found = b
		}
	}
	return found
}

// pgConflict reports whether two lock modes exclude one another; unknown modes do.
func pgConflict(a, b string) bool {
	modes := [...]string{
		"AccessShareLock", "RowShareLock", "RowExclusiveLock", "ShareUpdateExclusiveLock",
		"ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock",
	}
	conflicts := [...]uint8{0b1000_0000, 0b1100_0000, 0b1111_0000, 0b1111_1000, 0b1110_1100, 0b1111_1100, 0b1111_1110, 0b1111_1111}
	ia, ib := -1, -1
	for i, m := range modes {
		if a == m {
			ia = i
		}
		if b == m {
			ib = i
		}
	}
	return ia < 0 || ib < 0 || conflicts[ia]>>ib&1 == 1
}

// statements reads pg_stat_statements: counters since they were last reset, in
// milliseconds.
func (r *pgTableReader) statements() error {
	t := r.t
	total, mean := t.col(pgTotals...), t.col(pgMeans...)
	for i, row := range t.rows {
		calls, ok := pgCount([]byte(strings.ReplaceAll(t.get(row, t.col("calls")), ",", "")))
		text := t.get(row, t.col("query", "q"))
		if !ok || text == "" {
			continue
		}
		s := pgNewStatement(evidence.Digest)
		s.Text, s.Count = text, calls
		s.Fingerprint = pgFingerprint(text)
		s.DB = t.get(row, t.col("datname", "db", "database"))
		s.User = t.get(row, t.col("usename", "rolname", "user"))
		if d, ok := pgInterval(t.get(row, mean), time.Millisecond); ok {
			s.Duration = d
		} else if d, ok := pgInterval(t.get(row, total), time.Millisecond); ok && calls > 0 {
			s.Duration = d / time.Duration(calls)
		}
		if rows, ok := pgCount([]byte(t.get(row, t.col("rows")))); ok {
			s.RowsSent = rows
		}
		if err := r.send(i, time.Time{}, evidence.Unknown, s); err != nil {
			return err
		}
	}
	return nil
}
