package main

import (
	"fmt"
	"slices"
	"strings"
)

// strangers are shops that have little in common with the reference.
var strangers = []composed{
	{"slow-sql-grpc-postgresql-activity", grpcPostgres, want{
		Why:   "A gRPC service in Java: its executor reads PostgreSQL's answers, and pg_stat_activity shows thirty sessions in one statement that reads from disk.",
		Label: "slow-sql", Incidents: 1, Not: []string{"retry-amplification", "pool-starvation", "downstream-wait", "lock-contention"},
		SQL: []sql{{Contains: "from ledger_line where memo", RunningNow: 30}},
	}},
	{"slow-sql-druid-statfilter-only", statFilter, want{
		Why:   "Druid's StatFilter logs the slow statement in the provider's own log, beside refusals; there is no evidence from the database.",
		Label: "slow-sql", Incidents: 1, Not: []string{"pool-starvation", "lock-contention"},
		SQL: []sql{{Contains: "from t_trade where shop_id"}},
	}},
	{"slow-sql-two-layers-of-retries", twoLayers, want{
		Why:   "order retries stock three times and stock retries price three times: nine requests reach price, whose statement is slow.",
		Label: "slow-sql", ActFirst: "retry-amplification", Incidents: 1, Not: []string{"traffic-skew"},
		Edges: []edge{{Method: "reserve", Amplification: 3}, {Method: "priceOf", Amplification: 3}},
		Says:  []string{"9"},
	}},
	{"slow-sql-not-the-one-long-pause", onePause, want{
		Why:   "The collector paused once for 800 ms in half an hour; what holds the workers all the time is a statement.",
		Label: "slow-sql", Incidents: 1, Not: []string{"gc-pause", "pool-starvation"},
	}},
	{"slow-sql-clocks-without-zones", clocks, want{
		Why:   "The provider writes Shanghai's time without saying so, the consumer's JSON is in UTC: one incident, not two of eight hours' distance.",
		Label: "slow-sql", ActFirst: "retry-amplification", Not: []string{"no-provider", "healthy"},
		Edges: []edge{{Method: "fee", Amplification: 3}},
	}},
	{"slow-sql-or-pool-go-profile", goProfile, want{
		Why:   "An aggregated goroutine profile: six hold their connection in a query, ninety wait for one. Nothing from the database tells whether the query is slow.",
		Label: "slow-sql", Or: []string{"pool-starvation"}, MaxCertainty: "medium", Not: []string{"healthy", "lock-contention", "downstream-wait"},
	}},
	{"pool-dbcp-leak", dbcpLeak, want{
		Why:   "Everybody waits to borrow from DBCP and nobody is seen with a connection; the database shows them asleep.",
		Label: "pool-starvation", Incidents: 1, Not: []string{"slow-sql", "lock-contention", "healthy"},
	}},
	{"pool-tomcat-jdbc-log-only", tomcatJDBC, want{
		Why:   "Tomcat's JDBC pool is empty, twenty of twenty busy; nothing tells why.",
		Label: "pool-starvation", Incidents: 1, Not: []string{"slow-sql", "healthy", "lock-contention"}, MaxCertainty: "medium",
	}},
	{"pool-executor-rejects", executor, want{
		Why:   "A Spring executor of twenty threads with a full queue refuses tasks for a minute.",
		Label: "pool-starvation", Incidents: 1, Not: []string{"slow-sql", "healthy"},
	}},
	{"healthy-executor-shutting-down", executorStops, want{
		Why:   "The executor refuses because the application is stopping; the next one starts and works.",
		Label: "healthy", Not: []string{"pool-starvation"},
	}},
	{"pool-too-many-connections", tooMany, want{
		Why:   "MySQL refuses connections of three services: its limit is reached.",
		Label: "pool-starvation", Not: []string{"slow-sql", "healthy", "no-provider"},
	}},
	{"lock-actuator-json", actuatorLock, want{
		Why:   "The actuator's JSON dump shows thirty-five workers that wait for a monitor whose owner sorts.",
		Label: "lock-contention", Incidents: 1, Not: []string{"slow-sql", "deadlock"},
	}},
	{"lock-wait-timeouts-log-only", lockTimeouts, want{
		Why:   "MySQL gave up waiting for row locks, a hundred times in a minute; the application's log is all there is.",
		Label: "lock-contention", Not: []string{"slow-sql", "healthy", "deadlock"},
	}},
	{"lock-dump-in-docker-log", dockerDump, want{
		Why:   "kill -3 put the dump into the container's log, each line with a time before it: a convoy behind one monitor.",
		Label: "lock-contention", Incidents: 1, Not: []string{"slow-sql", "healthy", "deadlock"},
	}},
	{"deadlock-postgresql", pgDeadlock, want{
		Why:   "PostgreSQL resolves a deadlock every other second.",
		Label: "deadlock", Or: []string{"lock-contention"}, Not: []string{"slow-sql", "healthy"},
	}},
}

