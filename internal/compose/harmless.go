package main

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"golang.org/x/text/encoding/simplifiedchinese"
)

var harmless = []composed{
	{"healthy-idle-pools", idlePools, want{
		Why:   "Two dumps of a quiet server: workers wait for work, event loops for events, keep-alive reads for requests.",
		Label: "healthy", Or: []string{"inconclusive"}, Not: []string{"cpu-saturation", "lock-contention", "downstream-wait", "pool-starvation"},
	}},
	{"healthy-nightly-report", nightly, want{
		Why:   "A nightly report takes forty seconds, as every night; the day is quick and nothing waits.",
		Label: "healthy", Not: []string{"slow-sql", "pool-starvation"},
	}},
	{"healthy-scans-of-tiny-tables", tinyScans, want{
		Why:   "log_queries_not_using_indexes fills the slow log with scans of a table with 12 rows that take half a millisecond.",
		Label: "healthy", Not: []string{"slow-sql"},
	}},
	{"healthy-exhausted-in-words-only", wordsOnly, want{
		Why:   "The words stand in alert rules, a unit test, a grep and a wiki page; nothing of it happened.",
		Label: "healthy", Or: []string{"inconclusive"}, Not: []string{"pool-starvation", "retry-amplification", "no-provider", "slow-sql"},
	}},
	{"healthy-business-exceptions", business, want{
		Why:   "Customers mistype and are redirected; that is business.",
		Label: "healthy", Not: []string{"retry-amplification", "downstream-wait", "duplicate-writes"},
	}},
	{"healthy-short-collections", shortGC, want{
		Why:   "Young collections of 12 ms, a hundred of them in ten minutes.",
		Label: "healthy", Not: []string{"gc-pause"},
	}},
	{"healthy-old-innodb-deadlock", oldDeadlock, want{
		Why:   "InnoDB still shows its last deadlock, of nine days ago; today everything is quick.",
		Label: "healthy", Not: []string{"deadlock", "lock-contention"},
	}},
	{"slow-sql-archive-of-a-shop", archive, want{
		Why:   "The evidence lies in a tar.gz: a GBK log, a UTF-16 jstack as PowerShell writes it, a processlist. It is a slow statement behind full workers.",
		Label: "slow-sql", Incidents: 1, Not: []string{"pool-starvation", "lock-contention"},
		SQL: []sql{{Contains: "from t_coupon_log where user_id", RunningNow: 40}},
	}},
	{"slow-sql-kubernetes-prefixes", kubernetes, want{
		Why:   "kubectl logs --prefix and CRI lines around the same story: a slow statement, full workers, retries.",
		Label: "slow-sql", ActFirst: "retry-amplification", Incidents: 1,
		Chain: []string{"trigger slow-sql", "amplifier retry-amplification", "victim pool-starvation"},
		Edges: []edge{{Method: "points", Amplification: 3}},
	}},
	{"slow-sql-dump-cut-at-32-frames", cutFrames, want{
		Why:   "Dubbo's own dump, cut at 32 frames, at the time of the refusals: all workers read MySQL. The statement is unknown, so it cannot be certain.",
		Label: "slow-sql", Or: []string{"pool-starvation", "inconclusive"}, MaxCertainty: "medium", Not: []string{"healthy", "cpu-saturation", "lock-contention"},
	}},
	{"inconclusive-nothing-to-see", nothing, want{
		Why:   "A configuration file, a class histogram and a shell history are no evidence of anything.",
		Label: "inconclusive", Or: []string{"healthy"}, Not: []string{"slow-sql", "retry-amplification", "pool-starvation"}, MaxCertainty: "medium",
	}},
	{"deadlock-innodb", innodbDeadlock, want{
		Why:   "Transactions kill each other again and again: the application logs the errors and InnoDB shows the pair, now.",
		Label: "deadlock", Or: []string{"lock-contention"}, Not: []string{"slow-sql", "healthy", "pool-starvation"},
	}},
}

