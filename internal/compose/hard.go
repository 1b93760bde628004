package main

import (
	"fmt"
	"slices"
	"strings"
)

// hard are incidents whose evidence is thin, contradicts itself or looks like
// something else.
var hard = []composed{
	{"skew-all-attempts-on-one-of-six", sticky, want{
		Why:   "Six candidates are left after routing, yet all three attempts of every call go to one of them, which is full.",
		Label: "traffic-skew", Not: []string{"slow-sql", "healthy", "no-provider"},
	}},
	{"no-provider-connections-refused", refusedAll, want{
		Why:   "The registry still has addresses, but nobody listens there: no invoker passes the connectivity filter.",
		Label: "no-provider", Not: []string{"pool-starvation", "healthy", "slow-sql"},
	}},
	{"healthy-deduplicated-requests", deduplicated, want{
		Why:   "Doubled clicks are recognised by their key and ignored, as they should be.",
		Label: "healthy", Or: []string{"inconclusive"}, Not: []string{"duplicate-writes", "retry-amplification"},
	}},
	{"cpu-throttled-container", throttled, want{
		Why:   "The container's quota is used up in nearly every period, and the workers run in application code.",
		Label: "cpu-saturation", Or: []string{"inconclusive"}, Not: []string{"slow-sql", "lock-contention", "healthy", "downstream-wait"},
	}},
	{"slow-sql-oracle-idle-processors", oracle, want{
		Why:   "Jetty's workers wait for Oracle while the processors idle; the statement is not known.",
		Label: "slow-sql", Or: []string{"inconclusive"}, MaxCertainty: "medium", Not: []string{"cpu-saturation", "healthy", "downstream-wait", "lock-contention"},
	}},
	{"downstream-name-resolution", dns, want{
		Why:   "Every worker resolves a name; the resolver does not answer.",
		Label: "downstream-wait", Not: []string{"slow-sql", "cpu-saturation", "healthy", "lock-contention"},
	}},
	{"downstream-hystrix-breaker", hystrix, want{
		Why:   "Calls of one service time out until the breaker opens: the service is the cause, the breaker protects.",
		Label: "downstream-wait", Or: []string{"inconclusive"}, Not: []string{"pool-starvation", "slow-sql", "healthy"},
	}},
	{"retry-kibana-csv", kibana, want{
		Why:   "An export from Kibana as CSV: a full pool, and calls that used up three attempts.",
		Label: "retry-amplification", Or: []string{"pool-starvation"}, Not: []string{"slow-sql", "healthy", "inconclusive"},
	}},
	{"gc-overhead-limit", overhead, want{
		Why:   "Parallel GC of JDK 8 collects the full heap without freeing it, until the overhead limit is exceeded.",
		Label: "gc-pause", Not: []string{"slow-sql", "healthy", "downstream-wait"},
	}},
	{"duplicate-writes-without-unique-key", noUniqueKey, want{
		Why:   "The coupon is granted three times for one request number: each attempt inserted a row, and no key forbade it.",
		Label: "duplicate-writes", Not: []string{"slow-sql", "healthy"},
	}},
	{"healthy-pool-statistics", statistics, want{
		Why:   "Hikari's debug lines show a pool with room at all times.",
		Label: "healthy", Or: []string{"inconclusive"}, Not: []string{"pool-starvation"},
	}},
	{"lock-quoted-in-a-ticket", quoted, want{
		Why:   "A ticket quotes a part of a dump: eight threads wait for a monitor whose owner is in it too.",
		Label: "lock-contention", Or: []string{"inconclusive"}, MaxCertainty: "medium", Not: []string{"slow-sql", "deadlock", "healthy"},
	}},
	{"pool-full-in-log-idle-in-dump", contradiction, want{
		Why:   "The log says 100 of 100 while the dump of the same seconds shows an idle pool: the evidence contradicts itself.",
		Label: "pool-starvation", Or: []string{"inconclusive"}, MaxCertainty: "medium", Not: []string{"healthy", "slow-sql"},
	}},
	{"retry-dubbo-go-3.3", goNew, want{
		Why:   "dubbo-go 3.3.2 logs failovers in its new form: each call used up its two retries.",
		Label: "retry-amplification", Or: []string{"downstream-wait"}, Not: []string{"healthy", "slow-sql", "no-provider"},
	}},
	{"pool-pgbouncer-too-small", bouncer, want{
		Why:   "PgBouncer has four server connections, eighty clients wait; PostgreSQL answers in 2 ms.",
		Label: "pool-starvation", Not: []string{"slow-sql", "healthy"},
	}},
	{"healthy-get-lock-of-a-scheduler", getLock, want{
		Why:   "A scheduler's GET_LOCK waits in the database by design: a minute, no row examined. All else is quick.",
		Label: "healthy", Or: []string{"inconclusive"}, Not: []string{"slow-sql", "pool-starvation"},
	}},
}

