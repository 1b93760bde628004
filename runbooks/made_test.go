package runbooks

import (
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/incident"
)

func caseOf(findings ...incident.Finding) *Case {
	return NewCase(&incident.Report{Incidents: []incident.Incident{{}}, Findings: findings}, 0)
}

func TestIndex(t *testing.T) {
	for _, c := range []struct{ table, engine, fingerprint, want string }{
		{"t_sku_stock", "mysql", "select stock from t_sku_stock where sku_code=?", "ALTER TABLE t_sku_stock ADD INDEX idx_t_sku_stock_sku_code (sku_code), ALGORITHM=INPLACE, LOCK=NONE;"},
		{"", "postgresql", "SELECT * FROM shipment WHERE carrier = $1 AND created > $2 ORDER BY id LIMIT ?", "CREATE INDEX CONCURRENTLY idx_shipment_carrier_created ON shipment (carrier, created);"},
		{"", "mysql", "select * from `orders` where `created_at` > ? and `status` in (?) and user_id = ?", "(status, user_id, created_at)"},
		{"", "mariadb", "update stock set n = n - ? where sku_id = ? and n >= ?", "ALTER TABLE stock ADD INDEX idx_stock_sku_id_n (sku_id, n)"},
		{"t", "", "select a from t where b = ?", "-- PostgreSQL:\n-- CREATE INDEX CONCURRENTLY"},
		{"", "mysql", "select * from a join b on a.id = b.id where a.x = ?", ""},
		{"t", "mysql", "select * from t where a = ? or b = ?", ""},
		{"t", "mysql", "select * from t where id in (select id from u where x = ?)", ""},
		{"t", "mysql", "select count(*) from t", ""},
		{"t; drop", "mysql", "select * from t where a = ?", ""},
	} {
		got := caseOf(incident.Finding{ID: "f1", Kind: incident.SQLScan, Names: map[string]string{"table": c.table, "engine": c.engine, "fingerprint": c.fingerprint}}).index()
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got\n%s\nwant %q", c.fingerprint, got, c.want)
		}
	}
}

func TestKill(t *testing.T) {
	wait := func(blocker, engine string) incident.Finding {
		return incident.Finding{ID: "f1", Kind: incident.SQLLockWait, Names: map[string]string{"blocker": blocker, "engine": engine}}
	}
	for _, c := range []struct{ blocker, engine, want string }{
		{"690", "mysql", "\nKILL 690;"},
		{"4410", "postgresql", "pg_terminate_backend(4410);"},
		{"7", "", "KILL 7;\n-- PostgreSQL:"},
		{"7; drop", "mysql", ""},
		{"", "mysql", ""},
	} {
		if got := caseOf(wait(c.blocker, c.engine)).kill(); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%+v: got\n%s", c, got)
		}
	}
}

func TestOverride(t *testing.T) {
	edge := func(service, method string) incident.Finding {
		return incident.Finding{ID: "f", Kind: incident.RetryAmplified, Names: map[string]string{"service": service, "method": method, "consumer": "order"}}
	}
	write := incident.Finding{ID: "w", Kind: incident.RetryWrite, Names: map[string]string{"service": "com.acme.B", "method": "create"}}
	got := caseOf(edge("com.acme.A", "get"), edge("com.acme.B", "create"), edge("com.acme.A", "list"), edge("https://x/y", "POST"), write).override()
	want := `# config centre: group dubbo, key com.acme.B::.configurators
configVersion: v2.7
scope: service
key: com.acme.B
enabled: true
configs:
  - side: consumer
    addresses: ["0.0.0.0"]
    # applications: [order]   # only this consumer; without it, all
    parameters:
      create.retries: 0
---
# config centre: group dubbo, key com.acme.A::.configurators
configVersion: v2.7
scope: service
key: com.acme.A
enabled: true
configs:
  - side: consumer
    addresses: ["0.0.0.0"]
    # applications: [order]   # only this consumer; without it, all
    parameters:
      get.retries: 0
      list.retries: 0`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := caseOf(edge("stable/com.acme.A:1.2", "get")).override(); !strings.Contains(got, "key com.acme.A:1.2:stable.configurators") || !strings.Contains(got, "key: 'stable/com.acme.A:1.2'") {
		t.Errorf("with group and version:\n%s", got)
	}
}
