package main

import (
	"fmt"
	"slices"
)

var downstream = []composed{
	{"downstream-http-hang", httpHang, want{
		Why:   "Tomcat's workers wait for a partner's HTTP service that does not answer.",
		Label: "downstream-wait", Incidents: 1, Not: []string{"slow-sql", "cpu-saturation", "lock-contention"},
	}},
	{"downstream-rpc-one-hop", rpcHop, want{
		Why:   "The provider's workers wait for its own calls to another Dubbo service, which time out.",
		Label: "downstream-wait", Not: []string{"slow-sql", "cpu-saturation", "lock-contention", "healthy"},
	}},
	{"downstream-redis", redisHang, want{
		Why:   "Most workers read the answer of Redis, which KEYS blocks.",
		Label: "downstream-wait", Incidents: 1, Not: []string{"slow-sql", "cpu-saturation"},
	}},
	{"downstream-connection-held-across-http", heldAcross, want{
		Why:   "The connection pool is empty because its holders call HTTP inside their transaction; SQL is quick.",
		Label: "downstream-wait", Not: []string{"slow-sql", "lock-contention"},
		Pools: []pool{{Name: "PayPool", Active: ptr(8)}},
	}},
	{"downstream-go-grpc", goGRPC, want{
		Why:   "A Go gateway waits for the answers of one gRPC method.",
		Label: "downstream-wait", Incidents: 1, Not: []string{"slow-sql", "lock-contention", "healthy"},
	}},
	{"downstream-jetty-okhttp", jettyOkHTTP, want{
		Why:   "Jetty's workers wait in OkHttp for a foreign service; the log has only read timeouts.",
		Label: "downstream-wait", Incidents: 1, Not: []string{"slow-sql", "cpu-saturation"},
	}},
	{"gc-full-collections", gcFull, want{
		Why:   "Full collections of four seconds follow one another; callers time out and workers pile up behind the pauses.",
		Label: "gc-pause", Not: []string{"slow-sql", "downstream-wait", "healthy"},
	}},
	{"gc-jdk8-cms-failures", gcJDK8, want{
		Why:   "CMS fails and collects for eleven seconds again and again; Hikari sees the clock leap.",
		Label: "gc-pause", Not: []string{"slow-sql", "pool-starvation", "healthy"},
	}},
	{"cpu-regex-backtracking", cpuRegex, want{
		Why:   "Forty-eight workers really run in one regular expression: their processor time grows from dump to dump, and top shows no idle processor.",
		Label: "cpu-saturation", Incidents: 1, Not: []string{"lock-contention", "slow-sql", "healthy"},
	}},
	{"cpu-go-json", cpuGo, want{
		Why:   "Goroutines run or want to run in one encoder, and vmstat shows no idle processor.",
		Label: "cpu-saturation", Or: []string{"inconclusive"}, Not: []string{"lock-contention", "slow-sql", "healthy"},
	}},
}

func httpHang(f files) {
	l := boot2(f, "checkout/checkout.log", 19)
	for i := range 40 {
		l(after(i*900), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i+1), "c.a.checkout.CheckoutController", "payment failed\njava.net.SocketTimeoutException: Read timed out\n\tat java.base/java.net.SocketInputStream.socketRead0(Native Method)\n\tat org.apache.http.impl.client.CloseableHttpClient.execute(CloseableHttpClient.java:83)\n\tat com.acme.checkout.PayPartner.charge(PayPartner.java:52)\n\tat com.acme.checkout.CheckoutController.pay(CheckoutController.java:30)")
	}
	for n := range 3 {
		d := jstack(f, fmt.Sprintf("checkout/jstack.%d", n+1), 11, after(5000+n*5000))
		for i := 1; i <= 40; i++ {
			if i > 37 {
				d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), parked, tomcatIdle(11))
				continue
			}
			d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), runnable, httpRead(11), frames("com.acme.checkout.PayPartner.charge(PayPartner.java:52)", "com.acme.checkout.CheckoutController.pay(CheckoutController.java:30)"), tomcat(11))
		}
		d.end()
	}
}

