package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Errors with which a database answers or drops its client, as drivers print them:
//
//	Error 1040 (08004): Too many connections                       FATAL: sorry, too many clients already
//	Lock wait timeout exceeded; try restarting transaction         canceling statement due to lock timeout
//	Deadlock found when trying to get lock; …                      ERROR: deadlock detected
//	Duplicate entry 'A-1' for key 't_order.uk_no'                  duplicate key value violates unique constraint "uk_no"
//	Query execution was interrupted, maximum statement execution time exceeded
//	com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure
//
// and the same of Oracle, SQL Server, SQLite and MongoDB.
func databaseErrors() detector {
	var rules []rule
	for _, e := range dbErrors {
		rules = append(rules, rule{sign: e.sign, find: e.find})
	}
	rules = append(rules, rule{sign: "SocketTimeoutException", find: driverTimeout})
	return messages("database-error", "Errors of MySQL, PostgreSQL, Oracle, SQL Server, SQLite and MongoDB clients: connection limits, lock waits, deadlocks, duplicate keys, lost connections", rules)
}

type dbError struct {
	sign string
	kind string
	need string // must stand somewhere in the record, if set
	key  string // the subject follows this
	stop string // and ends before one of these bytes
}

// dbErrors is in order: what says why comes before what says only that a
// connection is gone.
var dbErrors = []dbError{
	{sign: "Too many connections", kind: evidence.MarkTooManyConns},
	{sign: "max_user_connections", kind: evidence.MarkTooManyConns},
	{sign: "too many clients already", kind: evidence.MarkTooManyConns},
	{sign: "remaining connection slots are reserved", kind: evidence.MarkTooManyConns},
	{sign: "too many connections for ", kind: evidence.MarkTooManyConns},
	{sign: "(SQLSTATE 53300)", kind: evidence.MarkTooManyConns},
	{sign: "ORA-12516", kind: evidence.MarkTooManyConns},
	{sign: "ORA-12519", kind: evidence.MarkTooManyConns},
	{sign: "ORA-12520", kind: evidence.MarkTooManyConns},
	{sign: "ORA-00020", kind: evidence.MarkTooManyConns},
	{sign: "ORA-00018", kind: evidence.MarkTooManyConns},
	{sign: "ORA-02391", kind: evidence.MarkTooManyConns},

	{sign: "Deadlock found when trying to get lock", kind: evidence.MarkDBDeadlock},
	{sign: "ERROR: deadlock detected", kind: evidence.MarkDBDeadlock},
	{sign: "ERROR:  deadlock detected", kind: evidence.MarkDBDeadlock},
	{sign: "(SQLSTATE 40P01)", kind: evidence.MarkDBDeadlock},
	{sign: "DeadlockDetected", kind: evidence.MarkDBDeadlock},
	{sign: "ORA-00060", kind: evidence.MarkDBDeadlock},
	{sign: "was deadlocked on ", kind: evidence.MarkDBDeadlock},

	{sign: "Lock wait timeout exceeded", kind: evidence.MarkLockTimeout},
	{sign: "canceling statement due to lock timeout", kind: evidence.MarkLockTimeout},
	{sign: "could not obtain lock on ", kind: evidence.MarkLockTimeout, key: "relation \"", stop: "\""},
	{sign: "(SQLSTATE 55P03)", kind: evidence.MarkLockTimeout},
	{sign: "Lock request time out period exceeded", kind: evidence.MarkLockTimeout},
	{sign: "ORA-00054", kind: evidence.MarkLockTimeout},
	{sign: "ORA-30006", kind: evidence.MarkLockTimeout},
	{sign: "SQLITE_BUSY", kind: evidence.MarkLockTimeout},

	{sign: "Duplicate entry '", kind: evidence.MarkDuplicateKey, key: "for key ", stop: "\n"},
	{sign: "duplicate key value violates unique constraint", kind: evidence.MarkDuplicateKey, key: "constraint \"", stop: "\""},
	{sign: "ORA-00001", kind: evidence.MarkDuplicateKey, key: "constraint (", stop: ")"},
	{sign: "Cannot insert duplicate key row in object '", kind: evidence.MarkDuplicateKey, key: "unique index '", stop: "'"},
	{sign: "Violation of UNIQUE KEY constraint '", kind: evidence.MarkDuplicateKey, key: "constraint '", stop: "'"},
	{sign: "Violation of PRIMARY KEY constraint '", kind: evidence.MarkDuplicateKey, key: "constraint '", stop: "'"},
	{sign: "E11000 duplicate key error", kind: evidence.MarkDuplicateKey, key: "collection: ", stop: "\n"},
	{sign: "UNIQUE constraint failed: ", kind: evidence.MarkDuplicateKey, key: "failed: ", stop: "\n"},

	{sign: "maximum statement execution time exceeded", kind: evidence.MarkStatementKilled},
	{sign: "max_statement_time exceeded", kind: evidence.MarkStatementKilled},
	{sign: "canceling statement due to statement timeout", kind: evidence.MarkStatementKilled},
	{sign: "canceling statement due to user request", kind: evidence.MarkStatementKilled},
	{sign: "Statement cancelled due to timeout or client request", kind: evidence.MarkStatementKilled},
	{sign: "MySQLTimeoutException", kind: evidence.MarkStatementKilled},
	{sign: "Query execution was interrupted", kind: evidence.MarkStatementKilled},
	{sign: "ORA-01013", kind: evidence.MarkStatementKilled},
	{sign: "SQLServerException: The query has timed out", kind: evidence.MarkStatementKilled},
	{sign: "Execution Timeout Expired", kind: evidence.MarkStatementKilled},

	{sign: "Communications link failure", kind: evidence.MarkDBLost},
	{sign: "Lost connection to MySQL server", kind: evidence.MarkDBLost},
	{sign: "MySQL server has gone away", kind: evidence.MarkDBLost},
	{sign: "The last packet successfully received from the server", kind: evidence.MarkDBLost},
	{sign: "No operations allowed after connection closed", kind: evidence.MarkDBLost},
	{sign: "server closed the connection unexpectedly", kind: evidence.MarkDBLost},
	{sign: "An I/O error occurred while sending to the backend", kind: evidence.MarkDBLost},
	{sign: "Check that the hostname and port are correct and that the postmaster is accepting", kind: evidence.MarkDBLost, key: "Connection to ", stop: " "},
	{sign: "terminating connection due to ", kind: evidence.MarkDBLost},
	{sign: "the database system is ", kind: evidence.MarkDBLost},
	{sign: "driver: bad connection", kind: evidence.MarkDBLost},
	{sign: "ORA-03113", kind: evidence.MarkDBLost},
	{sign: "ORA-03135", kind: evidence.MarkDBLost},
	{sign: "ORA-12541", kind: evidence.MarkDBLost},
	{sign: "ORA-12514", kind: evidence.MarkDBLost},
	{sign: "ORA-12170", kind: evidence.MarkDBLost},
	{sign: "The Network Adapter could not establish the connection", kind: evidence.MarkDBLost},
	{sign: "SQLServerException: The TCP/IP connection to the host ", kind: evidence.MarkDBLost, key: "to the host ", stop: ", "},
}

