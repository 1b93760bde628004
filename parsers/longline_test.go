package parsers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// TestLongFirstLines reads access logs whose first lines are longer than what is
// looked at to tell them.
func TestLongFirstLines(t *testing.T) {
	var log strings.Builder
	for i := range 200 {
		fmt.Fprintf(&log, "10.20.0.9 - - [14/Mar/2026:09:12:%02d +0000] \"GET /pay?order=%d HTTP/1.1\" 200 12\n", i%60, i)
	}
	docker := func(text string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			fmt.Fprintf(&b, "{\"log\":%q,\"stream\":\"stdout\",\"time\":\"2026-03-14T09:12:33.1Z\"}\n", line)
		}
		return b.String()
	}
	long := func(n int) string {
		return "10.20.0.9 - - [14/Mar/2026:09:12:00 +0000] \"GET /pay?data=" + strings.Repeat("x", n) + " HTTP/1.1\" 414 12\n"
	}
	for name, text := range map[string]string{
		"no long line":         log.String(),
		"70 KB":                long(70<<10) + log.String(),
		"three of them":        long(70<<10) + long(90<<10) + long(200<<10) + log.String(),
		"behind a line":        "10.20.0.9 - - [14/Mar/2026:09:12:00 +0000] \"GET /pay?order=0 HTTP/1.1\" 200 12\n" + long(100<<10) + log.String(),
		"two megabytes":        long(2<<20) + log.String(),
		"no request":           strings.Repeat("x", 100<<10) + "\n" + log.String(),
		"in a container's log": docker(strings.Repeat("x", 100<<10) + "\n" + log.String()),
	} {
		n := 0
		if err := Read(NewInput("access.log", strings.NewReader(text)), func(r *evidence.Record) error {
			if r.Access != nil {
				n++
			}
			return nil
		}); err != nil || n < 200 {
			t.Errorf("%s: %d lines, error %v", name, n, err)
		}
	}
}

// TestListsAreNotJoined has a few lines of one length, each whole.
func TestListsAreNotJoined(t *testing.T) {
	for _, text := range []string{
		"process_cpu_seconds_total{db_name=\"shop\"} 31\ngo_sql_in_use_connections{db_name=\"ab\"} 3\ngo_sql_max_open_connections{db_nam=\"\"} 9\ntomcat_threads_busy_threads{name=\"nio\"} 20\n",
		"# a list\nhikaricp_connections_active{pool=\"shop\"} 310\nprocess_start_time_seconds{pool=\"shop1\"} 310\ngo_sql_in_use_connections{db_name=\"sho\"} 310\ntomcat_threads_busy_threads{name=\"nio\"} 310\nup 1\n",
		"10.20.0.9 - - [14/Mar/2026:09:12:33 +0000] \"GET /pay HTTP/1.1\" 200 12\n10.20.0.9 - - [14/Mar/2026:09:12:34 +0000] \"GET /pay HTTP/1.1\" 200 12\n172.2.0.9 - - [14/Mar/2026:09:12:35 +0000] \"GET /pay HTTP/1.1\" 200 12\n\n",
	} {
		if lines, in := unwrapText(text, false); len(lines) != strings.Count(text, "\n") || in.Lines.width != 0 {
			t.Errorf("%d lines, width %d: %s", len(lines), in.Lines.width, text)
		}
	}
}
