package main

import (
	"fmt"
	"slices"
)

var slowSQL = []composed{
	{"slow-sql-dubbo-2.6-druid", slowDruid, want{
		Why:   "Druid names the statement that holds all its connections, the slow log shows that it reads 3.9 million rows; the workers fill up behind it.",
		Label: "slow-sql", Incidents: 1, Not: []string{"lock-contention", "pool-starvation"},
		SQL: []sql{{Contains: "from order_item where buyer_id", RowsExamined: 3912044}},
	}},
	{"slow-sql-postgresql-tomcat-json", slowPostgres, want{
		Why:   "A sequential scan takes seven seconds in PostgreSQL; ten connections are busy with it and Tomcat's workers queue for them. There is no Dubbo.",
		Label: "slow-sql", Incidents: 1, Not: []string{"retry-amplification", "pool-starvation"},
		SQL: []sql{{Contains: "from shipment s where lower(tracking_no)"}},
	}},
	{"slow-sql-go-goroutines", slowGo, want{
		Why:   "Five connections are the limit, all five read the answer of one statement that scans 1.8 million rows, sixty requests queue for a connection.",
		Label: "slow-sql", Incidents: 1, Not: []string{"pool-starvation", "retry-amplification"},
		SQL: []sql{{Contains: "from coupon where campaign", RowsExamined: 1804332}},
	}},
	{"slow-sql-hikari-borrowers", slowHikari, want{
		Why:   "Thirty threads borrow and ten read the answer of a slow statement: the borrowing is the effect.",
		Label: "slow-sql", Incidents: 1, Not: []string{"pool-starvation", "retry-amplification"},
	}},
	{"slow-sql-paste-of-everything", slowPaste, want{
		Why:   "One file pasted in a chat: a log line, a telnet session, a processlist and a plan. Together they are the whole chain.",
		Label: "slow-sql", Incidents: 1, Not: []string{"traffic-skew", "no-provider"},
		SQL:   []sql{{Contains: "from inv_ledger where sku", RunningNow: 12, FullScan: ptr(true)}},
		Pools: []pool{{Name: "DubboServerHandler", Max: ptr(300), Active: ptr(300)}},
	}},
}

// slowDruid: Dubbo 2.6 on JDK 8 with Druid, Connector/J 5.1 and MariaDB.
func slowDruid(f files) {
	p := node{"2.6.12", "10.20.3.14", 20880}
	l := log4j(f, "trade-provider/logs/trade.log")
	statement := "select id, sku, qty from order_item where buyer_id = '%d' order by id desc"
	for i := range 40 {
		l(after(i*250-12000), "INFO", fmt.Sprintf("DubboServerHandler-10.20.3.14:20880-thread-%d", i+1), "com.acme.trade.service.OrderQueryImpl", "query orders of buyer %d", 7700+i)
	}
	for i := range 45 {
		l(after(i*420), "ERROR", fmt.Sprintf("DubboServerHandler-10.20.3.14:20880-thread-%d", 40+i), "com.acme.trade.service.OrderQueryImpl", "query orders failed")
		f.printf("trade-provider/logs/trade.log", "com.alibaba.druid.pool.GetConnectionTimeoutException: wait millis 5000, active 20, maxActive 20, creating 0, runningSqlCount 20 : "+statement+"\n", 7700+i)
		for j := 1; j < 4; j++ {
			f.printf("trade-provider/logs/trade.log", "runningSqlCount %d : "+statement+"\n", 20-j, 8800+j)
		}
		f.printf("trade-provider/logs/trade.log", "\tat com.alibaba.druid.pool.DruidDataSource.getConnectionInternal(DruidDataSource.java:1773)\n\tat com.alibaba.druid.pool.DruidDataSource.getConnection(DruidDataSource.java:1410)\n\tat com.acme.trade.dao.OrderItemDao.byBuyer(OrderItemDao.java:52)\n")
	}
	for i := range 20 {
		p.logExhausted(l, after(9000+i*300), full(60, 884210+i))
	}
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("trade-provider/jstack.%d.txt", n+1), 8, after(15000+n*6000))
		for i := 1; i <= 60; i++ {
			name := fmt.Sprintf("DubboServerHandler-10.20.3.14:20880-thread-%d", i)
			own := frames("com.acme.trade.dao.OrderItemDao.byBuyer(OrderItemDao.java:52)", "com.acme.trade.service.OrderQueryImpl.ordersOf(OrderQueryImpl.java:33)")
			if i <= 20 {
				d.thread(name, runnable, mysql5Read(8), frames("com.alibaba.druid.pool.DruidPooledPreparedStatement.execute(DruidPooledPreparedStatement.java:497)"), own, dubboServer(8, p))
			} else {
				d.thread(name, timed, druidBorrow(8), own, dubboServer(8, p))
			}
		}
		for i := range 4 {
			d.thread(fmt.Sprintf("New I/O server worker #1-%d", i+1), runnable, netty(8))
		}
		d.end()
	}
	slow := mariadbSlow(f, "db1/mariadb-slow.log")
	for i := range 60 {
		slow.add(after(i*310-4000), 6.2+float64(spread(i, 30))/10, 0.0001, 3, 3912044, fmt.Sprintf(statement, 7700+i))
	}
}