func (e dbError) find(o *logOut, text []byte, at int) (bool, error) {
	if e.need != "" && !bytes.Contains(text, []byte(e.need)) {
		return false, nil
	}
	m := evidence.Mark{Kind: e.kind, Text: snippet(rest(text, at), maxText)}
	if e.key != "" {
		from, _ := lineOf(text, at)
		subject := upTo(past(text[from:], e.key), e.stop)
		subject = bytes.TrimLeft(subject, "'\"")
		m.Subject = snippet(upTo(subject, "'\";, "), maxText)
	} else if sql := past(text, "### SQL: "); sql != nil { // MyBatis names the statement
		m.Subject = snippet(sql, maxText)
	}
	return o.mark(at, m)
}

// driverTimeout is a socket timeout in a driver's own code: the statement or the
// connection that waited is lost with it.
func driverTimeout(o *logOut, text []byte, at int) (bool, error) {
	if !jdbcDriver(text) || has(text, "com.zaxxer.hikari.pool.HikariPool.createTimeoutException") {
		return false, nil
	}
	return o.mark(at, evidence.Mark{Kind: evidence.MarkDBLost, Text: snippet(rest(text, at), maxText)})
}

// PgBouncer's log prints each of these twice: as LOG with the connection's age
// and as WARNING with the pool's reason. The second is the event:
//
//	2026-03-14 05:13:08.877 UTC [20321] LOG C-0x55a8: shop/shop_rw@10.20.0.7:60396 closing because: query_wait_timeout (age=2s)
//	2026-03-14 05:13:08.877 UTC [20321] WARNING C-0x55a8: shop/shop_rw@10.20.0.7:60396 pooler error: query_wait_timeout
//	2026-03-14 05:13:10.542 UTC [20321] LOG stats: 1 xacts/s, 1 queries/s, in 9 B/s, out 20 B/s, xact 0 us, query 0 us, wait 823 us
func pgBouncer() detector {
	return messages("pgbouncer-log", "PgBouncer: clients that waited in vain, client limits, unreachable servers and the wait of its statistics", []rule{
		{sign: "pooler error: ", find: poolerError},
		{sign: " xacts/s, ", find: poolerStats},
		{sign: "FATAL: query_wait_timeout", find: poolerClient},
		{sign: "FATAL:  query_wait_timeout", find: poolerClient},
		{sign: "no more connections allowed (max_client_conn)", find: poolerClient},
		{sign: "pgbouncer cannot connect to server", find: poolerClient},
	})
}

