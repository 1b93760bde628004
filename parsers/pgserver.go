package parsers

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// pgServer turns the records of a PostgreSQL server log, in whichever of its
// forms, into evidence. Some of what it says takes several records: a statement
// and its plan (auto_explain), a statement and its bare duration, a lock wait
// and its end. Those are kept for each session until the session says the rest,
// is forgotten, or the log ends.
type pgServer struct {
	in       *Input
	emit     Emit
	sessions map[string]*pgSession
	order    []*pgSession // ring of those known, oldest first from next
	next     int
	seq      int                // records seen
	lines    [pgMaxWait + 2]int // of the records that may be waited with, by seq
	apart    bool               // statements are logged apart from durations
	queue    []pgQueued
	rec      evidence.Record
	stmt     evidence.Statement
	mark     evidence.Mark
	edge     evidence.LockEdge
	raw      []byte
	names    interner
}

const (
	pgMaxSessions = 1024     // remembered at a time
	pgMaxKept     = 64 << 10 // bytes of a statement that is kept for later
	pgMaxWait     = 256      // records that pass before a statement is no longer kept for its plan
)

// pgSession is what one server process has said and not yet completed.
type pgSession struct {
	pid  string
	slot int

	pending []pgPending // durations waiting for their plan or statement
	text    []byte      // last statement logged without a duration
	hasText bool
	locked  time.Duration // waited for locks since its last duration

	waiting bool
	wait    pgWait
}

// pgPending is a timed statement, or a timed plan, that may have a twin.
type pgPending struct {
	seq      int
	line     int
	end      time.Time
	zoned    evidence.Tri
	duration time.Duration
	locked   time.Duration
	isPlan   bool
	who      pgWho
	text     string
	cut      bool
	command  string // parse or bind, where that was slow
	plan     []evidence.PlanNode
}

// pgQueued says which session has a pending statement of which age.
type pgQueued struct {
	seq     int
	session *pgSession
}

// pgWho is whose statement it is.
type pgWho struct{ user, db, host string }

// pgWait is a lock wait that has begun.
type pgWait struct {
	line    int
	end     time.Time
	zoned   evidence.Tri
	who     pgWho
	waited  time.Duration
	mode    string
	printed string // the object as the line has it
	object  string // the same, or the relation it stands for
	blocker string
	text    []byte
}

func newPGServer(in *Input, emit Emit) *pgServer {
	return &pgServer{in: in, emit: emit, sessions: map[string]*pgSession{}}
}

// settle notes that what came so many records before this one is kept no more.
func (s *pgServer) settle(line int) {
	at := s.seq % len(s.lines)
	if first := s.lines[at]; first > 0 {
		s.in.Lines.settle(first)
	}
	s.lines[at] = line
}

// record reads one record.
func (s *pgServer) record(r *pgRecord) error {
	s.settle(r.line)
	s.seq++
	for len(s.queue) > 0 && s.queue[0].seq+pgMaxWait < s.seq {
		q := s.queue[0]
		s.queue = s.queue[1:]
		if err := s.flushOlder(q.session, q.seq); err != nil {
			return err
		}
	}
	m := r.message
	switch r.severity {
	case pgLog:
		switch {
		case bytes.HasPrefix(m, []byte("duration: ")):
			return s.duration(r, m[len("duration: "):])
		case bytes.HasPrefix(m, []byte("statement: ")):
			return s.logged(r, m[len("statement: "):])
		case bytes.HasPrefix(m, []byte("execute ")):
			if i := bytes.Index(m, []byte(": ")); i > 0 {
				return s.logged(r, m[i+2:])
			}
		case bytes.HasPrefix(m, []byte("process ")):
			return s.lockWait(r)
		}
		return s.logEvent(r)
	case pgError, pgFatal, pgPanic:
		return s.failure(r)
	case pgWarning:
		if bytes.HasPrefix(m, []byte("terminating connection because of crash")) {
			return s.sendMark(r, evidence.MarkDBLost, "", m)
		}
	}
	return nil
}

