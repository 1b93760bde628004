package parsers

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// records reads a text and keeps its records.
func records(t testing.TB, name string, data []byte) []*evidence.Record {
	t.Helper()
	var all []*evidence.Record
	err := Read(NewInput(name, bytes.NewReader(data)), func(r *evidence.Record) error {
		all = append(all, r.Clone())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The same process, dumped in three forms, shows the same functions.
func TestGoroutineFormsAgree(t *testing.T) {
	shapes := func(path string) map[string]int {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, r := range records(t, path, data) {
			s := r.Stack
			if s == nil || s.Cut {
				continue
			}
			var names []string
			for _, f := range s.Frames {
				if !isGoRuntime(f.Func) {
					names = append(names, f.Func)
				}
			}
			key := strings.Join(names, " ")
			if strings.Contains(key, "runtime/pprof.(*Profile).WriteTo") {
				continue // the writer itself goes another way each time
			}
			counts[key] += s.Count
		}
		return counts
	}
	want := shapes("../testdata/goroutine/go-1.26-shop-debug2.txt")
	if len(want) < 15 {
		t.Fatalf("%d shapes", len(want))
	}
	for _, path := range []string{"../testdata/goroutine/go-1.26-shop-debug1.txt", "../testdata/goroutine-pprof/go-1.26-shop.pb"} {
		got := shapes(path)
		for _, k := range slices.Sorted(maps.Keys(want)) {
			if got[k] != want[k] {
				t.Errorf("%s: %d goroutines, want %d: %s", path, got[k], want[k], k)
			}
		}
	}
}

func TestGoHeader(t *testing.T) {
	for _, c := range []struct {
		line, id, detail string
		state            evidence.State
		waited           time.Duration
		labels           string
	}{
		{"goroutine 1 [running]:", "1", "running", evidence.StateRunnable, evidence.None, ""},
		{"goroutine 7 [IO wait, 3 minutes]:", "7", "IO wait", evidence.StateWaiting, 3 * time.Minute, ""},
		{"goroutine 7 [select, 1440 minutes, locked to thread]:", "7", "select", evidence.StateWaiting, 24 * time.Hour, ""},
		{"goroutine 0 gp=0xa56a60 m=0 mp=0xa57a00 [idle]:", "0", "idle", evidence.StateWaiting, evidence.None, ""},
		{"goroutine 18 gp=0xc000102e00 m=nil [chan receive (scan)]:", "18", "chan receive", evidence.StateWaiting, evidence.None, ""},
		{"goroutine 18 [chan send (leaked)]:", "18", "chan send (leaked)", evidence.StateWaiting, evidence.None, ""},
		{"goroutine 18 [chan receive (durable), synctest bubble 3]:", "18", "chan receive", evidence.StateWaiting, evidence.None, ""},
		{"goroutine 18 [sync.Mutex.Lock]:", "18", "sync.Mutex.Lock", evidence.StateBlocked, evidence.None, ""},
		{"goroutine 18 [sleep]:", "18", "sleep", evidence.StateTimedWaiting, evidence.None, ""},
		{"goroutine 18 [chan receive (nil chan)]:", "18", "chan receive (nil chan)", evidence.StateWaiting, evidence.None, ""},
		{`goroutine 18 [chan receive, 2 minutes labels:{"a": "x]y", "b": "\"q\""}]:`, "18", "chan receive", evidence.StateWaiting, 2 * time.Minute, `map[a:x]y b:"q"]`},
		{`goroutine 18 [select] {"a": "1"}:`, "18", "select", evidence.StateWaiting, evidence.None, `map[a:1]`},
	} {
		h, ok := parseGoHeader([]byte(c.line))
		if !ok {
			t.Errorf("%s: not a header", c.line)
			continue
		}
		s := parseGoStatus(string(h.status))
		labels := ""
		if len(h.labels) > 0 {
			labels = fmt.Sprint(parseGoLabels(h.labels))
		}
		if string(h.id) != c.id || s.detail != c.detail || s.state != c.state || s.waited != c.waited || labels != c.labels {
			t.Errorf("%s: got %s %+v %s", c.line, h.id, s, labels)
		}
	}
	for _, line := range []string{
		"goroutine 5", "goroutine x [running]:", "goroutine 5 [running]", "goroutine 5 [running]: and more",
		"created by main.main in goroutine 1", "[originating from goroutine 1]:", "goroutine [running]:",
	} {
		if at := goroutineAt([]byte(line)); at >= 0 {
			t.Errorf("%s: taken for a header", line)
		}
	}
}

// A prefix on every line, of whatever shape, changes nothing but the lines' text.
func TestGoroutinePrefixes(t *testing.T) {
	data, err := os.ReadFile("../testdata/goroutine/go-1.26-shop-debug2.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := records(t, "x", data)
	for _, prefix := range []string{"> ", "    ", "[WARN] ", "app-1  | ", "2026-03-14 10:20:%02d,123 [stderr] "} {
		var b strings.Builder
		for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
			p := prefix
			if strings.Contains(p, "%") {
				p = fmt.Sprintf(p, i%60)
			}
			b.WriteString(strings.TrimRight(p+line, " ") + "\n")
		}
		got := records(t, "x", []byte(b.String()))
		if len(got) != len(want) {
			t.Errorf("%q: %d records, want %d", prefix, len(got), len(want))
			continue
		}
		for i := range want {
			if w, g := want[i].Stack, got[i].Stack; w != nil && (g == nil || w.ID != g.ID || len(w.Frames) != len(g.Frames) || w.CreatedBy != g.CreatedBy) {
				t.Errorf("%q: record %d differs: %+v", prefix, i, g)
				break
			}
		}
	}
}

func FuzzGoroutine(f *testing.F) {
	fuzzFormat(f, "goroutine", "goroutine 1 [running]:\nmain.main()\n\t/a.go:1 +0x1\n", "goroutine profile: total 3\n3 @ 0x1\n#\t0x1\tmain.f+0x1\t/a.go:1\n")
}

func FuzzPprof(f *testing.F) { fuzzFormat(f, "goroutine-pprof") }

// 100,000 goroutines, as a debug=2 dump.
func BenchmarkGoroutines(b *testing.B) {
	var dump bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&dump, `goroutine %d [select, %d minutes]:
database/sql.(*DB).conn(0xc0001e6000, {0x1a4f880, 0xc0003ba%03x}, 0x1)
	/usr/local/go/src/database/sql/sql.go:1369 +0x414
database/sql.(*DB).query(0x24ed8bea24e0, {0x7affd0, 0xa779c0}, {0x7994da, 0x2a}, {0x0, 0x0, 0x0}, 0x0?)
	/usr/local/go/src/database/sql/sql.go:1759 +0x57
database/sql.(*DB).QueryContext.func1(0x0?)
	/usr/local/go/src/database/sql/sql.go:1742 +0x4f
acme.example/shop/order.(*Repo).FindOpen(...)
	/src/shop/order/order.go:14
acme.example/shop/order.(*Server).List(0xc00012c000, {0x1a4f880, 0xc0003ba000})
	/src/shop/order/server.go:%d +0x2a
created by net/http.(*Server).Serve in goroutine 81
	/usr/local/go/src/net/http/server.go:3300 +0x4b4

`, i+1, i%50, i&0xfff, i%40)
	}
	b.SetBytes(int64(dump.Len()))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		err := Read(NewInput("bench", bytes.NewReader(dump.Bytes())), func(r *evidence.Record) error {
			if r.Stack != nil {
				n++
			}
			return nil
		})
		if err != nil || n != 100_000 {
			b.Fatal(n, err)
		}
	}
}