func rpcHop(f files) {
	p := node{"2.6.7", "10.20.60.1", 20880}
	next := node{"2.6.7", "10.20.61.1", 20880}
	c := call{node{"2.6.7", "10.20.60.1", 0}, "order", "com.acme.coupon.CouponService", "valid", 3000, "10.20.9.5:2181"}
	l := log4j(f, "order-provider/order.log")
	for i := range 30 {
		l(after(i*800), "ERROR", fmt.Sprintf("DubboServerHandler-10.20.60.1:20880-thread-%d", i+1), "com.acme.order.PlaceImpl", "coupon unknown\n%s", c.tried(1, []node{next}, 1, c.timedOut(next, after(i*800), 900+i)))
		if i > 10 {
			p.logExhausted(l, after(i*800+100), full(40, 54000+i*4))
		}
	}
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("order-provider/jstack_%d.log", n), 8, after(16000+n*4000))
		for i := 1; i <= 40; i++ {
			d.thread(fmt.Sprintf("DubboServerHandler-10.20.60.1:20880-thread-%d", i), timed, park(8, true, fmt.Sprintf("<0x00000006d0%06x> (a java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject)", i*32)), frames("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await(AbstractQueuedSynchronizer.java:2163)", "com.alibaba.dubbo.remoting.exchange.support.DefaultFuture.get(DefaultFuture.java:136)", "com.alibaba.dubbo.rpc.protocol.dubbo.DubboInvoker.doInvoke(DubboInvoker.java:95)", "com.alibaba.dubbo.rpc.cluster.support.FailoverClusterInvoker.doInvoke(FailoverClusterInvoker.java:78)", "com.alibaba.dubbo.common.bytecode.proxy3.valid(proxy3.java)", "com.acme.order.PlaceImpl.place(PlaceImpl.java:64)"), dubboServer(8, p))
		}
		d.end()
	}
}

func redisHang(f files) {
	l := dateless(f, "feed/feed-2026-03-14.log")
	for i := range 30 {
		l(after(i*700), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i+1), "com.acme.feed.FeedController", "feed failed\nredis.clients.jedis.exceptions.JedisConnectionException: java.net.SocketTimeoutException: Read timed out\n\tat redis.clients.jedis.util.RedisInputStream.ensureFill(RedisInputStream.java:205)\n\tat com.acme.feed.TimelineStore.page(TimelineStore.java:33)")
	}
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("feed/td.%d", n), 8, after(9000+n*5000))
		for i := 1; i <= 64; i++ {
			if i > 58 {
				d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), parked, tomcatIdle(8))
				continue
			}
			d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), runnable, socketRead(8), frames("redis.clients.jedis.util.RedisInputStream.ensureFill(RedisInputStream.java:199)", "redis.clients.jedis.util.RedisInputStream.readByte(RedisInputStream.java:43)", "redis.clients.jedis.Protocol.process(Protocol.java:155)", "redis.clients.jedis.Connection.readProtocolWithCheckingBroken(Connection.java:310)", "redis.clients.jedis.Jedis.zrevrange(Jedis.java:1834)", "com.acme.feed.TimelineStore.page(TimelineStore.java:33)", "com.acme.feed.FeedController.feed(FeedController.java:21)"), tomcat(8))
		}
		d.end()
	}
}

