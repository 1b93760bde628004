package main

import (
	"fmt"
	"slices"
)

var locks = []composed{
	{"lock-monitor-convoy", monitorConvoy, want{
		Why:   "One thread computes inside a synchronized method, 39 wait for its monitor.",
		Label: "lock-contention", Incidents: 1, Not: []string{"slow-sql", "cpu-saturation", "deadlock"},
		Says: []string{"PriceTable"},
	}},
	{"lock-dump-of-a-cold-start", coldStart, want{
		Why:   "Dubbo dumped threads behind a lock when the cold pool refused four calls; a minute of calm later a slow statement fills it, and Dubbo does not dump again.",
		Label: "slow-sql", Or: []string{"pool-starvation", "inconclusive"}, Not: []string{"lock-contention"}, Findings: []string{"dump.stale"},
	}},
	{"lock-dump-of-the-first-refusal", firstRefusal, want{
		Why:   "Dubbo dumped threads behind a lock when the pool first refused a call, and it goes on refusing for two minutes: the dump shows why.",
		Label: "lock-contention", Not: []string{"slow-sql"}, NoFindings: []string{"dump.stale"},
	}},
	{"lock-reentrant-in-tomcat", reentrant, want{
		Why:   "Workers queue for one ReentrantLock in a token cache that refreshes under the lock.",
		Label: "lock-contention", Incidents: 1, Not: []string{"slow-sql", "deadlock", "pool-starvation"},
	}},
	{"lock-rows-in-mysql", rowLocks, want{
		Why:   "Updates of one row wait for a transaction that idles: few rows examined, long times, InnoDB names the waits.",
		Label: "lock-contention", Incidents: 1, Not: []string{"slow-sql", "pool-starvation"},
	}},
	{"lock-metadata-in-mysql", metadataLock, want{
		Why:   "An ALTER TABLE waits for an old transaction and everybody waits behind the ALTER.",
		Label: "lock-contention", Incidents: 1, Not: []string{"slow-sql", "pool-starvation"},
		Says: []string{"metadata lock"},
	}},
	{"lock-logging", loggingLock, want{
		Why:   "Workers wait for log4j2's output stream, whose owner writes to a slow disk.",
		Label: "lock-contention", Incidents: 1, Not: []string{"slow-sql", "cpu-saturation", "healthy"},
	}},
	{"lock-go-mutex", goMutex, want{
		Why:   "Eighty goroutines wait for one mutex in the session cache of a Go service.",
		Label: "lock-contention", Incidents: 1, Not: []string{"slow-sql", "downstream-wait"},
	}},
	{"lock-rows-in-postgresql", pgLock, want{
		Why:   "PostgreSQL logs that processes wait for a transaction's lock; the holder idles in its transaction.",
		Label: "lock-contention", Incidents: 1, Not: []string{"slow-sql", "pool-starvation"},
	}},
	{"deadlock-java-monitors", javaDeadlock, want{
		Why:   "The JVM found a deadlock of two threads, and the other workers pile up behind their monitors.",
		Label: "deadlock", Incidents: 1, Not: []string{"slow-sql", "lock-contention"},
	}},
	{"deadlock-without-the-jvms-section", hiddenDeadlock, want{
		Why:   "The dump was cut before the JVM's own list of deadlocks, but two threads own what the other wants.",
		Label: "deadlock", Incidents: 1, Not: []string{"slow-sql", "lock-contention"},
	}},
	{"healthy-short-monitor-wait", shortMonitor, want{
		Why:   "Two of forty workers meet at a monitor for a moment, the others idle.",
		Label: "healthy", Or: []string{"inconclusive"}, Not: []string{"lock-contention", "pool-starvation"},
	}},
}

func monitorConvoy(f files) {
	p := node{"2.6.9", "10.20.50.1", 20880}
	l := log4j(f, "price/price.log")
	for i := range 25 {
		p.logExhausted(l, after(i*900), full(40, 12000+i*3))
	}
	for n := range 3 {
		d := jstack(f, fmt.Sprintf("price/jstack%d.txt", n), 8, after(5000+n*5000))
		for i := 1; i <= 40; i++ {
			own := slices.Concat(frames("com.acme.price.PriceServiceImpl.quote(PriceServiceImpl.java:40)"), dubboServer(8, p))
			name := fmt.Sprintf("DubboServerHandler-10.20.50.1:20880-thread-%d", i)
			if i == 5+n {
				d.thread(name, runnable, frames("java.math.BigDecimal.divide(BigDecimal.java:1742)", "com.acme.price.PriceTable.rebuild(PriceTable.java:91)", "- locked <0x00000006c0a11220> (a com.acme.price.PriceTable)"), own)
			} else {
				d.thread(name, blocked, frames("com.acme.price.PriceTable.get(PriceTable.java:52)", "- waiting to lock <0x00000006c0a11220> (a com.acme.price.PriceTable)"), own)
			}
		}
		d.end()
	}
}

