package parsers

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

func TestProcesslistShapesAgree(t *testing.T) {
	var want []string
	for _, shape := range []string{"table.txt", "batch.tsv", "vertical.txt"} {
		name := "mariadb-10.11-show-full-processlist-" + shape
		var got []string
		in := NewInput(name, bytes.NewReader(mustRead(t, "../testdata/processlist/"+name)))
		in.Skip = func(line int, why string) { t.Errorf("%s:%d: %s", name, line, why) }
		if err := Read(in, func(r *evidence.Record) error {
			got = append(got, fmt.Sprint(r.SQL.Session, r.SQL.State, r.SQL.Text, r.SQL.Snapshot))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if len(got) != 6 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q\nwant %q", name, got, want)
		}
	}
}

func FuzzProcesslist(f *testing.F) {
	fuzzFormat(f, "processlist", "| Id | Command | Time | State |\n| 1 | Query |", "Id\tCommand\tTime\tState\tInfo\n1\tQuery\t2\n")
}

func FuzzExplain(f *testing.F) { fuzzFormat(f, "explain") }

func FuzzInnodb(f *testing.F) { fuzzFormat(f, "innodb-status") }

func processlistText(size int) []byte {
	var b bytes.Buffer
	b.WriteString("Id\tUser\tHost\tdb\tCommand\tTime\tState\tInfo\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%d\tshop_rw\t10.20.1.%d:%d\tshop\tQuery\t%d\tSending data\tselect stock, reserved, updated_at from t_sku_stock where sku_code = 'SKU-%d' and warehouse = %d order by updated_at\n", 4000+i, i%250, 40000+i%9999, i%9, i, i)
	}
	return b.Bytes()
}

func BenchmarkProcesslist(b *testing.B) {
	data := processlistText(4 << 20)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if err := Read(NewInput("p", bytes.NewReader(data)), func(*evidence.Record) error { n++; return nil }); err != nil || n < 1000 {
			b.Fatal(n, err)
		}
	}
}
