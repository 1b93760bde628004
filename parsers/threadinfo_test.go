package parsers

import (
	"strings"
	"testing"
)

func TestThreadInfo(t *testing.T) {
	frames := func(n int) string { return strings.Repeat("\tat com.acme.shop.Deep.call(Deep.java:7)\n", n) }
	tests := []struct{ name, file, text, want string }{
		{"JDK 8 Dubbo with a cut", "Dubbo_JStack.log.2026-03-14_10:02:07", `"DubboServerHandler-10.20.0.11:20880-thread-117" Id=412 RUNNABLE (in native)
	at java.net.SocketInputStream.socketRead0(Native Method)
	at com.mysql.cj.protocol.ReadAheadInputStream.read(ReadAheadInputStream.java:180)
	-  locked com.mysql.cj.protocol.ReadAheadInputStream@3f1c2a9b
	...

	Number of locked synchronizers = 1
	- java.util.concurrent.ThreadPoolExecutor$Worker@2d61b7f4

"DubboServerHandler-10.20.0.11:20880-thread-118" Id=413 WAITING on java.util.concurrent.locks.ReentrantLock$NonfairSync@5b2a71d0 owned by "DubboServerHandler-10.20.0.11:20880-thread-9" Id=301
	at sun.misc.Unsafe.park(Native Method)
	-  waiting on java.util.concurrent.locks.ReentrantLock$NonfairSync@5b2a71d0
	at com.example.order.StockCache.refresh(StockCache.java:58)

"DubboServerHandler-10.20.0.11:20880-thread-119" Id=414 WAITING on java.util.concurrent.SynchronousQueue$TransferStack@53452753
	at sun.misc.Unsafe.park(Native Method)
	-  waiting on java.util.concurrent.SynchronousQueue$TransferStack@53452753
	at java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1067)

`, `
1 "DubboServerHandler-10.20.0.11:20880-thread-117" RUNNABLE (in native) id=412/ holds=3f1c2a9b/com.mysql.cj.protocol.ReadAheadInputStream holds=2d61b7f4/java.util.concurrent.ThreadPoolExecutor$Worker working=yes cut < java.net.SocketInputStream.socketRead0 < com.mysql.cj.protocol.ReadAheadInputStream.read
10 "DubboServerHandler-10.20.0.11:20880-thread-118" WAITING id=413/ waits={5b2a71d0 java.util.concurrent.locks.ReentrantLock$NonfairSync DubboServerHandler-10.20.0.11:20880-thread-9 301} < sun.misc.Unsafe.park < com.example.order.StockCache.refresh
15 "DubboServerHandler-10.20.0.11:20880-thread-119" WAITING id=414/ waits={53452753 java.util.concurrent.SynchronousQueue$TransferStack  } working=no < sun.misc.Unsafe.park < java.util.concurrent.ThreadPoolExecutor.getTask
dump 1 threadinfo threads=3 rejection max=2 at 2026-03-14T10:02:07Z
`},
		{"32 frames without priorities are Dubbo's", "renamed.txt", "\"w-1\" Id=4 RUNNABLE\n" + frames(32) + "\t...\n\n", "1 \"w-1\" RUNNABLE id=4/ cut" + strings.Repeat(" < com.acme.shop.Deep.call", 32) + "\ndump 1 threadinfo threads=1 rejection max=32\n"},
		{"eight frames are ThreadInfo's", "t.txt", "\"w-1\" daemon prio=5 Id=4 RUNNABLE\n" + frames(8) + "\t...\n\n", "1 \"w-1\" RUNNABLE id=4/ cut" + strings.Repeat(" < com.acme.shop.Deep.call", 8) + "\ndump 1 threadinfo threads=1 max=8\n"},
		{"printed into a log, twice", "app.log", `2026-03-14 10:02:07,113 WARN  [watchdog] c.a.Watchdog - stuck, threads follow
java.lang.IllegalStateException: stuck
	at com.acme.Watchdog.run(Watchdog.java:9)
	at java.lang.Thread.run(Thread.java:748)
"a" Id=4 WAITING on java.lang.Object@4a57 owned by "b" Id=5
	at java.lang.Object.wait(Native Method)
	-  waiting on java.lang.Object@4a57

"b" Id=5 TIMED_WAITING
	at java.lang.Thread.sleep(Native Method)

2026-03-14 10:02:17,113 WARN  [watchdog] c.a.Watchdog - still stuck
"a" Id=4 WAITING on java.lang.Object@4a57 owned by "b" Id=5
	at java.lang.Object.wait(Native Method)
`, `
5 "a" WAITING id=4/ waits={4a57 java.lang.Object b 5} < java.lang.Object.wait
9 "b" TIMED_WAITING id=5/ < java.lang.Thread.sleep
dump 1 threadinfo threads=2 at 2026-03-14T10:02:07.113Z
13 "a" WAITING id=4/ waits={4a57 java.lang.Object b 5} < java.lang.Object.wait
dump 2 threadinfo threads=1 at 2026-03-14T10:02:17.113Z
`},
		{"deadlock by its owners", "t.txt", `"a" Id=4 BLOCKED on java.lang.Object@1 owned by "b" Id=5

"b" Id=5 BLOCKED on java.lang.Object@2 owned by "a" Id=4

"c" Id=6 BLOCKED on java.lang.Object@1 owned by "b" Id=5

`, `
1 "a" BLOCKED id=4/ waits={1 java.lang.Object b 5}
3 "b" BLOCKED id=5/ waits={2 java.lang.Object a 4}
5 "c" BLOCKED id=6/ waits={1 java.lang.Object b 5}
dump 1 threadinfo threads=3 deadlocks=[[{a java.lang.Object 1 b} {b java.lang.Object 2 a}]]
`},
		{"Arthas thread -n", "arthas.txt", `[arthas@42]$ thread -n 2
"as-command-execute-daemon" Id=29 cpuUsage=75% deltaTime=150ms time=401ms RUNNABLE
    at sun.management.ThreadImpl.dumpThreads0(Native Method)
    at com.acme.X.m(X.java:1)

    Number of locked synchronizers = 1
    - java.util.concurrent.ThreadPoolExecutor$Worker@6cd0b6f8

"C2 CompilerThread0" [Internal] cpuUsage=5.06% deltaTime=10ms time=973ms

[arthas@42]$
`, `
2 "as-command-execute-daemon" RUNNABLE id=29/ cpu=401ms holds=6cd0b6f8/java.util.concurrent.ThreadPoolExecutor$Worker working=yes < sun.management.ThreadImpl.dumpThreads0 < com.acme.X.m
9 "C2 CompilerThread0" UNKNOWN cpu=973ms system
dump 1 threadinfo threads=2 partial
`},
		{"Arthas thread -b", "arthas.txt", `"http-bio-8080-exec-4" Id=27 TIMED_WAITING
    at java.lang.Thread.sleep(Native Method)
    at test.arthas.TestThreadBlocking.doGet(TestThreadBlocking.java:22)
    -  locked java.lang.Object@725be470 <---- but blocks 4 other threads!
`, `
1 "http-bio-8080-exec-4" TIMED_WAITING id=27/ holds=725be470/java.lang.Object < java.lang.Thread.sleep < test.arthas.TestThreadBlocking.doGet
dump 1 threadinfo threads=1 partial
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkJava(t, tt.file, tt.text, tt.want) })
	}
}

func TestDumpToFileText(t *testing.T) {
	checkJava(t, "dump.txt", `12954
2026-03-14T10:02:07.293415324Z
21.0.2+13-LTS

#1 "main"
      java.base/java.lang.Thread.sleep0(Native Method)
      java.base/java.lang.Thread.sleep(Thread.java:509)
      app//com.acme.shop.Main.main(Main.java:9)

#22 "order-vt-0" virtual
      java.base/java.lang.VirtualThread.park(VirtualThread.java:596)
      com.acme.shop.Order$$Lambda/0x00007f0001.run(Unknown Source)

#23 "" virtual
      com.acme.shop.Price.calc(Price.java:20)
`, `
5 "main" TIMED_WAITING id=1/ < java.lang.Thread.sleep0 < java.lang.Thread.sleep < com.acme.shop.Main.main
10 "order-vt-0" WAITING id=22/ virtual < java.lang.VirtualThread.park < com.acme.shop.Order$$Lambda.run
14 "" RUNNABLE id=23/ virtual < com.acme.shop.Price.calc
dump 1 dump-to-file threads=3 version=21.0.2+13-LTS nostate at 2026-03-14T10:02:07.293Z zoned
`)
}
