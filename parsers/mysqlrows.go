package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// explainRows collects the rows of one EXPLAIN into one record.
type explainRows struct {
	m        *mysqlClient
	line     int
	sql      []byte
	cols     *planColumns
	plan     []evidence.PlanNode
	rowSeen  bool
	heaviest int64
}

func newExplainRows(m *mysqlClient, t *sqlTable) resultRows {
	header := make([][]byte, len(t.columns))
	for i, c := range t.columns {
		header[i] = []byte(c)
	}
	return &explainRows{m: m, line: t.in.Lines.Number(), cols: newPlanColumns(header), sql: explained(m.in.Lines.Before())}
}

func (e *explainRows) row(t *sqlTable) error {
	if len(e.plan) >= maxPlanNodes {
		return nil
	}
	before := len(e.plan)
	e.plan = e.cols.add(e.plan, t.cells, &e.m.names)
	for _, node := range e.plan[before:] { // cite the row that reads most, scans first
		if weight := planWeight(node); !e.rowSeen || weight > e.heaviest {
			e.rowSeen, e.heaviest, e.line = true, weight, t.line
		}
	}
	return nil
}

func planWeight(n evidence.PlanNode) int64 {
	w := max(0, n.Rows, n.ActualRows)
	if n.Scan {
		w += 1 << 40
	}
	return w
}

func (e *explainRows) done() error {
	if len(e.plan) == 0 {
		return nil
	}
	return e.m.plan(e.line, e.sql, e.plan)
}

// plan emits a plan.
func (m *mysqlClient) plan(line int, sql []byte, nodes []evidence.PlanNode) error {
	stmt := unknownStatement(evidence.PlanOnly, "mysql")
	stmt.Plan = nodes
	stmt.FullScan = planScans(nodes, evidence.Unknown)
	if len(sql) > 0 {
		stmt.Text = string(cutText(sql, maxStatementText))
		stmt.Fingerprint = m.print.of(sql)
	}
	rec := m.record(line)
	rec.SQL = &stmt
	return m.emit(rec)
}

func unknownStatement(origin evidence.SQLOrigin, engine string) evidence.Statement {
	return evidence.Statement{
		Origin: origin, Engine: engine, Duration: evidence.None, LockTime: evidence.None,
		RowsExamined: evidence.None, RowsSent: evidence.None, TrxAge: evidence.None,
	}
}

// explained returns the statement of the EXPLAIN that was typed just above a
// result: "mysql> EXPLAIN SELECT …;".
func explained(before []byte) []byte {
	before = before[max(0, len(before)-8<<10):]
	lower := bytes.ToLower(before)
	if len(lower) != len(before) {
		return nil
	}
	at := -1
	for _, word := range []string{"explain ", "analyze ", "desc ", "describe "} {
		if i := bytes.LastIndex(lower, []byte(word)); i > at && (i == 0 || !wordByte(lower[i-1])) {
			at = i + len(word)
		}
	}
	if at < 0 {
		return nil
	}
	sql := before[at:]
	end := bytes.IndexByte(sql, ';')
	if g := bytes.Index(sql, []byte(`\G`)); g >= 0 && (end < 0 || g < end) {
		end = g
	}
	if end < 0 {
		if end = bytes.IndexByte(sql, '\n'); end < 0 {
			return nil
		}
	}
	rest := sql[end:]
	// Nothing but the client's own lines may stand between.
	for i, line := range bytes.Split(rest, newline) {
		line = bytes.TrimSpace(line)
		if i > 0 && len(line) > 0 && !isBorder(line) && !bytes.Contains(line, []byte("***")) && !bytes.Contains(line, []byte("->")) {
			return nil
		}
	}
	sql = bytes.TrimSpace(sql[:end])
	sql = bytes.ReplaceAll(sql, []byte("\n    -> "), newline)
	for _, word := range []string{"extended ", "partitions ", "analyze ", "format=json ", "format=tree ", "format = json ", "format=traditional "} {
		if hasPrefixFold(sql, word) {
			sql = bytes.TrimSpace(sql[len(word):])
		}
	}
	for _, verb := range []string{"select", "insert", "update", "delete", "replace", "with", "(", "table"} {
		if hasPrefixFold(sql, verb) {
			return bytes.Clone(sql)
		}
	}
	return nil
}

