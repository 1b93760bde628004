package main

import (
	"fmt"
	"slices"
	"time"
)

var pools = []composed{
	{"pool-hikari-too-small", hikariTooSmall, want{
		Why:   "Four connections for forty threads; statements take 3 ms, PostgreSQL's log proves it. The pool is the bottleneck.",
		Label: "pool-starvation", Incidents: 1, Not: []string{"slow-sql", "lock-contention"},
		Chain: []string{"trigger pool-starvation", "victim pool-starvation"},
		Pools: []pool{{Name: "ReportPool", Active: ptr(4)}},
	}},
	{"pool-connection-leak", connectionLeak, want{
		Why:   "Connections are taken and never given back: leak warnings that nobody withdraws, sessions that sleep in the database, borrowers that give up.",
		Label: "pool-starvation", Incidents: 1, Not: []string{"slow-sql", "lock-contention", "healthy"},
		Chain: []string{"trigger pool-starvation"}, Says: []string{"leak"},
	}},
	{"pool-exhausted-without-dumps", exhaustedOnly, want{
		Why:   "Only the symptom was saved: 200 of 200 workers for a minute. Nothing tells what they do.",
		Label: "pool-starvation", Incidents: 1, Not: []string{"slow-sql", "retry-amplification", "healthy"},
		Chain: []string{"victim pool-starvation"},
		Pools: []pool{{Name: "DubboServerHandler-10.20.40.2:20880", Max: ptr(200), Active: ptr(200), Rejected: ptr(90)}},
	}},
	{"pool-waits-for-itself", selfWait, want{
		Why:   "Every worker of the pool waits for a task that it gave to the same pool.",
		Label: "pool-starvation", Or: []string{"deadlock"}, Not: []string{"slow-sql", "downstream-wait", "healthy"},
	}},
	{"pool-stale-dump", staleDump, want{
		Why:   "The dump that Dubbo wrote is half an hour older than the trouble, so its MySQL reads say nothing about it.",
		Label: "pool-starvation", Or: []string{"inconclusive"}, Not: []string{"slow-sql"}, MaxCertainty: "medium",
	}},
	{"pool-dump-after-recovery", dumpAfter, want{
		Why:   "The pool was full at 10:02, the dump of 10:40 shows an idle pool: it proves neither health nor a cause.",
		Label: "pool-starvation", Or: []string{"inconclusive"}, Not: []string{"healthy", "slow-sql"}, MaxCertainty: "medium",
	}},
	{"healthy-deploy-shut-down-pool", deploy, want{
		Why:   "The pool refused because it was shutting down for a deployment.",
		Label: "healthy", Not: []string{"pool-starvation", "retry-amplification", "no-provider"},
	}},
	{"healthy-leak-returned", leakReturned, want{
		Why:   "Each warning of a leak is withdrawn: a nightly export holds its connection for long.",
		Label: "healthy", Not: []string{"pool-starvation"},
	}},
	{"inconclusive-burst-of-idle-pool", burst, want{
		Why:   "Refusals at 12 active of 200: a burst that met a queue without places, not a full pool.",
		Label: "inconclusive", Or: []string{"healthy"}, Not: []string{"pool-starvation", "slow-sql", "retry-amplification"},
	}},
	{"slow-sql-two-databases-two-services", twoServices, want{
		Why:   "At the same time catalogue has a slow statement and mail hangs in a foreign HTTP service: two incidents.",
		Label: "slow-sql", Also: []string{"downstream-wait"}, Incidents: 2,
	}},
}