// slowPostgres: Spring Boot 3 with Tomcat, Hikari and PostgreSQL; JSON logs.
func slowPostgres(f files) {
	l := ecs(f, "tracking-api/app.json", "tracking-api")
	statement := "select s.id,s.state from shipment s where lower(tracking_no)='t%d'"
	for i := range 30 {
		l(after(i*400-12000), "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%20+1), "com.parcel.tracking.TrackingController", "track T%d", 40000+i)
	}
	for i := range 30 {
		l(after(i*900), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i%20+1), "com.parcel.tracking.ErrorHandler", "tracking failed\norg.springframework.jdbc.CannotGetJdbcConnectionException: Failed to obtain JDBC Connection\n\tat org.springframework.jdbc.datasource.DataSourceUtils.getConnection(DataSourceUtils.java:83)\nCaused by: java.sql.SQLTransientConnectionException: TrackingPool - Connection is not available, request timed out after 30000ms (total=10, active=10, idle=0, waiting=%d)\n\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:686)", 25+spread(i, 9))
	}
	for i := range 50 {
		ms := 6800 + spread(i, 900)
		f.printf("pg-main/postgresql-2026-03-14.log", "%s UTC [%d] tracking@parcels LOG:  duration: %d.%03d ms  execute <unnamed>: select s.id,s.state from shipment s where lower(tracking_no)=$1\n%s UTC [%d] tracking@parcels DETAIL:  parameters: $1 = 't%d'\n", after(i*700).Format(dotMillis), 8100+i%10, ms, i, after(i*700).Format(dotMillis), 8100+i%10, 40000+i)
	}
	f.printf("pg-main/explain.txt", "parcels=# explain analyze "+statement+";\n                                                     QUERY PLAN\n---------------------------------------------------------------------------------------------------------------------\n Seq Scan on shipment s  (cost=0.00..412009.30 rows=48211 width=12) (actual time=3120.118..6941.520 rows=1 loops=1)\n   Filter: (lower((tracking_no)::text) = 't40007'::text)\n   Rows Removed by Filter: 9642201\n Planning Time: 0.188 ms\n Execution Time: 6941.611 ms\n(5 rows)\n\n", 40007)
	d := jstack(f, "tracking-api/threads.txt", 17, after(16000))
	for i := 1; i <= 40; i++ {
		own := frames("com.parcel.tracking.ShipmentRepository.byTrackingNo(ShipmentRepository.java:29)", "com.parcel.tracking.TrackingController.track(TrackingController.java:44)")
		if i <= 10 {
			d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), runnable, pgRead(17), own, tomcat(17))
		} else {
			d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), timed, hikariBorrow(17), own, tomcat(17))
		}
	}
	d.end()
}

// slowGo: a Go service without any framework, with a SIGQUIT dump.
func slowGo(f files) {
	for i := range 60 {
		slogText(f, "coupon/stderr.log", after(i*500-20000), "ERROR", "msg=\"list coupons\" err=\"context deadline exceeded\" elapsed=3.001s campaign=%d", 20+i%7)
	}
	goPanicHead(f, "coupon/sigquit.txt")
	goIdle(f, "coupon/sigquit.txt", 20)
	own := []string{"acme.example/coupon/store.(*Store).ByCampaign(0xc0001b0000, {0x1a51a58, 0xc0002b0ff0}, 0x14)", "/src/store/coupons.go:57", "acme.example/coupon/api.(*Server).listCoupons(0xc0001c0000, {0x1a4f880, 0xc0003ba000}, 0xc0003a2000)", "/src/api/list.go:31"}
	for i := range 5 {
		goroutine(f, "coupon/sigquit.txt", 100+i, "IO wait", slices.Concat(goMySQLRead(), own, goServe())...)
	}
	for i := range 60 {
		goroutine(f, "coupon/sigquit.txt", 200+i, "select", slices.Concat(goConn(), own, goServe())...)
	}
	slow := mysqlSlow(f, "mysql/slow.log")
	for i := range 40 {
		slow.add(after(i*600-20000), 3.4+float64(spread(i, 12))/10, 0.000003, 12, 1804332, fmt.Sprintf("SELECT id, code, amount FROM coupon WHERE campaign = %d AND state = 'open'", 20+i%7))
	}
}

