package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// lockWait reads what log_lock_waits prints:
//
//	process 8105 still waiting for ShareLock on transaction 772 after 500.109 ms
//	process 8105 acquired ShareLock on transaction 772 after 2700.446 ms
//	process 10347 detected deadlock while waiting for ShareLock on transaction 777 after 500.292 ms
//
// One wait is one piece of evidence, sent when it has ended.
func (s *pgServer) lockWait(r *pgRecord) error {
	m := r.message[len("process "):]
	pid, m, ok := bytes.Cut(m, []byte(" "))
	if !ok || !allDigits(pid) {
		return nil
	}
	acquired := false
	switch {
	case bytes.HasPrefix(m, []byte("still waiting for ")):
		m = m[len("still waiting for "):]
	case bytes.HasPrefix(m, []byte("acquired ")):
		m = m[len("acquired "):]
		acquired = true
	default: // "avoided deadlock for …", "detected deadlock while waiting for …"
		i := bytes.Index(m, []byte("deadlock "))
		if i < 0 {
			return nil
		}
		j := bytes.Index(m[i:], []byte(" for "))
		if j < 0 {
			return nil
		}
		m = m[i+j+len(" for "):]
	}
	i := bytes.LastIndex(m, []byte(" after "))
	mode, object, ok := bytes.Cut(m[:max(i, 0)], []byte(" on "))
	if i < 0 || !ok {
		return nil
	}
	waited, _, ok := pgMillis(m[i+len(" after "):])
	if !ok {
		return nil
	}
	if len(r.pid) == 0 {
		r.pid = pid
	}
	ses, err := s.session(r)
	if ses == nil || err != nil {
		return err
	}
	w := &ses.wait
	if ses.waiting && (w.mode != string(mode) || w.printed != string(object)) {
		if err := s.endWait(ses); err != nil {
			return err
		}
	}
	if !ses.waiting {
		*w = pgWait{line: r.line, mode: string(mode), printed: string(object), object: string(object), text: w.text[:0]}
		ses.waiting = true
	}
	w.end, w.zoned, w.waited, w.who = r.time, r.zoned, waited, s.who(r)
	if len(r.statement) > 0 {
		w.text = append(w.text[:0], r.statement[:min(len(r.statement), pgMaxKept)]...)
	}
	if rel := pgRelation(r.context); rel != nil { // says more than "transaction 772"
		w.object = string(rel)
	}
	if w.blocker == "" {
		w.blocker = s.blocker(r.detail)
	}
	if acquired {
		return s.endWait(ses)
	}
	return nil
}

// blocker picks, out of "Processes holding the lock: 8110, 8109. Wait queue:
// 8117.", the first holder that is not itself known to wait.
func (s *pgServer) blocker(detail []byte) string {
	i := bytes.Index(detail, []byte(" holding the lock: "))
	if i < 0 {
		return ""
	}
	list := detail[i+len(" holding the lock: "):]
	if i := bytes.IndexByte(list, '.'); i >= 0 {
		list = list[:i]
	}
	first := ""
	for pid := range bytes.SplitSeq(list, []byte(", ")) {
		if !allDigits(pid) {
			continue
		}
		if ses := s.sessions[string(pid)]; ses == nil || !ses.waiting {
			return string(pid)
		}
		if first == "" {
			first = string(pid)
		}
	}
	return first
}

// pgRelation returns the name in `while updating tuple (0,1) in relation "t"`.
func pgRelation(context []byte) []byte {
	_, rest, ok := bytes.Cut(context, []byte(` relation "`))
	if !ok {
		return nil
	}
	name, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		return nil
	}
	return name
}

// endWait sends a session's lock wait, if it has one.
func (s *pgServer) endWait(ses *pgSession) error {
	if !ses.waiting {
		return nil
	}
	ses.waiting = false
	w := &ses.wait
	ses.locked += w.waited
	s.edge = evidence.LockEdge{Blocker: w.blocker, Object: w.object, Mode: w.mode, Waited: w.waited}
	if b := s.sessions[w.blocker]; b != nil && b.hasText {
		s.edge.BlockerText = string(b.text)
	}
	s.stmt = s.newStatement(evidence.LockWait, string(w.text))
	s.stmt.Session, s.stmt.Duration, s.stmt.LockTime = ses.pid, w.waited, w.waited
	s.stmt.User, s.stmt.DB, s.stmt.Host = w.who.user, w.who.db, w.who.host
	s.stmt.Waits = &s.edge
	return s.send(w.line, w.end, w.zoned, w.waited, w.text)
}

