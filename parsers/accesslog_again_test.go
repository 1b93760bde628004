package parsers

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// accessLine writes the i-th line of an access log in one of several layouts.
var accessVariants = map[string]func(i int) string{
	"combined": func(i int) string {
		return fmt.Sprintf(`10.20.9.%d - - [14/Mar/2026:09:%02d:%02d +0000] "GET /stock/%d HTTP/1.1" %d %d "-" "okhttp/4.12.0"`, i%50, i/60%60, i%60, i, 200+i%2*304, 300+i%90)
	},
	"common": func(i int) string {
		return fmt.Sprintf(`10.20.9.%d - - [14/Mar/2026:09:%02d:%02d +0000] "GET /stock/%d HTTP/1.1" %d %d`, i%50, i/60%60, i%60, i, 200+i%2*304, 300+i%90)
	},
	"vhost": func(i int) string {
		return fmt.Sprintf(`shop.example:443 10.20.9.%d - - [14/Mar/2026:09:%02d:%02d +0000] "GET /stock/%d HTTP/1.1" %d %d "-" "okhttp/4.12.0" 0.0%d`, i%50, i/60%60, i%60, i, 200+i%2*304, 300+i%90, 10+i%80)
	},
	"lists": func(i int) string {
		return fmt.Sprintf(`10.20.9.%d - - [14/Mar/2026:09:%02d:%02d +0000] "GET /stock/%d HTTP/1.1" %d %d "-" "okhttp/4.12.0" rt=0.0%d ua="10.20.0.11:8080" us="%d" urt="0.0%d"`, i%50, i/60%60, i%60, i, 200+i%2*304, 300+i%90, 10+i%80, 200+i%2*304, 10+i%80)
	},
	"json": func(i int) string {
		return fmt.Sprintf(`{"time":"2026-03-14T09:%02d:%02d+00:00","remote_addr":"10.20.9.%d","request":"GET /stock/%d HTTP/1.1","status":%d,"request_time":0.0%d}`, i/60%60, i%60, i%50, i, 200+i%2*304, 10+i%80)
	},
	"json with tries": func(i int) string {
		return fmt.Sprintf(`{"ts":"2026-03-14T09:%02d:%02d+00:00","verb":"GET","uri":"/stock/%d","code":%d,"upstream_addr":"10.20.0.11:8080","upstream_status":"%d"}`, i/60%60, i%60, i, 200+i%2*304, 200+i%2*304)
	},
	"pipes": func(i int) string {
		return fmt.Sprintf(`2026-03-14 09:%02d:%02d|10.20.9.%d|GET|/stock/%d|%d|%dms`, i/60%60, i%60, i%50, i, 200+i%2*304, 12+i%90)
	},
}

// TestAccessLayoutChanges puts logs of two layouts behind each other, the second
// beyond what layouts are first learned from: no line of either may be lost.
func TestAccessLayoutChanges(t *testing.T) {
	for first, a := range accessVariants {
		for second, b := range accessVariants {
			if first == second {
				continue
			}
			lengths := []int{45}
			if first == "lists" || second == "lists" {
				lengths = []int{5, 2000}
			}
			for _, more := range lengths {
				var text bytes.Buffer
				n := 0
				for ; text.Len() <= accessWindow; n++ {
					text.WriteString(a(n) + "\n")
				}
				for i := range more {
					text.WriteString(b(i) + "\n")
				}
				counts, skips := accessCounts(t, text.Bytes())
				if got := counts["ok"] + counts["timeout"]; got != n+more || counts["timeout"] != n/2+more/2 || len(skips) > 0 {
					t.Errorf("%s, then %d lines of %s: %d of %d lines, %d of them failed, skipped %v", first, more, second, got, n+more, counts["timeout"], skips)
				}
			}
		}
	}
}

// TestAccessLayoutsAlternate mixes the lines of all layouts, as virtual hosts
// that write into one file do.
func TestAccessLayoutsAlternate(t *testing.T) {
	var text bytes.Buffer
	names := []string{"combined", "common", "vhost", "lists", "json", "json with tries"}
	for i := range 9000 {
		text.WriteString(accessVariants[names[i%len(names)]](i/len(names)) + "\n")
	}
	counts, skips := accessCounts(t, text.Bytes())
	if counts["ok"] != 4500 || counts["timeout"] != 4500 || len(skips) > 0 {
		t.Errorf("%v, skipped %v", counts, skips)
	}
}

// TestAccessLinesThatFitNothing are counted, each at its place; records of an
// application in between are not.
func TestAccessLinesThatFitNothing(t *testing.T) {
	var text bytes.Buffer
	for i := range 200 {
		text.WriteString(accessVariants["lists"](i) + "\n")
	}
	text.WriteString(`10.20.9.3 - - [14/Mar/2026:09:12:33 +0000] "GET /stock/7 HTTP/1.1" 504 32` + "\n")                                            // 201: cut
	text.WriteString(`(no time) "GET /stock/8 HTTP/1.1" refused` + "\n")                                                                            // 202
	text.WriteString(`2026-03-14 09:12:33.123 ERROR 1 --- [exec-1] c.a.Client : GET http://stock/7 HTTP/1.1 failed` + "\n\tat a.b.C.d(C.java:1)\n") // 203: an application's
	counts, skips := accessCounts(t, text.Bytes())
	want := "map[201:access-log line is cut 202:access-log line that fits no layout]"
	if counts["ok"]+counts["timeout"] != 200 || fmt.Sprint(skips) != want {
		t.Errorf("%v, skipped %v, want %v", counts, skips, want)
	}
}

// accessCounts reads a log and counts how its requests ended.
func accessCounts(t *testing.T, text []byte) (counts map[string]int, skips map[int]string) {
	t.Helper()
	counts, skips = map[string]int{}, map[int]string{}
	in := NewInput("access.log", bytes.NewReader(text))
	in.Skip = func(line int, why string) { skips[line] = why }
	lines := strings.Split(string(text), "\n")
	err := Read(in, func(r *evidence.Record) error {
		if r.Access == nil {
			return nil
		}
		counts[r.Access.Outcome.String()]++
		if got := string(r.Raw); got != lines[r.Cite.Line-1] {
			t.Fatalf("line %d is cited as %q", r.Cite.Line, got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts, skips
}
