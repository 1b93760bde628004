package parsers

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// unwrapText returns the lines of a text as an input's Lines give them after
// detection, with their numbers where they are not one more than the last.
func unwrapText(text string, slow bool) (lines []string, in *Input) {
	var in2 *Input
	if slow {
		in2 = NewInput("test", iotest.OneByteReader(strings.NewReader(text)))
	} else {
		in2 = NewInput("test", strings.NewReader(text))
	}
	in2.Hint.Modified = fixtureModified
	in2.unwrap([]byte(text)[:min(len(text), wrapHead)])
	for in2.Lines.Next() {
		line := string(in2.Lines.Bytes())
		if at, source := in2.Lines.Origin(); !at.IsZero() || source != "" {
			line += "~"
			if source != "" {
				line += source
			}
			if !at.IsZero() {
				line += "@" + at.UTC().Format("15:04:05.999")
			}
		}
		lines = append(lines, fmt.Sprintf("%d:%s", in2.Lines.Number(), line))
	}
	return lines, in2
}

func TestUnwrap(t *testing.T) {
	part := strings.Repeat("x", dockerSplit)
	for _, c := range []struct {
		name string
		in   string
		want string // lines, each with its number
	}{
		{"nothing around", "2026-03-14T09:12:33.120Z INFO a\n2026-03-14T09:12:33.121Z INFO b\n", "1:2026-03-14T09:12:33.120Z INFO a\n2:2026-03-14T09:12:33.121Z INFO b"},
		{
			"docker", `{"log":"a \"b\"\u00e9\t\\\n","stream":"stdout","time":"2026-03-14T09:12:33.120Z"}` + "\n" + `{"log":"c\n","stream":"stderr","time":"2026-03-14T09:12:34Z"}` + "\n",
			"1:a \"b\"é\t\\~@09:12:33.12\n2:c~@09:12:34",
		},
		{
			"docker splits", `{"log":"` + part + `","stream":"stdout","time":"2026-03-14T09:12:33Z"}` + "\n" + `{"log":"end\n","stream":"stdout","time":"2026-03-14T09:12:34Z"}` + "\n" + `{"log":"c\n","stream":"stdout","time":"2026-03-14T09:12:35Z"}`,
			"1:" + part + "end~@09:12:33\n3:c~@09:12:35",
		},
		{"not docker", `{"log":"a","level":"info"}` + "\n", `1:{"log":"a","level":"info"}`},
		{"cri", "2026-03-14T09:12:33.1Z stdout P ab\n2026-03-14T09:12:33.2Z stdout F cd\n2026-03-14T09:12:34Z stderr F \tat x\n", "1:abcd~@09:12:33.1\n3:\tat x~@09:12:34"},
		{
			"kubectl timestamps", "2026-03-14T09:12:33.123456789Z 2026-03-14 17:12:33.120 INFO a\n2026-03-14T09:12:34.1Z \tat c.a.B(B.java:1)\n",
			"1:2026-03-14 17:12:33.120 INFO a~@09:12:33.123\n2:\tat c.a.B(B.java:1)~@09:12:34.1",
		},
		{
			"kubectl prefix around docker", `[pod/order-0/app] {"log":"a\n","stream":"stdout","time":"2026-03-14T09:12:33Z"}` + "\n" + `[pod/order-1/app] {"log":"b\n","stream":"stdout","time":"2026-03-14T09:12:33Z"}` + "\n",
			"1:a~order-0@09:12:33\n2:b~order-1@09:12:33",
		},
		{
			"stern", "+ order-7d9f8b6c5-x2x4z › app\norder-7d9f8b6c5-x2x4z app a b\norder-7d9f8b6c5-x2x4z app \tat c\norder-7d9f8b6c5-zz4kz app d\n",
			"2:a b~order-7d9f8b6c5-x2x4z\n3:\tat c~order-7d9f8b6c5-x2x4z\n4:d~order-7d9f8b6c5-zz4kz",
		},
		{"compose", "order-1  | a\nsql-1    | b\norder-1  | \tat c\norder-1  | d\norder-1  |\nsql-1    | e\n", "1:a~order-1\n2:b~sql-1\n3:\tat c~order-1\n4:d~order-1\n5:~order-1\n6:e~sql-1"},
		{"journal", "Mar 14 09:12:33 shop-1 order[123]: a\n                              b\nDec 31 09:12:34.5 shop-1 order[123]: c: d\n", "1:a~shop-1@09:12:33\n2:                              b~@00\n3:c: d~shop-1@09:12:34.5"},
		{"journal iso", "2026-03-14T09:12:33+0800 shop-1 order[1]: a\n2026-03-14T09:12:34+0800 shop-1 order[1]: b\n", "1:a~shop-1@01:12:33\n2:b~shop-1@01:12:34"},
		{
			"journal json", `{"MESSAGE":"a\nb","_HOSTNAME":"h","__REALTIME_TIMESTAMP":"1773479553000000"}` + "\n" + `{"MESSAGE":[97,98],"__REALTIME_TIMESTAMP":"1773479554000000"}` + "\n",
			"1:a~h@09:12:33\n1:b~h@09:12:33\n2:ab~@09:12:34",
		},
		{"journal export", "__CURSOR=s\n__REALTIME_TIMESTAMP=1773479553000000\n_HOSTNAME=h\nMESSAGE=a=b\nPRIORITY=6\n\n__REALTIME_TIMESTAMP=1773479554000000\nMESSAGE=c\n", "4:a=b~h@09:12:33\n8:c~h@09:12:34"},
		{"quoted", "> > a\n> >   b\n>\n> c\n", "1:a\n2:  b\n3:\n4:c"},
		{"fenced numbers", "```text\n  8\ta\n  9\tb\n 10\t\n 11\tc\n 12\td\n 13\te\n```\n", "1:\n2:a\n3:b\n4:\n5:c\n6:d\n7:e\n8:"},
		{"numbers that count something else", "12 [main] a\n15 [main] b\n19 [main] c\n25 [main] d\n29 [main] e\n", "1:12 [main] a\n2:15 [main] b\n3:19 [main] c\n4:25 [main] d\n5:29 [main] e"},
		{"grep", "logs/a.log:12:x: 1\nlogs/a.log-13-\tat y\n--\nb.log.1:7:z\n", "1:x: 1~logs/a.log\n2:\tat y~logs/a.log\n4:z~b.log.1"},
		{"backticks", "`a`\n`b c`\n\n`d`\n", "1:a\n2:b c\n3:\n4:d"},
		{"a table", " id | name\n----+------\n  1 | a\n  2 | b\n  3 | c\n  4 | d\n  5 | e\n", "1: id | name\n2:----+------\n3:  1 | a\n4:  2 | b\n5:  3 | c\n6:  4 | d\n7:  5 | e"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, slow := range []bool{false, true} {
				lines, _ := unwrapText(c.in, slow)
				got := strings.Join(lines, "\n")
				got = strings.ReplaceAll(got, "~@00\n", "\n")
				if want := strings.ReplaceAll(c.want, "~@00\n", "\n"); got != want {
					t.Errorf("slow %v\n got: %.400q\nwant: %.400q", slow, got, want)
				}
			}
		})
	}
}

