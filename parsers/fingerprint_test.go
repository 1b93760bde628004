package parsers

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestFingerprint(t *testing.T) {
	const my, pg = "mysql", "postgresql"
	for _, tt := range []struct{ dialect, sql, want string }{
		{my, "SELECT * FROM orders WHERE id=42 AND sku='A-1'", "select * from orders where id=? and sku=?"},
		{my, `select  * from ORDERS where id = -42 and sku="A-1" ;`, "select * from orders where id=? and sku=?"},
		{my, "select * from t WHERE id IN (1,2,3,  4)", "select * from t where id in (?+)"},
		{my, "select * from t WHERE id in(?)", "select * from t where id in (?+)"},
		{my, "select * from t WHERE id in (select id from u where a in (1,-2))", "select * from t where id in (select id from u where a in (?+))"},
		{my, "select * from t WHERE (id,sku) IN ((1,'a'),(2,'b'))", "select * from t where (id,sku) in (?+)"},
		{my, "INSERT INTO t_20260314 (a,b) VALUES (1,'x'),(2,'it''s')", "insert into t_20260314 (a,b) values (?+)"},
		{my, "INSERT INTO t(a,b) VALUES(1,now()) , (2,now()) ON DUPLICATE KEY UPDATE a=VALUES(a), b=b+1", "insert into t (a,b) values (?+) on duplicate key update a=values(a),b=b+?"},
		{my, "SELECT c1, col2 FROM t1 WHERE h=0xDEADBEEF AND f=1.5e-3 -- tail", "select c1,col2 from t1 where h=? and f=?"},
		{my, "select a from t WHERE b IS NULL AND d=true LIMIT 10, 20", "select a from t where b is null and d=? limit ?"},
		{pg, "select a from t WHERE b IS NOT NULL LIMIT 10 OFFSET 20", "select a from t where b is not null limit ?"},
		{my, "UPDATE acct SET bal=bal-5 WHERE id=7", "update acct set bal=bal-? where id=?"},
		{my, "UPDATE acct SET bal = bal + 5 WHERE id=7", "update acct set bal=bal+? where id=?"},
		{my, `select 1 from t where note='a\'b' AND t='--not comment' AND q='/* no */'`, "select ? from t where note=? and t=? and q=?"},
		{my, "SELECT $1, ? , :name, @v FROM t WHERE a=$2", "select ?,?,?,@v from t where a=?"},
		{"", "SELECT %s, %(name)s, @p0, #{id} FROM t WHERE a=:a AND b=${b}", "select ?,?,?,? from t where a=? and b=?"},
		{my, "SELECT * FROM `orders` WHERE md5='5f4d'", "select * from orders where md5=?"},
		{my, "SELECT `Order`.`select` FROM `Order`", "select `Order`.`select` from `Order`"},
		{my, "SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 1", "select ? /*repeat union all*/"},
		{my, "select * from (select 1 union select 2) t", "select * from (select ? /*repeat union all*/) t"},
		{my, "select a from t union select b from t", "select a from t union select b from t"},
		{my, "select a from t where d in (date '2026-03-14', - 5, null)", "select a from t where d in (?+)"},
		{my, "CALL pay.settle(17,'x')", "call pay.settle"},
		{my, "use shop", "use ?"},
		{my, "select sleep(0.08), 'first line\n# Query_time: 99.0  Lock_time: 1'", "select sleep(?),?"},
		{my, "select /* trace_id=abc */ /*+ INDEX(t i) */ a /*!40001 SQL_NO_CACHE */ from t # x", "select a sql_no_cache from t"},
		{my, "select a-- b", "select a"},
		{my, "select a--5", "select a-?"},
		{my, "select a - -b, - 5, -(5)", "select a- -b,?,-(?)"},
		{pg, "select a--5", "select a"},
		{pg, "select /* a /* nested */ b */ c", "select c"},
		{pg, `SELECT "Id", "name" FROM "orders" WHERE note = E'a\'b' AND p='C:\'`, `select "Id",name from orders where note=? and p=?`},
		{pg, "select * from t where a = ANY(ARRAY[1,2,3]) and b = any('{1,2}') and c=any($1::int[])", "select * from t where a=any(?) and b=any(?) and c=any(?::int[])"},
		{pg, "select data->>'k', data #> '{a}' from t where d @> '{}'::jsonb", "select data->>?,data#>? from t where d@>?::jsonb"},
		{pg, "select $tag$ it's $tag$, $$x$$, DATE '2026-03-14', now() - INTERVAL '5 min'", "select ?,?,?,now()-?"},
		{my, "select now() - interval 5 minute", "select now()-interval ? minute"},
		{my, "select 'a' 'b', N'x', X'ff', _utf8'y', .5, 1., 2fa, db.2fa from 2fa_tokens", "select ?,?,?,?,?,?,2fa,db.2fa from 2fa_tokens"},
		{my, "select count(*), count( distinct a ), a * 5, t.* from t", "select count(*),count(distinct a),a*?,t.* from t"},
		{my, "SELECT COUNT ( * ) FROM `orders` `a` , `orders` `b` WHERE `a` . `sku` = `concat` ( `b` . `sku` , ? ) AND `id` IN (...) ", "select count(*) from orders a,orders b where a.sku=concat(b.sku,?) and id in (?+)"},
		{my, "INSERT INTO `t` ( `a` ) VALUES (...) /* , ... */ ", "insert into t (a) values (?+)"},
		{"", `select "t"."a" from "t" where b="x"`, "select t.a from t where b=?"},
		{my, "select 1; select 2;", "select ?; select ?"},
		{my, ";", ""},
		{my, "", ""},
		// Cut texts.
		{my, "select * from t where a='unfini", "select * from t where a=?"},
		{my, "select * from t where a in (1,2,", "select * from t where a in (?+"},
		{my, "insert into t (a,b) values (1,'x'),(2,", "insert into t (a,b) values (?+)"},
		{my, "insert into t (a,b) values (1,now(), 'a", "insert into t (a,b) values (?+"},
		{my, "select * from `Ord", "select * from `Ord`"},
		{my, "select a from t /* cut", "select a from t"},
		{my, "select a from t limit 5,", "select a from t limit ?,"},
	} {
		got := Fingerprint(tt.dialect, tt.sql)
		if got != tt.want {
			t.Errorf("Fingerprint(%q, %q)\n got %q\nwant %q", tt.dialect, tt.sql, got, tt.want)
		}
		if again := Fingerprint(tt.dialect, got); again != got {
			t.Errorf("Fingerprint(%q) of itself gives %q", got, again)
		}
	}
}

