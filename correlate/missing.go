package correlate

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// missing says what would make the verdict surer, with the command that
// collects it and what each outcome would mean. The most telling comes first.
func (q *inquiry) missing(in *incident.Incident) []incident.Missing {
	list := []incident.Missing{}
	add := func(want bool, what, command, tells string) {
		if want && len(list) < 6 {
			list = append(list, incident.Missing{What: what, Command: command, WouldTell: tells})
		}
	}
	if in.Label == incident.Healthy && in.Certainty == incident.High {
		return list
	}
	if q.e.outside() {
		w := span{}
		for _, s := range q.e.sources {
			w.add(s.From)
			w.add(s.To)
		}
		what := lang.T("a window in which there is evidence")
		if !w.first.IsZero() {
			what += lang.Sprintf(", which runs from %s to %s UTC", w.first.Format("2006-01-02 15:04:05"), w.last.Format("15:04:05"))
		}
		add(true, what, "firebreak report PATH... (without --since and --until, or with --tz)", lang.T("what happened then; this report says nothing about the window asked for"))
		return list
	}
	if hours := q.e.zoneGap(); hours != 0 {
		add(true, lang.Sprintf("the zone of the times that state none: they lie %d h from those that state theirs", max(hours, -hours)),
			fmt.Sprintf("firebreak report --tz %+03d:00 PATH...", hours), lang.T("whether the two show the same minutes: then the order of the chain is known"))
	}
	burning := in.Label != incident.Healthy
	c := q.commands()
	dumps := len(q.e.dumps)
	hasSQL := len(q.e.sql) > 0
	pool := q.poolInTrouble() || q.threads != nil
	db := q.has(incident.StackDBRead, incident.StackDBPool, incident.ConnExhausted, incident.SQLRunning, incident.SQLSlow)

	if f := first(q.of(incident.CallFailed)); f.ID != "" && in.Label == incident.Inconclusive {
		add(true, lang.Sprintf("the log of %s around %s, and one failed call's error", minNonBlank(f.Names["service"], lang.T("the callee")), minNonBlank(clockOf(f.First), lang.T("the failures"))),
			"grep -n -e ERROR -e Exception -e 'connection refused' -e timeout CALLEE.log", lang.T("refused or unreachable: it was down or full; its own exception: the fault is there; nothing at all: the calls did not reach it"))
	}
	if f := first(q.of(incident.AppErrors)); f.Count >= manyErrors && in.Label == incident.Inconclusive {
		add(true, lang.T("what the errors are, with their stack traces and causes, and the access log or spans beside them"),
			"grep -n -A15 -e ERROR -e Exception LOG | head -80", lang.T("a refusal, a timeout or a callee's answer: go there; data that cannot be read or code that is wrong: the last release; callers that were answered all the same: noise"))
	}
	add(burning && dumps == 0, lang.T("three thread dumps of the provider, some seconds apart"),
		c.dumps,
		lang.T("most workers in a database read: slow SQL or a lock there; in a connection pool: that pool; on one lock: contention; in an RPC or HTTP client: go one hop down; idle: the pool is not the problem now"))
	add(burning && dumps > 0 && q.has(incident.DumpStale), lang.T("a thread dump from the time of the trouble"),
		c.dumpNow, lang.T("whether workers wait for the same thing while the pool refuses work"))
	add(burning && dumps == 1 && !q.has(incident.DumpStale), lang.T("two more thread dumps, some seconds apart"),
		c.dumpsMore, lang.T("the same threads in the same place: stuck; others: slow but moving"))
	add(burning && !pool && !q.has(incident.PoolBurst) && !q.has(incident.PoolIdle), lang.T("the provider's own log around the onset"),
		"grep -n -e 'Thread pool is EXHAUSTED' -e RejectedExecutionException provider.log", lang.T("lines: its pool was full, with numbers; none: the pool was not the problem"))
	add(burning && q.has(incident.PoolExhausted) && q.edge == nil && q.account == nil, lang.T("a consumer's log around the onset"),
		"grep -n -e 'Tried .* times of the providers' -e 'Waiting server-side response timeout' consumer.log", lang.T("`Tried 3 times` near every failure: retries multiply the load; none: they do not"))
	add(db && !q.has(incident.SQLRunning) && !q.has(incident.SQLLockWait) && !q.e.listedSessions(), lang.T("what the database is running now"),
		c.sessions, lang.T("one statement many times: that statement; `Waiting for ... lock`: a lock, look for its holder; mostly Sleep: the connections are held for something else"))
	add(db && !q.has(incident.SQLSlow) && !hasSQL, lang.T("the slow log of the window"),
		c.slowLog, lang.T("long with many rows examined: a scan; long with few: a lock; short: the database is a victim of the number of calls"))
	add((q.has(incident.SQLRunning) || q.has(incident.SQLSlow)) && !q.has(incident.SQLScan) && !q.has(incident.SQLLockWait), lang.T("the plan of the statement"),
		c.plan, lang.T("ALL or Seq Scan over many rows: an index is missing; a key is used: look for locks or a slow disk"))
	add(burning && q.has(incident.SQLLockWait) && !q.hasBlocker(), lang.T("who holds the lock"),
		c.locks, lang.T("an old transaction that waits for nothing is the holder; if it sleeps, an application forgot to commit"))
	add(burning && !q.has(incident.GCQuiet, incident.GCPauses), lang.T("the garbage collector's log of the window"),
		c.collector, lang.T("pauses longer than the timeout, or more than a fifth of the time: the collector is the trigger; less: it is cleared"))
	add(burning && q.edge != nil && len(q.edge.candidates) == 0 && !q.has(incident.RouteNone, incident.RouteNarrow, incident.RouteWide), lang.T("how many providers routing leaves"),
		"echo 'getRecentRouterSnapshot' | nc CONSUMER 22222", lang.T("few of many: routing made it worse; all: it did not"))
	add(in.Label == incident.Inconclusive || in.Label == incident.CPUSaturation, lang.T("processor use of the host"), "vmstat 1 5; top -b -H -n 2 | head -60", lang.T("idle above 30 %: not the processors; one thread at 100 %: a serial hot spot"))
	add(in.Label == incident.Healthy, lang.T("evidence from the time of the trouble"), c.dumps, lang.T("whether this quiet picture is of the right minutes"))
	return list
}