// slowLogRows reads mysql.slow_log, where log_output=TABLE.
type slowLogRows struct {
	m                                                  *mysqlClient
	start, user, query, lock, sent, examined, db, text int
	session                                            int
	mariadb                                            bool
	clock                                              *clockwork
}

func newSlowLogRows(m *mysqlClient, t *sqlTable) resultRows {
	return &slowLogRows{
		m: m, start: t.column("start_time"), user: t.column("user_host"), query: t.column("query_time"), lock: t.column("lock_time"),
		sent: t.column("rows_sent"), examined: t.column("rows_examined"), db: t.column("db"), text: t.column("sql_text"),
		session: t.column("thread_id"), mariadb: t.column("rows_affected") >= 0, clock: newClockwork(m.in),
	}
}

func (s *slowLogRows) done() error { return nil }

func (s *slowLogRows) row(t *sqlTable) error {
	stmt := unknownStatement(evidence.SlowLog, "mysql")
	if s.mariadb {
		stmt.Engine = "mariadb"
	}
	n := &s.m.names
	stmt.Duration, stmt.LockTime = clockDuration(t.cell(s.query)), clockDuration(t.cell(s.lock))
	stmt.RowsSent, stmt.RowsExamined = count(t.cell(s.sent)), count(t.cell(s.examined))
	stmt.DB, stmt.Session = n.intern(t.cell(s.db)), n.intern(t.cell(s.session))
	helper := slowLog{}
	helper.user(t.cell(s.user))
	stmt.User, stmt.Host = helper.stmt.User, helper.stmt.Host
	text := t.cell(s.text)
	if len(text) == 0 || stmt.Duration < 0 {
		s.m.in.Skip(t.line, "slow_log row without a statement")
		return nil
	}
	stmt.Text, stmt.Fingerprint = string(cutText(text, maxStatementText)), s.m.print.of(text)
	rec := s.m.record(t.line)
	rec.Time, rec.Zoned = time.Time{}, evidence.Unknown
	var st stamp
	if readStamp(t.cell(s.start), &st) > 0 {
		rec.Time, rec.Zoned = s.clock.resolve(&st)
		if !s.mariadb { // the time of logging
			rec.Time = rec.Time.Add(-stmt.Duration)
		}
	}
	rec.Trace = sqlTrace(text)
	rec.SQL = &stmt
	return s.m.emit(rec)
}

// clockDuration reads "hh:mm:ss.ffffff".
func clockDuration(b []byte) time.Duration {
	h, rest, ok := bytes.Cut(b, []byte{':'})
	m, s, ok2 := bytes.Cut(rest, []byte{':'})
	if !ok || !ok2 || !allDigits(h) || !allDigits(m) || len(h) > 4 || len(m) > 2 {
		return evidence.None
	}
	d := seconds(s)
	if d < 0 {
		return evidence.None
	}
	return d + time.Duration(count(h))*time.Hour + time.Duration(count(m))*time.Minute
}

// trxRows reads information_schema.innodb_trx.
type trxRows struct {
	m                                      *mysqlClient
	state, started, waiting, thread, query int
	locked                                 int
}

func newTrxRows(m *mysqlClient, t *sqlTable) resultRows {
	return &trxRows{
		m: m, state: t.column("trx_state"), started: t.column("trx_started"), waiting: t.column("trx_wait_started"),
		thread: t.column("trx_mysql_thread_id"), query: t.column("trx_query"), locked: t.column("trx_rows_locked"),
	}
}

func (x *trxRows) done() error { return nil }