// coldConvoy is the dump that Dubbo writes when a pool first refuses a call: its
// threads wait for a repository that one of them sets up.
func coldConvoy(f files, p node) {
	d := jstack(f, "stock/Dubbo_JStack.log.2026-03-14_10:02:08:310", 8, after(310))
	for i := 1; i <= 40; i++ {
		own := slices.Concat(frames("com.acme.stock.StockServiceImpl.stock(StockServiceImpl.java:31)"), dubboServer(8, p))
		name := fmt.Sprintf("DubboServerHandler-%s:20880-thread-%d", p.ip, i)
		if i == 7 {
			d.thread(name, runnable, frames("java.net.URLClassLoader.findClass(URLClassLoader.java:382)", "com.acme.stock.StockRepository.open(StockRepository.java:44)", "- locked <0x00000006c0a11338> (a java.lang.Object)"), own)
		} else {
			d.thread(name, blocked, frames("com.acme.stock.StockRepository.find(StockRepository.java:27)", "- waiting to lock <0x00000006c0a11338> (a java.lang.Object)"), own)
		}
	}
	d.end()
}

func coldStart(f files) {
	p := node{"3.2.9", "10.20.50.4", 20880}
	l := log4j(f, "stock/stock.log")
	for i := range 4 {
		p.logExhausted(l, after(300+i*120), full(40, 90+i))
	}
	for i := range 12 {
		l(after(6000+i*4000), "INFO", fmt.Sprintf("DubboServerHandler-%s:20880-thread-%d", p.ip, i+1), "com.acme.stock.StockServiceImpl", "stock of %d read in 3 ms", 500+i)
	}
	for i := range 180 {
		p.logExhausted(l, after(62000+i*400), full(40, 4000+i*2))
	}
	coldConvoy(f, p)
	slow := mysqlSlow(f, "mysql/slow.log")
	for i := range 120 {
		slow.add(after(60000+i*500), 5.1+float64(spread(i, 900))/1000, 0.00002, 1, 2480113, fmt.Sprintf("SELECT quantity FROM t_stock WHERE sku_code = 'A-%d'", 40+i))
	}
}

func firstRefusal(f files) {
	p := node{"3.2.9", "10.20.50.4", 20880}
	l := log4j(f, "stock/stock.log")
	for i := range 300 {
		p.logExhausted(l, after(300+i*400), full(40, 90+i/30))
	}
	coldConvoy(f, p)
}

func reentrant(f files) {
	l := boot3(f, "gate/gate.log", "gate", utc)
	for i := range 30 {
		l(after(i*600), "WARN", fmt.Sprintf("http-nio-8443-exec-%d", i+1), "com.acme.gate.SlowRequestFilter", "GET /me took %d ms", 9000+spread(i, 3000))
	}
	for n := range 2 {
		file := fmt.Sprintf("gate/jstack-l-%d.txt", n)
		d := jstack(f, file, 17, after(7000+n*5000))
		for i := 1; i <= 40; i++ {
			own := slices.Concat(frames("com.acme.gate.TokenCache.current(TokenCache.java:37)", "com.acme.gate.AuthFilter.doFilter(AuthFilter.java:29)"), tomcat(17))
			name := fmt.Sprintf("http-nio-8443-exec-%d", i)
			if i == 1 {
				d.thread(name, sleeping, frames("java.lang.Thread.sleep(Native Method)", "com.acme.gate.TokenCache.refresh(TokenCache.java:70)"), own)
				f.printf(file, "   Locked ownable synchronizers:\n\t- <0x00000000f6601af8> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)\n\t- <0x00000000f66aa000> (a org.apache.tomcat.util.threads.ThreadPoolExecutor$Worker)\n\n")
				continue
			}
			d.thread(name, parked, park(17, false, "<0x00000000f6601af8> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)"), frames("java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire(AbstractQueuedSynchronizer.java:715)", "java.util.concurrent.locks.ReentrantLock$Sync.lock(ReentrantLock.java:153)", "java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:322)"), own)
			f.printf(file, "   Locked ownable synchronizers:\n\t- <0x00000000f66b%04x> (a org.apache.tomcat.util.threads.ThreadPoolExecutor$Worker)\n\n", i*16)
		}
		d.end()
	}
}