func grpcPostgres(f files) {
	l := boot3(f, "ledger/ledger.log", "ledger", utc)
	for i := range 40 {
		l(after(i*500), "WARN", fmt.Sprintf("grpc-default-executor-%d", i), "com.acme.ledger.LedgerService", "search took %d ms", 9000+spread(i, 2000))
	}
	w := boot2(f, "books-web/web.log", 2)
	for i := range 40 {
		w(after(i*500), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i), "c.a.books.SearchController", "search failed\nio.grpc.StatusRuntimeException: DEADLINE_EXCEEDED: deadline exceeded after 4.999s. [closed=[], open=[[buffered_nanos=210344, remote_addr=ledger.books/10.20.100.1:9090]]]\n\tat io.grpc.stub.ClientCalls.toStatusRuntimeException(ClientCalls.java:271)\n\tat com.acme.books.LedgerClient.search(LedgerClient.java:40)")
	}
	d := jstack(f, "ledger/jstack.txt", 21, after(9000))
	for i := range 30 {
		d.thread(fmt.Sprintf("grpc-default-executor-%d", i), runnable, pgRead(21), frames("com.zaxxer.hikari.pool.ProxyPreparedStatement.executeQuery(ProxyPreparedStatement.java:52)", "com.acme.ledger.LineDao.byMemo(LineDao.java:61)", "com.acme.ledger.LedgerService.search(LedgerService.java:35)", "com.acme.ledger.grpc.LedgerGrpc$MethodHandlers.invoke(LedgerGrpc.java:301)", "io.grpc.stub.ServerCalls$UnaryServerCallHandler$UnaryServerCallListener.onHalfClose(ServerCalls.java:182)", "io.grpc.internal.SerializingExecutor.run(SerializingExecutor.java:133)"), worker(21))
	}
	d.end()
	const act = "pg/activity.txt"
	f.printf(act, "books=> select now(), pid, state, wait_event_type, wait_event, query_start, query from pg_stat_activity where state <> 'idle';\n              now              | pid  | state  | wait_event_type |  wait_event  |          query_start          |                        query                        \n-------------------------------+------+--------+-----------------+--------------+-------------------------------+-----------------------------------------------------\n")
	for i := range 30 {
		f.printf(act, " 2026-03-14 10:02:30.120301+00 | %d | active | IO              | DataFileRead | 2026-03-14 10:02:%02d.301200+00 | select id from ledger_line where memo ilike '%%a%02d%%' \n", 9200+i, 18+i%8, i)
	}
	f.printf(act, "(30 rows)\n\n")
}

func statFilter(f files) {
	p := node{"2.5.10", "10.20.101.1", 20881}
	l := hadoop(f, "trade/trade.log")
	for i := range 70 {
		l(after(i*300), "ERROR", fmt.Sprintf("DubboServerHandler-10.20.101.1:20881-thread-%d", i%50+1), "com.alibaba.druid.filter.stat.StatFilter", "slow sql %d millis. select id,buyer,total from t_trade where shop_id=? and state in (?,?) order by total desc[%d,1,2]", 5300+spread(i, 900), 600+i)
	}
	for i := range 40 {
		p.logExhausted(l, after(4000+i*400), full(50, 21000+i*3))
	}
}

