package parsers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

func TestJstatInterval(t *testing.T) {
	for line, want := range map[string]time.Duration{
		"$ jstat -gcutil 7 1000 60":             time.Second,
		"[app@host ~]$ jstat -gc -t -h10 7 2s":  2 * time.Second,
		"jstat -gccause 7@remote 250ms":         250 * time.Millisecond,
		"jstat -gcutil 7":                       0,
		"jstat -gcutil $PID often":              0,
		"see jstat -gcutil for how full it was": 0,
		"":                                      0,
	} {
		if got := jstatInterval([]byte(line)); got != want {
			t.Errorf("%q: got %v, want %v", line, got, want)
		}
	}
}

func TestJstatRows(t *testing.T) {
	const header = "  S0     S1     E      O      M     CCS    YGC     YGCT    FGC    FGCT     GCT   \n"
	for _, test := range []struct{ name, text, want string }{
		{"one row says nothing of the time since", header + " 0.00 0.00 1.00 99.00 9.00 9.00 10 1.000 5 4.000 5.000\n", ""},
		{"nothing happened", header + " 0.00 0.00 1.00 99.00 9.00 9.00 10 1.000 5 4.000 5.000\n 0.00 0.00 1.00 99.00 9.00 9.00 10 1.000 5 4.000 5.000\n", ""},
		{"another process", header + " 0.00 0.00 1.00 99.00 9.00 9.00 10 1.000 5 4.000 5.000\n 0.00 0.00 1.00 99.00 9.00 9.00 1 0.100 0 0.000 0.100\n", ""},
		{"full", header + " 0.00 0.00 1.00 99.00 9.00 9.00 10 1.000 5 4.000 5.000\n 0.00 0.00 1.00 97.00 9.00 9.00 10 1.000 7 6.000 7.000\n", "gc.full full collection 1 x2\ngc.heap-full old generation 0.97 x0"},
		{"the two pauses of CMS", header + " 0.00 0.00 1.00 99.00 9.00 9.00 10 1.000 4 0.100 1.100\n 0.00 0.00 1.00 93.00 9.00 9.00 10 1.000 6 0.200 1.200\n", "gc.pause pause of a collection of the old generation 0.05 x2"},
		{"a cut row", header + " 0.00 0.00 1.00 99.00 9.00 9.00 10 1.000 5 4.000 5.000\n 0.00 0.00 1.0", ""},
		{"a log line after it", header + " 0.00 0.00 1.00 99.00 9.00 9.00 10 1.000 5 4.000 5.000\n2026-03-14 09:12:33.123 INFO [main] a.B : up\n", ""},
	} {
		var words []string
		err := Read(NewInput("jstat.txt", strings.NewReader(test.text)), func(r *evidence.Record) error {
			words = append(words, fmt.Sprintf("%s %s %g x%d", r.Mark.Kind, r.Mark.Text, r.Mark.Value, r.Mark.Count))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(words, "\n"); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

func FuzzJstat(f *testing.F) {
	fuzzFormat(f, "jstat", "jstat -gcutil 7 1000\n S0 O YGC YGCT FGC FGCT GCT\n 1 2 3 4 5 6 7\n 1 2 3 4 6 7 7\n", " OC OU YGCT FGCT GCT LGCC\n- 1 2 3 4 a b\n")
}

func BenchmarkJstat(b *testing.B) { benchFixture(b, "../testdata/jstat/jdk-17-gcutil.txt") }