func sticky(f files) {
	p := node{"2.7.22", "10.20.110.3", 20880}
	c := call{node{"2.7.22", "10.20.110.40", 0}, "feed", "com.acme.feed.FeedService", "page", 500, "10.20.9.5:2181"}
	l := log4j(f, "feed-web/feed.log")
	for i := range 50 {
		l(after(i*300), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i), "com.acme.feed.FeedController", "no page\n%s", c.tried(3, []node{p}, 6, c.refused(p, full(100, 7000+i))))
	}
	pl := log4j(f, "feed-3/feed.log")
	for i := range 150 {
		p.logExhausted(pl, after(i*100), full(100, 7000+i/3))
	}
	for n := 1; n < 6; n++ {
		q := log4j(f, fmt.Sprintf("feed-%d/feed.log", n+n/3))
		for i := range 10 {
			q(after(i*1400), "INFO", fmt.Sprintf("DubboServerHandler-10.20.110.%d:20880-thread-%d", n+n/3, i), "com.acme.feed.FeedServiceImpl", "page served in %d ms", 4+i)
		}
	}
}

func refusedAll(f files) {
	c := node{"3.2.11", "10.20.111.30", 0}
	l := boot2(f, "web/web.log", 4)
	dir := "RegistryDirectory(registry: 10.20.9.5:2181)-Directory(invokers: 2[10.20.111.1:20880, 10.20.111.2:20880], validInvokers: 0[], invokersToReconnect: 2[10.20.111.1:20880, 10.20.111.2:20880])"
	for i := range 30 {
		l(after(i*700), "WARN", fmt.Sprintf("http-nio-8080-exec-%d", i), "o.a.d.r.c.d.AbstractDirectory", "%s", c.said("2-2", "", "No provider available after connectivity filter for the service com.acme.map.MapService All routed invokers' size: 0 from registry "+dir+" on the consumer 10.20.111.30 using the dubbo version 3.2.11."))
		l(after(i*700+2), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i), "c.a.web.MapController", "no map\norg.apache.dubbo.rpc.RpcException: Failed to invoke the method tile in the service com.acme.map.MapService. No provider available for the service com.acme.map.MapService from registry %s on the consumer 10.20.111.30 using the dubbo version 3.2.11. Please check if the providers have been started and registered.\n\tat org.apache.dubbo.rpc.cluster.support.AbstractClusterInvoker.checkInvokers(AbstractClusterInvoker.java:419)", dir)
		l(after(i*700+300), "ERROR", "DubboClientReconnectTimer-thread-1", "o.a.d.r.transport.netty4.NettyClient", "%s", c.said("6-2", "network disconnected", "Failed to connect to provider server by other reason., client(url: dubbo://10.20.111.1:20880) failed to connect to server /10.20.111.1:20880, error message is:Connection refused: /10.20.111.1:20880"))
	}
}