func (x *trxRows) row(t *sqlTable) error {
	stmt := unknownStatement(evidence.Running, "mysql")
	stmt.Session = x.m.names.intern(t.cell(x.thread))
	stmt.State = x.m.names.intern(t.cell(x.state))
	stmt.InTrx = evidence.Yes
	if text := t.cell(x.query); len(text) > 0 {
		if watchesItself(text) {
			return nil
		}
		stmt.Text, stmt.Fingerprint = string(cutText(text, maxStatementText)), x.m.print.of(text)
	} else {
		stmt.Origin = evidence.IdleSession
	}
	rec := x.m.record(t.line)
	clock := newClockwork(x.m.in)
	at := func(i int) time.Time {
		var st stamp
		if readStamp(t.cell(i), &st) == 0 {
			return time.Time{}
		}
		when, _ := clock.resolve(&st)
		return when
	}
	if began := at(x.started); !began.IsZero() && !rec.Time.IsZero() && rec.Time.After(began) {
		stmt.TrxAge = rec.Time.Sub(began)
	}
	if stmt.State == "LOCK WAIT" {
		stmt.Origin = evidence.LockWait
		edge := evidence.LockEdge{Waited: evidence.None}
		if since := at(x.waiting); !since.IsZero() && rec.Time.After(since) {
			edge.Waited = rec.Time.Sub(since)
		}
		stmt.Waits = &edge
	}
	rec.SQL = &stmt
	return x.m.emit(rec)
}

// lockWaitRows reads sys.innodb_lock_waits and sys.schema_table_lock_waits.
type lockWaitRows struct {
	m                                                         *mysqlClient
	pid, query, blocker, blockerQuery, age, secs, table, mode int
	account, trxAge                                           int
}

func newLockWaitRows(m *mysqlClient, t *sqlTable) resultRows {
	return &lockWaitRows{
		m: m, pid: t.column("waiting_pid"), query: t.column("waiting_query"), blocker: t.column("blocking_pid"),
		blockerQuery: t.column("blocking_query"), age: t.column("wait_age", "waiting_query_time"), secs: t.column("wait_age_secs", "waiting_query_secs"),
		table: t.column("locked_table", "object_name"), mode: t.column("waiting_lock_mode", "waiting_lock_type"),
		account: t.column("waiting_account"), trxAge: t.column("waiting_trx_age"),
	}
}

func (l *lockWaitRows) done() error { return nil }

func (l *lockWaitRows) row(t *sqlTable) error {
	stmt := unknownStatement(evidence.LockWait, "mysql")
	n := &l.m.names
	stmt.Session = n.intern(t.cell(l.pid))
	if user, host, ok := bytes.Cut(t.cell(l.account), []byte{'@'}); ok {
		stmt.User, stmt.Host = n.intern(user), n.intern(host)
	}
	if text := t.cell(l.query); len(text) > 0 {
		stmt.Text, stmt.Fingerprint = string(cutText(text, maxStatementText)), l.m.print.of(text)
	}
	edge := evidence.LockEdge{
		Blocker: n.intern(t.cell(l.blocker)), BlockerText: string(cutText(t.cell(l.blockerQuery), maxStatementText)),
		Object: n.intern(bytes.ReplaceAll(t.cell(l.table), []byte("`"), nil)), Mode: n.intern(t.cell(l.mode)), Waited: clockDuration(t.cell(l.age)),
	}
	if s := count(t.cell(l.secs)); s >= 0 && s < 1<<31 {
		edge.Waited = time.Duration(s) * time.Second
	}
	if edge.BlockerText == "" {
		edge.BlockerState = "Sleep"
	}
	stmt.InTrx, stmt.TrxAge, stmt.Waits = evidence.Yes, clockDuration(t.cell(l.trxAge)), &edge
	if stmt.Session == "" && edge.Blocker == "" {
		return nil
	}
	stmt.Duration = edge.Waited
	rec := l.m.record(t.line)
	rec.SQL = &stmt
	return l.m.emit(rec)
}

// digestRows reads performance_schema.events_statements_summary_by_digest;
// its timers are picoseconds.
type digestRows struct {
	m                                               *mysqlClient
	db, text, count, sum, avg, lock, examined, sent int
	noIndex, last                                   int
}