func twoLayers(f files) {
	price := node{"3.1.9", "10.20.102.1", 20880}
	stock := node{"3.1.9", "10.20.102.2", 20880}
	a := call{node{"3.1.9", "10.20.102.3", 0}, "order", "com.acme.stock.StockService", "reserve", 4000, "nacos-1:8848"}
	b := call{stock, "stock", "com.acme.price.PriceService", "priceOf", 1000, "nacos-1:8848"}
	ol, sl, pl := boot2(f, "order/order.log", 1), boot2(f, "stock/stock.log", 1), boot2(f, "price/price.log", 1)
	for i := range 20 {
		ol(after(i*1200+9000), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i), "c.a.order.OrderController", "not reserved\n%s", a.tried(3, []node{stock}, 1, a.timedOut(stock, after(i*1200+9000), 1+4*i)))
	}
	for i := range 60 {
		sl(after(i*400), "ERROR", fmt.Sprintf("DubboServerHandler-10.20.102.2:20880-thread-%d", i), "c.a.stock.StockServiceImpl", "no price\n%s", b.tried(3, []node{price}, 1, b.timedOut(price, after(i*400), 1+4*i)))
	}
	for i := range 50 {
		price.logExhausted(pl, after(2000+i*400), full(40, 9000+i))
	}
	d := jstack(f, "price/jstack.txt", 17, after(9000))
	for i := 1; i <= 40; i++ {
		d.thread(fmt.Sprintf("DubboServerHandler-10.20.102.1:20880-thread-%d", i), runnable, mysqlRead(17), mybatis("priceOf"), frames("com.acme.price.PriceServiceImpl.priceOf(PriceServiceImpl.java:31)"), dubboServer(17, price))
	}
	d.end()
	slow := mysqlSlow(f, "price-db/slow.log")
	for i := range 60 {
		slow.add(after(i*300-3000), 3.3, 0.000001, 1, 890000, fmt.Sprintf("SELECT amount FROM price_list WHERE sku=%d AND valid_to>'2026-03-14'", i))
	}
}

func onePause(f files) {
	for i := range 60 {
		ms := 11 + spread(i, 6)
		if i == 31 {
			ms = 803
		}
		f.printf("news/gc.log", "[%s][info][gc] GC(%d) Pause Young (Normal) (G1 Evacuation Pause) 2410M->310M(4096M) %d.401ms\n", after(i*30000-900000).Format("2006-01-02T15:04:05.000+0000"), i, ms)
	}
	l := boot2(f, "news/news.log", 2)
	p := node{"2.7.17", "10.20.103.1", 20880}
	for i := range 40 {
		p.logExhausted(l, after(i*900), full(30, 3000+i))
	}
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("news/jstack%d.txt", n), 11, after(10000+n*5000))
		for i := 1; i <= 30; i++ {
			d.thread(fmt.Sprintf("DubboServerHandler-10.20.103.1:20880-thread-%d", i), runnable, mysqlRead(11), mybatis("latest"), frames("com.acme.news.NewsServiceImpl.latest(NewsServiceImpl.java:44)"), dubboServer(11, p))
		}
		d.end()
	}
	slow := mariadbSlow(f, "news-db/slow.log")
	for i := range 50 {
		slow.add(after(i*800-4000), 7.5, 0.0001, 20, 4100200, fmt.Sprintf("SELECT * FROM news WHERE tags LIKE '%%t%d%%' ORDER BY created DESC LIMIT 20", i))
	}
}