func TestFingerprintBounds(t *testing.T) {
	long := "insert into t values " + strings.Repeat("(1,'a'),", 100000) + "(1,'a')"
	if got := Fingerprint("mysql", long); got != "insert into t values (?+)" {
		t.Errorf("long insert: %q", got)
	}
	wide := "select " + strings.Repeat("abcdefgh_x,", 20000)
	if got := Fingerprint("mysql", wide); len(got) > maxFingerprint {
		t.Errorf("%d bytes", len(got))
	}
	deep := strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000)
	if got := Fingerprint("mysql", deep); len(got) != 2001 {
		t.Errorf("deep nesting: %d bytes", len(got))
	}
}

func TestFingerprinterInterns(t *testing.T) {
	f := newFingerprinter("mysql")
	a, b := []byte("select a from t where id = 1"), []byte("select a from t where id = 2")
	f.of(a)
	f.of(a)
	if n := testing.AllocsPerRun(100, func() { f.of(b); f.of(a) }); n != 0 {
		t.Errorf("%v allocations for known statements", n)
	}
}

func FuzzFingerprint(f *testing.F) {
	for _, s := range []string{"select 1", "a in (1,2", "values (1),(2)", "limit 1 offset 2", "select 1 union select 1", "/*!4 a*/ - -1 $a$ x $a$"} {
		f.Add(0, s)
	}
	f.Fuzz(func(t *testing.T, dialect int, sql string) {
		d := []string{"", "mysql", "postgresql"}[uint(dialect)%3]
		got := Fingerprint(d, sql)
		if len(got) > maxFingerprint {
			t.Errorf("%d bytes", len(got))
		}
		Fingerprint(d, got)
	})
}

// FuzzFingerprintStable builds statements from tokens: their fingerprints are
// fixed points.
func FuzzFingerprintStable(f *testing.F) {
	parts := []string{
		"select", "from", "where", "t", "a", "Orders", "`Odd name`", "and", "in", "(", ")", ",", "1", "'x'", "=",
		"-", "+", "*", "null", "is", "not", "limit", "offset", "union all", "values", "insert into", "?", "t.a", "|| ",
		"case when", "date", "interval", "any", "array[", "]", "/* c */", ":p", "$1", "@v", "<", "call", "use", "...",
	}
	f.Add(0, []byte{0, 3, 1, 4})
	f.Add(1, []byte{25, 3, 24, 9, 12, 10, 11, 9, 12, 10})
	f.Fuzz(func(t *testing.T, dialect int, picks []byte) {
		d := []string{"mysql", "postgresql", ""}[uint(dialect)%3]
		var b strings.Builder
		for _, p := range picks[:min(len(picks), 40)] {
			b.WriteString(parts[int(p)%len(parts)])
			if p < 128 {
				b.WriteByte(' ')
			}
		}
		once := Fingerprint(d, b.String())
		if twice := Fingerprint(d, once); twice != once {
			t.Errorf("%s: %q\n once %q\ntwice %q", d, b.String(), once, twice)
		}
	})
}

func BenchmarkFingerprint(b *testing.B) {
	f := newFingerprinter("mysql")
	var all [][]byte
	var n int64
	for i := range 100 {
		s := []byte(fmt.Sprintf("SELECT o.id, o.sku, o.amount FROM orders o JOIN customer c ON c.id = o.customer_id WHERE o.sku = 'SKU-%d' AND o.status IN ('PAID','NEW') AND o.created_at > '2026-03-14 10:00:00' ORDER BY o.created_at DESC LIMIT %d", i, i))
		all = append(all, s)
		n += int64(len(s))
	}
	b.SetBytes(n)
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range all {
			f.of(s)
		}
	}
	if !bytes.Contains(f.out, []byte("orders")) {
		b.Fatal("nothing")
	}
}

// Statements of equal shape must have equal fingerprints.
func FuzzSQLShape(f *testing.F) {
	f.Add("select 1 from t where a='x' and b=2.5", 7)
	f.Add("select a.2, 'it''s' limit 5, 6", 3)
	f.Fuzz(func(t *testing.T, sql string, n int) {
		prints := newFingerprinter("mysql")
		if want, got := Fingerprint("mysql", sql), prints.of([]byte(sql)); got != want {
			t.Errorf("%q: %q, want %q", sql, got, want)
		}
		other := strings.NewReplacer("1", fmt.Sprint(uint8(n)), "'x'", "'y z'").Replace(sql)
		if want, got := Fingerprint("mysql", other), prints.of([]byte(other)); got != want {
			t.Errorf("after %q, %q: %q, want %q", sql, other, got, want)
		}
	})
}