func newDigestRows(m *mysqlClient, t *sqlTable) resultRows {
	return &digestRows{
		m: m, db: t.column("schema_name"), text: t.column("digest_text"), count: t.column("count_star"),
		sum: t.column("sum_timer_wait"), avg: t.column("avg_timer_wait"), lock: t.column("sum_lock_time"),
		examined: t.column("sum_rows_examined"), sent: t.column("sum_rows_sent"), noIndex: t.column("sum_no_index_used"), last: t.column("last_seen"),
	}
}

func (d *digestRows) done() error { return nil }

func (d *digestRows) row(t *sqlTable) error {
	text := t.cell(d.text)
	n := count(t.cell(d.count))
	if len(text) == 0 || n <= 0 {
		return nil // the row that collects what did not fit
	}
	stmt := unknownStatement(evidence.Digest, "mysql")
	stmt.DB, stmt.Count = d.m.names.intern(t.cell(d.db)), n
	stmt.Text, stmt.Fingerprint = string(cutText(text, maxStatementText)), d.m.print.of(text)
	if avg := count(t.cell(d.avg)); avg >= 0 {
		stmt.Duration = time.Duration(avg / 1000)
	} else if sum := count(t.cell(d.sum)); sum >= 0 {
		stmt.Duration = time.Duration(sum / n / 1000)
	}
	if lock := count(t.cell(d.lock)); lock >= 0 {
		stmt.LockTime = time.Duration(lock / n / 1000)
	}
	if rows := count(t.cell(d.examined)); rows >= 0 {
		stmt.RowsExamined = rows / n
	}
	if rows := count(t.cell(d.sent)); rows >= 0 {
		stmt.RowsSent = rows / n
	}
	if none := count(t.cell(d.noIndex)); none > 0 {
		stmt.FullScan = evidence.Yes
	} else if none == 0 {
		stmt.FullScan = evidence.No
	}
	rec := d.m.record(t.line)
	var st stamp
	if readStamp(t.cell(d.last), &st) > 0 && rec.Time.IsZero() {
		rec.Time, rec.Zoned = newClockwork(d.m.in).resolve(&st)
	}
	rec.SQL = &stmt
	return d.m.emit(rec)
}

// statusRows reads SHOW STATUS and SHOW VARIABLES.
type statusRows struct {
	m           *mysqlClient
	name, value int
	line        int
	pool        evidence.PoolSnapshot
	any         bool
}

func newStatusRows(m *mysqlClient, t *sqlTable) resultRows {
	return &statusRows{m: m, name: t.column("variable_name"), value: t.column("value", "variable_value"), line: t.in.Lines.Number(), pool: evidence.PoolSnapshot{
		Name: "mysql connections", Kind: evidence.ConnectionPool, Impl: "mysql-server", Resource: "db",
		Max: evidence.None, Active: evidence.None, Idle: evidence.None, Waiting: evidence.None, Size: evidence.None,
		Queued: evidence.None, Largest: evidence.None, Tasks: evidence.None, Completed: evidence.None, Waited: evidence.None,
	}}
}

func (s *statusRows) full() bool { return s.pool.Max >= 0 && s.pool.Active >= 0 && s.pool.Size >= 0 }

func (s *statusRows) row(t *sqlTable) error {
	v := count(t.cell(s.value))
	if v < 0 || v > 1<<30 {
		return nil
	}
	switch string(bytes.ToLower(t.cell(s.name))) {
	case "threads_running":
		s.pool.Active = int(v)
	case "threads_connected":
		s.pool.Size = int(v)
	case "max_connections":
		s.pool.Max = int(v)
	case "max_used_connections":
		s.pool.Largest = int(v)
	default:
		return nil
	}
	s.any = true
	return nil
}

func (s *statusRows) done() error {
	if !s.any {
		return nil
	}
	rec := s.m.record(s.line)
	rec.Pool = &s.pool
	return s.m.emit(rec)
}