// wrapAt breaks the lines of a text as a terminal of a width does.
func wrapAt(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		for len(line) > width {
			b.WriteString(line[:width] + "\n")
			line = line[width:]
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

const wrapSample = `2026-03-14 09:12:33.120 WARN  [DubboServerHandler-10.20.1.21:20880-thread-200] o.a.d.c.t.s.AbortPolicyWithReport - [DUBBO] Thread pool is EXHAUSTED! Thread Name: DubboServerHandler-10.20.1.21:20880, Pool Size: 200 (active: 200, core: 200, max: 200, largest: 200), Task: 5321 (completed: 5121), Executor status:(isShutdown:false, isTerminated:false, isTerminating:false), in dubbo://10.20.1.21:20880!
java.util.concurrent.RejectedExecutionException: Thread pool is EXHAUSTED! Thread Name: DubboServerHandler-10.20.1.21:20880
	at org.apache.dubbo.common.threadpool.support.AbortPolicyWithReport.rejectedExecution(AbortPolicyWithReport.java:121)
	at java.base/java.util.concurrent.ThreadPoolExecutor.reject(ThreadPoolExecutor.java:825)
2026-03-14 09:12:33.121 INFO  [main] c.a.s.Order - ok
2026-03-14 09:12:33.122 ERROR [main] c.a.s.Order - order 20260314000117 could not be placed because the stock service did not answer in time
`

func TestRewrap(t *testing.T) {
	for _, width := range []int{60, 72, 80, 100, 120, 132, 160} {
		lines, in := unwrapText(wrapAt(wrapSample, width), false)
		if in.Lines.width != width {
			t.Errorf("width %d is taken for %d", width, in.Lines.width)
		}
		var got strings.Builder
		for _, l := range lines {
			_, text, _ := strings.Cut(l, ":")
			got.WriteString(text + "\n")
		}
		if got.String() != wrapSample {
			t.Errorf("width %d gives\n%s", width, got.String())
		}
	}
	if _, in := unwrapText(wrapSample, false); in.Lines.width != 0 {
		t.Errorf("a text that was not broken is taken for one broken at %d", in.Lines.width)
	}
}

// The widest line of thousands of equal goroutines is the same each time.
func TestEqualGoroutinesAreNotJoined(t *testing.T) {
	one := `goroutine 7 [select]:
runtime.selectgo(0xc0001a7f50, 0xc0001a7e70, 0x0?, 0x0, 0x0?, 0x1)
	/usr/local/go/src/runtime/select.go:327 +0x725 fp=0xc0001a7e28 sp=0xc0001a7d08 pc=0x44f3c5
acme.com/shop.(*Worker).run(0xc000000007)
	/src/shop/worker.go:88 +0xa5 fp=0xc0001a7fc8 sp=0xc0001a7e28 pc=0x6d0c45

`
	text := strings.Repeat(one, 30)
	if lines, in := unwrapText(text, false); len(lines) != strings.Count(text, "\n") || in.Lines.width != 0 {
		t.Errorf("%d lines, width %d", len(lines), in.Lines.width)
	}
}

func TestOrdinaryLinesOfOneWidthAreNotJoined(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "%s INFO [main] c.a.s.Order - order %08d was placed and paid for at last\n", time.Date(2026, 3, 14, 9, 12, i, 0, time.UTC).Format(time.DateTime), i)
	}
	text := b.String()
	if lines, in := unwrapText(text, false); len(lines) != 40 || in.Lines.width != 0 {
		t.Errorf("%d lines, width %d", len(lines), in.Lines.width)
	}
}
