package parsers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// javaSummary reads a text and says in one line each what came of it.
func javaSummary(t *testing.T, name, text string) string {
	t.Helper()
	var b strings.Builder
	in := NewInput(name, strings.NewReader(text))
	in.Skip = func(line int, why string) { fmt.Fprintf(&b, "skip %d %s\n", line, why) }
	if err := Read(in, func(r *evidence.Record) error {
		switch {
		case r.Dump != nil:
			d := r.Dump
			if !d.Closing {
				return nil
			}
			fmt.Fprintf(&b, "dump %s %s threads=%d", d.ID, d.Format, d.Threads)
			for _, f := range []struct {
				word string
				on   bool
			}{
				{" version=" + d.Version, d.Version != ""},
				{fmt.Sprintf(" declared=%d", d.Declared), d.Declared >= 0},
				{" truncated", d.Truncated},
				{" partial", d.Partial},
				{" nostate", d.NoState},
				{" virtual", d.Virtual},
				{" rejection", d.Rejection},
				{fmt.Sprintf(" max=%d", d.MaxFrames), d.MaxFrames >= 0},
				{fmt.Sprintf(" heap=%.2f", d.HeapFull), d.HeapFull >= 0},
				{fmt.Sprintf(" ignored=%d", d.Ignored), d.Ignored > 0},
				{" at " + r.Time.Format("2006-01-02T15:04:05.999Z07:00"), !r.Time.IsZero()},
				{" zoned", r.Zoned == evidence.Yes},
				{fmt.Sprintf(" deadlocks=%v", d.Deadlocks), len(d.Deadlocks) > 0},
			} {
				if f.on {
					b.WriteString(f.word)
				}
			}
		case r.Stack != nil:
			s := r.Stack
			fmt.Fprintf(&b, "%d %q %s", r.Cite.Line, s.Name, s.State)
			if s.Detail != "" {
				fmt.Fprintf(&b, " (%s)", s.Detail)
			}
			if s.ID != "" || s.NativeID != "" {
				fmt.Fprintf(&b, " id=%s/%s", s.ID, s.NativeID)
			}
			if s.CPU >= 0 {
				fmt.Fprintf(&b, " cpu=%s", s.CPU)
			}
			if s.Elapsed >= 0 {
				fmt.Fprintf(&b, " elapsed=%s", s.Elapsed)
			}
			if s.WaitsOn != (evidence.Lock{}) {
				fmt.Fprintf(&b, " waits={%s %s %s %s}", s.WaitsOn.ID, s.WaitsOn.Class, s.WaitsOn.Owner, s.WaitsOn.OwnerID)
			}
			for _, h := range s.Holds {
				fmt.Fprintf(&b, " holds=%s/%s", h.ID, h.Class)
			}
			if s.Working != evidence.Unknown {
				fmt.Fprintf(&b, " working=%s", s.Working)
			}
			for _, f := range []struct {
				word string
				on   bool
			}{{" cut", s.Cut}, {" virtual", s.Virtual}, {" carrier", s.Carrier}, {" system", s.System}, {" partial", s.Partial}, {" in " + s.Container, s.Container != ""}} {
				if f.on {
					b.WriteString(f.word)
				}
			}
			for _, f := range s.Frames {
				fmt.Fprintf(&b, " < %s", f.Func)
			}
		default:
			b.WriteString("other")
		}
		b.WriteByte('\n')
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func checkJava(t *testing.T, name, text, want string) {
	t.Helper()
	got := javaSummary(t, name, text)
	if want = strings.TrimLeft(want, "\n"); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func TestJavaHeaders(t *testing.T) {
	tests := []struct{ header, want string }{
		{`"Worker-3" daemon prio=1 tid=0x0000002ac6c9b0a0 nid=0x57f8 in Object.wait() [0x0000000051d6d000..0x0000000051d6dd30]`, `1 "Worker-3" WAITING id=/22520`},
		{`"http-8080-4" daemon prio=10 tid=0x00002acd70001000 nid=0x573c waiting for monitor entry [0x00007f1ceac8d000]`, `1 "http-8080-4" BLOCKED id=/22332`},
		{`"a" prio=10 tid=0x00002acd nid=0x57 sleeping[0x00007f1c]`, `1 "a" TIMED_WAITING id=/87`},
		{`"exec-4" #31 daemon prio=5 os_prio=0 tid=0x00007f1db400d000 nid=0x503 runnable [0x00007f1ceac8d000]`, `1 "exec-4" RUNNABLE id=31/1283`},
		{`"exec-4" #31 daemon prio=5 os_prio=0 cpu=637,81ms elapsed=26,71s tid=0x7f nid=0x503 runnable  [0x7f]`, `1 "exec-4" RUNNABLE id=31/1283 cpu=637.81ms elapsed=26.71s`},
		{`"exec-4" #31 daemon prio=5 os_prio=0 cpu=12.34ms elapsed=81.02s allocated=6160B defined_classes=1 tid=0x7f nid=0x4d5d waiting on condition  [0x7f]`, `1 "exec-4" WAITING id=31/19805 cpu=12.34ms elapsed=1m21.02s`},
		{`"exec-4" #31 [20000] daemon prio=5 os_prio=0 cpu=12.34ms elapsed=81.02s tid=0x7f nid=20000 waiting on condition  [0x7f]`, `1 "exec-4" WAITING id=31/20000 cpu=12.34ms elapsed=1m21.02s`},
		{`"GC Thread#0" os_prio=0 cpu=0.13ms elapsed=6.86s tid=0x7f nid=0x4d4c runnable  `, `1 "GC Thread#0" RUNNABLE id=/19788 cpu=130µs elapsed=6.86s system`},
		{`"main@1" prio=5 tid=0x1 nid=NA waiting`, `1 "main" WAITING id=1/`},
		{`"Thread-1" prio=0 tid=0x0 nid=0x0 blocked`, `1 "Thread-1" BLOCKED`},
		{`"ajp-bio-8009-exec-7" - Thread t@2282`, `1 "ajp-bio-8009-exec-7" UNKNOWN id=2282/`},
		{`"" #42 [12997] daemon prio=5 os_prio=0 cpu=0.13ms elapsed=1.56s tid=0x7f nid=12997 runnable [0x7f]`, `1 "" RUNNABLE id=42/12997 cpu=130µs elapsed=1.56s`},
		{`"q="o", n="d": 2" #188 [205] prio=5 os_prio=0 tid=0x7f nid=205 runnable [0x7f]`, `1 "q=\"o\", n=\"d\": 2" RUNNABLE id=188/205`},
		{`"b" daemon prio=5 Id=13 BLOCKED on java.lang.Object@4a57 owned by "own "er" Id=12`, `1 "b" BLOCKED id=13/ waits={4a57 java.lang.Object own "er 12}`},
		{`"b" Id=13 RUNNABLE (in native)`, `1 "b" RUNNABLE (in native) id=13/`},
		{`"b" Id=13 TIMED_WAITING on java.util.concurrent.FutureTask@4a57 (suspended)`, `1 "b" TIMED_WAITING id=13/ waits={4a57 java.util.concurrent.FutureTask  }`},
		{`"busy" Id=27 cpuUsage=23% deltaTime=45ms time=1200ms RUNNABLE`, `1 "busy" RUNNABLE id=27/ cpu=1.2s`},
		{`"x" id=3148 in RUNNABLE (running in native)`, `1 "x" RUNNABLE (in native) id=3148/`},
		{`"C2 CompilerThread0" [Internal] cpuUsage=5.06% deltaTime=10ms time=973ms`, `1 "C2 CompilerThread0" UNKNOWN cpu=973ms system`},
		{`#22 "order-vt-0" virtual`, `1 "order-vt-0" UNKNOWN id=22/ virtual`},
		{`#28 "" virtual WAITING 2026-11-30T05:17:05.137350878Z`, `1 "" WAITING id=28/ virtual`},
		{`exec-4 - priority:5 - threadId:0x00007fb748117800 - nativeId:0x202 - nativeId (decimal):514 - state:WAITING`, `1 "exec-4" WAITING id=/514`},
		{`Thread 12345: (state = BLOCKED)`, `1 "" UNKNOWN id=/12345`},
		{`&quot;exec-4&quot; #31 daemon prio=5 os_prio=0 tid=0x7f nid=0x503 runnable [0x7f]`, `1 "exec-4" RUNNABLE id=31/1283`},
	}
	for _, tt := range tests {
		got, _, _ := strings.Cut(javaSummary(t, "t", tt.header+"\n"), "\n")
		if strings.TrimSuffix(got, " partial") != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.header, got, tt.want)
		}
	}
}

func TestNotJavaThreads(t *testing.T) {
	for _, text := range []string{
		"2026-03-14 10:02:07 ERROR [main] c.a.X - boom\njava.lang.IllegalStateException: state RUNNABLE\n\tat com.acme.X.run(X.java:1)\n",
		"we took a Full thread dump of the process and it was RUNNABLE\n",
		`{"thread":"main","state":" RUNNABLE","tid":" tid=0x1"}` + "\n",
		`the "order" service is WAITING for stock` + "\n",
		`thread tid=0x12 "unfinished` + "\n",
		"\"dl-1\":\n  waiting to lock monitor tid=0x1\n",
	} {
		if got := javaSummary(t, "t", text); strings.Contains(got, "dump") {
			t.Errorf("%q gave\n%s", text, got)
		}
	}
}

func TestJavaDumps(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"JDK 8 with a lock, waits and an end", "jstack.txt", `2026-03-14 10:02:07
Full thread dump Java HotSpot(TM) 64-Bit Server VM (25.221-b11 mixed mode):

"exec-1" #31 daemon prio=5 os_prio=0 tid=0x00007f1db400d000 nid=0x503 waiting for monitor entry [0x00007f1ceac8d000]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at com.acme.shop.Price.get(Price.java:12)
	- waiting to lock <0x00000000f07967c8> (a java.lang.Class for com.acme.shop.Price)
	at com.acme.shop.Order.total(Order.java:40)
	- locked <0x00000000f0796000> (a java.lang.Object)
	- locked <0x00000000f0796000> (a java.lang.Object)
	- eliminated <0x00000000f0796111> (a java.lang.Object)
	- eliminated <owner is scalar replaced> (a java.lang.StringBuffer)

"exec-2" #32 daemon prio=5 os_prio=0 tid=0x00007f1db400e000 nid=0x504 in Object.wait() [0x00007f1ceac8e000]
   java.lang.Thread.State: WAITING (on object monitor)
	at java.lang.Object.wait(Native Method)
	- waiting on <no object reference available>
	at java.lang.Object.wait(Object.java:502)
	at com.acme.shop.Queue.take(Queue.java:20)
	- locked <0x00000000f0790001> (a com.acme.shop.Queue)
	at com.acme.shop.Worker.run(Worker.java:9)
	- locked <0x00000000f0790002> (a com.acme.shop.Worker)

"exec-3" #33 daemon prio=5 os_prio=0 tid=0x00007f1db400f000 nid=0x505 in Object.wait() [0x00007f1ceac8f000]
   java.lang.Thread.State: WAITING (on object monitor)
	at java.lang.Object.wait(Native Method)
	at java.lang.ref.ReferenceQueue.remove(ReferenceQueue.java:144)
	- waiting to re-lock in wait() <0x00000000f0790003> (a java.lang.ref.ReferenceQueue$Lock)

"exec-4" #34 daemon prio=5 os_prio=0 tid=0x00007f1db4010000 nid=0x506 waiting for monitor entry [0x00007f1ceac90000]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at com.acme.shop.Log.append(Log.java:5)
	- locked <0x00000000f0790004> (a com.acme.shop.Log)
	- locked <0x00000000f0790005> (a java.io.PrintStream)
	at com.acme.shop.Log.info(Log.java:9)

"VM Thread" os_prio=0 tid=0x00007f1db4011000 nid=0x507 runnable 

JNI global references: 235

`, `
4 "exec-1" BLOCKED (on object monitor) id=31/1283 waits={0x00000000f07967c8 java.lang.Class for com.acme.shop.Price  } holds=0x00000000f0796000/java.lang.Object < com.acme.shop.Price.get < com.acme.shop.Order.total
14 "exec-2" WAITING (on object monitor) id=32/1284 waits={0x00000000f0790001 com.acme.shop.Queue  } holds=0x00000000f0790002/com.acme.shop.Worker < java.lang.Object.wait < java.lang.Object.wait < com.acme.shop.Queue.take < com.acme.shop.Worker.run
24 "exec-3" WAITING (on object monitor) id=33/1285 waits={0x00000000f0790003 java.lang.ref.ReferenceQueue$Lock  } < java.lang.Object.wait < java.lang.ref.ReferenceQueue.remove
30 "exec-4" BLOCKED (on object monitor) id=34/1286 waits={0x00000000f0790004 com.acme.shop.Log  } holds=0x00000000f0790005/java.io.PrintStream < com.acme.shop.Log.append < com.acme.shop.Log.info
37 "VM Thread" RUNNABLE id=/1287 system
dump 1 hotspot threads=4 version=8u221 (25.221-b11) at 2026-03-14T10:02:07Z
`},
		{"log lines between the threads of one dump, then another dump", "stdout.log", `10:02:06 starting
2026-03-14 10:02:07
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6-LTS mixed mode, sharing):

"a" #31 daemon prio=5 os_prio=0 cpu=1.00ms elapsed=2.00s tid=0x7f nid=0x503 runnable  [0x00007f01]
   java.lang.Thread.State: RUNNABLE
	at com.acme.A.run(A.java:1)

10:02:07.113 [main] WARN  com.acme.Health - slow
java.lang.IllegalStateException: no
	at com.acme.B.run(B.java:1)

"b" #32 daemon prio=5 os_prio=0 cpu=1.00ms elapsed=2.00s tid=0x7f nid=0x504 runnable  [0x00007f01]
   java.lang.Thread.State: RUNNABLE
	at com.acme.B.run(B.java:1)

JNI global refs: 17, weak refs: 0

2026-03-14 10:02:17
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6-LTS mixed mode, sharing):

"a" #31 daemon prio=5 os_prio=0 cpu=1.00ms elapsed=12.00s tid=0x7f nid=0x503 runnable  [0x00007f01]
   java.lang.Thread.State: RUNNABLE
	at com.acme.A.run(A.ja`, `
5 "a" RUNNABLE id=31/1283 cpu=1ms elapsed=2s < com.acme.A.run
13 "b" RUNNABLE id=32/1284 cpu=1ms elapsed=2s < com.acme.B.run
dump 1 hotspot threads=2 version=17.0.15+6-LTS at 2026-03-14T10:02:07Z
22 "a" RUNNABLE id=31/1283 cpu=1ms elapsed=12s partial
dump 2 hotspot threads=1 version=17.0.15+6-LTS truncated ignored=1 at 2026-03-14T10:02:17Z
`},
		{"a prefix on every line", "ci.log", `2021-05-13T19:28:29.4039124Z Full thread dump OpenJDK 64-Bit Server VM (11.0.11+9 mixed mode, sharing):
2021-05-13T19:28:29.4039200Z 
2021-05-13T19:28:29.4039300Z "exec-1" #31 daemon prio=5 os_prio=0 cpu=1.00ms elapsed=2.00s tid=0x7f nid=0x503 runnable  [0x00007f01]
2021-05-13T19:28:29.403942Z    java.lang.Thread.State: RUNNABLE
2021-05-13T19:28:29.4039500Z 	at com.acme.A.run(A.java:1)
2021-05-13T19:28:29.4039600Z 
2021-05-13T19:28:29.4039600Z    Locked ownable synchronizers:
2021-05-13T19:28:29.4039700Z 	- <0x00000000ffdd6680> (a java.util.concurrent.ThreadPoolExecutor$Worker)
2021-05-13T19:28:29.4039800Z 
2021-05-13T19:28:29.4039800Z JNI global refs: 17, weak refs: 0
2021-05-13T19:28:30.4039800Z ##[error]The job timed out
`, `
3 "exec-1" RUNNABLE id=31/1283 cpu=1ms elapsed=2s holds=0x00000000ffdd6680/java.util.concurrent.ThreadPoolExecutor$Worker working=yes < com.acme.A.run
dump 1 hotspot threads=1 version=11.0.11+9 at 2021-05-13T19:28:29.403Z zoned
`},
		{"quoted in a mail, without a banner", "mail.txt", `We saw this:
> "exec-1" #31 prio=5 os_prio=0 tid=0x7f nid=0x503 runnable [0x00007f01]
>    java.lang.Thread.State: RUNNABLE
>         at com.acme.A.run(A.java:1)
>
> "exec-2" #32 prio=5 os_prio=0 tid=0x7f nid=0x504 runnable [0x00007f01]
>    java.lang.Thread.State: RUNNABLE
>         at com.acme.A.run(A.java:1)

Any idea?
`, `
2 "exec-1" RUNNABLE id=31/1283 < com.acme.A.run
6 "exec-2" RUNNABLE id=32/1284 < com.acme.A.run
dump 1 hotspot threads=2 truncated
`},
		{"escaped for HTML", "page.html", `<pre>
&quot;exec-1&quot; #31 prio=5 os_prio=0 tid=0x7f nid=0x503 waiting for monitor entry [0x00007f01]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at com.acme.A.&lt;init&gt;(A.java:1)
	- waiting to lock &lt;0x00000000f07967c8&gt; (a java.lang.Object)
</pre>
`, `
2 "exec-1" BLOCKED (on object monitor) id=31/1283 waits={0x00000000f07967c8 java.lang.Object  } partial < com.acme.A.<init>
dump 1 hotspot threads=1 truncated
`},
		{"VisualVM", "apps.tdump", `2026-03-14 10:02:07
Full thread dump OpenJDK 64-Bit Server VM (17+35-2724 mixed mode, sharing):

"ajp-bio-8009-exec-7" - Thread t@2282
   java.lang.Thread.State: BLOCKED
	at com.acme.shop.Price.get(Price.java:12)
	- waiting to lock <5f51813b> (a java.lang.Object) owned by "ajp-bio-8009-exec-3" t@2270
	at java.base@17/java.util.concurrent.ThreadPoolExecutor$Worker.run(ThreadPoolExecutor.java:635)

   Locked ownable synchronizers:
	- locked <207e7ac1> (a java.util.concurrent.ThreadPoolExecutor$Worker)

"no number"
   java.lang.Thread.State: WAITING
	at java.base@17/java.lang.Object.wait(Native Method)
	- waiting on <3f51813b> (a java.lang.Object)
	at com.acme.shop.Price.get(Price.java:12)
	- locked <3f51813b> (a java.lang.Object)

   Locked ownable synchronizers:
	- None
`, `
4 "ajp-bio-8009-exec-7" BLOCKED id=2282/ waits={5f51813b java.lang.Object ajp-bio-8009-exec-3 2270} holds=207e7ac1/java.util.concurrent.ThreadPoolExecutor$Worker working=yes < com.acme.shop.Price.get < java.util.concurrent.ThreadPoolExecutor$Worker.run
13 "no number" WAITING waits={3f51813b java.lang.Object  } < java.lang.Object.wait < com.acme.shop.Price.get
dump 1 jmx threads=2 version=17+35-2724 at 2026-03-14T10:02:07Z
`},
		{"debugger", "idea.txt", `Full thread dump

"main@1" prio=5 tid=0x1 nid=NA waiting
  java.lang.Thread.State: WAITING
	 blocks pool-1-thread-1@9887
	  at jdk.internal.misc.Unsafe.park(Unsafe.java:-1)
	  - locked <0x2705> (a java.lang.Object)
	  at com.acme.A.run(A.java:1)

"pool-1-thread-1@9887" prio=5 tid=0x11 nid=NA waiting for monitor entry
  java.lang.Thread.State: BLOCKED
	 waiting for main@1 to release lock on <0x2705> (a java.lang.Object)
	  at com.acme.A.go(A.java:5)
`, `
3 "main" WAITING id=1/ holds=0x2705/java.lang.Object < jdk.internal.misc.Unsafe.park < com.acme.A.run
10 "pool-1-thread-1" BLOCKED id=9887/ waits={0x2705 java.lang.Object main 1} < com.acme.A.go
dump 1 debugger threads=2
`},
		{"web analyser", "copy.txt", `exec-4 - priority:5 - threadId:0x00007fb748117800 - nativeId:0x202 - nativeId (decimal):514 - state:WAITING
stackTrace:
java.lang.Thread.State: WAITING (parking)
at sun.misc.Unsafe.park(Native Method)
- parking to wait for <0x00000000ffbb8808> (a java.util.concurrent.FutureTask)
at com.acme.A.run(A.java:1)
Locked ownable synchronizers:
- None
`, `
1 "exec-4" WAITING (parking) id=/514 waits={0x00000000ffbb8808 java.util.concurrent.FutureTask  } < sun.misc.Unsafe.park < com.acme.A.run
dump 1 hotspot threads=1
`},
		{"jstack -F before 9", "f.txt", `Attaching to process ID 42, please wait...
Debugger attached successfully.
Server compiler detected.
JVM version is 25.221-b11
Deadlock Detection:

No deadlocks found.

Thread 12345: (state = BLOCKED)
 - java.lang.Thread.sleep(long) @bci=0 (Compiled frame; information may be imprecise)
 - com.acme.A.run(int) @bci=12, line=41 (Interpreted frame)


Thread 12346: (state = IN_NATIVE)
 - java.net.SocketInputStream.socketRead0(java.io.FileDescriptor, byte[], int, int, int) @bci=0 (Interpreted frame)
`, `
9 "" TIMED_WAITING id=/12345 < java.lang.Thread.sleep < com.acme.A.run
14 "" RUNNABLE id=/12346 < java.net.SocketInputStream.socketRead0
dump 1 jhsdb threads=2 version=25.221-b11 nostate
`},
		{"deadlock with a thread that leads into the cycle", "d.txt", `Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6-LTS mixed mode, sharing):

"a" #31 prio=5 os_prio=0 tid=0x7f nid=0x503 waiting for monitor entry [0x00007f01]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at com.acme.A.run(A.java:1)

JNI global refs: 17, weak refs: 0


Found one Java-level deadlock:
=============================
"c":
  waiting to lock monitor 0x01 (object 0x0a, a java.lang.Object),
  which is held by "a"

"a":
  waiting to lock monitor 0x02 (object 0x0b, a java.lang.Object),
  which is held by "b"

"b":
  waiting for ownable synchronizer 0x0c, (a java.util.concurrent.locks.ReentrantLock$FairSync),
  in JNI, which is held by "a"

Java stack information for the threads listed above:
===================================================
"c":
	at com.acme.A.run(A.java:1)
	- waiting to lock <0x0a> (a java.lang.Object)
"a":
	at com.acme.A.run(A.java:1)

Found 1 deadlock.

Heap
 PSYoungGen      total 76288K, used 5243K [0x000000076ab00000, 0x0000000770000000, 0x00000007c0000000)
  eden space 65536K, 8% used [0x000000076ab00000,0x000000076b01ee18,0x000000076eb00000)
 ParOldGen       total 175104K, used 174000K [0x00000006c0000000, 0x00000006cab00000, 0x00000006cab00000)
 Metaspace       used 2584K, capacity 4486K, committed 4864K, reserved 1056768K

 num     #instances         #bytes  class name
`, `
3 "a" BLOCKED (on object monitor) id=31/1283 < com.acme.A.run
dump 1 hotspot threads=1 version=17.0.15+6-LTS heap=0.99 deadlocks=[[{a java.lang.Object 0x0b b} {b java.util.concurrent.locks.ReentrantLock$FairSync 0x0c a}]]
`},
		{"virtual threads on carriers", "v.txt", `Full thread dump OpenJDK 64-Bit Server VM (21.0.2+13 mixed mode, sharing):

"ForkJoinPool-1-worker-1" #24 [32268] daemon prio=5 os_prio=0 cpu=3.73ms elapsed=4.17s tid=0x7f  [0x00007f01]
   Carrying virtual thread #40
	at jdk.internal.vm.Continuation.run(java.base@21.0.2/Continuation.java:251)
   Mounted virtual thread #40
	at java.lang.VirtualThread.parkOnCarrierThread(java.base@21.0.2/VirtualThread.java:677)
	- locked <0x0a> (a java.lang.Object)
	at com.acme.A.run(A.java:1)

   Locked ownable synchronizers:
	- None

JNI global refs: 17, weak refs: 0
`, `
3 "ForkJoinPool-1-worker-1" RUNNABLE id=24/32268 cpu=3.73ms elapsed=4.17s carrier < jdk.internal.vm.Continuation.run
6 "" WAITING id=40/ holds=0x0a/java.lang.Object virtual < java.lang.VirtualThread.parkOnCarrierThread < com.acme.A.run
dump 1 hotspot threads=1 version=21.0.2+13 virtual
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkJava(t, tt.file, tt.text, tt.want) })
	}
}

func FuzzJstack(f *testing.F) {
	fuzzFormat(f, "jstack", "\"a\" #1 prio=5 tid=0x1 nid=0x2 runnable [0x1]\n\tat a.b(C.java:1)\n", "Found one Java-level deadlock:\n\"a\":\n  which is held by \"a\"\n")
}

func FuzzThreadInfo(f *testing.F) { fuzzFormat(f, "threadinfo") }

func FuzzJavacore(f *testing.F) { fuzzFormat(f, "javacore") }