// duration reads "1136.206 ms", "… ms  statement: …", "… ms  execute name: …",
// "… ms  plan:" after "duration: ".
func (s *pgServer) duration(r *pgRecord, m []byte) error {
	d, rest, ok := pgMillis(m)
	if !ok {
		s.in.Skip(r.line, "postgresql: duration not understood")
		return nil
	}
	rest = bytes.TrimLeft(rest, " ")
	switch {
	case len(rest) == 0:
		return s.bare(r, d)
	case bytes.HasPrefix(rest, []byte("statement: ")):
		text := rest[len("statement: "):]
		if p := pgPrepared(r.detail); p != nil {
			text = p
		}
		return s.timed(r, d, text)
	case bytes.HasPrefix(rest, []byte("plan:")):
		return s.planned(r, d, rest[len("plan:"):])
	case bytes.HasPrefix(rest, []byte("execute ")):
		if i := bytes.Index(rest, []byte(": ")); i > 0 {
			return s.timed(r, d, rest[i+2:])
		}
	case bytes.HasPrefix(rest, []byte("parse ")), bytes.HasPrefix(rest, []byte("bind ")):
		// One execution of the extended protocol prints up to three durations;
		// the first two count only where planning itself was slow.
		if i := bytes.Index(rest, []byte(": ")); i > 0 && d >= pgSlowPlanning {
			word, _, _ := bytes.Cut(rest, []byte(" "))
			p := s.pending(r, d, rest[i+2:])
			p.command = string(word)
			return s.sendTimed(string(r.pid), &p)
		}
	}
	return nil
}

const pgSlowPlanning = 100 * time.Millisecond

// pgPrepared returns the statement in a detail line
// "prepare: prepare s(text) as select …".
func pgPrepared(detail []byte) []byte {
	p, ok := bytes.CutPrefix(detail, []byte("prepare: "))
	if !ok {
		return nil
	}
	for _, as := range [...]string{" as ", " AS ", " As ", "\nas ", "\nAS ", " as\n", " AS\n"} {
		if i := bytes.Index(p, []byte(as)); i >= 0 {
			return p[i+len(as):]
		}
	}
	return nil
}

// logged keeps a statement that was logged without its duration.
func (s *pgServer) logged(r *pgRecord, text []byte) error {
	if p := pgPrepared(r.detail); p != nil {
		text = p
	}
	ses, err := s.session(r)
	if ses == nil || err != nil {
		return err
	}
	ses.text = append(ses.text[:0], text[:min(len(text), pgMaxKept)]...)
	ses.hasText, s.apart = true, true
	return nil
}

// bare joins a duration without a statement with the session's last one. A
// prepared run prints the durations of parse and bind before its statement, so
// those find none and say nothing of interest.
func (s *pgServer) bare(r *pgRecord, d time.Duration) error {
	ses, err := s.session(r)
	if err != nil {
		return err
	}
	if ses != nil && ses.hasText {
		ses.hasText = false
		return s.timed(r, d, ses.text)
	}
	if s.apart {
		return nil
	}
	p := s.pending(r, d, nil)
	return s.sendTimed(string(r.pid), &p)
}

// timed is a statement with its duration. auto_explain may have said the same
// just before, or may say it next.
func (s *pgServer) timed(r *pgRecord, d time.Duration, text []byte) error {
	ses, err := s.session(r)
	if err != nil {
		return err
	}
	p := s.pending(r, d, text)
	if ses == nil {
		return s.sendTimed("", &p)
	}
	if err := s.endWait(ses); err != nil {
		return err
	}
	p.locked, ses.locked = ses.locked, 0
	taken := false
	kept := ses.pending[:0]
	for _, q := range ses.pending {
		if q.isPlan && (pgTwins(q.duration, d) || q.duration <= d && q.text != "" && strings.Contains(p.text, q.text)) {
			p.plan = append(p.plan, q.plan...)
			taken = true
			continue
		}
		kept = append(kept, q)
	}
	ses.pending = kept
	if err := s.flush(ses); err != nil {
		return err
	}
	if taken {
		return s.sendTimed(ses.pid, &p)
	}
	s.keep(ses, p)
	return nil
}

// planned is a plan with its duration.
func (s *pgServer) planned(r *pgRecord, d time.Duration, body []byte) error {
	ses, err := s.session(r)
	if err != nil {
		return err
	}
	text, plan := s.readPlan(body)
	p := s.pending(r, d, text)
	p.plan, p.isPlan = plan, true
	if ses == nil {
		return s.sendTimed("", &p)
	}
	for i := range ses.pending {
		if q := ses.pending[i]; !q.isPlan && pgTwins(d, q.duration) {
			ses.pending = slices.Delete(ses.pending, i, i+1)
			q.plan = plan
			return s.sendTimed(ses.pid, &q)
		}
	}
	if len(ses.pending) >= 8 { // a function that runs many statements
		if err := s.flush(ses); err != nil {
			return err
		}
	}
	s.keep(ses, p)
	return nil
}