// clockOf is a time of day; empty if it is not known.
func clockOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("15:04:05")
}

// listedSessions reports whether a list of the database's sessions was read.
func (e *Engine) listedSessions() bool {
	for _, s := range e.sql {
		if len(s.running) > 0 {
			return true
		}
	}
	return e.idle.id != ""
}

func (q *inquiry) hasBlocker() bool {
	for _, f := range q.of(incident.SQLLockWait) {
		if f.Names["blocker"] != "" {
			return true
		}
	}
	return false
}

// zoneGap is by how many hours the sources whose times state no offset lie from
// those that do, where both would show the same minutes if that were their zone;
// 0 if they overlap, or no whole number of hours fits.
func (e *Engine) zoneGap() int {
	stated, bare := e.zoneSpans()
	if stated.first.IsZero() || bare.first.IsZero() || !bare.first.After(stated.last) && !stated.first.After(bare.last) {
		return 0
	}
	gap := bare.first.Sub(stated.first)
	hours := int(math.Round(gap.Hours()))
	if hours < -12 || hours > 14 || (gap-time.Duration(hours)*time.Hour).Abs() > zoneSlack {
		return 0
	}
	return hours
}

// zoneSpans is the time covered by the sources whose times state an offset, and
// by those whose times do not.
func (e *Engine) zoneSpans() (stated, bare span) {
	for _, s := range e.sources {
		w := &stated
		switch e.zoned[s.Path] {
		case evidence.Unknown:
			continue
		case evidence.No:
			w = &bare
		}
		w.add(s.From)
		w.add(s.To)
	}
	return stated, bare
}

// zoneSlack is how far two sources about one incident may begin apart.
const zoneSlack = 20 * time.Minute

// commands are how to collect evidence from what this shop runs.
type commands struct {
	dumps, dumpNow, dumpsMore, collector string
	sessions, slowLog, plan, locks       string
}

func (q *inquiry) commands() commands {
	c := commands{
		dumps:     "for i in 1 2 3; do jstack -l PID > jstack-$i.txt; sleep 5; done",
		dumpNow:   "jstack -l PID > jstack-now.txt",
		dumpsMore: "for i in 2 3; do sleep 5; jstack -l PID > jstack-$i.txt; done",
		collector: "jcmd PID GC.heap_info; ls -l gc*.log",
		sessions:  "mysql -e 'SHOW FULL PROCESSLIST' > processlist.txt",
		slowLog:   "mysql -e \"SELECT @@slow_query_log_file, @@long_query_time\"",
		plan:      "mysql -e 'EXPLAIN <statement>' > explain.txt",
		locks:     "mysql -e 'SHOW ENGINE INNODB STATUS\\G' > innodb.txt",
	}
	goes, jvms := 0, 0
	for _, d := range q.e.dumps {
		switch d.meta.Runtime {
		case evidence.Go:
			goes++
		case evidence.JVM:
			jvms++
		}
	}
	if goes > 0 && jvms == 0 {
		c.dumps = "for i in 1 2 3; do curl -s 'http://HOST:6060/debug/pprof/goroutine?debug=2' > goroutines-$i.txt; sleep 5; done"
		c.dumpNow = "curl -s 'http://HOST:6060/debug/pprof/goroutine?debug=2' > goroutines-now.txt"
		c.dumpsMore = "for i in 2 3; do sleep 5; curl -s 'http://HOST:6060/debug/pprof/goroutine?debug=2' > goroutines-$i.txt; done"
		c.collector = "GODEBUG=gctrace=1 (at the next start)"
	}
	postgres, mysql := 0, 0
	for _, s := range q.e.sql {
		switch s.engine {
		case "postgresql":
			postgres++
		case "mysql", "mariadb":
			mysql++
		}
	}
	if postgres > 0 && mysql == 0 || mysql == 0 && q.usesPostgres() {
		c.sessions = "psql -x -c 'SELECT now(), *, pg_blocking_pids(pid) FROM pg_stat_activity' > activity.txt"
		c.slowLog = "psql -c 'SHOW log_min_duration_statement' -c 'SHOW log_directory'"
		c.plan = "psql -c 'EXPLAIN (ANALYZE, BUFFERS) <statement>' > explain.txt"
		c.locks = "psql -x -c 'SELECT *, pg_blocking_pids(pid) FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0' > locks.txt"
	}
	return c
}

// usesPostgres reports whether threads read from PostgreSQL's driver.
func (q *inquiry) usesPostgres() bool {
	for _, g := range q.e.shapes.sortedGroups() {
		v := g.key.shape.verdict
		if v.kind == incident.WaitDBRead {
			return strings.HasPrefix(v.decided, "org.postgresql.") || strings.Contains(v.decided, "lib/pq") || strings.Contains(v.decided, "jackc/")
		}
	}
	return false
}
