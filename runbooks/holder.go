package runbooks

import (
	"fmt"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// holder is the session that a lock in the database waits for.
type holder struct {
	session string // empty: it is not known
	proven  bool   // the database itself named it; otherwise it is a candidate
	meta    bool   // of a metadata lock
	engine  string
}

// holderOf returns who holds the lock that sessions wait for: the one the
// database named, or else one that sleeps inside a transaction. It returns false
// if nobody waits, or only those did whose circle the database broke itself.
func (c *Case) holderOf() (holder, bool) {
	var waits []*incident.Finding
	for _, f := range c.of(incident.SQLLockWait) {
		if c.resolved(f) {
			continue
		}
		if id := f.Names["blocker"]; digits(id) {
			return holder{session: id, proven: true, engine: f.Names["engine"]}, true
		}
		waits = append(waits, f)
	}
	metas := c.of(incident.SQLMetaLock)
	for _, f := range metas {
		h := holder{session: f.Names["session"], meta: true, engine: f.Names["engine"]}
		if digits(h.session) {
			return h, true
		}
		h.session = ""
		if len(c.of(incident.SQLIdleTrx)) == 0 {
			return h, true
		}
	}
	for _, f := range c.of(incident.SQLIdleTrx) {
		if id := f.Names["session"]; digits(id) {
			return holder{session: id, meta: len(metas) > 0, engine: f.Names["engine"]}, true
		}
	}
	if len(waits) > 0 {
		return holder{engine: waits[0].Names["engine"]}, true
	}
	return holder{meta: true}, len(metas) > 0
}

// resolved reports whether a wait was one of a deadlock: where the database
// resolved some, only a wait that lasted is another one.
func (c *Case) resolved(f *incident.Finding) bool {
	return len(c.of(incident.SQLDeadlock)) > 0 && f.Names["blocker"] != "" && f.Values["sql.longest_s"] <= 0
}

// holderWords says what to do first about the session.
func (c *Case) holderWords() string {
	h, ok := c.holderOf()
	switch {
	case !ok:
		return ""
	case h.proven:
		return lang.Sprintf("Look at session %s, which holds the lock", h.session)
	case h.session != "":
		return lang.Sprintf("Look at session %s, a candidate for the lock's holder", h.session)
	}
	return lang.T("Find the session that holds the lock")
}

// kill looks at the session that holds the lock others wait for. What ends it
// is a comment: a person is to look first. A session's ID is a number; anything
// else is none.
func (c *Case) kill() string {
	h, ok := c.holderOf()
	if !ok {
		return ""
	}
	return c.inDialect(h.engine, h.inMySQL(), h.inPostgreSQL())
}

// The statements that show who holds a lock, of a database that was not asked.
const (
	mysqlTransactions = "SELECT trx_mysql_thread_id, trx_started, trx_state, trx_rows_locked, trx_query FROM information_schema.innodb_trx ORDER BY trx_started;"
	mysqlMetadata     = "SELECT l.object_schema, l.object_name, l.lock_type, l.lock_status, t.processlist_id, t.processlist_command, t.processlist_time, t.processlist_info" +
		" FROM performance_schema.metadata_locks l JOIN performance_schema.threads t ON t.thread_id = l.owner_thread_id WHERE l.object_type = 'TABLE' ORDER BY l.lock_status, t.processlist_time DESC;"
	pgTransactions = "SELECT pid, pg_blocking_pids(pid), usename, application_name, state, xact_start, query FROM pg_stat_activity WHERE xact_start IS NOT NULL ORDER BY xact_start;"
)

func (h holder) inMySQL() string {
	look, shows := mysqlTransactions, lang.T("is the oldest that waits for nothing")
	switch {
	case h.proven:
		look = "SELECT id, user, host, command, time, state, info FROM information_schema.processlist WHERE id = " + h.session + ";"
	case h.meta:
		look, shows = mysqlMetadata, lang.T("sleeps (see processlist.txt) and its lock is GRANTED")
	}
	return look + "\n" + h.ending(shows, "KILL %s;")
}

func (h holder) inPostgreSQL() string {
	look := pgTransactions
	if h.proven {
		look = "SELECT pid, usename, application_name, state, xact_start, query FROM pg_stat_activity WHERE pid = " + h.session + ";"
	}
	return look + "\n" + h.ending(lang.T("stands in the pg_blocking_pids of those who wait"), "SELECT pg_terminate_backend(%s);")
}

// ending is what ends the session, as comments: when that is right, and how.
func (h holder) ending(shows, statement string) string {
	switch {
	case h.proven:
		return "-- " + lang.T("once its owner agrees:") + "\n-- " + fmt.Sprintf(statement, h.session)
	case h.session != "":
		return "-- " + lang.Sprintf("%s is a candidate: only if it %s, and its owner agrees:", h.session, shows) + "\n-- " + fmt.Sprintf(statement, h.session)
	}
	return "-- " + lang.Sprintf("the holder %s; once its owner agrees, with its number:", shows) + "\n-- " + fmt.Sprintf(statement, "…")
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) < 20
}