func clocks(f files) {
	p := node{"2.7.13", "10.20.104.1", 20880}
	c := call{node{"2.7.13", "10.20.104.9", 0}, "desk", "com.acme.fee.FeeService", "fee", 1000, "nacos-1:8848"}
	const shanghai = 8 * 3600 * 1000
	l := log4j(f, "fee-provider/fee.log")
	for i := range 40 {
		p.logExhausted(l, after(shanghai+i*500), full(40, 5000+i))
	}
	d := jstack(f, "fee-provider/jstack.txt", 8, after(shanghai+9000))
	for i := 1; i <= 40; i++ {
		d.thread(fmt.Sprintf("DubboServerHandler-10.20.104.1:20880-thread-%d", i), runnable, mysql5Read(8), frames("com.acme.fee.FeeDao.rules(FeeDao.java:30)", "com.acme.fee.FeeServiceImpl.fee(FeeServiceImpl.java:22)"), dubboServer(8, p))
	}
	d.end()
	w := logstash(f, "desk/desk.json", utc)
	for i := range 40 {
		w(after(i*500), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i), "com.acme.desk.FeeController", "no fee\n%s", c.tried(3, []node{p}, 1, c.timedOut(p, after(i*500), 1+4*i)))
	}
	slow := mysqlSlow(f, "fee-db/slow.log")
	for i := range 40 {
		slow.add(after(i*500-4000), 4.4, 0.000001, 3, 2770100, fmt.Sprintf("SELECT * FROM fee_rule WHERE region='R%d'", i%9))
	}
}

func goProfile(f files) {
	f.printf("points/goroutine.txt", "goroutine profile: total 104\n90 @ 0x48e86e 0x46b145 0x536c95 0x539657 0x71a2c1\n#\t0x536c94\tdatabase/sql.(*DB).conn+0x414\t/usr/local/go/src/database/sql/sql.go:1369\n#\t0x539656\tdatabase/sql.(*DB).QueryContext+0x96\t/usr/local/go/src/database/sql/sql.go:1743\n#\t0x71a2c0\tacme.example/points.(*Store).Sum+0xe0\t/src/points/store.go:40\n#\t0x71b2c0\tacme.example/points.(*Server).sum+0x120\t/src/points/server.go:71\n#\t0x6a1100\tnet/http.HandlerFunc.ServeHTTP+0x28\t/usr/local/go/src/net/http/server.go:2220\n#\t0x6a4100\tnet/http.(*conn).serve+0x6b3\t/usr/local/go/src/net/http/server.go:2092\n\n6 @ 0x48e86e 0x4863b7 0x48e945 0x4a1c2f 0x71a2c1\n#\t0x48e944\tinternal/poll.runtime_pollWait+0x84\t/usr/local/go/src/runtime/netpoll.go:351\n#\t0x4a1c2e\tinternal/poll.(*FD).Read+0x28e\t/usr/local/go/src/internal/poll/fd_unix.go:165\n#\t0x520000\tnet.(*conn).Read+0x44\t/usr/local/go/src/net/net.go:189\n#\t0x700000\tgithub.com/go-sql-driver/mysql.(*mysqlConn).readPacket+0x120\t/go/pkg/mod/github.com/go-sql-driver/mysql@v1.9.2/packets.go:74\n#\t0x701000\tgithub.com/go-sql-driver/mysql.(*mysqlConn).query+0x1a0\t/go/pkg/mod/github.com/go-sql-driver/mysql@v1.9.2/connection.go:446\n#\t0x539656\tdatabase/sql.(*DB).QueryContext+0x96\t/usr/local/go/src/database/sql/sql.go:1743\n#\t0x71a2c0\tacme.example/points.(*Store).Sum+0xe0\t/src/points/store.go:40\n#\t0x71b2c0\tacme.example/points.(*Server).sum+0x120\t/src/points/server.go:71\n#\t0x6a1100\tnet/http.HandlerFunc.ServeHTTP+0x28\t/usr/local/go/src/net/http/server.go:2220\n\n6 @ 0x48e86e 0x45f1e5 0x702000\n#\t0x702000\tgithub.com/go-sql-driver/mysql.(*mysqlConn).startWatcher.func1+0x90\t/go/pkg/mod/github.com/go-sql-driver/mysql@v1.9.2/connection.go:707\n\n1 @ 0x48e86e 0x4863b7 0x48e945\n#\t0x48e944\tinternal/poll.runtime_pollWait+0x84\t/usr/local/go/src/runtime/netpoll.go:351\n#\t0x4a2c2e\tinternal/poll.(*FD).Accept+0x28e\t/usr/local/go/src/internal/poll/fd_unix.go:620\n#\t0x6a9000\tnet/http.(*Server).Serve+0x30c\t/usr/local/go/src/net/http/server.go:3330\n#\t0x71f000\tmain.main+0x220\t/src/cmd/points/main.go:44\n\n1 @ 0x43f0c5 0x4779b6 0x6c1211\n#\t0x6c1210\truntime/pprof.writeRuntimeProfile+0xb0\t/usr/local/go/src/runtime/pprof/pprof.go:796\n#\t0x6c2000\tnet/http/pprof.handler.ServeHTTP+0x4a4\t/usr/local/go/src/net/http/pprof/pprof.go:267\n\n")
}