func heldAcross(f files) {
	l := boot2(f, "pay/pay.log", 24)
	for i := range 60 {
		l(after(i*400), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i+1), "c.a.pay.ErrorAdvice", "pay failed\njava.sql.SQLTransientConnectionException: PayPool - Connection is not available, request timed out after 5000ms (total=8, active=8, idle=0, waiting=%d)\n\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:686)", 30+spread(i, 9))
	}
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("pay/jstack%d.txt", n), 17, after(9000+n*4000))
		for i := 1; i <= 50; i++ {
			tx := frames("com.acme.pay.PayService.pay(PayService.java:61)", "org.springframework.transaction.interceptor.TransactionAspectSupport.invokeWithinTransaction(TransactionAspectSupport.java:388)", "org.springframework.transaction.interceptor.TransactionInterceptor.invoke(TransactionInterceptor.java:119)", "com.acme.pay.PayController.pay(PayController.java:28)")
			if i <= 8 {
				d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), runnable, httpRead(17), frames("com.acme.pay.BankGateway.authorize(BankGateway.java:77)"), tx, tomcat(17))
			} else {
				d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), timed, hikariBorrow(17), frames("org.springframework.jdbc.datasource.DataSourceTransactionManager.doBegin(DataSourceTransactionManager.java:265)"), tx[1:], tomcat(17))
			}
		}
		d.end()
	}
	slow := mysqlSlow(f, "mysql/slow-all.log")
	for i := range 80 {
		slow.add(after(i*300), 0.002+float64(spread(i, 30))/10000, 0.000001, 1, 1, fmt.Sprintf("SELECT state FROM payment WHERE id=%d FOR UPDATE", i))
	}
	rows := [][]string{}
	for i := range 8 {
		rows = append(rows, session(40+i, "10.20.62.1", "Sleep", 6+i%5, "", "NULL"))
	}
	batch(f, "mysql/processlist.tsv", processlist, rows)
}

func goGRPC(f files) {
	l := zapJSON(f, "edge/edge.json")
	for i := range 60 {
		l(after(i*400), "error", "edge/quote.go:91", "quote failed", map[string]any{"error": "rpc error: code = DeadlineExceeded desc = context deadline exceeded", "method": "/acme.quote.v1.Quotes/Get", "elapsed": 5.0 + float64(i%7)/1000})
	}
	const file = "edge/goroutines-debug2.txt"
	goIdle(f, file, 30)
	own := []string{"acme.example/gen/quotev1.(*quotesClient).Get(0xc00012a0b0, {0x1a51a58, 0xc0002b0ff0}, 0xc0003a8000, {0x0, 0x0, 0x0})", "/src/gen/quotev1/quote_grpc.pb.go:41", "acme.example/edge.(*Server).quote(0xc0001c0000, {0x1a4f880, 0xc0003ba000}, 0xc0003a2000)", "/src/edge/quote.go:88"}
	for i := range 90 {
		goroutine(f, file, 100+i, "select", slices.Concat([]string{"google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader(0xc000412000)", "/go/pkg/mod/google.golang.org/grpc@v1.64.0/internal/transport/transport.go:331", "google.golang.org/grpc.(*csAttempt).recvMsg(0xc000390000, {0x1652a40, 0xc0003a9000}, 0x0?)", "/go/pkg/mod/google.golang.org/grpc@v1.64.0/stream.go:1066", "google.golang.org/grpc.(*clientStream).RecvMsg(0xc000392000, {0x1652a40?, 0xc0003a9000?})", "/go/pkg/mod/google.golang.org/grpc@v1.64.0/stream.go:921", "google.golang.org/grpc.invoke({0x1a51a58?, 0xc0002b0ff0?}, {0x17a1f0e?, 0x0?}, {0x1652980, 0xc0003a8000}, {0x1652a40, 0xc0003a9000}, 0xc000200008, {0x0, 0x0, 0x0})", "/go/pkg/mod/google.golang.org/grpc@v1.64.0/call.go:73", "google.golang.org/grpc.(*ClientConn).Invoke(0xc000200008, {0x1a51a58?, 0xc0002b0ff0?}, {0x17a1f0e?, 0x0?}, {0x1652980?, 0xc0003a8000?}, {0x1652a40?, 0xc0003a9000?}, {0x0, 0x0, 0x0})", "/go/pkg/mod/google.golang.org/grpc@v1.64.0/call.go:37"}, own, goServe())...)
	}
}

