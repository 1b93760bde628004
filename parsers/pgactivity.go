package parsers

import (
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// What psql prints of PostgreSQL's statistics views, by the names in the
// header: pg_stat_activity in any selection of columns, the lock queries that
// people keep at hand, pg_locks, pg_stat_statements.
//
//	 pid  | usename |        state        | wait_event_type |  wait_event   |          query_start          |        query
//	------+---------+---------------------+-----------------+---------------+-------------------------------+---------------------
//	 8105 | shop_rw | active              | Lock            | transactionid | 2026-03-14 09:12:08.270661+00 | update t set b=b+10
//	 8110 | shop_rw | idle in transaction | Client          | ClientRead    | 2026-03-14 09:12:08.473169+00 | select * from t
//
// wait_event came with 9.6 (before: waiting, t or f), backend_type with 10,
// state with 9.2 (before: procpid, and <IDLE> in current_query).
func pgStatActivity() Format {
	return Format{
		Name:     "pg-stat-activity",
		Doc:      "PostgreSQL sessions, locks and statement statistics as psql prints them: aligned, unaligned, CSV, expanded",
		Versions: "PostgreSQL 9.0 to 18",
		Signs:    []string{" pid | usename | state | wait_event_type | wait_event | query", "-[ RECORD 1 ]----+---"},
		Marks: []string{
			"application_name", "wait_event", "query_start", "xact_start", "backend_start", "state_change",
			"current_query", "blocked_pid", "blocking_pid", "blocked_by", "pg_blocking_pids", "waiting_pid", "blocker_pid",
			"locktype", "total_exec_time", "mean_exec_time", "total_time", "mean_time", "total_ms",
			" usename ", "|usename|", ",usename,", "| state ", "[ RECORD 1 ]",
		},
		Starts: func(line []byte) bool {
			if psqlRecordLine(line) {
				return true
			}
			switch columns, _ := psqlHeader(line); pgTableKind(columns) {
			case pgActivity, pgBlocking, pgLocks, pgStatements:
				return true
			}
			return false
		},
		Block: pgTableBlock,
	}
}

// pgTable is what a table shows.
type pgTable int8

const (
	pgNoTable pgTable = iota
	pgActivity
	pgBlocking
	pgLocks
	pgStatements
	pgbPools
	pgbClients
	pgbStats
	pgbDatabases
)

// pgTableKind tells what a table shows by the names of its columns.
func pgTableKind(columns []string) pgTable {
	t := psqlTable{columns: columns}
	has := func(names ...string) bool { return t.col(names...) >= 0 }
	switch {
	case len(columns) < 2:
		return pgNoTable
	case has("cl_waiting") && has("sv_active"):
		return pgbPools
	case has("avg_wait_time", "total_wait_time") && has("database"):
		return pgbStats
	case has("pool_size") && has("current_connections"):
		return pgbDatabases
	case has("wait_us") && has("state") && has("user"):
		return pgbClients
	case has(pgBlockedPid...) && has(pgBlockingPid...):
		return pgBlocking
	case has("granted") && has("mode") && has("pid"):
		return pgLocks
	case has("calls") && has("query", "q") && has(append(pgTotals, pgMeans...)...):
		return pgStatements
	case !has("pid", "procpid"):
		return pgNoTable
	}
	signs := 0
	for _, n := range [...]string{
		"state", "query", "current_query", "wait_event_type", "wait_event", "usename", "datname", "query_start",
		"xact_start", "application_name", "waiting", "blocked_by", "pg_blocking_pids", "backend_type", "client_addr",
	} {
		if has(n) {
			signs++
		}
	}
	if signs >= 2 {
		return pgActivity
	}
	return pgNoTable
}

var (
	pgBlockedPid  = []string{"blocked_pid", "waiting_pid", "blockedpid", "waiter_pid", "blocked_session", "waiting_process", "locked_pid"}
	pgBlockingPid = []string{"blocking_pid", "blocker_pid", "blocking_pids", "blockingpid", "holder_pid", "holding_pid", "other_pid", "blocking_session", "locking_pid"}
	pgTotals      = []string{"total_exec_time", "total_time", "total_ms", "total_exec_ms", "total_time_ms", "total"}
	pgMeans       = []string{"mean_exec_time", "mean_time", "mean_ms", "avg_ms", "avg_time", "mean"}
)

// pgTableBlock reads one table of any kind.
func pgTableBlock(in *Input, emit Emit) error {
	line := in.Lines.Number() + 1
	t := readPsql(in)
	r := &pgTableReader{in: in, emit: emit, t: t}
	switch pgTableKind(t.columns) {
	case pgActivity:
		return r.activity()
	case pgBlocking:
		return r.blocking()
	case pgLocks:
		return r.locks()
	case pgStatements:
		return r.statements()
	case pgbPools:
		return r.pools()
	case pgbClients:
		return r.clients()
	case pgbStats:
		return r.poolStats()
	case pgbDatabases:
		return r.databases()
	}
	if len(t.columns) == 0 {
		in.Skip(line, "psql: not a table")
	}
	return nil
}

// pgTableReader makes evidence of a table.
type pgTableReader struct {
	in   *Input
	emit Emit
	t    *psqlTable
	now  time.Time // when the snapshot was taken, as far as the table tells
	zone evidence.Tri
	rec  evidence.Record
	stmt evidence.Statement
	edge evidence.LockEdge
	pool evidence.PoolSnapshot
}

// time reads a cell that holds a time.
func (r *pgTableReader) time(row []string, column int) (time.Time, evidence.Tri) {
	c := r.t.get(row, column)
	if c == "" {
		return time.Time{}, evidence.Unknown
	}
	return pgTime([]byte(c), r.in.Hint)
}

// pgAges are names that people give to now() - query_start.
var pgAges = []string{
	"query_age", "query_duration", "duration", "runtime", "running_time", "run_time", "query_time", "elapsed",
	"elapsed_time", "query_runtime", "exec_time", "age", "running_for", "time_running", "duration_s", "seconds", "secs",
}

// pgTrxAges are names that people give to now() - xact_start.
var pgTrxAges = []string{"xact_age", "trx_age", "tx_age", "transaction_age", "xact_duration", "tx_duration", "xact_runtime", "transaction_duration", "idle_in_tx"}

// clock finds out when the snapshot was taken: a column that says so, a start
// plus its age, or the newest time in the table, which is that of the session
// that asked.
func (r *pgTableReader) clock() {
	t := r.t
	now := t.col("now", "clock_timestamp", "snapshot_time", "ts", "sample_time", "collected_at")
	start, age := t.col("query_start"), t.col(pgAges...)
	var newest time.Time
	for _, row := range t.rows {
		if at, z := r.time(row, now); !at.IsZero() {
			r.now, r.zone = at, z
			return
		}
		if at, z := r.time(row, start); !at.IsZero() {
			if d, ok := pgInterval(t.get(row, age), time.Second); ok && d >= 0 {
				r.now, r.zone = at.Add(d), z
				return
			}
		}
		for _, c := range [...]string{"query_start", "xact_start", "state_change", "backend_start"} {
			if at, z := r.time(row, t.col(c)); at.After(newest) {
				newest, r.zone = at, z
			}
		}
	}
	r.now = newest
}

// since returns how long ago a time in a cell was; None if that is not known.
func (r *pgTableReader) since(row []string, column int) time.Duration {
	at, _ := r.time(row, column)
	if at.IsZero() || r.now.IsZero() || at.After(r.now.Add(time.Second)) {
		return evidence.None
	}
	return max(0, r.now.Sub(at))
}

// age returns the time in a cell that holds an interval; None without.
func (r *pgTableReader) age(row []string, names []string) time.Duration {
	if d, ok := pgInterval(r.t.get(row, r.t.col(names...)), time.Second); ok && d >= 0 {
		return d
	}
	return evidence.None
}

func (r *pgTableReader) activity() error {
	r.clock()
	r.in.snapshots++
	t := r.t
	pid := t.col("pid", "procpid")
	query := t.col("query", "current_query", "q", "query_text", "left", "substring", "substr")
	state, waiting := t.col("state"), t.col("waiting")
	waitType, wait := t.col("wait_event_type", "wait_type"), t.col("wait_event")
	backend := t.col("backend_type")
	blockers := t.col("blocked_by", "pg_blocking_pids", "blocking_pids", "blockers", "blocked_by_pids")

	byPid := map[string][]string{}
	isWaiting := map[string]bool{}
	for _, row := range t.rows {
		p := t.get(row, pid)
		byPid[p] = row
		if t.get(row, waitType) == "Lock" || pgTrue(t.get(row, waiting)) || strings.Trim(t.get(row, blockers), "{}") != "" {
			isWaiting[p] = true
		}
	}
	for i, row := range t.rows {
		p, text, st := t.get(row, pid), t.get(row, query), t.get(row, state)
		kind := t.get(row, backend)
		if !allDigits([]byte(p)) || kind != "" && kind != "client backend" && kind != "autovacuum worker" ||
			pgAsksOf(text) && !strings.HasPrefix(st, "idle") {
			continue
		}
		if st == "" { // 9.1 and before, or not selected
			switch {
			case text == "<IDLE>":
				st, text = "idle", ""
			case text == "<IDLE> in transaction":
				st, text = "idle in transaction", ""
			case text != "" && state < 0:
				st = "active"
			default:
				continue
			}
		}
		if text == "<insufficient privilege>" {
			text = ""
		}
		s := pgNewStatement(evidence.Running)
		s.Snapshot = r.in.snapshots
		s.Session, s.User, s.DB = p, t.get(row, t.col("usename", "user", "username")), t.get(row, t.col("datname", "db", "database"))
		s.Host = t.get(row, t.col("client_addr", "client", "client_hostname"))
		s.Command = st
		s.Text, s.Fingerprint = text, pgFingerprint(text)
		s.Truncated = len(text) == 1023 // track_activity_query_size, as installed
		if s.State = t.get(row, waitType); s.State != "" || t.get(row, wait) != "" {
			s.State += "|" + t.get(row, wait)
		}
		s.TrxAge = r.age(row, pgTrxAges)
		if s.TrxAge < 0 {
			s.TrxAge = r.since(row, t.col("xact_start"))
		}
		began, zoned := r.time(row, t.col("query_start"))
		switch {
		case strings.HasPrefix(st, "idle in transaction"):
			s.Origin, s.InTrx = evidence.IdleSession, evidence.Yes
			s.Duration = r.since(row, t.col("state_change"))
			began = time.Time{}
		case st == "idle":
			s.Origin, s.InTrx, s.TrxAge = evidence.IdleSession, evidence.No, evidence.None
			s.Duration = r.since(row, t.col("state_change"))
			began = time.Time{}
		default:
			if s.Duration = r.age(row, pgAges); s.Duration < 0 {
				s.Duration = r.since(row, t.col("query_start"))
			}
			if s.Duration == 0 && s.State == "" { // now() is the start of the very transaction that asks
				continue
			}
			if x, _ := r.time(row, t.col("xact_start")); !x.IsZero() && x.Before(began) {
				s.InTrx = evidence.Yes
			}
			if isWaiting[p] {
				s.Origin = evidence.LockWait
				if list := t.get(row, blockers); list != "" {
					r.edge = evidence.LockEdge{Blocker: pgFirstHolder(list, isWaiting), Waited: evidence.None}
					if b := byPid[r.edge.Blocker]; b != nil {
						r.edge.BlockerText, r.edge.BlockerState = t.get(b, query), t.get(b, state)
					}
					s.Waits = &r.edge
				}
			}
		}
		if began.IsZero() {
			began, zoned = r.now, r.zone
		}
		if err := r.send(i, began, zoned, s); err != nil {
			return err
		}
	}
	return nil
}

// pgAsksOf reports whether a statement is the one that made a table like this.
func pgAsksOf(text string) bool {
	for _, view := range [...]string{"pg_stat_activity", "pg_locks", "pg_blocking_pids", "pg_stat_statements"} {
		if strings.Contains(text, view) {
			return true
		}
	}
	return false
}

// pgFirstHolder picks out of "{8110,8109}" the first that does not wait itself.
func pgFirstHolder(list string, waiting map[string]bool) string {
	pids := strings.FieldsFunc(strings.Trim(list, "{} "), func(c rune) bool { return c == ',' || c == ' ' })
	for _, p := range pids {
		if !waiting[p] {
			return p
		}
	}
	if len(pids) > 0 {
		return pids[0]
	}
	return ""
}

func pgTrue(s string) bool { return s == "t" || s == "true" || s == "TRUE" || s == "T" }

// send sends a statement of a row.
func (r *pgTableReader) send(row int, at time.Time, zoned evidence.Tri, s evidence.Statement) error {
	r.stmt = s
	r.record(row, at, zoned)
	r.rec.SQL = &r.stmt
	return r.emit(&r.rec)
}

// record prepares the record of a row.
func (r *pgTableReader) record(row int, at time.Time, zoned evidence.Tri) {
	r.rec = evidence.Record{
		Time: at, Zoned: zoned, Place: r.in.place(), Cite: r.in.cite(r.t.lines[row]),
		Raw: []byte(strings.Join(r.t.rows[row], " | ")),
	}
	if at.IsZero() {
		r.rec.Zoned = evidence.Unknown
	}
	if len(r.rec.Raw) > pgMaxRaw {
		r.rec.Raw = r.rec.Raw[:pgMaxRaw]
	}
}