func deduplicated(f files) {
	l := boot2(f, "order/order.log", 4)
	for i := range 120 {
		l(after(i*700), "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%20), "c.a.order.OrderController", "createOrder orderNo=A-%d done in %d ms", 2000+i, 20+spread(i, 30))
		if i%15 == 4 {
			l(after(i*700+240), "INFO", fmt.Sprintf("http-nio-8080-exec-%d", (i+1)%20), "c.a.order.IdempotencyFilter", "duplicate request ignored, key=A-%d already processed", 2000+i)
		}
	}
}

func throttled(f files) {
	for n := range 2 {
		at := after(n * 10000)
		f.printf("pricing/cpu.stat", "# %s\nusage_usec %d\nuser_usec %d\nsystem_usec 2210%d\nnr_periods %d\nnr_throttled %d\nthrottled_usec %d\n", at.Format("2006-01-02T15:04:05Z"), 91200000+n*10000000, 90100000+n*9800000, n, 8000+n*100, 7100+n*97, 411000000+n*34000000)
		d := jstack(f, fmt.Sprintf("pricing/jstack-%d.txt", n), 17, at)
		for i := 1; i <= 40; i++ {
			d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), runnable, frames("java.math.BigDecimal.multiply(BigDecimal.java:1491)", fmt.Sprintf("com.acme.pricing.Rules.apply(Rules.java:%d)", 40+i%6), "com.acme.pricing.PriceController.price(PriceController.java:33)"), tomcat(17))
		}
		d.end()
	}
}

func oracle(f files) {
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("claims/td%d.txt", n), 8, after(n*8000))
		for i := range 40 {
			d.thread(fmt.Sprintf("qtp1164175787-%d", 30+i), runnable, socketRead(8), frames("oracle.net.ns.Packet.receive(Packet.java:317)", "oracle.net.ns.NetInputStream.getNextPacket(NetInputStream.java:322)", "oracle.jdbc.driver.T4CMAREngine.unmarshalUB1(T4CMAREngine.java:1085)", "oracle.jdbc.driver.T4CTTIfun.receive(T4CTTIfun.java:355)", "oracle.jdbc.driver.T4CPreparedStatement.doOall8(T4CPreparedStatement.java:208)", "oracle.jdbc.driver.OraclePreparedStatement.executeQuery(OraclePreparedStatement.java:3714)", "com.acme.claims.ClaimDao.open(ClaimDao.java:87)", "com.acme.claims.ClaimServlet.doGet(ClaimServlet.java:40)", "org.eclipse.jetty.servlet.ServletHandler.doHandle(ServletHandler.java:595)", "org.eclipse.jetty.util.thread.QueuedThreadPool.runJob(QueuedThreadPool.java:671)", "java.lang.Thread.run(Thread.java:750)"))
		}
		d.end()
	}
	f.printf("claims/vmstat.txt", "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n")
	for i := range 12 {
		f.printf("claims/vmstat.txt", " 1  0      0 912340  90112 712004    0    0     0     %d  910 1810  6  2 92  0  0\n", i)
	}
}

func dns(f files) {
	l := boot2(f, "hook/hook.log", 2)
	for i := range 20 {
		l(after(i*900), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i), "c.a.hook.HookController", "not sent\njava.net.UnknownHostException: hooks.partner.example: Temporary failure in name resolution\n\tat java.base/java.net.Inet6AddressImpl.lookupAllHostAddr(Native Method)\n\tat com.acme.hook.Sender.send(Sender.java:50)")
	}
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("hook/jstack-%d.txt", n), 17, after(6000+n*5000))
		for i := 1; i <= 50; i++ {
			d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), runnable, frames("java.net.Inet6AddressImpl.lookupAllHostAddr(Native Method)", "java.net.InetAddress$PlatformNameService.lookupAllHostAddr(InetAddress.java:933)", "java.net.InetAddress.getAddressesFromNameService(InetAddress.java:1534)", "java.net.InetAddress.getAllByName(InetAddress.java:1306)", "org.apache.http.impl.conn.SystemDefaultDnsResolver.resolve(SystemDefaultDnsResolver.java:45)", "org.apache.http.impl.client.CloseableHttpClient.execute(CloseableHttpClient.java:83)", "com.acme.hook.Sender.send(Sender.java:50)", "com.acme.hook.HookController.post(HookController.java:21)"), tomcat(17))
		}
		d.end()
	}
}