func jettyOkHTTP(f files) {
	l := log4j(f, "geo/jetty.log")
	for i := range 25 {
		l(after(i*1100), "WARN", fmt.Sprintf("qtp503195940-%d", 20+i), "com.acme.geo.RouteServlet", "route failed: java.net.SocketTimeoutException: timeout")
	}
	d := jstack(f, "geo/jetty-threads.txt", 11, after(12000))
	for i := range 50 {
		name := fmt.Sprintf("qtp503195940-%d", 20+i)
		if i > 46 {
			d.thread(name, timed, park(11, true, "<0x00000000e0c00110> (a java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject)"), frames("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.awaitNanos(AbstractQueuedSynchronizer.java:2123)", "org.eclipse.jetty.util.BlockingArrayQueue.poll(BlockingArrayQueue.java:382)", "org.eclipse.jetty.util.thread.QueuedThreadPool.idleJobPoll(QueuedThreadPool.java:974)", "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.run(QueuedThreadPool.java:1018)", "java.lang.Thread.run(Thread.java:829)"))
			continue
		}
		d.thread(name, runnable, socketRead(11), frames("okio.Okio$2.read(Okio.java:140)", "okio.AsyncTimeout$2.read(AsyncTimeout.java:237)", "okio.RealBufferedSource.indexOf(RealBufferedSource.java:358)", "okhttp3.internal.http1.Http1Codec.readResponseHeaders(Http1Codec.java:189)", "okhttp3.RealCall.getResponseWithInterceptorChain(RealCall.java:254)", "okhttp3.RealCall.execute(RealCall.java:92)", "com.acme.geo.MapsClient.route(MapsClient.java:36)", "com.acme.geo.RouteServlet.doGet(RouteServlet.java:48)", "javax.servlet.http.HttpServlet.service(HttpServlet.java:687)", "org.eclipse.jetty.servlet.ServletHandler.doHandle(ServletHandler.java:554)", "org.eclipse.jetty.server.Server.handle(Server.java:516)", "org.eclipse.jetty.util.thread.QueuedThreadPool.runJob(QueuedThreadPool.java:883)", "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.run(QueuedThreadPool.java:1034)", "java.lang.Thread.run(Thread.java:829)"))
	}
	d.end()
}

func gcFull(f files) {
	for i := range 24 {
		at := after(i * 5200)
		f.printf("catalog/gc.log", "[%s][info][gc] GC(%d) Pause Young (Normal) (G1 Evacuation Pause) 4010M->4001M(4096M) %d.114ms\n", at.Format("2006-01-02T15:04:05.000+0000"), 900+2*i, 120+i)
		f.printf("catalog/gc.log", "[%s][info][gc] GC(%d) Pause Full (G1 Compaction Pause) 4064M->4008M(4096M) %d.302ms\n", at.Add(4200e6).Format("2006-01-02T15:04:05.000+0000"), 901+2*i, 3900+spread(i, 500))
	}
	p := node{"3.2.7", "10.20.63.1", 20880}
	l := boot2(f, "catalog/catalog.log", 3)
	for i := range 30 {
		p.logExhausted(l, after(9000+i*3000), full(200, 120400+i*60))
	}
	c := call{node{"3.2.7", "10.20.63.40", 0}, "web", "com.acme.catalog.CatalogService", "item", 1500, "nacos-1:8848"}
	w := boot2(f, "web/web.log", 8)
	for i := range 40 {
		w(after(5000+i*2600), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i), "c.a.web.ItemController", "item failed\n%s", c.tried(1, []node{p}, 1, c.timedOut(p, after(5000+i*2600), 300+i)))
	}
}

func gcJDK8(f files) {
	for i := range 10 {
		at := after(i * 14000)
		f.printf("ledger/gc.log.0", "%s: %d.114: [GC (Allocation Failure) %d.114: [ParNew (promotion failed): 613440K->613440K(613440K), 0.4312230 secs]%d.545: [CMS (concurrent mode failure): 3481600K->3479120K(3481600K), %d.2201180 secs] 4094112K->3479120K(4095040K), [Metaspace: 91220K->91220K(1132544K)], %d.6520110 secs] [Times: user=11.42 sys=0.08, real=11.65 secs]\n", at.Format("2006-01-02T15:04:05.000+0000"), 8000+i*14, 8000+i*14, 8000+i*14, 10+i%2, 11+i%2)
	}
	l := log4j(f, "ledger/ledger.log")
	for i := range 10 {
		l(after(i*14000+12000), "WARN", "HikariPool-1 housekeeper", "com.zaxxer.hikari.pool.HikariPool", "HikariPool-1 - Thread starvation or clock leap detected (housekeeper delta=41s%dms).", 100+i)
		l(after(i*14000+12100), "WARN", fmt.Sprintf("http-nio-8080-exec-%d", i), "com.acme.ledger.SlowFilter", "POST /entry took 11%d00 ms", i)
	}
}