// TestOthersMayRun reads a profile of a program that goes on meanwhile (Go 1.26): a
// second goroutine that runs begins no other dump, but another writer does.
func TestOthersMayRun(t *testing.T) {
	writer := func(id int) string {
		return fmt.Sprintf("goroutine %d [running]:\nruntime/pprof.writeGoroutineStacks({0x7b8a60, 0xc0001122a0})\n\t/usr/local/go/src/runtime/pprof/pprof.go:816 +0x6b\nnet/http/pprof.Index({0x1, 0x2}, 0x3)\n\t/usr/local/go/src/net/http/pprof/pprof.go:373 +0x1d\n\n", id)
	}
	other := func(id int, state string) string {
		return fmt.Sprintf("goroutine %d [%s]:\nmain.work(0x1)\n\t/srv/order/main.go:%d +0x1d\ncreated by main.main in goroutine 1\n\t/srv/order/main.go:9 +0x25\n\n", id, state, 20+id)
	}
	one := other(1, "chan receive") + other(17, "running") + other(18, "runnable")
	for name, c := range map[string]struct {
		text  string
		dumps int
	}{
		"one":          {writer(30) + one, 1},
		"two together": {writer(30) + one + writer(41) + one, 2},
	} {
		dumps := 0
		if err := Read(NewInput("goroutines.txt", strings.NewReader(c.text)), func(r *evidence.Record) error {
			if r.Dump != nil && !r.Dump.Closing {
				dumps++
			}
			return nil
		}); err != nil || dumps != c.dumps {
			t.Errorf("%s: %d dumps, want %d; %v", name, dumps, c.dumps, err)
		}
	}
}