func hystrix(f files) {
	l := boot2(f, "shop/shop.log", 6)
	for i := range 80 {
		text := "com.netflix.hystrix.exception.HystrixRuntimeException: InventoryClient#stock(Long) timed-out and no fallback available.\n\tat com.netflix.hystrix.AbstractCommand$22.call(AbstractCommand.java:822)\nCaused by: java.util.concurrent.TimeoutException: null\n\t... 30 more"
		if i > 30 && i%5 != 0 {
			text = "com.netflix.hystrix.exception.HystrixRuntimeException: InventoryClient#stock(Long) short-circuited and no fallback available.\n\tat com.netflix.hystrix.AbstractCommand$22.call(AbstractCommand.java:822)\nCaused by: java.lang.RuntimeException: Hystrix circuit short-circuited and is OPEN\n\t... 30 more"
		}
		l(after(i*350), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i%40), "c.a.shop.StockController", "no stock\n%s", text)
	}
}

func kibana(f files) {
	p := node{"3.2.10", "10.20.112.1", 20880}
	c := call{node{"3.2.10", "10.20.112.9", 0}, "app", "com.acme.auth.AuthService", "check", 600, "nacos-1:8848"}
	quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	f.printf("export/dubbo-20260314.csv", "\"@timestamp\",\"kubernetes.pod.name\",level,message\n")
	for i := range 60 {
		at := after(i * 400).Format("Jan 2, 2006 @ 15:04:05.000")
		f.printf("export/dubbo-20260314.csv", "%s,%s,WARN,%s\n", quote(at), quote("auth-7c9f5d6b8-x2l"), quote(p.said("0-1", "too much client requesting provider", p.exhausted(full(200, 8100+i)))))
		f.printf("export/dubbo-20260314.csv", "%s,%s,ERROR,%s\n", quote(at), quote("app-5d4c8b7f9-qq1"), quote(firstLine(c.tried(3, []node{p}, 1, c.refused(p, full(200, 8100+i))))))
	}
}

func overhead(f files) {
	for i := range 30 {
		at := after(i * 4000)
		f.printf("batch/gc.log", "%s: %d.221: [Full GC (Ergonomics) [PSYoungGen: 699392K->699101K(699392K)] [ParOldGen: 2097151K->2097151K(2097152K)] 2796543K->2796252K(2796544K), [Metaspace: 61220K->61220K(1107968K)], 3.%d01180 secs] [Times: user=12.42 sys=0.02, real=3.%d0 secs]\n", at.Format("2006-01-02T15:04:05.000+0000"), 3000+i*4, 4+i%5, 4+i%5)
	}
	l := log4j(f, "batch/batch.log")
	for i := range 6 {
		l(after(100000+i*3000), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i), "com.acme.batch.Upload", "upload failed\njava.lang.OutOfMemoryError: GC overhead limit exceeded\n\tat com.acme.batch.Rows.add(Rows.java:30)")
	}
}

func noUniqueKey(f files) {
	providers := []node{{"2.6.4", "10.20.113.1", 20880}, {"2.6.4", "10.20.113.2", 20880}, {"2.6.4", "10.20.113.3", 20880}}
	c := call{node{"2.6.4", "10.20.113.30", 0}, "campaign", "com.acme.coupon.CouponService", "grantCoupon", 1000, "10.20.9.5:2181"}
	l := log4j(f, "campaign/campaign.log")
	for i := range 30 {
		end := after(i*1200 + 3010)
		l(end, "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i), "com.acme.campaign.GrantJob", "grant G-%d failed\n%s", 500+i, c.tried(3, providers, 3, c.timedOut(providers[2], end, 1+4*i)))
		for k, p := range providers {
			pl := log4j(f, fmt.Sprintf("coupon-%d/coupon.log", k+1))
			pl(after(i*1200+k*1003+1900), "INFO", fmt.Sprintf("DubboServerHandler-%s-thread-%d", p.addr(), i), "com.acme.coupon.CouponServiceImpl", "grantCoupon requestNo=G-%d inserted id=%d", 500+i, 91000+i*3+k)
		}
	}
}

func statistics(f files) {
	l := boot2(f, "sso/sso.log", 6)
	for i := range 100 {
		l(after(i*30000), "DEBUG", "HikariPool-1 housekeeper", "com.zaxxer.hikari.pool.HikariPool", "HikariPool-1 - Pool stats (total=10, active=%d, idle=%d, waiting=0)", i%4, 10-i%4)
		l(after(i*30000+900), "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%9), "c.a.sso.AccessLog", "200 POST /token %d ms", 6+i%9)
	}
}

func quoted(f files) {
	const file = "ticket-4711.md"
	d := jstack(f, file, 17, noon)
	for i := 1; i <= 9; i++ {
		own := slices.Concat(frames("com.acme.doc.DocController.render(DocController.java:27)"), tomcat(17))
		if i == 4 {
			d.thread("http-nio-8080-exec-4", runnable, frames("com.acme.doc.Fonts.parse(Fonts.java:210)", "com.acme.doc.Fonts.load(Fonts.java:66)", "- locked <0x00000000f2201230> (a com.acme.doc.Fonts)"), own)
			continue
		}
		d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), blocked, frames("com.acme.doc.Fonts.load(Fonts.java:61)", "- waiting to lock <0x00000000f2201230> (a com.acme.doc.Fonts)"), own)
	}
	prefixed(f, file, "> ")
	text := f.at(file).String()
	f.at(file).Reset()
	f.printf(file, "Rendering hangs since this morning, jstack says (cut by me):\n\n%s\nAny idea?\n", text)
}

