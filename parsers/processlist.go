package parsers

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/firebreak-io/firebreak/evidence"
)

// SHOW [FULL] PROCESSLIST, information_schema.processlist,
// performance_schema.threads and sys.session:
//
//	| 22 | shop_rw | 10.20.1.7:50566 | shop | Query | 2 | Sending data | select … |
//
// Without FULL, a statement is cut after 100 characters.

const processlistCut = 100

type processlist struct {
	m                                        *mysqlClient
	snapshot                                 int
	engine                                   string
	id, user, host, db, command, time, state int
	info, timeMs, rowsSent, rowsExamined     int
	stmt                                     evidence.Statement
}

func newProcesslist(m *mysqlClient, t *sqlTable) resultRows {
	m.in.snapshots++
	p := &processlist{m: m, snapshot: m.in.snapshots, engine: "mysql"}
	p.id = t.column("id", "processlist_id", "conn_id", "thd_id", "thread_id", "process_id")
	p.user = t.column("user", "processlist_user")
	p.host = t.column("host", "processlist_host")
	p.db = t.column("db", "processlist_db")
	p.command = t.column("command", "processlist_command")
	p.time = t.column("time", "processlist_time")
	p.state = t.column("state", "processlist_state")
	p.info = t.column("info", "processlist_info", "current_statement")
	p.timeMs = t.column("time_ms")
	p.rowsSent = t.column("rows_sent")
	p.rowsExamined = t.column("rows_examined", "examined_rows")
	if t.column("progress", "max_stage") >= 0 && t.column("current_statement") < 0 {
		p.engine = "mariadb"
	}
	return p
}

func (p *processlist) done() error { return nil }

func (p *processlist) row(t *sqlTable) error {
	id := t.cell(p.id)
	if !allDigits(id) {
		if len(id) > 0 {
			p.m.in.Skip(t.line, "processlist row without an id")
		}
		return nil
	}
	command, user, text := string(t.cell(p.command)), t.cell(p.user), t.cell(p.info)
	if string(user) == "system user" || string(user) == "event_scheduler" || watchesItself(text) {
		return nil
	}
	n := &p.m.names
	p.stmt = evidence.Statement{
		Engine: p.engine, Snapshot: p.snapshot,
		Session: n.intern(id), User: n.intern(user), Host: n.intern(t.cell(p.host)), DB: n.intern(t.cell(p.db)),
		Command: n.intern(t.cell(p.command)), State: n.intern(t.cell(p.state)),
		Duration: evidence.None, LockTime: evidence.None, TrxAge: evidence.None,
		RowsExamined: count(t.cell(p.rowsExamined)), RowsSent: count(t.cell(p.rowsSent)),
	}
	if d := count(t.cell(p.time)); d >= 0 && d < 10*365*86400 {
		p.stmt.Duration = time.Duration(d) * time.Second
	}
	if ms := seconds(t.cell(p.timeMs)); ms >= 0 {
		p.stmt.Duration = ms / 1000
	}
	switch command {
	case "Sleep":
		p.stmt.Origin = evidence.IdleSession
		text = nil
	case "Query", "Execute", "Fetch", "Prepare", "Long Data", "Stmt":
		p.stmt.Origin = evidence.Running
	default:
		return nil // replication, daemons, logins
	}
	rec := p.m.record(t.line)
	if len(text) > 0 {
		p.stmt.Truncated = cutInfo(text)
		rec.Trace = sqlTrace(text)
		if len(text) > maxStatementText {
			text, p.stmt.Truncated = cutText(text, maxStatementText), true
		}
		p.stmt.Text = string(text)
		p.stmt.Fingerprint = p.m.print.of(text)
	}
	rec.SQL = &p.stmt
	return p.m.emit(rec)
}

// cutInfo reports whether a statement has just the length at which SHOW
// PROCESSLIST, or performance_schema, cuts it.
func cutInfo(text []byte) bool {
	if len(text) < processlistCut || len(text) > 4*processlistCut && len(text) < 1000 {
		return false
	}
	n := utf8.RuneCount(text)
	return n == processlistCut || n == 1024 || bytes.HasSuffix(text, []byte("..."))
}

// watchesItself recognises the statement that made the list.
func watchesItself(text []byte) bool {
	if len(text) < 8 || len(text) > 2000 {
		return false
	}
	if !hasPrefixFold(text, "show ") {
		head := text[:min(len(text), 400)]
		if !bytes.Contains(head, []byte("_schema.")) && !bytes.Contains(head, []byte("_SCHEMA.")) && !bytes.Contains(head, []byte("sys.")) {
			return false
		}
	}
	s := strings.ToLower(string(text[:min(len(text), 400)]))
	return strings.HasPrefix(s, "show ") && strings.Contains(s, "processlist") ||
		strings.Contains(s, "information_schema.processlist") || strings.Contains(s, "performance_schema.threads") ||
		strings.Contains(s, "performance_schema.processlist") || strings.Contains(s, "sys.session") || strings.Contains(s, "sys.processlist") ||
		strings.HasPrefix(s, "show engine innodb status") || strings.Contains(s, "information_schema.innodb_trx")
}