func dbcpLeak(f files) {
	l := log4j(f, "crm/catalina.out")
	for i := range 50 {
		l(after(i*600), "ERROR", fmt.Sprintf("catalina-exec-%d", i%60+1), "org.acme.crm.ErrorFilter", "customer not loaded\njava.sql.SQLException: Cannot get a connection, pool error Timeout waiting for idle object\n\tat org.apache.commons.dbcp2.PoolingDataSource.getConnection(PoolingDataSource.java:142)\n\tat org.acme.crm.CustomerDao.load(CustomerDao.java:55)\nCaused by: java.util.NoSuchElementException: Timeout waiting for idle object\n\tat org.apache.commons.pool2.impl.GenericObjectPool.borrowObject(GenericObjectPool.java:453)\n\t... 30 more")
	}
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("crm/dump-%d", n), 8, after(9000+n*6000))
		for i := 1; i <= 60; i++ {
			d.thread(fmt.Sprintf("catalina-exec-%d", i), timed, park(8, true, "<0x00000006c3a11230> (a java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject)"), frames("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.awaitNanos(AbstractQueuedSynchronizer.java:2078)", "org.apache.commons.pool2.impl.LinkedBlockingDeque.pollFirst(LinkedBlockingDeque.java:522)", "org.apache.commons.pool2.impl.GenericObjectPool.borrowObject(GenericObjectPool.java:437)", "org.apache.commons.dbcp2.PoolingDataSource.getConnection(PoolingDataSource.java:134)", "org.acme.crm.CustomerDao.load(CustomerDao.java:55)", "org.acme.crm.CustomerServlet.doGet(CustomerServlet.java:28)"), tomcat(8))
		}
		d.end()
	}
	rows := [][]string{}
	for i := range 16 {
		rows = append(rows, session(210+i, "10.20.105.1", "Sleep", 900+i*40, "", "NULL"))
	}
	f.printf("db/pl.txt", "mysql> show processlist;\n")
	table(f, "db/pl.txt", processlist, rows)
}

func tomcatJDBC(f files) {
	l := boot2(f, "hr/hr.log", 77)
	for i := range 60 {
		l(after(i*500), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i), "c.a.hr.ErrorAdvice", "staff not loaded\norg.apache.tomcat.jdbc.pool.PoolExhaustedException: [http-nio-8080-exec-%d] Timeout: Pool empty. Unable to fetch a connection in 30 seconds, none available[size:20; busy:20; idle:0; lastwait:30000].\n\tat org.apache.tomcat.jdbc.pool.ConnectionPool.borrowConnection(ConnectionPool.java:737)\n\tat com.acme.hr.StaffDao.load(StaffDao.java:18)", i)
	}
}

func executor(f files) {
	l := boot2(f, "notify/notify.log", 8)
	for i := range 80 {
		l(after(i*700), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i%40), "c.a.notify.NotifyController", "not accepted\norg.springframework.core.task.TaskRejectedException: Executor [java.util.concurrent.ThreadPoolExecutor@3f99bd52[Running, pool size = 20, active threads = 20, queued tasks = 500, completed tasks = %d]] did not accept task: com.acme.notify.Push$$Lambda$812/0x0000000840f1@5c0f2a77\n\tat org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor.submit(ThreadPoolTaskExecutor.java:391)\nCaused by: java.util.concurrent.RejectedExecutionException: Task java.util.concurrent.FutureTask@7a1e2c rejected from java.util.concurrent.ThreadPoolExecutor@3f99bd52[Running, pool size = 20, active threads = 20, queued tasks = 500, completed tasks = %d]\n\t... 12 more", 41000+i, 41000+i)
	}
}

