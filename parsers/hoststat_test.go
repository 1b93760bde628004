package parsers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

func TestHostStat(t *testing.T) {
	const vmstat = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
	for _, c := range []struct{ name, text, want string }{
		{"the first sample is since the start", vmstat + " 1  0      0 1 1 1    0    0   1   9 10 26  3  1 96  0  0\n 9  0      0 1 1 1    0    0   1   9 10 26 80 10  5  5  0\n", "host.cpu 0.9"},
		{"unless it is near the limit itself", vmstat + " 9  0      0 1 1 1    0    0   1   9 10 26 90  5  5  0  0\n", "host.cpu 0.95"},
		{"without the title, and a header in between", " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n 1  0 0 1 1 1 0 0 1 9 10 26 3 1 96 0 0\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n 1  0 0 1 1 1 0 0 1 9 10 26 33 1 66 0 0\n", "host.cpu 0.34"},
		{"each run begins anew", vmstat + " 1  0 0 1 1 1 0 0 1 9 10 26 3 1 96 0 0\n 1  0 0 1 1 1 0 0 1 9 10 26 3 1 96 0 0\n$ vmstat 1\n" + vmstat + " 1  0 0 1 1 1 0 0 1 9 10 26 4 1 95 0 0\n", "host.cpu 0.04"},
		{"top with a full number", "%Cpu(s):  0.0 us,  0.0 sy,  0.0 ni,100.0 id,  0.0 wa,  0.0 hi\n%Cpu(s): 20.0 us,  0.0 sy,  0.0 ni, 70.0 id,  10.0 wa,  0.0 hi\n", "host.cpu 0.2"},
		{"top with decimal commas", "%Cpu(s):  0,0 us,  0,0 sy,  0,0 ni,100,0 id,  0,0 wa,  0,0 hi\n%Cpu(s): 22,5 us,  0,0 sy,  0,0 ni, 77,5 id,  0,0 wa,  0,0 hi\n", "host.cpu 0.225"},
		{"processors one by one say little", "%Cpu0  :  5.9 us,  2.9 sy,  0.0 ni, 91.2 id,  0.0 wa\n%Cpu1  : 95.9 us,  2.9 sy,  0.0 ni,  1.2 id,  0.0 wa\n", ""},
		{"counters that went back are of another container", "nr_periods 100\nnr_throttled 90\nx\nnr_periods 10\nnr_throttled 1\n", "host.throttled 0.1"},
		{"prose is no sample", "set nr_throttled to zero; %idle %user %iowait are columns\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			if err := Read(NewInput("host.txt", strings.NewReader(c.text)), func(r *evidence.Record) error {
				if r.Mark != nil {
					got = append(got, fmt.Sprintf("%s %g", r.Mark.Kind, r.Mark.Value))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
	}
}

func FuzzHostStat(f *testing.F) {
	fuzzFormat(f, "host-stat", "nr_periods 1\nnr_throttled 2\nnr_periods 3\n", "a %b %c %CPU\n1 2 3\n")
}

func BenchmarkHostStat(b *testing.B) { benchFixture(b, "../testdata/host-stat/procps-4-vmstat.txt") }