func rowLocks(f files) {
	p := node{"3.1.5", "10.20.51.2", 20880}
	l := boot2(f, "wallet/wallet.log", 14)
	for i := range 40 {
		l(after(i*900), "ERROR", fmt.Sprintf("DubboServerHandler-10.20.51.2:20880-thread-%d", i+1), "c.a.wallet.WalletServiceImpl", "debit failed\norg.springframework.dao.CannotAcquireLockException: \n### Error updating database.  Cause: com.mysql.cj.jdbc.exceptions.MySQLTransactionRollbackException: Lock wait timeout exceeded; try restarting transaction\n\tat com.acme.wallet.WalletServiceImpl.debit(WalletServiceImpl.java:58)")
	}
	d := jstack(f, "wallet/jstack.txt", 17, after(20000))
	for i := 1; i <= 60; i++ {
		name := fmt.Sprintf("DubboServerHandler-10.20.51.2:20880-thread-%d", i)
		if i <= 44 {
			d.thread(name, runnable, mysqlRead(17), mybatis("debit"), frames("com.acme.wallet.WalletServiceImpl.debit(WalletServiceImpl.java:58)"), dubboServer(17, p))
		} else {
			d.thread(name, parked, idle(17))
		}
	}
	d.end()
	rows := [][]string{}
	for i := range 44 {
		rows = append(rows, session(700+i, "10.20.51.2", "Query", 5+spread(i, 44), "updating", "UPDATE wallet SET balance=balance-10 WHERE id=77"))
	}
	rows = append(rows, session(690, "10.20.51.9", "Sleep", 210, "", "NULL"))
	f.printf("mysql/state.txt", "mysql> show full processlist;\n")
	table(f, "mysql/state.txt", processlist, rows)
	f.printf("mysql/state.txt", "mysql> select * from sys.innodb_lock_waits limit 5\\G\n")
	for i := range 5 {
		f.printf("mysql/state.txt", "*************************** %d. row ***************************\n                wait_started: 2026-03-14 10:02:%02d\n                    wait_age: 00:00:%02d\n               wait_age_secs: %d\n                locked_table: `shop`.`wallet`\n                locked_index: PRIMARY\n                 locked_type: RECORD\n              waiting_trx_id: 88%d\n                 waiting_pid: %d\n               waiting_query: UPDATE wallet SET balance=balance-10 WHERE id=77\n             blocking_trx_id: 8790\n                blocking_pid: 690\n              blocking_query: NULL\n", i+1, 12+i, 30-i, 30-i, 100+i, 700+i)
	}
	f.printf("mysql/state.txt", "5 rows in set (0.00 sec)\n")
	slow := mysqlSlow(f, "mysql/slow.log")
	for i := range 20 {
		slow.add(after(i*900-20000), 50.0+float64(i)/1000, 50.0, 0, 1, "UPDATE wallet SET balance=balance-10 WHERE id=77")
	}
}

func metadataLock(f files) {
	l := boot2(f, "shop-api/shop.log", 5)
	for i := range 40 {
		l(after(i*700), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i+1), "c.a.shop.ErrorAdvice", "request failed\njava.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available, request timed out after 5000ms.\n\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:696)")
	}
	rows := [][]string{session(31, "10.20.52.3", "Sleep", 640, "", "NULL"), session(55, "10.20.52.8", "Query", 95, "Waiting for table metadata lock", "ALTER TABLE orders ADD COLUMN gift tinyint NOT NULL DEFAULT 0")}
	for i := range 30 {
		rows = append(rows, session(60+i, "10.20.52.3", "Query", 94-i*3, "Waiting for table metadata lock", fmt.Sprintf("SELECT * FROM orders WHERE id=%d", 1000+i)))
	}
	f.printf("db/now.txt", "MariaDB [shop]> show full processlist;\n")
	table(f, "db/now.txt", processlist, rows)
	d := jstack(f, "shop-api/dump.txt", 11, after(12000))
	for i := 1; i <= 80; i++ {
		own := slices.Concat(frames("com.acme.shop.OrderRepository.byId(OrderRepository.java:19)", "com.acme.shop.OrderController.get(OrderController.java:31)"), tomcat(11))
		if i <= 30 {
			d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), runnable, mysqlRead(11), mybatis("byId"), own)
		} else {
			d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), timed, hikariBorrow(11), own)
		}
	}
	d.end()
}