func executorStops(f files) {
	l := boot2(f, "notify/notify.log", 8)
	for i := range 60 {
		l(after(i*1000-60000), "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%40), "c.a.notify.NotifyController", "202 POST /push %d ms", 3+i%5)
	}
	for i := range 3 {
		l(after(100+i*50), "WARN", fmt.Sprintf("http-nio-8080-exec-%d", i), "c.a.notify.NotifyController", "not accepted\njava.util.concurrent.RejectedExecutionException: Task java.util.concurrent.FutureTask@7a1e2c rejected from java.util.concurrent.ThreadPoolExecutor@3f99bd52[Shutting down, pool size = 2, active threads = 2, queued tasks = 0, completed tasks = 90112]\n\tat java.util.concurrent.ThreadPoolExecutor$AbortPolicy.rejectedExecution(ThreadPoolExecutor.java:2063)")
	}
	l(after(15000), "INFO", "main", "c.a.notify.NotifyApplication", "Started NotifyApplication in 8.1 seconds (JVM running for 9.0)")
	for i := range 60 {
		l(after(i*1000+16000), "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%40), "c.a.notify.NotifyController", "202 POST /push %d ms", 3+i%5)
	}
}

func tooMany(f files) {
	for n, app := range []string{"cart", "profile", "search"} {
		l := boot2(f, app+"/"+app+".log", 10+n)
		for i := range 25 {
			l(after(i*900+n*100), "ERROR", "HikariPool-1 connection adder", "com.zaxxer.hikari.pool.PoolBase", "HikariPool-1 - Cannot acquire connection from data source\ncom.mysql.cj.jdbc.exceptions.MySQLNonTransientConnectionException: Data source rejected establishment of connection,  message from server: \"Too many connections\"\n\tat com.mysql.cj.jdbc.ConnectionImpl.createNewIO(ConnectionImpl.java:829)")
			l(after(i*900+n*100+300), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i), "c.a."+app+".ErrorAdvice", "failed\njava.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available, request timed out after 30000ms (total=0, active=0, idle=0, waiting=%d)\n\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:686)", 3+i)
		}
	}
}

func actuatorLock(f files) {
	frame := func(class, method, file string, line int) string {
		return fmt.Sprintf(`{"classLoaderName":"app","moduleName":null,"moduleVersion":null,"methodName":%q,"fileName":%q,"lineNumber":%d,"nativeMethod":false,"className":%q}`, method, file, line, class)
	}
	below := strings.Join([]string{frame("com.acme.rank.Board.top", "top", "Board.java", 51), frame("com.acme.rank.RankController", "top", "RankController.java", 20), frame("org.springframework.web.servlet.DispatcherServlet", "doDispatch", "DispatcherServlet.java", 1067), frame("org.apache.tomcat.util.threads.ThreadPoolExecutor", "runWorker", "ThreadPoolExecutor.java", 1191), frame("java.lang.Thread", "run", "Thread.java", 840)}, ",")
	var threads []string
	for i := 1; i <= 36; i++ {
		state, lock, owner, held, top := "BLOCKED", `"com.acme.rank.Board@5b2a71d0"`, `"lockOwnerId":40,"lockOwnerName":"http-nio-8080-exec-1"`, "", frame("com.acme.rank.Board", "sorted", "Board.java", 33)
		info := `"lockInfo":{"className":"com.acme.rank.Board","identityHashCode":1529508304}`
		if i == 1 {
			state, lock, owner, info = "RUNNABLE", "null", `"lockOwnerId":-1,"lockOwnerName":null`, `"lockInfo":null`
			held = `{"className":"com.acme.rank.Board","identityHashCode":1529508304,"lockedStackDepth":1,"lockedStackFrame":` + frame("com.acme.rank.Board", "sorted", "Board.java", 38) + `}`
			top = frame("java.util.TimSort", "mergeHi", "TimSort.java", 903) + "," + frame("com.acme.rank.Board", "sorted", "Board.java", 38)
		}
		threads = append(threads, fmt.Sprintf(`{"threadName":"http-nio-8080-exec-%d","threadId":%d,"blockedTime":-1,"blockedCount":%d,"waitedTime":-1,"waitedCount":9,"lockName":%s,%s,"daemon":true,"inNative":false,"suspended":false,"threadState":%q,"priority":5,"stackTrace":[%s,%s],"lockedMonitors":[%s],"lockedSynchronizers":[],%s}`, i, 39+i, i, lock, owner, state, top, below, held, info))
	}
	f.printf("rank/threaddump.json", `{"threads":[%s]}`, strings.Join(threads, ","))
}

func lockTimeouts(f files) {
	l := log4j(f, "seat/seat.log")
	for i := range 100 {
		l(after(i*600), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i%60), "com.acme.seat.SeatController", "seat not booked\norg.springframework.dao.CannotAcquireLockException: could not execute statement; SQL [n/a]; nested exception is org.hibernate.exception.LockAcquisitionException: could not execute statement\n\tat com.acme.seat.SeatService.book(SeatService.java:71)\nCaused by: java.sql.SQLException: Lock wait timeout exceeded; try restarting transaction\n\tat com.mysql.jdbc.SQLError.createSQLException(SQLError.java:957)\n\t... 40 more")
	}
}

