package parsers

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

func TestSlowLogFacts(t *testing.T) {
	for _, tt := range []struct {
		name                string
		records, plans, all int
		skips               int
	}{
		{"mariadb-10.11-default.log", 16, 0, 0, 1},
		{"mariadb-10.11-verbose-explain.log", 9, 8, 7, 0},
		{"mariadb-10.11-all-statements-flush.log", 14, 0, 0, 0},
	} {
		var records, plans, scans, skips int
		in := NewInput(tt.name, bytes.NewReader(mustRead(t, "../testdata/mysql-slow-log/"+tt.name)))
		in.Skip = func(int, string) { skips++ }
		err := Read(in, func(r *evidence.Record) error {
			records++
			if len(r.SQL.Plan) > 0 {
				plans++
			}
			if r.SQL.FullScan == evidence.Yes && len(r.SQL.Plan) > 0 {
				scans++
			}
			if r.Time.IsZero() || r.SQL.Engine != "mariadb" {
				t.Errorf("%s: %v %s", tt.name, r.Time, r.SQL.Engine)
			}
			return nil
		})
		if err != nil || records != tt.records || plans != tt.plans || scans != tt.all || skips != tt.skips {
			t.Errorf("%s: %d records, %d plans, %d scans, %d skips, %v", tt.name, records, plans, scans, skips, err)
		}
	}
}

func FuzzSlowLog(f *testing.F) {
	fuzzFormat(f, "mysql-slow-log", "# Query_time: 1\nselect 1;", "# Time: 260314  9:12:36\n# User@Host: a[b] @ \n")
}

// slowLogText is a MySQL 8.0 slow log of 50 statements with varying literals.
func slowLogText(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fp := i % 50
		fmt.Fprintf(&b, "# Time: 2026-03-14T09:%02d:%02d.%06dZ\n# User@Host: shop_rw[shop_rw] @ app-%d [10.20.1.%d]  Id: %5d\n", i/60%60, i%60, i%1000000, fp%7, fp%7, 4000+i%300)
		fmt.Fprintf(&b, "# Query_time: %d.%06d  Lock_time: 0.000104 Rows_sent: 1  Rows_examined: %d\nSET timestamp=%d;\n", i%5, i%1000000, i*7, 1773479553+i/10)
		fmt.Fprintf(&b, "select o.id, o.sku, o.amount, c.email from orders_%d o join customers c on c.id = o.customer_id where o.sku = 'SKU-%d' and o.status in ('PAID','NEW') and o.amount > %d order by o.created_at desc limit 20;\n", fp, i, i)
	}
	return b.Bytes()
}

func BenchmarkSlowLog(b *testing.B) {
	data := slowLogText(8 << 20)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		prints := map[string]bool{}
		err := Read(NewInput("slow.log", bytes.NewReader(data)), func(r *evidence.Record) error {
			n++
			prints[r.SQL.Fingerprint] = true
			return nil
		})
		if err != nil || len(prints) != 50 || n != strings.Count(string(data), "# Time") {
			b.Fatal(n, len(prints), err)
		}
	}
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
