package parsers

import (
	"strings"
	"testing"
)

const twoActuatorThreads = `{"threads":[{"threadName":"exec-1","threadId":31,"blockedTime":-1,"lockName":"java.lang.Object@4a57","lockOwnerId":32,"lockOwnerName":"exec-2","inNative":false,"threadState":"BLOCKED","stackTrace":[{"methodName":"get","fileName":"Price.java","lineNumber":12,"className":"com.acme.shop.Price","nativeMethod":false}],"lockedMonitors":[],"lockedSynchronizers":[{"className":"java.util.concurrent.ThreadPoolExecutor$Worker","identityHashCode":255}],"lockInfo":{"className":"java.lang.Object","identityHashCode":19031}},{"threadName":"exec-2","threadId":32,"threadState":"RUNNABLE","inNative":true,"stackTrace":[{"methodName":"read0","fileName":"SocketDispatcher.java","lineNumber":-2,"className":"sun.nio.ch.SocketDispatcher","nativeMethod":true}],"lockedMonitors":[{"className":"java.lang.Object","identityHashCode":19031,"lockedStackDepth":0}],"lockedSynchronizers":[],"lockInfo":null}]}`

const twoActuatorWant = ` "exec-1" BLOCKED id=31/ waits={4a57 java.lang.Object exec-2 32} holds=ff/java.util.concurrent.ThreadPoolExecutor$Worker working=yes < com.acme.shop.Price.get
? "exec-2" RUNNABLE (in native) id=32/ holds=4a57/java.lang.Object < sun.nio.ch.SocketDispatcher.read0
`

func TestJavaJSON(t *testing.T) {
	at := func(line string) string {
		return line + strings.ReplaceAll(twoActuatorWant, "?", line) + "dump 1 actuator threads=2"
	}
	pretty := strings.NewReplacer(`{"threads":[{`, "{\n  \"threads\" : [ {\n", `,"threadId"`, ",\n\"threadId\"", `},{"threadName"`, "}, {\n\"threadName\"", `"lockInfo":null}]}`, "\"lockInfo\":null } ]\n}").Replace(twoActuatorThreads)
	tests := []struct{ name, file, text, want string }{
		{"HTTP headers in front", "dump.txt", "HTTP/1.1 200 OK\r\nDate: Sat, 14 Mar 2026 10:02:07 GMT\r\n\r\n" + twoActuatorThreads, at("4") + " at 2026-03-14T10:02:07Z zoned\n"},
		{"byte-order mark and a name with a time", "threaddump-20260314-100207.json", "\ufeff" + twoActuatorThreads, at("1") + " at 2026-03-14T10:02:07Z\n"},
		{"in a text, on one line", "notes.txt", "$ curl -s localhost:8080/actuator/threaddump\n" + twoActuatorThreads + "\nthat is all\n", at("2") + "\n"},
		{"two documents", "d.json", twoActuatorThreads + "\n" + twoActuatorThreads + "\n", at("1") + "\n" + strings.ReplaceAll(at("2"), "dump 1", "dump 2") + "\n"},
		{"ends in the middle", "d.json", strings.TrimSuffix(twoActuatorThreads, `,"lockInfo":null}]}`), "1" + strings.Split(twoActuatorWant, "\n")[0] + "\nskip 1 JSON ends in the middle\ndump 1 actuator threads=1 truncated\n"},
		{"JDK 21: strings, no state, escaped slashes", "d.json", `{
  "threadDump": {
    "processId": "42",
    "time": "2026-03-14T10:02:07.5Z",
    "runtimeVersion": "21.0.2+13-LTS",
    "threadContainers": [
      { "container": "<root>", "parent": null, "owner": null,
        "threads": [
          {"tid": "1", "name": "main", "stack": ["java.base\/java.lang.Thread.sleep0(Native Method)", "java.base\/java.lang.Thread.sleep(Thread.java:509)"]}
        ], "threadCount": "1" },
      { "container": "java.util.concurrent.ThreadPerTaskExecutor@6882eac", "parent": "<root>", "owner": null,
        "threads": [
          {"tid": "22", "name": "", "stack": ["java.base\/java.lang.VirtualThread.park(VirtualThread.java:596)", "java.base\/java.lang.VirtualThread.run(VirtualThread.java:329)"]}
        ], "threadCount": "9" }
    ]
  }
}
`, `
9 "main" TIMED_WAITING id=1/ < java.lang.Thread.sleep0 < java.lang.Thread.sleep
13 "" WAITING id=22/ virtual in java.util.concurrent.ThreadPerTaskExecutor@6882eac < java.lang.VirtualThread.park < java.lang.VirtualThread.run
dump 1 dump-to-file threads=2 version=21.0.2+13-LTS declared=10 nostate at 2026-03-14T10:02:07.5Z zoned
`},
		{"format version 2: numbers", "d.json", `{"threadDump":{"formatVersion":2,"processId":42,"time":"2026-03-14T10:02:07Z","runtimeVersion":"27","threadContainers":[{"container":"<root>","threads":[` +
			`{"tid":7,"time":"2026-03-14T10:02:07Z","name":"w","state":"BLOCKED","virtual":true,"carrier":26,"blockedOn":"java.lang.Object@1f","stack":["com.acme.A.run(A.java:1)"],"monitorsOwned":[{"depth":0,"locks":["java.lang.Object@2f",null]}]},` +
			`{"tid":8,"name":"p","state":"WAITING","parkBlocker":{"object":"java.util.concurrent.locks.ReentrantLock$NonfairSync@3f","owner":7},"stack":[]}],"threadCount":2}]}}`, `
1 "w" BLOCKED id=7/ waits={1f java.lang.Object  } holds=2f/java.lang.Object virtual < com.acme.A.run
1 "p" WAITING id=8/ waits={3f java.util.concurrent.locks.ReentrantLock$NonfairSync  7}
dump 1 dump-to-file threads=2 version=27 declared=2 at 2026-03-14T10:02:07Z zoned
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkJava(t, tt.file, tt.text, tt.want) })
	}
	t.Run("in a text, on many lines", func(t *testing.T) {
		got := javaSummary(t, "notes.txt", "we called it\n"+pretty+"\nthen\n\"w\" Id=4 RUNNABLE\n")
		for _, want := range []string{`"exec-1" BLOCKED id=31/`, `"exec-2" RUNNABLE`, "dump 1 actuator threads=2\n", `"w" RUNNABLE id=4/`, "dump 2 threadinfo threads=1\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("no %s in\n%s", want, got)
			}
		}
	})
}

func FuzzActuator(f *testing.F) {
	fuzzFormat(f, "actuator", twoActuatorThreads, "\n"+`"threads" : [ {`, `{"threadDump":{"threadContainers":[{"threads":[{"tid":1}]}]}}`)
}

func FuzzDumpToFile(f *testing.F) { fuzzFormat(f, "dump-to-file") }

func BenchmarkActuator(b *testing.B) {
	benchFixture(b, "../testdata/actuator/jdk-17-spring-boot-2.7.json")
}