func contradiction(f files) {
	p := node{"2.7.11", "10.20.114.1", 20880}
	l := boot2(f, "tag/tag.log", 2)
	for i := range 60 {
		p.logExhausted(l, after(i*300), full(60, 4000+i*20))
	}
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("tag/jstack-%d.txt", n), 11, after(5000+n*5000))
		for i := 1; i <= 60; i++ {
			d.thread(fmt.Sprintf("DubboServerHandler-10.20.114.1:20880-thread-%d", i), parked, idle(11))
		}
		d.end()
	}
}

func goNew(f files) {
	l := zap(f, "gw/gw.log")
	for i := range 60 {
		l(after(i*450), "ERROR", "", "failover/cluster_invoker.go:118", "[Cluster][Failover] invoke failed after retries, method=GetStock service=com.acme.stock.StockProvider retries=2 providers=3/3 registry=nacos://10.20.9.7:8848 consumer=10.20.115.9 version=3.3.2 lastErr=deadline_exceeded: context deadline exceeded")
	}
}

func bouncer(f files) {
	for i := range 60 {
		at := after(i * 400).Format(dotMillis)
		f.printf("pgbouncer/pgbouncer.log", "%[1]s UTC [77] WARNING C-0x55d0c8a0%02[2]x: shop/app@10.20.116.%[3]d:%[4]d pooler error: query_wait_timeout\n%[1]s UTC [77] LOG C-0x55d0c8a0%02[2]x: shop/app@10.20.116.%[3]d:%[4]d closing because: query_wait_timeout (age=120s)\n", at, i, 1+i%3, 40000+i)
	}
	f.printf("pgbouncer/pools.txt", "pgbouncer=# show pools;\n database | user | cl_active | cl_waiting | cl_cancel_req | sv_active | sv_idle | sv_used | sv_tested | sv_login | maxwait | maxwait_us |  pool_mode  \n----------+------+-----------+------------+---------------+-----------+---------+---------+-----------+----------+---------+------------+-------------\n shop     | app  |         4 |         80 |             0 |         4 |       0 |       0 |         0 |        0 |     118 |     401220 | session\n(1 row)\n\n")
	for i := range 200 {
		f.printf("pg/postgresql.log", "%s UTC [%d] app@shop LOG:  duration: %d.%03d ms  execute <unnamed>: select id,name from item where id=$1\n", after(i*120).Format(dotMillis), 500+i%4, 1+i%2, spread(i, 1000))
	}
}

func getLock(f files) {
	slow := mysqlSlow(f, "mysql/slow.log")
	for i := range 20 {
		slow.add(after(i*61000), 60.0002, 0.0, 1, 0, "SELECT GET_LOCK('nightly-job', 60)")
	}
	l := boot2(f, "jobs/jobs.log", 2)
	for i := range 150 {
		l(after(i*8000), "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%9), "c.a.jobs.AccessLog", "200 GET /jobs %d ms", 5+i%7)
	}
}