func dockerDump(f files) {
	const file = "rate/container.log"
	l := dateless(f, file)
	for i := range 20 {
		l(after(i*400-8000), "INFO", "http-nio-8080-exec-1", "com.acme.rate.RateController", "rate %d", i)
	}
	f.printf(file, "%s", "")
	d := jstack(f, file, 11, noon)
	for i := 1; i <= 40; i++ {
		own := slices.Concat(frames("com.acme.rate.RateController.rate(RateController.java:31)"), tomcat(11))
		if i == 7 {
			d.thread("http-nio-8080-exec-7", sleeping, frames("java.lang.Thread.sleep(Native Method)", "com.acme.rate.Rates.reload(Rates.java:80)", "- locked <0x00000000e1a01230> (a com.acme.rate.Rates)"), own)
			continue
		}
		d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), blocked, frames("com.acme.rate.Rates.get(Rates.java:44)", "- waiting to lock <0x00000000e1a01230> (a com.acme.rate.Rates)"), own)
	}
	d.end()
	for i := range 10 {
		l(after(i*900+500), "INFO", "scheduling-1", "com.acme.rate.Clock", "tick %d", i)
	}
	text := f.at(file).String()
	f.at(file).Reset()
	n := 0
	for line := range strings.Lines(text) {
		n++
		f.printf(file, "%s %s", after(n/40).Format("2006-01-02T15:04:05.000000000Z"), line)
	}
}

func pgDeadlock(f files) {
	for i := range 25 {
		at := after(i * 2100).Format(dotMillis)
		f.printf("pg/postgresql-Sat.log", "%[1]s UTC [%[2]d] app@bank ERROR:  deadlock detected\n%[1]s UTC [%[2]d] app@bank DETAIL:  Process %[2]d waits for ShareLock on transaction 9021; blocked by process %[3]d.\n\tProcess %[3]d waits for ShareLock on transaction 9022; blocked by process %[2]d.\n\tProcess %[2]d: update account set bal=bal-1 where id=2\n\tProcess %[3]d: update account set bal=bal+1 where id=1\n%[1]s UTC [%[2]d] app@bank HINT:  See server log for query details.\n%[1]s UTC [%[2]d] app@bank CONTEXT:  while updating tuple (0,2) in relation \"account\"\n%[1]s UTC [%[2]d] app@bank STATEMENT:  update account set bal=bal-1 where id=2\n", at, 300+i, 400+i)
	}
}
