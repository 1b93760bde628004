package parsers

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// TestPGPrefix gives one line of each log_line_prefix that installations use.
func TestPGPrefix(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"default", "2026-03-14 09:12:33.123 UTC [8105] LOG:  x", "2026-03-14 09:12:33.123 UTC 8105 @"},
		{"debian", "2026-03-14 09:12:33.123 CST [8105] shop_rw@shop LOG:  x", "2026-03-14 09:12:33.123 CST 8105 shop_rw@shop"},
		{"pgbadger", "2026-03-14 09:12:33 +08 [8105]: [1-1] user=shop_rw,db=shop,app=api,client=10.20.1.7 LOG:  x", "2026-03-14 09:12:33 +08 8105 shop_rw@shop 10.20.1.7"},
		{"rds", "2026-03-14 09:12:33 UTC:10.20.1.7(58382):shop_rw@shop:[20217]:LOG:  x", "2026-03-14 09:12:33 UTC 20217 shop_rw@shop 10.20.1.7"},
		{"azure", "2026-03-14 09:12:33 UTC-6b0d05df.4f27-LOG:  x", "2026-03-14 09:12:33 UTC 4f27 @"},
		{"epoch", "1796015583.248 20251 -4722811711537007378 LOG:  x", "1796015583.248 20251 @"},
		{"host first", "10.20.1.7 2026-03-14 09:12:33.123 UTC [8105] shop_rw@shop LOG:  x", "2026-03-14 09:12:33.123 UTC 8105 shop_rw@shop 10.20.1.7"},
		{"unknown", "2026-03-14 09:12:33 UTC [8105] [unknown]@[unknown] LOG:  x", "2026-03-14 09:12:33 UTC 8105 @"},
		{"angle", "< 2026-03-14 09:12:33.123 UTC >LOG:  x", "2026-03-14 09:12:33.123 UTC  @"},
		{"empty", "LOG:  x", "  @"},
		{"syslog", "Mar 14 09:12:33 db1 postgres[20217]: [3-1] LOG:  x", "Mar 14 09:12:33 20217 @"},
		{"driver's exception", "2026-03-14 09:12:33,123 ERROR [pool-1] c.a.Dao - PSQLException: FATAL:  sorry, too many clients already", "no"},
		{"library's message", `psycopg2.OperationalError: connection to server at "db" failed: FATAL:  sorry, too many clients already`, "no"},
		{"logfmt", `time="2026-03-14 09:12:33" level=error msg="FATAL:  sorry"`, "no"},
		{"one blank", "2026-03-14 09:12:33 UTC [8105] FATAL: sorry", "no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h pgHeader
			got := "no"
			if pgSplit([]byte(c.line), &h) {
				got = strings.TrimSuffix(fmt.Sprintf("%s %s %s@%s %s", h.stamp, h.pid, h.user, h.db, h.host), " ")
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestPGEvents checks what one or a few lines amount to.
func TestPGEvents(t *testing.T) {
	const p = "2026-03-14 09:12:33.000 UTC [1] a@shop "
	for _, c := range []struct{ name, in, want string }{
		{"plan after statement", p + "LOG:  duration: 101.327 ms  execute <unnamed>: select 1\n" + p + "LOG:  duration: 101.310 ms  plan:\n\tQuery Text: select 1\n\tResult  (cost=0.00..0.01 rows=1 width=4)", "slow-log 101.327ms;"},
		{"plan before statement", p + "LOG:  duration: 101.310 ms  plan:\n\tQuery Text: select 1\n\tResult  (cost=0.00..0.01 rows=1 width=4)\n" + p + "LOG:  duration: 101.327 ms  statement: select 1", "slow-log 101.327ms;"},
		{"two runs", p + "LOG:  duration: 101.3 ms  statement: select 1\n" + p + "LOG:  duration: 101.3 ms  statement: select 1", "slow-log 101.3ms;slow-log 101.3ms;"},
		{"bind does not count", p + "LOG:  duration: 0.3 ms  bind <unnamed>: select 1\n" + p + "LOG:  duration: 7.3 ms  execute <unnamed>: select 1", "slow-log 7.3ms;"},
		{"reserved, 16", p + `FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute`, "db.too-many-conns;"},
		{"reserved, RDS", p + `FATAL:  remaining connection slots are reserved for roles with privileges of the "rds_reserved" role`, "db.too-many-conns;"},
		{"role's limit", p + `FATAL:  too many connections for role "shop_rw"`, "db.too-many-conns;"},
		{"duplicate", p + `ERROR:  duplicate key value violates unique constraint "orders_no_key"` + "\n" + p + "DETAIL:  Key (no)=(R-1) already exists.", "db.duplicate-key;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got strings.Builder
			err := Read(NewInput("x", strings.NewReader(c.in)), func(r *evidence.Record) error {
				switch {
				case r.SQL != nil:
					fmt.Fprintf(&got, "%v %v;", r.SQL.Origin, r.SQL.Duration)
				case r.Mark != nil:
					fmt.Fprintf(&got, "%s;", r.Mark.Kind)
				}
				return nil
			})
			if err != nil || got.String() != c.want {
				t.Errorf("got %q (%v), want %q", got.String(), err, c.want)
			}
		})
	}
}

func FuzzPostgreSQLLog(f *testing.F)     { fuzzFormat(f, "postgresql-log") }
func FuzzPostgreSQLCSVLog(f *testing.F)  { fuzzFormat(f, "postgresql-csvlog") }
func FuzzPostgreSQLJSONLog(f *testing.F) { fuzzFormat(f, "postgresql-jsonlog") }
func FuzzPostgreSQLExplain(f *testing.F) { fuzzFormat(f, "postgresql-explain") }
func FuzzPGStatActivity(f *testing.F)    { fuzzFormat(f, "pg-stat-activity") }
func FuzzPgBouncer(f *testing.F)         { fuzzFormat(f, "pgbouncer") }

func BenchmarkPostgreSQLLog(b *testing.B) {
	benchFixture(b, "../testdata/postgresql-log/postgresql-15-incident.log")
}

func BenchmarkPostgreSQLCSVLog(b *testing.B) {
	benchFixture(b, "../testdata/postgresql-csvlog/postgresql-15-incident.csv")
}

func BenchmarkPostgreSQLJSONLog(b *testing.B) {
	benchFixture(b, "../testdata/postgresql-jsonlog/postgresql-15-incident.json")
}

// BenchmarkPostgreSQLLogStatements reads a log of nothing but statements.
func BenchmarkPostgreSQLLogStatements(b *testing.B) {
	var log bytes.Buffer
	for i := range 40_000 {
		fmt.Fprintf(&log, "2026-03-14 09:12:%02d.%03d UTC [%d] shop_rw@shop LOG:  duration: %d.206 ms  statement: select id, customer_id, status from orders where sku='SKU-%d' and status='PAID' order by created_at desc limit 10\n", i/1000%60, i%1000, 8000+i%200, i%900, i)
	}
	b.SetBytes(int64(log.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if err := Read(NewInput("bench", bytes.NewReader(log.Bytes())), func(*evidence.Record) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