func poolerError(o *logOut, text []byte, at int) (bool, error) {
	reason := rest(text, at+len("pooler error: "))
	p := newPool("pgbouncer", "db")
	p.Name = poolerName(before(text, at))
	p.Rejected = has(reason, "query_wait_timeout", "no more connections allowed")
	p.Unreachable = has(reason, "server_login_retry", "server login failed", "cannot connect to server", "server_connect_timeout", "connect failed")
	p.Shutdown = has(reason, "pgbouncer is shutting down", "server is shutting down")
	if !p.Rejected && !p.Unreachable && !p.Shutdown {
		return true, nil
	}
	return o.pool(at, p)
}

// poolerName reads "shop/shop_rw" out of "C-0x55a8: shop/shop_rw@10.20.0.7:60396 ".
func poolerName(head []byte) string {
	head = bytes.TrimRight(head, " ")
	if i := bytes.LastIndexByte(head, ' '); i >= 0 {
		head = head[i+1:]
	}
	if i := bytes.LastIndexByte(head, '@'); i >= 0 {
		head = head[:i]
	}
	if bytes.HasPrefix(head, []byte("(nodb)")) || len(head) == 0 {
		return "pgbouncer"
	}
	return snippet(head, maxText)
}

func poolerStats(o *logOut, text []byte, at int) (bool, error) {
	if !bytes.Contains(before(text, at), []byte("stats: ")) {
		return false, nil
	}
	us := plain(past(rest(text, at), ", wait "))
	if us < 0 {
		return false, nil
	}
	p := newPool("pgbouncer", "db")
	p.Name, p.Waited = "pgbouncer", time.Duration(us)*time.Microsecond
	return o.pool(at, p)
}

func poolerClient(o *logOut, text []byte, at int) (bool, error) {
	if has(before(text, at), "closing because: ") {
		return true, nil
	}
	p := newPool("pgbouncer", "db")
	p.Name = "pgbouncer"
	p.Unreachable = has(rest(text, at), "cannot connect")
	p.Rejected = !p.Unreachable
	return o.pool(at, p)
}