// failure reads an ERROR, FATAL or PANIC.
func (s *pgServer) failure(r *pgRecord) error {
	m := r.message
	has := func(t string) bool { return bytes.Contains(m, []byte(t)) }
	if ses := s.sessions[string(r.pid)]; ses != nil {
		ses.hasText = false
		if err := s.endWait(ses); err != nil {
			return err
		}
		ses.locked = 0
	}
	switch {
	case string(r.code) == "53300" || has("too many clients already") || has("too many connections for ") ||
		has("connection slots are reserved"):
		return s.sendMark(r, evidence.MarkTooManyConns, string(r.db), m)
	case has("deadlock detected"):
		return s.deadlock(r)
	case has("duplicate key value violates unique constraint"):
		key := ""
		if _, rest, ok := bytes.Cut(m, []byte(`"`)); ok {
			k, _, _ := bytes.Cut(rest, []byte(`"`))
			key = string(k)
		}
		text := m
		if len(r.detail) > 0 {
			text = r.detail
		}
		return s.sendMark(r, evidence.MarkDuplicateKey, key, text)
	case has("due to lock timeout"), has("could not obtain lock on"):
		if err := s.cancelled(r); err != nil {
			return err
		}
		return s.sendMark(r, evidence.MarkLockTimeout, string(pgRelation(r.context)), m)
	case has("canceling statement due to"), has("due to transaction timeout"):
		if err := s.cancelled(r); err != nil {
			return err
		}
		return s.sendMark(r, evidence.MarkStatementKilled, "", m)
	case has("idle-in-transaction timeout"), has("idle-session timeout"):
		s.stmt = s.newStatement(evidence.IdleSession, "")
		s.stmt.Session, s.stmt.User, s.stmt.DB, s.stmt.Host = string(r.pid), string(r.user), string(r.db), string(r.host)
		s.stmt.Command, s.stmt.InTrx = "idle in transaction", evidence.Yes
		if has("idle-session") {
			s.stmt.Command, s.stmt.InTrx = "idle", evidence.No
		}
		s.stmt.State = "terminated by timeout"
		return s.send(r.line, r.time, r.zoned, 0, m)
	case has("terminating connection due to"), has("the database system is"), has("terminating connection because"):
		return s.sendMark(r, evidence.MarkDBLost, string(r.db), m)
	case has("connection to client lost"):
		return s.sendMark(r, evidence.MarkAppError, "client connection lost", m)
	}
	subject := "postgresql error"
	if len(r.code) > 0 {
		subject += " " + string(r.code)
	}
	return s.sendMark(r, evidence.MarkAppError, subject, m)
}

// cancelled sends the statement that was cancelled. Its duration is not
// printed, but it never gets a duration line, so this is all there is of it.
func (s *pgServer) cancelled(r *pgRecord) error {
	if len(r.statement) == 0 {
		return nil
	}
	s.stmt = s.newStatement(evidence.Running, string(r.statement))
	s.stmt.Session, s.stmt.User, s.stmt.DB, s.stmt.Host = string(r.pid), string(r.user), string(r.db), string(r.host)
	s.stmt.Command, s.stmt.State, s.stmt.Truncated = "cancelled", string(r.message[:min(len(r.message), 80)]), r.cut
	return s.send(r.line, r.time, r.zoned, 0, r.statement)
}

// deadlock reads the detail of "deadlock detected": who waits for whom, then
// each one's statement, which may go on over lines.
func (s *pgServer) deadlock(r *pgRecord) error {
	if err := s.sendMark(r, evidence.MarkDBDeadlock, string(pgRelation(r.context)), r.message); err != nil {
		return err
	}
	type member struct{ mode, object, blocker string }
	members := map[string]member{}
	rest := r.detail
	sent := 0
	for len(rest) > 0 && sent < 16 {
		line, more, _ := bytes.Cut(rest, newline)
		b, ok := bytes.CutPrefix(line, []byte("Process "))
		if !ok {
			rest = more
			continue
		}
		if pid, what, ok := bytes.Cut(b, []byte(" waits for ")); ok && allDigits(pid) {
			if mode, what, ok := bytes.Cut(what, []byte(" on ")); ok {
				object, by, _ := bytes.Cut(what, []byte("; blocked by process "))
				members[string(pid)] = member{string(mode), string(object), string(bytes.TrimRight(by, "."))}
			}
			rest = more
			continue
		}
		pid, _, ok := bytes.Cut(b, []byte(": "))
		if !ok || !allDigits(pid) {
			rest = more
			continue
		}
		text := rest[len("Process ")+len(pid)+2:]
		end := len(text)
		if i := bytes.Index(text, []byte("\nProcess ")); i >= 0 {
			end = i
		}
		m := members[string(pid)]
		s.edge = evidence.LockEdge{Blocker: m.blocker, Object: m.object, Mode: m.mode, Waited: evidence.None}
		s.stmt = s.newStatement(evidence.Deadlock, string(text[:end]))
		s.stmt.Session, s.stmt.DB = string(pid), string(r.db)
		s.stmt.Waits = &s.edge
		if err := s.send(r.line, r.time, r.zoned, 0, text[:end]); err != nil {
			return err
		}
		sent++
		rest = text[end:]
		rest = bytes.TrimPrefix(rest, newline)
	}
	return nil
}