func loggingLock(f files) {
	p := node{"2.7.14", "10.20.53.1", 20880}
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("audit/jstack-%d.txt", n), 8, after(n*6000))
		for i := 1; i <= 40; i++ {
			log4j2 := frames("org.apache.logging.log4j.core.appender.AbstractOutputStreamAppender.directEncodeEvent(AbstractOutputStreamAppender.java:197)", "org.apache.logging.log4j.core.config.AppenderControl.callAppender(AppenderControl.java:84)", "org.apache.logging.log4j.core.Logger.logMessage(Logger.java:161)", "org.apache.logging.slf4j.Log4jLogger.info(Log4jLogger.java:184)", "com.acme.audit.AuditServiceImpl.record(AuditServiceImpl.java:27)")
			name := fmt.Sprintf("DubboServerHandler-10.20.53.1:20880-thread-%d", i)
			if i == 1 {
				d.thread(name, runnable, frames("java.io.FileOutputStream.writeBytes(Native Method)", "java.io.FileOutputStream.write(FileOutputStream.java:326)", "org.apache.logging.log4j.core.appender.OutputStreamManager.writeToDestination(OutputStreamManager.java:261)", "- locked <0x00000006c1d00f28> (a org.apache.logging.log4j.core.appender.rolling.RollingFileManager)", "org.apache.logging.log4j.core.appender.OutputStreamManager.flush(OutputStreamManager.java:294)"), log4j2, dubboServer(8, p))
			} else {
				d.thread(name, blocked, frames("org.apache.logging.log4j.core.appender.OutputStreamManager.writeBytes(OutputStreamManager.java:352)", "- waiting to lock <0x00000006c1d00f28> (a org.apache.logging.log4j.core.appender.rolling.RollingFileManager)"), log4j2, dubboServer(8, p))
			}
		}
		d.end()
	}
	l := log4j(f, "audit/audit.log")
	for i := range 12 {
		p.logExhausted(l, after(i*1200), full(40, 77000+i*2))
	}
}

func goMutex(f files) {
	const file = "session/debug2.txt"
	goIdle(f, file, 20)
	own := []string{"acme.example/session.(*Cache).Get(0xc0001b0000, {0xc000312000, 0x20})", "/src/session/cache.go:48", "acme.example/session/api.(*Server).whoami(0xc0001c0000, {0x1a4f880, 0xc0003ba000}, 0xc0003a2000)", "/src/session/api/whoami.go:22"}
	for i := range 80 {
		goroutine(f, file, 100+i, "sync.Mutex.Lock, 2 minutes", slices.Concat([]string{"sync.runtime_SemacquireMutex(0xc0001b0008?, 0x0?, 0x0?)", "/usr/local/go/src/runtime/sema.go:95", "sync.(*Mutex).lockSlow(0xc0001b0008)", "/usr/local/go/src/sync/mutex.go:173", "sync.(*Mutex).Lock(...)", "/usr/local/go/src/sync/mutex.go:92"}, own, goServe())...)
	}
	goroutine(f, file, 300, "sleep", slices.Concat([]string{"time.Sleep(0x3b9aca00)", "/usr/local/go/src/runtime/time.go:338", "acme.example/session.(*Cache).evict(0xc0001b0000)", "/src/session/cache.go:90"}, own, goServe())...)
	for i := range 40 {
		slogText(f, "session/server.log", after(i*400), "WARN", "msg=\"slow request\" path=/whoami elapsed=%d.2s", 40+i)
	}
}

func pgLock(f files) {
	for i := range 30 {
		at := after(i * 1000)
		f.printf("pg/postgresql.log", "%[1]s UTC [%[2]d] app@stock LOG:  process %[2]d still waiting for ShareLock on transaction 771202 after 1000.%03[3]d ms\n%[1]s UTC [%[2]d] app@stock DETAIL:  Process holding the lock: 4410. Wait queue: %[2]d.\n%[1]s UTC [%[2]d] app@stock CONTEXT:  while updating tuple (12,7) in relation \"stock\"\n%[1]s UTC [%[2]d] app@stock STATEMENT:  update stock set qty=qty-1 where sku='S-1'\n", at.Format(dotMillis), 4500+i, i*7)
	}
	const act = "pg/activity.txt"
	f.printf(act, "stock=> select pid, state, wait_event_type, wait_event, xact_start, query_start, query from pg_stat_activity;\n pid  |        state        | wait_event_type |  wait_event   |          xact_start           |          query_start          |                   query                    \n------+---------------------+-----------------+---------------+-------------------------------+-------------------------------+--------------------------------------------\n 4410 | idle in transaction | Client          | ClientRead    | 2026-03-14 09:58:02.120301+00 | 2026-03-14 09:58:02.120301+00 | update stock set qty=qty-1 where sku='S-1'\n")
	for i := range 30 {
		f.printf(act, " %d | active              | Lock            | transactionid | 2026-03-14 10:02:%02d.220301+00 | 2026-03-14 10:02:%02d.220301+00 | update stock set qty=qty-1 where sku='S-1'\n", 4500+i, 11+i, 11+i)
	}
	f.printf(act, "(31 rows)\n\n")
	l := wildfly(f, "stock/server.log")
	for i := range 20 {
		l(after(i*1500), "WARN", fmt.Sprintf("default task-%d", i), "com.acme.stock.Reservations", "reservation took %d ms", 20000+i)
	}
}