func hikariTooSmall(f files) {
	l := boot2(f, "report/report.log", 9)
	for i := range 80 {
		l(after(i*250), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i%40+1), "c.acme.report.ErrorAdvice", "request failed\norg.springframework.jdbc.CannotGetJdbcConnectionException: Failed to obtain JDBC Connection; nested exception is java.sql.SQLTransientConnectionException: ReportPool - Connection is not available, request timed out after 2000ms (total=4, active=4, idle=0, waiting=%d)\n\tat com.acme.report.TileRepository.tile(TileRepository.java:18)", 30+spread(i, 6))
	}
	for i := range 300 {
		f.printf("pg/postgresql.log", "%s UTC [%d] report@bi LOG:  duration: %d.%03d ms  execute <unnamed>: select png from tile where x=$1 and y=$2\n", after(i*67).Format(dotMillis), 300+i%4, 2+i%2, spread(i, 1000))
	}
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("report/jstack-%d.txt", n), 11, after(8000+n*5000))
		for i := 1; i <= 40; i++ {
			own := slices.Concat(frames("com.acme.report.TileRepository.tile(TileRepository.java:18)", "com.acme.report.MapController.tile(MapController.java:27)"), tomcat(11))
			name := fmt.Sprintf("http-nio-8080-exec-%d", i)
			switch {
			case (i+n)%20 == 0:
				d.thread(name, runnable, pgRead(11), own)
			case (i+n)%20 == 1:
				d.thread(name, runnable, frames("java.util.zip.Deflater.deflateBytesBytes(Native Method)", "com.acme.report.PngWriter.write(PngWriter.java:77)"), own)
			default:
				d.thread(name, timed, hikariBorrow(11), own)
			}
		}
		d.end()
	}
}

func connectionLeak(f files) {
	l := boot3(f, "billing/billing.log", "billing", time.FixedZone("", 3600))
	for i := range 10 {
		l(after(i*6000-120000), "WARN", "HikariPool-1 housekeeper", "com.zaxxer.hikari.pool.ProxyLeakTask", "Connection leak detection triggered for org.postgresql.jdbc.PgConnection@%x on thread http-nio-8080-exec-%d, stack trace follows\njava.lang.Exception: Apparent connection leak detected\n\tat com.zaxxer.hikari.HikariDataSource.getConnection(HikariDataSource.java:127)\n\tat com.acme.billing.LegacyExport.rows(LegacyExport.java:61)\n\tat com.acme.billing.ExportController.export(ExportController.java:30)", 0x5b2a71d0+i, i+3)
	}
	for i := range 60 {
		l(after(i*500), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i%80+1), "com.acme.billing.ErrorAdvice", "invoice failed\njava.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available, request timed out after 30000ms (total=10, active=10, idle=0, waiting=%d)\n\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:696)", 60+spread(i, 12))
	}
	const act = "pg/pg_stat_activity.txt"
	f.printf(act, "billing=# select now(), pid, usename, application_name, state, wait_event_type, wait_event, query_start, query from pg_stat_activity where datname='billing';\n")
	f.printf(act, "              now              | pid  | usename | application_name | state | wait_event_type | wait_event |          query_start          |            query            \n-------------------------------+------+---------+------------------+-------+-----------------+------------+-------------------------------+-----------------------------\n")
	for i := range 10 {
		f.printf(act, " 2026-03-14 10:02:30.120301+00 | %d | billing | billing          | idle  | Client          | ClientRead | 2026-03-14 10:00:%02d.301200+00 | select * from export_job    \n", 8200+i, 10+i*3)
	}
	f.printf(act, "(10 rows)\n\n")
	d := jstack(f, "billing/threads.txt", 17, after(22000))
	for i := 1; i <= 80; i++ {
		own := slices.Concat(frames("com.acme.billing.InvoiceRepository.find(InvoiceRepository.java:33)", "com.acme.billing.InvoiceController.get(InvoiceController.java:20)"), tomcat(17))
		if i > 72 {
			d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), parked, tomcatIdle(17))
			continue
		}
		d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), timed, hikariBorrow(17), own)
	}
	d.end()
}

func exhaustedOnly(f files) {
	p := node{"2.5.3", "10.20.40.2", 20880}
	l := hadoop(f, "member/logs/dubbo-server.log")
	for i := range 90 {
		p.logExhausted(l, after(i*650), full(200, 3300120+i/40))
	}
}