func cpuRegex(f files) {
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("filter/jstack-%d.txt", n), 17, after(n*10000))
		for i := 1; i <= 48; i++ {
			d.n++
			f.printf(d.file, "\"http-nio-8080-exec-%d\" #%d daemon prio=5 os_prio=0 cpu=%d.10ms elapsed=%d.00s tid=0x00007f1c%08x nid=0x%x runnable  [0x00007f1ceac8d000]\n   java.lang.Thread.State: RUNNABLE\n", i, 30+i, 200000+n*1500+i*7, 3600+10*n, i*4096, 20000+i)
			for _, frame := range slices.Concat(frames("java.util.regex.Pattern$GroupTail.match(Pattern.java:4948)", "java.util.regex.Pattern$Loop.match(Pattern.java:5030)", "java.util.regex.Pattern$GroupTail.match(Pattern.java:4948)", "java.util.regex.Matcher.matches(Matcher.java:716)", "com.acme.filter.MailRule.accepts(MailRule.java:19)", "com.acme.filter.FilterController.check(FilterController.java:33)"), tomcat(17)) {
				f.printf(d.file, "\tat %s\n", moduled(frame, 17))
			}
			f.printf(d.file, "\n")
		}
		d.end()
	}
	f.printf("filter/top.txt", "top - 10:02:25 up 40 days,  1:11,  1 user,  load average: 47.91, 30.12, 12.40\nThreads: 231 total,  49 running, 182 sleeping,   0 stopped,   0 zombie\n%%Cpu(s): 98.9 us,  1.0 sy,  0.0 ni,  0.1 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st\nMiB Mem :  15904.1 total,   2201.0 free,   9120.3 used,   4582.8 buff/cache\n\n    PID USER      PR  NI    VIRT    RES    SHR S  %%CPU  %%MEM     TIME+ COMMAND\n")
	for i := 1; i <= 48; i++ {
		f.printf("filter/top.txt", "  %d app       20   0 9201104   6.1g  31204 R  16.%d  39.3   3:20.%02d http-nio-8080-e\n", 20000+i, i%10, i)
	}
}

func cpuGo(f files) {
	const file = "render/sigquit.txt"
	goPanicHead(f, file)
	goIdle(f, file, 20)
	own := []string{"encoding/json.(*encodeState).reflectValue(0xc000412000, {0x15d2a40?, 0xc0003a9000?, 0x0?}, {0x0?, 0x1?})", "/usr/local/go/src/encoding/json/encode.go:322", "encoding/json.Marshal({0x15d2a40, 0xc0003a9000})", "/usr/local/go/src/encoding/json/encode.go:161", "acme.example/render.(*Page).JSON(0xc0001b0000)", "/src/render/page.go:210", "acme.example/render/api.(*Server).page(0xc0001c0000, {0x1a4f880, 0xc0003ba000}, 0xc0003a2000)", "/src/render/api/page.go:40"}
	for i := range 60 {
		state := "runnable"
		if i < 4 {
			state = "running"
		}
		goroutine(f, file, 100+i, state, slices.Concat(own, goServe())...)
	}
	f.printf("render/vmstat.txt", "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n 3  0      0 812340  90112 712004    0    0     4    11  220  410 22  1 77  0  0\n")
	for i := range 20 {
		f.printf("render/vmstat.txt", "%2d  0      0 812%03d  90112 712004    0    0     0     %d 9120 4010 97  3  0  0  0\n", 58+i%5, i, i%7)
	}
}