const deadlockSection = "Found one Java-level deadlock:\n=============================\n\"DubboServerHandler-10.20.54.1:20880-thread-1\":\n  waiting to lock monitor 0x00007f6b08c51c90 (object 0x00000006c0000010, a com.acme.acct.Account),\n  which is held by \"DubboServerHandler-10.20.54.1:20880-thread-2\"\n\"DubboServerHandler-10.20.54.1:20880-thread-2\":\n  waiting to lock monitor 0x00007f6b08c51d38 (object 0x00000006c0000020, a com.acme.acct.Account),\n  which is held by \"DubboServerHandler-10.20.54.1:20880-thread-1\"\n\nJava stack information for the threads listed above:\n===================================================\n\"DubboServerHandler-10.20.54.1:20880-thread-1\":\n\tat com.acme.acct.Account.credit(Account.java:30)\n\t- waiting to lock <0x00000006c0000010> (a com.acme.acct.Account)\n\t- locked <0x00000006c0000020> (a com.acme.acct.Account)\n\"DubboServerHandler-10.20.54.1:20880-thread-2\":\n\tat com.acme.acct.Account.credit(Account.java:30)\n\t- waiting to lock <0x00000006c0000020> (a com.acme.acct.Account)\n\t- locked <0x00000006c0000010> (a com.acme.acct.Account)\n\nFound 1 deadlock.\n\n"

// crossed writes two threads that wait for each other and some behind them.
func crossed(f files, file string, end bool) {
	p := node{"2.7.3", "10.20.54.1", 20880}
	d := jstack(f, file, 8, after(4000))
	for i := 1; i <= 50; i++ {
		own := slices.Concat(frames("com.acme.acct.TransferServiceImpl.transfer(TransferServiceImpl.java:44)"), dubboServer(8, p))
		wanted, held := 0x10+(i%2)*0x10, ""
		if i <= 2 {
			wanted, held = 0x10*i, fmt.Sprintf("- locked <0x00000006c00000%x> (a com.acme.acct.Account)", 0x30-0x10*i)
		}
		stack := frames("com.acme.acct.Account.credit(Account.java:30)", fmt.Sprintf("- waiting to lock <0x00000006c00000%x> (a com.acme.acct.Account)", wanted))
		if held != "" {
			stack = append(stack, "com.acme.acct.Account.moveTo(Account.java:22)", held)
		}
		d.thread(fmt.Sprintf("DubboServerHandler-10.20.54.1:20880-thread-%d", i), blocked, stack, own)
	}
	if end {
		d.end()
		f.printf(file, "%s", deadlockSection)
	}
}

func javaDeadlock(f files) {
	crossed(f, "account/jstack.txt", true)
	p := node{"2.7.3", "10.20.54.1", 20880}
	l := hadoop(f, "account/account.log")
	for i := range 25 {
		p.logExhausted(l, after(i*300), full(50, 7120))
	}
}

func hiddenDeadlock(f files) {
	crossed(f, "account/jstack-cut.txt", false)
}

func shortMonitor(f files) {
	p := node{"2.7.3", "10.20.55.1", 20880}
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("geo/jstack-%d.txt", n), 8, after(n*5000))
		for i := 1; i <= 40; i++ {
			name := fmt.Sprintf("DubboServerHandler-10.20.55.1:20880-thread-%d", i)
			if n == 0 && i < 3 {
				d.thread(name, blocked, frames("com.acme.geo.TileCache.get(TileCache.java:20)", "- waiting to lock <0x00000006c0003310> (a java.util.LinkedHashMap)", "com.acme.geo.GeoServiceImpl.tile(GeoServiceImpl.java:9)"), dubboServer(8, p))
			} else {
				d.thread(name, parked, idle(8))
			}
		}
		d.end()
	}
}