func selfWait(f files) {
	l := log4j(f, "quote/quote.log")
	for i := range 30 {
		l(after(i*800), "WARN", "http-nio-8080-exec-1", "com.acme.quote.Quotes", "quote not ready after 10 s")
	}
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("quote/td%d.txt", n), 17, after(9000+n*6000))
		for i := 1; i <= 32; i++ {
			d.thread(fmt.Sprintf("quote-pool-thread-%d", i), parked, park(17, false, fmt.Sprintf("<0x00000000f1%06x> (a java.util.concurrent.FutureTask)", i*64)), frames("java.util.concurrent.FutureTask.awaitDone(FutureTask.java:447)", "java.util.concurrent.FutureTask.get(FutureTask.java:190)", "com.acme.quote.Quotes.legs(Quotes.java:88)", "com.acme.quote.Quotes.lambda$quote$0(Quotes.java:41)", "java.util.concurrent.FutureTask.run(FutureTask.java:264)"), worker(17))
		}
		for i := 1; i <= 20; i++ {
			d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), timed, park(17, true, fmt.Sprintf("<0x00000000f2%06x> (a java.util.concurrent.FutureTask)", i*64)), frames("java.util.concurrent.FutureTask.awaitDone(FutureTask.java:444)", "java.util.concurrent.FutureTask.get(FutureTask.java:203)", "com.acme.quote.QuoteController.quote(QuoteController.java:25)"), tomcat(17))
		}
		d.end()
	}
}

// stock is the provider of the two incidents with a dump from another time.
var stockNode = node{"2.7.18", "10.20.41.3", 20880}

func staleDump(f files) {
	l := boot2(f, "stock/stock.log", 77)
	for i := range 50 {
		stockNode.logExhausted(l, after(i*500), full(50, 55000+i))
	}
	d := &infoDump{f: f, file: "stock/Dubbo_JStack.log.2026-03-14_09:31:40", max: 32}
	for i := 1; i <= 50; i++ {
		d.thread(fmt.Sprintf("DubboServerHandler-10.20.41.3:20880-thread-%d", i), "RUNNABLE (in native)", true, mysqlRead(8), mybatis("selectAll"), frames("com.acme.stock.StockServiceImpl.all(StockServiceImpl.java:30)"), dubboServer(8, stockNode))
	}
}

func dumpAfter(f files) {
	l := boot2(f, "stock/stock.log", 77)
	for i := range 50 {
		stockNode.logExhausted(l, after(i*500), full(50, 55000+i))
	}
	for i := range 60 {
		l(after(120000+i*30000), "INFO", fmt.Sprintf("DubboServerHandler-10.20.41.3:20880-thread-%d", i%50), "c.a.stock.StockServiceImpl", "stock of %d read", i)
	}
	d := jstack(f, "stock/jstack-1040.txt", 8, noon.Add(minutes(38)))
	for i := 1; i <= 50; i++ {
		d.thread(fmt.Sprintf("DubboServerHandler-10.20.41.3:20880-thread-%d", i), parked, idle(8))
	}
	d.end()
}

func deploy(f files) {
	p := node{"2.7.23", "10.20.42.1", 20880}
	l := boot2(f, "cms/cms.log", 55)
	for i := range 60 {
		l(after(i*900-60000), "INFO", fmt.Sprintf("DubboServerHandler-10.20.42.1:20880-thread-%d", i%200), "c.a.cms.PageServiceImpl", "page %d", i)
	}
	l(after(0), "INFO", "SpringContextShutdownHook", "o.a.d.config.DubboShutdownHook", " [DUBBO] Run shutdown hook now., dubbo version: 2.7.23, current host: 10.20.42.1")
	for i := range 4 {
		p.logExhausted(l, after(300+i*40), state{max: 200, active: 3, task: 90120 + i, completed: 90117 + i, shutdown: true})
	}
	l(after(21000), "INFO", "main", "c.acme.cms.CmsApplication", "Started CmsApplication in 14.22 seconds (JVM running for 15.1)")
	for i := range 60 {
		l(after(i*900+22000), "INFO", fmt.Sprintf("DubboServerHandler-10.20.42.1:20880-thread-%d", i%200), "c.a.cms.PageServiceImpl", "page %d", i)
	}
}

