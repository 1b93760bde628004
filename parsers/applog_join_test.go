package parsers

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

const exhaustedLine = "Thread pool is EXHAUSTED! Thread Name: DubboServerHandler-10.20.0.11:20880, Pool Size: 200 (active: 200, core: 200, max: 200, largest: 200), Task: 845213 (completed: 845013), Executor status:(isShutdown:false, isTerminated:false, isTerminating:false), in dubbo://10.20.0.11:20880!"

// said reads a text and tells each record in a line.
func said(t *testing.T, in *Input) []string {
	t.Helper()
	in.Hint.Modified = fixtureModified
	var got []string
	in.Skip = func(line int, why string) { got = append(got, fmt.Sprintf("%d skip %s", line, why)) }
	err := Text(in, func(r *evidence.Record) error {
		what := "?"
		switch {
		case r.Pool != nil:
			what = fmt.Sprintf("pool %s relayed=%t shutdown=%t", r.Pool.Name, r.Pool.Relayed, r.Pool.Shutdown)
		case r.Tries != nil:
			what = fmt.Sprintf("tries %s %d %s", r.Tries.Method, r.Tries.Attempts, r.Tries.Outcome)
		case r.Attempt != nil:
			what = fmt.Sprintf("attempt %s %s last=%t", r.Attempt.Method, r.Attempt.Outcome, r.Attempt.LastOf)
		case r.Route != nil:
			what = fmt.Sprintf("route %s empty=%t", r.Route.Service, r.Route.Empty)
		case r.Policy != nil:
			what = "policy"
		case r.Mark != nil:
			what = "mark " + r.Mark.Kind
		}
		when := "-"
		if !r.Time.IsZero() {
			when = r.Time.Format("15:04:05.000")
		}
		got = append(got, fmt.Sprintf("%d %s %s", r.Cite.Line, when, what))
		for i := range r.Raw {
			r.Raw[i] = 0xff
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestJoin(t *testing.T) {
	const (
		timeout = "Invoke remote method timeout. method: place, provider: dubbo://10.20.0.11:20880/a.B?x=1, cause: Timeout after 1000ms waiting for result."
		trace   = "\tat a.b.C.d(C.java:1)\n\tat a.b.C.e(C.java:2)\n"
	)
	tests := []struct{ name, text, want string }{
		{"a record of several lines", "2026-03-14 09:12:33.123 ERROR 1 --- [main] a.B : failed\na.b.RpcException: " + timeout + "\n" + trace + "Caused by: x.Y: " + timeout + "\n" + trace + "2026-03-14 09:12:34.123  INFO 1 --- [main] a.B : fine\n", "2 09:12:33.123 attempt place timeout last=false"},
		{"the head is cut", trace + "Caused by: x.Y: " + timeout + "\n" + trace + "2026-03-14 09:12:34.123  INFO 1 --- [main] a.B : fine\n", "3 - attempt place timeout last=false"},
		{"the end is cut", "2026-03-14 09:12:33.123 ERROR 1 --- [main] a.B : failed\na.b.RpcException: " + timeout, "2 09:12:33.123 attempt place timeout last=false"},
		{"no headers at all", "[DUBBO] " + exhaustedLine + "\n[DUBBO] " + exhaustedLine + "\nsomething else\n", "1 - pool DubboServerHandler-10.20.0.11:20880 relayed=false shutdown=false|2 - pool DubboServerHandler-10.20.0.11:20880 relayed=false shutdown=false"},
		{"java.util.logging", "Mar 14, 2026 9:12:33 AM a.b.C place\nWARNING: " + timeout + "\nMar 14, 2026 9:12:34 AM a.b.C place\nINFO: fine\n", "2 09:12:33.000 attempt place timeout last=false"},
		{"a message that continues with a date", "2026-03-14 09:12:33.123 ERROR 1 --- [main] a.B : failed\n2026-03-14 09:12:30.000  INFO 1 --- [main] a.B : fine\n2026-03-14 09:12:33.123 ERROR 1 --- [main] a.B : window\n2026-03-14 to 2026-03-15\n2026/03/14 09:00:00 began\n" + timeout + "\n", "6 09:12:33.123 attempt place timeout last=false|1 09:12:33.123 mark app.error"},
		{"only levels", "INFO a.B - fine\nERROR a.B - failed\na.b.RpcException: " + timeout + "\n" + trace + "INFO a.B - fine\n", "3 - attempt place timeout last=false"},
		{"the exception repeats the line", "2026-03-14 09:12:33,123 [w-1] WARN a.B -  [DUBBO] " + exhaustedLine + "\n2026-03-14 09:12:33,124 [w-1] ERROR a.C - caught\njava.util.concurrent.RejectedExecutionException: " + exhaustedLine + "\n" + trace, "1 09:12:33.123 pool DubboServerHandler-10.20.0.11:20880 relayed=false shutdown=false"},
		{"two refusals with the same numbers", strings.Repeat("2026-03-14 09:12:33,123 [w-1] WARN a.B -  [DUBBO] "+exhaustedLine+"\n", 2), "1 09:12:33.123 pool DubboServerHandler-10.20.0.11:20880 relayed=false shutdown=false|2 09:12:33.123 pool DubboServerHandler-10.20.0.11:20880 relayed=false shutdown=false"},
		{"coloured", "\x1b[2m2026-03-14 09:12:33.123\x1b[0m \x1b[31mERROR\x1b[0m 1 --- [main] \x1b[36ma.B\x1b[0m : failed\na.b.RpcException: " + timeout + "\n", "2 09:12:33.123 attempt place timeout last=false"},
		{"Windows", "2026-03-14 09:12:33.123 ERROR 1 --- [main] a.B : failed\r\na.b.RpcException: " + timeout + "\r\n", "2 09:12:33.123 attempt place timeout last=false"},
		{"cut in the list", "2026-03-14 09:12:33.123 ERROR 1 --- [main] a.B : Failed to invoke the method place in the service a.B. Tried 3 times of the providers [10.20.0.12:20880, 10.2\n", "1 09:12:33.123 tries place 3 failed|1 09:12:33.123 policy"},
		{"log4j2's short traces glue records", "2026-03-14 09:12:33.123 ERROR [main] a.B - x\n" + timeout + "\n\n2026-03-14 09:12:34.123 INFO [main] a.B - fine\n", "2 09:12:33.123 attempt place timeout last=false"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(said(t, NewInput("app.log", strings.NewReader(tt.text))), "|")
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", strings.ReplaceAll(got, "|", "\n"), strings.ReplaceAll(tt.want, "|", "\n"))
			}
			slow := strings.Join(said(t, NewInput("app.log", iotest.OneByteReader(strings.NewReader(tt.text)))), "|")
			if slow != got {
				t.Errorf("one byte at a time:\n%s", slow)
			}
		})
	}
}

// Two pods write into one stream; each line says whose it is.
func TestJoinStreams(t *testing.T) {
	text := "" +
		"order-7f9c8d6b5-x2x4z 2026-03-14 09:12:33.123 ERROR 1 --- [main] a.B : failed\n" +
		"stock-0 2026-03-14 09:12:33.200  INFO 1 --- [main] a.B : fine\n" +
		"order-7f9c8d6b5-x2x4z a.b.RpcException: Invoke remote method timeout. method: place, provider: dubbo://10.20.0.11:20880/a.B?x=1, cause: Timeout after 1000ms waiting for result.\n" +
		"stock-0 \tat a.b.C.d(C.java:1)\n" +
		"order-7f9c8d6b5-x2x4z \tat a.b.C.d(C.java:1)\n"
	in := NewInput("pods.log", strings.NewReader(text))
	in.Lines.SetUnwrap(func(line []byte) ([]byte, bool) {
		pod, rest, _ := bytes.Cut(line, []byte{' '})
		in.Lines.SetOrigin(time.Date(2026, 3, 14, 9, 12, 33, 0, time.UTC), string(pod))
		return rest, false
	})
	var places []evidence.Place
	err := Text(in, func(r *evidence.Record) error {
		places = append(places, r.Place)
		if r.Cite.Line != 3 {
			t.Errorf("cited line %d", r.Cite.Line)
		}
		if !bytes.Contains(r.Raw, []byte("failed\na.b.RpcException")) {
			t.Errorf("joined wrongly: %q", r.Raw)
		}
		return nil
	})
	if err != nil || len(places) != 1 || places[0].Service != "order" || places[0].Instance != "order-7f9c8d6b5-x2x4z" {
		t.Errorf("got %v, %v", places, err)
	}
}

func TestLongRecord(t *testing.T) {
	text := "2026-03-14 09:12:33.123 ERROR 1 --- [main] a.B : [DUBBO] " + exhaustedLine + "\n" + strings.Repeat("\tat a.b.C.d(C.java:1)\n", 6000) +
		"2026-03-14 09:12:33.124 WARN 1 --- [main] a.B : [DUBBO] " + exhaustedLine + "\n"
	got := said(t, NewInput("app.log", strings.NewReader(text)))
	if len(got) != 3 || got[0] != "5001 skip log record too long" || !strings.HasPrefix(got[2], "6002 09:12:33.124 pool") {
		t.Errorf("got %q", got)
	}
}

func TestWorkloads(t *testing.T) {
	for pod, want := range map[string]string{
		"order-provider-7f9c8d6b5-x2x4z": "order-provider",
		"order-0":                        "order",
		"order-provider-x2x4z":           "order-provider",
		"order-provider":                 "order-provider",
		"order":                          "order",
		"shop-order-1":                   "shop-order",
	} {
		if got := workloadOf(pod); got != want {
			t.Errorf("%s: got %s, want %s", pod, got, want)
		}
	}
}

func FuzzAppLog(f *testing.F) { fuzzFormat(f, "app-log") }