// readPlan reads what follows "plan:": the statement and a plan in one of four
// forms. Those in YAML and XML give the statement only.
func (s *pgServer) readPlan(body []byte) (text []byte, nodes []evidence.PlanNode) {
	body = bytes.TrimLeft(body, " \n\t")
	if len(body) > 0 && body[0] == '{' {
		t, nodes, _ := pgJSONPlan(body, &s.names)
		return []byte(t.query), nodes
	}
	if q, ok := bytes.CutPrefix(body, []byte("Query Text: ")); ok {
		if len(q) > 0 && q[0] == '"' && bytes.Contains(q, []byte("\nPlan:")) { // YAML
			line, _, _ := bytes.Cut(q, []byte("\n"))
			return bytes.Trim(line, `"`), nil
		}
		return pgReadTextPlan(q, &s.names)
	}
	if _, q, ok := bytes.Cut(body, []byte("<Query-Text>")); ok {
		q, _, _ = bytes.Cut(q, []byte("</Query-Text>"))
		return q, nil
	}
	return nil, nil
}

// pgTwins reports whether a plan's duration and a statement's are of one run:
// the plan's is a little shorter, for it leaves out parsing and sending.
func pgTwins(plan, statement time.Duration) bool {
	d := statement - plan
	return d >= -time.Millisecond && (d < 5*time.Millisecond || d < statement/100)
}

// pending returns what a record says of a statement that has ended.
func (s *pgServer) pending(r *pgRecord, d time.Duration, text []byte) pgPending {
	return pgPending{
		seq: s.seq, line: r.line, end: r.time, zoned: r.zoned, duration: d, locked: evidence.None,
		who: s.who(r), cut: r.cut || len(text) > pgMaxKept, text: string(text[:min(len(text), pgMaxKept)]),
	}
}

// keep holds a timed statement until its twin has had time to come.
func (s *pgServer) keep(ses *pgSession, p pgPending) {
	ses.pending = append(ses.pending, p)
	s.queue = append(s.queue, pgQueued{s.seq, ses})
}

// session returns what is remembered of a record's session; nil if the prefix
// does not say which it is.
func (s *pgServer) session(r *pgRecord) (*pgSession, error) {
	if len(r.pid) == 0 {
		return nil, nil
	}
	if ses := s.sessions[string(r.pid)]; ses != nil {
		return ses, nil
	}
	ses := &pgSession{pid: string(r.pid)}
	if len(s.order) < pgMaxSessions {
		ses.slot = len(s.order)
		s.order = append(s.order, ses)
	} else {
		old := s.order[s.next]
		if err := s.forget(old); err != nil {
			return nil, err
		}
		ses.slot = s.next
		s.order[s.next] = ses
		s.next = (s.next + 1) % pgMaxSessions
	}
	s.sessions[ses.pid] = ses
	return ses, nil
}

func (s *pgServer) forget(ses *pgSession) error {
	delete(s.sessions, ses.pid)
	if err := s.flush(ses); err != nil {
		return err
	}
	return s.endWait(ses)
}

// flush sends the statements of a session that found no twin.
func (s *pgServer) flush(ses *pgSession) error { return s.flushOlder(ses, s.seq) }

func (s *pgServer) flushOlder(ses *pgSession, seq int) error {
	for len(ses.pending) > 0 && ses.pending[0].seq <= seq {
		p := ses.pending[0]
		ses.pending = slices.Delete(ses.pending, 0, 1)
		if err := s.sendTimed(ses.pid, &p); err != nil {
			return err
		}
	}
	return nil
}

// close sends all that is still kept.
func (s *pgServer) close() error {
	for i := range s.order {
		if err := s.forget(s.order[(s.next+i)%len(s.order)]); err != nil {
			return err
		}
	}
	s.order, s.next, s.queue = nil, 0, nil
	return nil
}

func (s *pgServer) who(r *pgRecord) pgWho {
	return pgWho{user: s.names.of(r.user), db: s.names.of(r.db), host: s.names.of(r.host)}
}
