package correlate

import (
	"github.com/firebreak-io/firebreak/incident"
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
	burning := in.Label != incident.Healthy
	dumps := len(q.e.dumps)
	hasSQL := len(q.e.sql) > 0
	pool := q.poolInTrouble() || q.threads != nil
	db := q.has(incident.StackDBRead, incident.StackDBPool, incident.ConnExhausted, incident.SQLRunning, incident.SQLSlow)

	add(burning && dumps == 0, "three thread dumps of the provider, some seconds apart",
		"for i in 1 2 3; do jstack -l PID > jstack-$i.txt; sleep 5; done",
		"most workers in a database read: slow SQL or a lock there; in a connection pool: that pool; on one lock: contention; in an RPC or HTTP client: go one hop down; idle: the pool is not the problem now")
	add(burning && dumps > 0 && q.has(incident.DumpStale), "a thread dump from the time of the trouble",
		"jstack -l PID > jstack-now.txt", "whether workers wait for the same thing while the pool refuses work")
	add(burning && dumps == 1 && !q.has(incident.DumpStale), "two more thread dumps, some seconds apart",
		"for i in 2 3; do sleep 5; jstack -l PID > jstack-$i.txt; done", "the same threads in the same place: stuck; others: slow but moving")
	add(burning && !pool && !q.has(incident.PoolBurst), "the provider's own log around the onset",
		"grep -n -e 'Thread pool is EXHAUSTED' -e RejectedExecutionException provider.log", "lines: its pool was full, with numbers; none: the pool was not the problem")
	add(burning && q.has(incident.PoolExhausted) && q.edge == nil, "a consumer's log around the onset",
		"grep -n -e 'Tried .* times of the providers' -e 'Waiting server-side response timeout' consumer.log", "`Tried 3 times` near every failure: retries multiply the load; none: they do not")
	add(db && !q.has(incident.SQLRunning) && !q.has(incident.SQLLockWait), "what the database is running now",
		"mysql -e 'SHOW FULL PROCESSLIST' > processlist.txt", "one statement many times: that statement; `Waiting for ... lock`: a lock, look for its holder; mostly Sleep: the connections are held for something else")
	add(db && !q.has(incident.SQLSlow) && !hasSQL, "the slow log of the window",
		"mysql -e \"SELECT @@slow_query_log_file, @@long_query_time\"", "long with many rows examined: a scan; long with few: a lock; short: the database is a victim of the number of calls")
	add((q.has(incident.SQLRunning) || q.has(incident.SQLSlow)) && !q.has(incident.SQLScan) && !q.has(incident.SQLLockWait), "the plan of the statement",
		"mysql -e 'EXPLAIN <statement>' > explain.txt", "type ALL over many rows: an index is missing; a key is used: look for locks or a slow disk")
	add(burning && q.has(incident.SQLLockWait) && !q.hasBlocker(), "who holds the lock",
		"mysql -e 'SHOW ENGINE INNODB STATUS\\G' > innodb.txt", "an old transaction without LOCK WAIT is the holder; if it sleeps, an application forgot to commit")
	add(burning && !q.has(incident.GCQuiet, incident.GCPauses), "the collector's log of the window",
		"jcmd PID GC.heap_info; ls -l gc*.log", "pauses longer than the timeout, or more than a fifth of the time: the collector is the trigger; less: it is cleared")
	add(burning && q.edge != nil && len(q.edge.candidates) == 0 && !q.has(incident.RouteNone, incident.RouteNarrow, incident.RouteWide), "how many providers routing leaves",
		"echo 'getRecentRouterSnapshot' | nc CONSUMER 22222", "few of many: routing made it worse; all: it did not")
	add(in.Label == incident.Inconclusive || in.Label == incident.CPUSaturation, "processor use of the host", "vmstat 1 5; top -b -H -n 2 | head -60", "idle above 30 %: not the processors; one thread at 100 %: a serial hot spot")
	add(in.Label == incident.Healthy, "evidence from the time of the trouble", "for i in 1 2 3; do jstack -l PID > jstack-$i.txt; sleep 5; done", "whether this quiet picture is of the right minutes")
	return list
}

func (q *inquiry) hasBlocker() bool {
	for _, f := range q.of(incident.SQLLockWait) {
		if f.Names["blocker"] != "" {
			return true
		}
	}
	return false
}
