package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/incident"
)

func TestStatements(t *testing.T) {
	for _, size := range sizes {
		d := start(t, readReport(t, "rowlock"), size.width, size.height)
		d.press("5").golden(fmt.Sprintf("sql-rowlock-%d", size.width))
	}
	d := start(t, readReport(t, "reference"), 80, 60)
	d.press("5").do("enter").shows("full scan: it reads the whole table", "running now 131 [mysql/processlist.txt:5]", "rows examined 2,481,932 [mysql/explain.txt:5]").golden("statement-80")
	d.do("copy")
	if !slices.Equal(d.copied, []string{"select stock from t_sku_stock where sku_code=?"}) {
		t.Errorf("copied %q", d.copied)
	}
}

// The statement leads to the action that repairs it.
func TestStatementLeadsToItsAction(t *testing.T) {
	d := start(t, readReport(t, "reference"), 80, 60)
	d.press("5").do("enter")
	goDown(d, "Propose an index")
	d.do("copy")
	if !strings.Contains(d.copied[0], "ALTER TABLE t_sku_stock ADD INDEX") {
		t.Errorf("copied %q", d.copied[0])
	}
	d.do("enter")
	if at := d.m.here(); at.screen != onVerdict || at.key != "action 8" {
		t.Errorf("at %s %q", at.screen, at.key)
	}
}

func TestStatementLeadsToItsTraces(t *testing.T) {
	d := start(t, readReport(t, "rowlock"), 80, 60)
	d.press("5").do("enter").shows("SPANS THAT RAN IT")
	goDown(d, "8990a")
	d.do("enter")
	if at := d.m.here(); at.screen != onTrace {
		t.Errorf("at %s", at.screen)
	}
	d.lacks("not in the report any more")
}

func TestStatementsAreSortedByAllThatIsKnown(t *testing.T) {
	f := func(text string, total float64, running int) incident.Fingerprint {
		o := incident.Fingerprint{Fingerprint: text}
		if total >= 0 {
			o.TotalSeconds = &total
		}
		if running >= 0 {
			o.RunningNow = &running
		}
		return o
	}
	s := newScene(&incident.Report{SQL: []incident.Fingerprint{f("unknown", -1, -1), f("busy", 1, 90), f("long", 50, 3), f("old", 7, -1)}})
	s.glyphs, s.width, s.height = &unicodeGlyphs, 120, 40
	for _, test := range []struct {
		order   int
		reverse bool
		want    string
	}{
		{0, false, "long old busy unknown"},
		{0, true, "busy old long unknown"},
		{2, false, "busy long unknown old"},
		{2, true, "long busy unknown old"},
		{1, false, "unknown busy long old"}, // no p95 is known: the order of the report
	} {
		p := sqlPage(s, place{order: test.order, reverse: test.reverse})
		var got []string
		for i := range p.rows {
			if k := p.rows[i].key; k != "" && (i == 0 || p.rows[i-1].key != k) {
				got = append(got, strings.TrimPrefix(k, "sql "))
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("order %d, reverse %v: %v, want %s", test.order, test.reverse, got, test.want)
		}
	}
	if len(sqlSorts()) != 5 {
		t.Errorf("sorts: %v", sqlSorts())
	}
}

func TestHasName(t *testing.T) {
	for _, test := range []struct {
		text, name string
		want       bool
	}{
		{"alter table t_sku add index", "t_sku", true},
		{"alter table t_sku_stock add index", "t_sku", false},
		{"alter table `t_sku`", "t_sku", true},
		{"my_t_sku and shop.t_sku", "t_sku", true},
		{"my_t_sku", "t_sku", false},
		{"", "t_sku", false},
		{"t_sku", "t_sku", true},
	} {
		if got := hasName(test.text, test.name); got != test.want {
			t.Errorf("hasName(%q, %q) = %v", test.text, test.name, got)
		}
	}
}

func TestFrames(t *testing.T) {
	for _, test := range []struct {
		frame string
		width int
		want  string
	}{
		{"com.demo.SkuServiceImpl.getSkuStock(SkuServiceImpl.java:64)", 80, "com.demo.SkuServiceImpl.getSkuStock(SkuServiceImpl.java:64)"},
		{"com.demo.SkuServiceImpl.getSkuStock(SkuServiceImpl.java:64)", 40, "com.demo.SkuServiceImpl.getSkuStock:64"},
		{"com.demo.SkuServiceImpl.getSkuStock(SkuServiceImpl.java:64)", 20, "com.demo…SkuStock:64"},
		{"acme.example/session.(*Cache).Get(cache.go:48)", 40, "acme.example/session.(*Cache).Get:48"},
		{"acme.example/session.(*Cache).Get", 20, "acme.exa…*Cache).Get"},
		{"java.lang.Object.wait(Native Method)", 25, "java.lang.Object.wait"},
	} {
		if got := shortFrame(test.frame, test.width, "…"); got != test.want {
			t.Errorf("shortFrame(%q, %d) = %q, want %q", test.frame, test.width, got, test.want)
		}
	}
	for name, want := range map[string]string{
		"com.demo.SkuServiceImpl.getSkuStock": "SkuServiceImpl.getSkuStock", "SkuServiceImpl.getSkuStock": "SkuServiceImpl.getSkuStock",
		"acme.example/session.Get": "session.Get", "main": "main", "": "",
	} {
		if got := lastTwo(name); got != want {
			t.Errorf("lastTwo(%q) = %q, want %q", name, got, want)
		}
	}
}