func leakReturned(f files) {
	l := boot2(f, "export/export.log", 3)
	for i := range 12 {
		at := noon.Add(minutes(i*5 - 500))
		l(at, "INFO", "scheduling-1", "com.acme.export.NightlyExport", "export of month %d begins", i+1)
		l(at.Add(minutes(1)), "WARN", "HikariPool-1 housekeeper", "com.zaxxer.hikari.pool.ProxyLeakTask", "Connection leak detection triggered for com.mysql.cj.jdbc.ConnectionImpl@%x on thread scheduling-1, stack trace follows\njava.lang.Exception: Apparent connection leak detected\n\tat com.acme.export.NightlyExport.month(NightlyExport.java:44)", 0x1c4a6e22+i)
		l(at.Add(minutes(3)), "INFO", "scheduling-1", "com.zaxxer.hikari.pool.ProxyLeakTask", "Previously reported leaked connection com.mysql.cj.jdbc.ConnectionImpl@%x on thread scheduling-1 was returned to the pool (unleaked)", 0x1c4a6e22+i)
		l(at.Add(minutes(3)), "INFO", "scheduling-1", "com.acme.export.NightlyExport", "export of month %d done", i+1)
	}
}

func burst(f files) {
	p := node{"3.2.4", "10.20.43.9", 20880}
	l := boot2(f, "push/push.log", 41)
	for i := range 80 {
		l(after(i*500-40000), "INFO", fmt.Sprintf("DubboServerHandler-10.20.43.9:20880-thread-%d", i), "c.a.push.PushServiceImpl", "pushed %d", i)
	}
	for i := range 7 {
		p.logExhausted(l, after(i*3), state{max: 200, active: 12 - i, task: 610233 + i, completed: 610221 + i*2})
	}
	for i := range 80 {
		l(after(i*500+500), "INFO", fmt.Sprintf("DubboServerHandler-10.20.43.9:20880-thread-%d", i), "c.a.push.PushServiceImpl", "pushed %d", i)
	}
}

func twoServices(f files) {
	p := node{"3.2.12", "10.20.44.1", 20880}
	l := boot2(f, "catalogue/app.log", 5)
	for i := range 30 {
		p.logExhausted(l, after(i*700), full(60, 8000+i))
	}
	d := jstack(f, "catalogue/jstack.txt", 17, after(12000))
	for i := 1; i <= 60; i++ {
		d.thread(fmt.Sprintf("DubboServerHandler-10.20.44.1:20880-thread-%d", i), runnable, mysqlRead(17), mybatis("search"), frames("com.acme.catalogue.SearchServiceImpl.search(SearchServiceImpl.java:71)"), dubboServer(17, p))
	}
	d.end()
	slow := mysqlSlow(f, "catalogue-db/slow.log")
	for i := range 30 {
		slow.add(after(i*600), 4.1, 0.000002, 5, 3300120, fmt.Sprintf("SELECT id FROM article WHERE title LIKE '%%tea %d%%'", i))
	}
	m := boot2(f, "mail/app.log", 6)
	for i := range 30 {
		m(after(i*700), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i+1), "c.a.mail.SendController", "send failed\norg.springframework.web.client.ResourceAccessException: I/O error on POST request for \"https://mta.partner.example/send\": Read timed out; nested exception is java.net.SocketTimeoutException: Read timed out\n\tat com.acme.mail.MtaClient.send(MtaClient.java:40)")
	}
	d = jstack(f, "mail/jstack.txt", 17, after(12500))
	for i := 1; i <= 50; i++ {
		d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), runnable, httpRead(17), frames("com.acme.mail.MtaClient.send(MtaClient.java:40)", "com.acme.mail.SendController.send(SendController.java:22)"), tomcat(17))
	}
	d.end()
}