// slowHikari: Dubbo 2.7, a Hikari pool of ten, MySQL.
func slowHikari(f files) {
	l := boot2(f, "order-provider/app.log", 4711)
	p := node{"2.7.23", "10.20.5.4", 20881}
	for i := range 60 {
		l(after(i*300), "WARN", fmt.Sprintf("DubboServerHandler-10.20.5.4:20881-thread-%d", i%40+1), "o.h.engine.jdbc.spi.SqlExceptionHelper", "SQL Error: 0, SQLState: null")
		l(after(i*300), "ERROR", fmt.Sprintf("DubboServerHandler-10.20.5.4:20881-thread-%d", i%40+1), "o.h.engine.jdbc.spi.SqlExceptionHelper", "OrdersPool - Connection is not available, request timed out after 3000ms.")
	}
	d := jstack(f, "order-provider/td-1.txt", 11, after(9000))
	for i := 1; i <= 40; i++ {
		own := slices.Concat(frames("com.acme.order.OrderServiceImpl.history(OrderServiceImpl.java:120)"), dubboServer(11, p))
		if i <= 30 {
			d.thread(fmt.Sprintf("DubboServerHandler-10.20.5.4:20881-thread-%d", i), timed, hikariBorrow(11), own)
		} else {
			d.thread(fmt.Sprintf("DubboServerHandler-10.20.5.4:20881-thread-%d", i), runnable, mysqlRead(11), mybatis("selectHistory"), own)
		}
	}
	d.end()
	slow := mysqlSlow(f, "mysql-a/slow.log")
	for i := range 50 {
		slow.add(after(i*350-3000), 2.8+float64(spread(i, 9))/10, 0.000004, 20, 988210, fmt.Sprintf("select * from order_history where member_id=%d and created_at>'2025-01-01'", 5000+i))
	}
	list := [][]string{}
	for i := range 10 {
		list = append(list, session(300+i, "10.20.5.4", "Query", 2+i%2, "executing", fmt.Sprintf("select * from order_history where member_id=%d and created_at>'2025-01-01'", 5040+i)))
	}
	list = append(list, session(400, "10.20.5.4", "Sleep", 31, "", "NULL"))
	batch(f, "mysql-a/processlist.tsv", processlist, list)
}

// slowPaste: what an engineer pasted into one file.
func slowPaste(f files) {
	const file = "paste.txt"
	p := node{"3.0.15", "10.20.8.2", 20880}
	f.printf(file, "stock is burning again, this is what I have:\n\n")
	l := boot2(f, file, 31)
	for i := range 6 {
		p.logExhausted(l, after(i*700), full(300, 55120+i))
	}
	f.printf(file, "\n$ telnet 10.20.8.2 20880\nTrying 10.20.8.2...\nConnected to 10.20.8.2.\nEscape character is '^]'.\n\ndubbo>invoke com.acme.inv.api.LedgerService.balance(\"SKU-9\")\nUse default service com.acme.inv.api.LedgerService.\nresult: 41\nelapsed: 5208 ms.\ndubbo>invoke com.acme.inv.api.LedgerService.ping()\nUse default service com.acme.inv.api.LedgerService.\nresult: \"pong\"\nelapsed: 1 ms.\ndubbo>\n\nmysql> show full processlist;\n")
	rows := [][]string{}
	for i := range 12 {
		rows = append(rows, session(50+i, "10.20.8.2", "Query", 3+i%4, "executing", fmt.Sprintf("SELECT SUM(delta) FROM inv_ledger WHERE sku='SKU-%d'", i)))
	}
	rows = append(rows, session(90, "10.20.8.2", "Sleep", 12, "", "NULL"), []string{"91", "root", "localhost", "NULL", "Query", "0", "init", "show full processlist"})
	table(f, file, processlist, rows)
	explain(f, file, "SELECT SUM(delta) FROM inv_ledger WHERE sku='SKU-9'", "inv_ledger", "ALL", "NULL", 6120044, "Using where")
	c := call{node{"3.0.15", "10.20.8.40", 0}, "cart", "com.acme.inv.api.LedgerService", "balance", 2000, "10.20.9.1:2181"}
	f.printf(file, "and the cart says:\n%s\n", c.tried(3, []node{p}, 1, c.timedOut(p, after(4000), 77)))
}