func idlePools(f files) {
	for n := range 2 {
		d := jstack(f, fmt.Sprintf("cms/jstack-%d.txt", n), 17, after(n*5000))
		for i := 1; i <= 40; i++ {
			d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), parked, tomcatIdle(17))
			d.thread(fmt.Sprintf("DubboServerHandler-10.20.90.1:20880-thread-%d", i), parked, idle(17))
		}
		for i := 1; i <= 8; i++ {
			d.thread(fmt.Sprintf("nioEventLoopGroup-3-%d", i), runnable, netty(17))
		}
		d.thread("http-nio-8080-Acceptor", runnable, frames("sun.nio.ch.Net.accept(Native Method)", "sun.nio.ch.ServerSocketChannelImpl.accept(ServerSocketChannelImpl.java:425)", "org.apache.tomcat.util.net.NioEndpoint.serverSocketAccept(NioEndpoint.java:520)", "org.apache.tomcat.util.net.Acceptor.run(Acceptor.java:129)", "java.lang.Thread.run(Thread.java:840)"))
		d.thread("ajp-bio-8009-exec-1", runnable, socketRead(17), frames("org.apache.coyote.ajp.AjpProcessor.read(AjpProcessor.java:312)", "org.apache.coyote.ajp.AjpProcessor.readMessage(AjpProcessor.java:364)", "org.apache.coyote.ajp.AjpProcessor.process(AjpProcessor.java:118)", "java.lang.Thread.run(Thread.java:840)"))
		d.thread("HikariPool-1 housekeeper", timed, park(17, true, "<0x00000000e0a00100> (a java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject)"), frames("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take(ScheduledThreadPoolExecutor.java:1182)", "java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1062)"), worker(17))
		d.end()
	}
}

