package parsers

import (
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

func TestTracesWithoutHeadersAreApart(t *testing.T) {
	const frame = "\tat com.acme.shop.Order.find(Order.java:8)\n"
	const cause = "Caused by: java.util.NoSuchElementException: Timeout waiting for idle object\n" + frame + "\t... 3 more\n"
	const sql = "java.sql.SQLException: Cannot get a connection, pool error Timeout waiting for idle object\n" + frame + cause
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"with the thread in brackets", "[exec-1] " + sql + "[exec-2] " + sql, 2},
		{"as the JVM prints them", "Exception in thread \"exec-1\" " + sql + "Exception in thread \"exec-2\" " + sql, 2},
		{"bare", sql + sql + sql, 3},
		{"after a record of the logger", "2026-03-14 09:12:33,123 [main] INFO com.acme.Shop - started\n" + sql + sql, 2},
		{"a record's own trace is part of it", "2026-03-14 09:12:33,123 [exec-1] ERROR com.acme.Shop - no stock: Timeout waiting for idle object\n" + sql, 1},
		{"causes belong together", sql + cause, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			if err := Read(NewInput("app.log", strings.NewReader(c.text)), func(r *evidence.Record) error {
				if r.Pool != nil && r.Pool.Rejected {
					n++
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if n != c.want {
				t.Errorf("%d borrowers gave up, want %d", n, c.want)
			}
		})
	}
}
