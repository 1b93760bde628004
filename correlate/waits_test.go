package correlate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/parsers"
)

// stacksIn reads all stacks of a dump.
func stacksIn(t testing.TB, name, text string) []*evidence.Stack {
	t.Helper()
	var stacks []*evidence.Stack
	in := parsers.NewInput(name, strings.NewReader(text))
	err := parsers.Read(in, func(r *evidence.Record) error {
		if r.Stack != nil {
			s := *r.Stack
			s.Frames = append([]*evidence.Frame(nil), s.Frames...)
			stacks = append(stacks, &s)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return stacks
}

// firstFrames prints a stack's first frames for a failure's message.
func firstFrames(s *evidence.Stack, n int) string {
	var b strings.Builder
	for _, f := range s.Frames[:min(n, len(s.Frames))] {
		b.WriteString("\n\t" + f.Func)
	}
	return b.String()
}

// TestWaitKinds reads dumps of real libraries. A thread's name is the kind that
// is expected, then the library and a number: "db-pool/hikari/1". All other
// threads are the libraries' own helpers and must be idle.
func TestWaitKinds(t *testing.T) {
	paths, err := filepath.Glob("../testdata/waits/jdk-*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no dumps", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range stacksIn(t, path, string(text)) {
				want, rest, named := strings.Cut(s.Name, "/")
				if !kinds[want] || !named {
					want, rest = helperKind(s), ""
				}
				v := classify(s)
				if string(v.kind) != want {
					t.Errorf("%s: %s (%s), decided by %q, waits on %s%s", s.Name, v.kind, v.detail, v.decided, s.WaitsOn.Class, firstFrames(s, 30))
				}
				if rest == "" || want == "idle" {
					continue
				}
				for _, call := range []string{"connect", "validation", "commit", "borrow"} {
					if strings.Contains(rest, "-"+call) && v.kind == incident.WaitDBRead && v.detail != call {
						t.Errorf("%s: detail %q%s", s.Name, v.detail, firstFrames(s, 40))
					}
				}
				if v.app == nil || !strings.HasPrefix(v.app.Func, "com.acme.shop.") {
					t.Errorf("%s: app frame %v", s.Name, frameName(v.app))
				}
				if v.entry == nil || v.entry.Func != "com.acme.shop.OrderService.placeOrder" {
					t.Errorf("%s: entry %v", s.Name, frameName(v.entry))
				}
			}
		})
	}
}

var kinds = func() map[string]bool {
	m := map[string]bool{}
	for _, k := range strings.Fields("db-read db-pool redis http rpc mq lock condition disk dns logging class-init gc cpu idle other") {
		m[k] = true
	}
	return m
}()

// helperKind is what a thread waits for that a library has named: nothing,
// except those that are at work.
func helperKind(s *evidence.Stack) string {
	for _, c := range []struct{ name, frame, kind string }{
		{"main", "com.acme.shop.Stand.main", "other"},
		{"DubboServerHandler", "com.acme.shop.InventoryServiceImpl.reserve", "other"},
		{"Druid-ConnectionPool-Create", "com.mysql.", "db-read"}, // its server does not answer
		{"MariaDb-bulk", "org.mariadb.", "db-read"},              // reads the answers to a batch
		{"AsyncAppender-Worker", "ch.qos.logback.core.OutputStreamAppender", "logging"},
	} {
		if !strings.HasPrefix(s.Name, c.name) {
			continue
		}
		for _, f := range s.Frames {
			if strings.HasPrefix(f.Func, c.frame) {
				return c.kind
			}
		}
	}
	return "idle"
}