func nightly(f files) {
	slow := mysqlSlow(f, "mysql/slow.log")
	night := time.Date(2026, 3, 14, 3, 0, 5, 0, time.UTC)
	for i := range 3 {
		slow.add(night.Add(time.Duration(i)*50*time.Second), 40.1+float64(i), 0.0001, 400, 20411200, fmt.Sprintf("SELECT region, SUM(amount) FROM sale WHERE day='2026-03-%02d' GROUP BY region", 11+i))
	}
	l := boot2(f, "shop/shop.log", 4)
	for i := range 300 {
		l(noon.Add(minutes(i-150)), "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%20), "c.a.shop.AccessLog", "200 GET /item/%d %d ms", i, 3+spread(i, 20))
	}
	d := jstack(f, "shop/jstack.txt", 11, noon)
	for i := 1; i <= 20; i++ {
		d.thread(fmt.Sprintf("http-nio-8080-exec-%d", i), parked, tomcatIdle(11))
	}
	d.end()
}

func tinyScans(f files) {
	slow := mysqlSlow(f, "mysql/slow.log")
	for i := range 300 {
		slow.add(after(i*2000), 0.0004+float64(spread(i, 9))/100000, 0.000001, 12, 12, fmt.Sprintf("SELECT code, name FROM country WHERE enabled=%d", i%2))
	}
	explain(f, "mysql/explain.txt", "SELECT code, name FROM country WHERE enabled=1", "country", "ALL", "NULL", 12, "Using where")
}

func wordsOnly(f files) {
	f.printf("notes/wiki.md", "# Runbook: thread pool is EXHAUSTED\n\nIf a provider logs `Thread pool is EXHAUSTED! Thread Name: <name>, Pool Size: <n>` do not restart at once.\n`Tried 3 times of the providers` means that the retries are used up.\n\n    grep -c 'Thread pool is EXHAUSTED' /logs/*/app.log\n    grep 'Tried [0-9] times of the providers' consumer.log | wc -l\n")
	f.printf("alerts/dubbo.yml", "groups:\n- name: dubbo\n  rules:\n  - alert: DubboPoolExhausted\n    expr: increase(dubbo_thread_pool_reject_thread_count[1m]) > 0\n    annotations:\n      summary: \"Thread pool is EXHAUSTED! on {{ $labels.ip }}\"\n")
	l := boot2(f, "ci/build-4411.log", 88)
	l(after(0), "INFO", "main", "c.a.log.ExhaustedParserTest", "running 12 tests")
	l(after(20), "INFO", "main", "c.a.log.ExhaustedParserTest", "input: \"Thread pool is EXHAUSTED!\" expected: rejected=1 OK")
	l(after(40), "INFO", "main", "c.a.log.ExhaustedParserTest", "input: \"Failed to invoke the method x in the service y. Tried 3 times\" expected: attempts=3 OK")
	l(after(60), "INFO", "main", "c.a.log.ExhaustedParserTest", "all 12 tests passed, memory not exhausted")
	for i := range 60 {
		l(after(1000+i*500), "INFO", "worker-1", "c.a.ci.Runner", "step %d of 60 done", i+1)
	}
	f.printf("notes/history.txt", "  501  grep EXHAUSTED provider.log | tail -3\n  502  zgrep -c 'No provider available' *.gz\n  503  jstack 8123 > /tmp/j1\n")
}

func business(f files) {
	l := boot2(f, "front/front.log", 4)
	for i := range 150 {
		at := after(i * 800)
		switch i % 5 {
		case 0:
			l(at, "WARN", fmt.Sprintf("http-nio-8080-exec-%d", i%20), "c.a.front.ErrorAdvice", "business error\ncom.acme.front.BusinessException: coupon E-%d is expired\n\tat com.acme.front.CouponService.check(CouponService.java:31)", i)
		case 1:
			l(at, "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%20), "c.a.front.AccessLog", "302 GET /login -> /welcome 4 ms")
		case 2:
			l(at, "WARN", fmt.Sprintf("http-nio-8080-exec-%d", i%20), "c.a.front.LoginController", "wrong password, attempt 2 of 3, member %d", i)
		default:
			l(at, "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%20), "c.a.front.AccessLog", "200 GET /cart %d ms", 5+spread(i, 20))
		}
	}
}

func shortGC(f files) {
	for i := range 100 {
		f.printf("search/gc.log", "[%s][info][gc] GC(%d) Pause Young (Normal) (G1 Evacuation Pause) %dM->%dM(4096M) %d.%03dms\n", after(i*6000).Format("2006-01-02T15:04:05.000+0000"), i, 2400+i%9, 300+i%7, 9+spread(i, 5), spread(i, 900))
	}
	l := boot2(f, "search/search.log", 2)
	for i := range 100 {
		l(after(i*6000), "INFO", "http-nio-8080-exec-1", "c.a.search.AccessLog", "200 GET /q %d ms", 8+spread(i, 12))
	}
}

// innodbStatus is SHOW ENGINE INNODB STATUS with a deadlock of some time.
func innodbStatus(f files, file string, now, deadlock time.Time) {
	trx := func(n, id int, sku string) string {
		return fmt.Sprintf("*** (%d) TRANSACTION:\nTRANSACTION %d, ACTIVE 0 sec starting index read\nmysql tables in use 1, locked 1\nLOCK WAIT 3 lock struct(s), heap size 1128, 2 row lock(s), undo log entries 1\nMySQL thread id %d, OS thread handle 140213, query id %d 10.20.91.1 app updating\nUPDATE seat SET holder=%d WHERE no='%s'\n", n, id, 40+n, id*3, n, sku)
	}
	lock := func(n int) string {
		return fmt.Sprintf("\n*** (%d) WAITING FOR THIS LOCK TO BE GRANTED:\nRECORD LOCKS space id 31 page no 4 n bits 72 index PRIMARY of table `hall`.`seat` trx id 77%d lock_mode X locks rec but not gap waiting\n\n", n, n)
	}
	f.printf(file, "mysql> show engine innodb status\\G\n*************************** 1. row ***************************\n  Type: InnoDB\n  Name: \nStatus: \n=====================================\n%s 140213 INNODB MONITOR OUTPUT\n=====================================\nPer second averages calculated from the last 12 seconds\n------------------------\nLATEST DETECTED DEADLOCK\n------------------------\n%s 140213\n%s%s%s%s*** WE ROLL BACK TRANSACTION (2)\n------------\nTRANSACTIONS\n------------\nTrx id counter 90111\nPurge done for trx's n:o < 90110 undo n:o < 0 state: running but idle\nHistory list length 12\nLIST OF TRANSACTIONS FOR EACH SESSION:\n---TRANSACTION 421, not started\n0 lock struct(s), heap size 1128, 0 row lock(s)\n----------------------------\nEND OF INNODB MONITOR OUTPUT\n============================\n\n1 row in set (0.00 sec)\n",
		now.Format("2006-01-02 15:04:05"), deadlock.Format("2006-01-02 15:04:05"), trx(1, 7701, "A1"), lock(1), trx(2, 7702, "A2"), lock(2))
}

func oldDeadlock(f files) {
	innodbStatus(f, "mysql/innodb.txt", noon, noon.AddDate(0, 0, -9))
	l := boot2(f, "hall/hall.log", 4)
	for i := range 100 {
		l(after(i*700-35000), "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%9), "c.a.hall.AccessLog", "200 POST /seat %d ms", 6+spread(i, 12))
	}
}

func innodbDeadlock(f files) {
	l := boot2(f, "hall/hall.log", 4)
	for i := range 50 {
		l(after(i*600), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i%30), "c.a.hall.SeatController", "seat not taken\norg.springframework.dao.DeadlockLoserDataAccessException: \n### Error updating database.  Cause: com.mysql.cj.jdbc.exceptions.MySQLTransactionRollbackException: Deadlock found when trying to get lock; try restarting transaction\n\tat com.acme.hall.SeatService.take(SeatService.java:40)")
	}
	innodbStatus(f, "mysql/innodb.txt", after(20000), after(19000))
}

func archive(f files) {
	inner := files{}
	p := node{"2.6.8", "10.20.92.1", 20880}
	l := log4j(inner, "coupon/coupon.log")
	for i := range 30 {
		l(after(i*400-6000), "INFO", fmt.Sprintf("DubboServerHandler-10.20.92.1:20880-thread-%d", i), "com.demo.coupon.CouponServiceImpl", "查询用户 %d 的优惠券", 100+i)
	}
	for i := range 30 {
		p.logExhausted(l, after(6000+i*300), full(50, 3100+i))
		l(after(6000+i*300), "ERROR", "New I/O server worker #1-3", "com.demo.coupon.Monitor", "线程池已满，请求被拒绝")
	}
	gbk, err := simplifiedchinese.GBK.NewEncoder().String(inner.at("coupon/coupon.log").String())
	if err != nil {
		panic(err)
	}
	d := jstack(inner, "coupon/jstack.txt", 8, after(12000))
	for i := 1; i <= 50; i++ {
		d.thread(fmt.Sprintf("DubboServerHandler-10.20.92.1:20880-thread-%d", i), runnable, mysql5Read(8), frames("com.demo.coupon.CouponDao.logOf(CouponDao.java:44)", "com.demo.coupon.CouponServiceImpl.list(CouponServiceImpl.java:19)"), dubboServer(8, p))
	}
	d.end()
	windows := strings.ReplaceAll(inner.at("coupon/jstack.txt").String(), "\n", "\r\n")
	rows := [][]string{}
	for i := range 40 {
		rows = append(rows, session(500+i, "10.20.92.1", "Query", 4+i%5, "Sending data", fmt.Sprintf("select * from t_coupon_log where user_id='%d'", 100+i)))
	}
	batch(inner, "db/processlist.txt", processlist, rows)
	pack(f, "scene-20260314.tar.gz", []member{
		{"scene/coupon/coupon.log", gbk},
		{"scene/coupon/jstack.txt", utf16LE(windows)},
		{"scene/db/processlist.txt", inner.at("db/processlist.txt").String()},
	})
}

type member struct{ name, text string }

// pack writes a tar.gz.
func pack(f files, file string, members []member) {
	gz := gzip.NewWriter(f.at(file))
	t := tar.NewWriter(gz)
	for _, m := range members {
		head := tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.text)), ModTime: noon, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(&head); err != nil {
			panic(err)
		}
		if _, err := t.Write([]byte(m.text)); err != nil {
			panic(err)
		}
	}
	if err := t.Close(); err != nil {
		panic(err)
	}
	if err := gz.Close(); err != nil {
		panic(err)
	}
}

func utf16LE(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func kubernetes(f files) {
	p := node{"3.1.8", "10.244.3.17", 20880}
	c := call{node{"3.1.8", "10.244.5.40", 0}, "member-bff", "com.acme.member.PointsService", "points", 800, "nacos.infra:8848"}
	l := boot2(f, "member-6d4f.log", 1)
	for i := range 40 {
		p.logExhausted(l, after(3000+i*400), full(64, 9000+i/2))
	}
	prefixed(f, "member-6d4f.log", "[pod/member-6d4f9c-x2lqv/member] ")
	w := boot2(f, "bff.log", 1)
	for i := range 40 {
		w(after(i*400), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i), "c.a.bff.MemberController", "points failed\n%s", c.tried(3, []node{p}, 1, c.timedOut(p, after(i*400), 9+4*i)))
	}
	cri(f, "bff.log", noon)
	d := jstack(f, "member-jstack.txt", 17, after(9000))
	for i := 1; i <= 64; i++ {
		d.thread(fmt.Sprintf("DubboServerHandler-10.244.3.17:20880-thread-%d", i), runnable, mysqlRead(17), mybatis("pointsOf"), frames("com.acme.member.PointsServiceImpl.points(PointsServiceImpl.java:25)"), dubboServer(17, p))
	}
	d.end()
	slow := mysqlSlow(f, "mysql-0.log")
	for i := range 50 {
		slow.add(after(i*300-3000), 2.6+float64(spread(i, 7))/10, 0.000002, 1, 1500233, fmt.Sprintf("SELECT SUM(delta) FROM point_entry WHERE member='%d'", 20000+i))
	}
}

func cutFrames(f files) {
	p := node{"2.7.10", "10.20.93.1", 20880}
	l := boot2(f, "rate/rate.log", 2)
	for i := range 30 {
		p.logExhausted(l, after(i*300), full(40, 10020+i))
	}
	spring := make([]string, 0, 30)
	for i := range 30 {
		spring = append(spring, fmt.Sprintf("org.springframework.aop.framework.ReflectiveMethodInvocation.proceed(ReflectiveMethodInvocation.java:%d)", 160+i))
	}
	d := &infoDump{f: f, file: "rate/Dubbo_JStack.log.2026-03-14_10:02:11", max: 32}
	for i := 1; i <= 40; i++ {
		d.thread(fmt.Sprintf("DubboServerHandler-10.20.93.1:20880-thread-%d", i), "RUNNABLE (in native)", true, mysqlRead(8), mybatis("rateOf"), spring, frames("com.acme.rate.RateServiceImpl.rate(RateServiceImpl.java:30)"), dubboServer(8, p))
	}
}

func nothing(f files) {
	f.printf("application.yml", "spring:\n  application:\n    name: lost\nserver:\n  port: 8080\n  tomcat:\n    threads:\n      max: 200\n")
	f.printf("histo.txt", " num     #instances         #bytes  class name (module)\n-------------------------------------------------------\n")
	for i := range 40 {
		f.printf("histo.txt", "%4d: %14d %14d  com.acme.lost.Thing%d\n", i+1, 90000-i*1000, (90000-i*1000)*24, i)
	}
	f.printf("history", "cd /srv/lost\nls -la\ntail -f app.log\n")
}
