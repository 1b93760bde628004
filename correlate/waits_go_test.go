package correlate

import (
	"os"
	"strings"
	"testing"
)

// TestGoWaitKinds reads what testdata/waits/make/go made: functions are named
// kind__what, and goroutines without such a function are helpers of libraries.
func TestGoWaitKinds(t *testing.T) {
	const path = "../testdata/waits/go-1.26-debug2.txt"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, s := range stacksIn(t, path, string(text)) {
		want, name := "idle", ""
		for _, f := range s.Frames {
			if fn, ok := strings.CutPrefix(f.Func, "main."); ok {
				if kind, _, ok := strings.Cut(fn, "__"); ok {
					want, name = strings.ReplaceAll(kind, "_", "-"), fn
				}
			}
		}
		if name == "" || !kinds[want] || name == "condition__errgroup.func1" {
			if v := classify(s); string(v.kind) == "db-pool" {
				t.Errorf("a helper waits for a pool%s", firstFrames(s, 9))
			}
			continue
		}
		seen++
		if v := classify(s); string(v.kind) != want {
			t.Errorf("%s: %s (%s), decided by %q, state %s%s", name, v.kind, v.detail, v.decided, s.Detail, firstFrames(s, 12))
		}
	}
	if seen < 40 {
		t.Errorf("only %d goroutines with a name", seen)
	}
}