// logEvent reads the LOG lines that are events of the server itself.
func (s *pgServer) logEvent(r *pgRecord) error {
	m := r.message
	has := func(t string) bool { return bytes.Contains(m, []byte(t)) }
	switch {
	case bytes.HasPrefix(m, []byte("database system is ready to accept connections")),
		bytes.HasPrefix(m, []byte("database system is shut down")),
		bytes.HasPrefix(m, []byte("received ")) && has(" shutdown request"):
		return s.sendMark(r, evidence.MarkDeploy, "postgresql", m)
	case bytes.HasPrefix(m, []byte("server process ")) && has("was terminated by signal"):
		return s.sendMark(r, evidence.MarkDBLost, "", m)
	case has("on client connection with an open transaction"),
		bytes.HasPrefix(m, []byte("could not receive data from client")),
		bytes.HasPrefix(m, []byte("could not send data to client")):
		return s.sendMark(r, evidence.MarkAppError, "client connection lost", m)
	}
	return nil
}

func (s *pgServer) newStatement(origin evidence.SQLOrigin, text string) evidence.Statement {
	st := pgNewStatement(origin)
	st.Text = text
	st.Fingerprint = pgFingerprint(text)
	return st
}

// pgNewStatement returns a statement of which nothing is known.
func pgNewStatement(origin evidence.SQLOrigin) evidence.Statement {
	return evidence.Statement{
		Origin: origin, Engine: "postgresql", Duration: evidence.None, LockTime: evidence.None,
		RowsExamined: evidence.None, RowsSent: evidence.None, TrxAge: evidence.None,
	}
}

// sendTimed sends a statement that has ended.
func (s *pgServer) sendTimed(pid string, p *pgPending) error {
	s.stmt = s.newStatement(evidence.SlowLog, p.text)
	s.stmt.Session, s.stmt.User, s.stmt.DB, s.stmt.Host = pid, p.who.user, p.who.db, p.who.host
	s.stmt.Duration, s.stmt.Command, s.stmt.Truncated = p.duration, p.command, p.cut
	if p.locked > 0 {
		s.stmt.LockTime = min(p.locked, p.duration)
	}
	pgSetPlan(&s.stmt, p.plan)
	s.raw = append(s.raw[:0], p.text[:min(len(p.text), pgMaxRaw)]...)
	return s.send(p.line, p.end, p.zoned, p.duration, s.raw)
}

// pgMaxRaw is how much of its text a record carries along.
const pgMaxRaw = 2 << 10

// pgSetPlan sets a plan and what follows from it.
func pgSetPlan(st *evidence.Statement, plan []evidence.PlanNode) {
	st.Plan = plan
	if len(plan) == 0 {
		return
	}
	st.FullScan = evidence.No
	examined, measured := int64(0), false
	for i := range plan {
		if plan[i].Scan {
			st.FullScan = evidence.Yes
		}
		if plan[i].ActualRows >= 0 && plan[i].Table != "" {
			measured = true
			examined += plan[i].ActualRows + max(plan[i].Removed, 0)
		}
	}
	if measured {
		st.RowsExamined = examined
	}
}

// send sends the statement at hand; its record's time is when it began.
func (s *pgServer) send(line int, end time.Time, zoned evidence.Tri, lasted time.Duration, raw []byte) error {
	s.fill(line, end, zoned, raw)
	if !end.IsZero() {
		s.rec.Time = end.Add(-lasted)
	}
	s.rec.SQL = &s.stmt
	return s.emit(&s.rec)
}

func (s *pgServer) fill(line int, t time.Time, zoned evidence.Tri, raw []byte) {
	s.rec = evidence.Record{
		Time: t, Zoned: zoned, Place: s.in.place(), Cite: s.in.cite(line), Raw: raw[:min(len(raw), pgMaxRaw)],
	}
	if t.IsZero() {
		s.rec.Zoned = evidence.Unknown
	}
}

func (s *pgServer) sendMark(r *pgRecord, kind, subject string, text []byte) error {
	s.mark = evidence.Mark{Kind: kind, Subject: subject, Text: string(text[:min(len(text), 200)])}
	s.fill(r.line, r.time, r.zoned, r.message)
	s.rec.Mark = &s.mark
	return s.emit(&s.rec)
}

// pgFingerprint returns the fingerprint of a statement of PostgreSQL.
func pgFingerprint(text string) string { return Fingerprint("postgresql", text) }
