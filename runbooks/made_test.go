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

// TestKill holds that a paste looks and never ends a session.
func TestKill(t *testing.T) {
	finding := func(k incident.Kind, engine string, names ...string) incident.Finding {
		f := incident.Finding{ID: "f", Kind: k, Names: map[string]string{"engine": engine}, Values: map[string]float64{}}
		for i := 0; i+1 < len(names); i += 2 {
			f.Names[names[i]] = names[i+1]
		}
		return f
	}
	wait := func(engine, blocker string, longest float64) incident.Finding {
		f := finding(incident.SQLLockWait, engine, "blocker", blocker)
		f.Values["sql.longest_s"] = longest
		return f
	}
	deadlock := finding(incident.SQLDeadlock, "")
	for name, c := range map[string]struct {
		findings     []incident.Finding
		words        string
		first, third string // lines begin so
	}{
		"proven":           {[]incident.Finding{wait("mysql", "690", 30)}, "Look at session 690, which holds the lock", "SELECT id,", "-- KILL 690;"},
		"proven in PG":     {[]incident.Finding{wait("postgresql", "4410", 30)}, "Look at session 4410, which holds the lock", "SELECT pid,", "-- SELECT pg_terminate_backend(4410);"},
		"engine unknown":   {[]incident.Finding{wait("", "7", 3)}, "Look at session 7, which holds the lock", "-- MySQL, MariaDB:", "-- once its owner agrees:"},
		"no number":        {[]incident.Finding{wait("mysql", "7; drop", 3)}, "Find the session that holds the lock", "SELECT trx_", "-- KILL …;"},
		"not known":        {[]incident.Finding{wait("postgresql", "", 3)}, "Find the session that holds the lock", "SELECT pid, pg_blocking_pids", "-- SELECT pg_terminate_backend(…);"},
		"asleep in a trx":  {[]incident.Finding{wait("postgresql", "", 3), finding(incident.SQLIdleTrx, "", "session", "20311")}, "Look at session 20311, a candidate for the lock's holder", "SELECT pid, pg_blocking_pids", "-- SELECT pg_terminate_backend(20311);"},
		"metadata":         {[]incident.Finding{wait("mysql", "", 3), finding(incident.SQLMetaLock, "mysql")}, "Find the session that holds the lock", "SELECT l.object_schema", "-- KILL …;"},
		"metadata, asleep": {[]incident.Finding{finding(incident.SQLMetaLock, "mysql", "session", "31")}, "Look at session 31, a candidate for the lock's holder", "SELECT l.object_schema", "-- KILL 31;"},
		"resolved":         {[]incident.Finding{wait("postgresql", "300", 0), wait("postgresql", "301", 0), deadlock}, "", "", ""},
		"resolved, and one that lasts": {
			[]incident.Finding{wait("postgresql", "300", 0), wait("postgresql", "302", 40), deadlock},
			"Look at session 302, which holds the lock", "SELECT pid,", "-- SELECT pg_terminate_backend(302);",
		},
	} {
		t.Run(name, func(t *testing.T) {
			of := caseOf(c.findings...)
			got := of.kill()
			if words := of.holderWords(); words != c.words {
				t.Errorf("says %q, want %q", words, c.words)
			}
			lines := append(strings.Split(got, "\n"), "", "", "")
			if !strings.HasPrefix(lines[0], c.first) || !strings.HasPrefix(lines[2], c.third) || c.first == "" && got != "" {
				t.Errorf("got\n%s", got)
			}
			for _, line := range lines {
				if line != "" && !strings.HasPrefix(line, "--") && !strings.HasPrefix(line, "SELECT ") || strings.HasPrefix(line, "SELECT pg_terminate") {
					t.Errorf("a paste would do more than look: %s", line)
				}
			}
		})
	}
}

// TestLimit holds that the limit's document holds the retries' lines of the same
// service, and that there is none without a service.
func TestLimit(t *testing.T) {
	hot := func(pool string, size float64) incident.Finding {
		return incident.Finding{ID: "h", Kind: incident.PoolHot, Subject: "AImpl.get", Names: map[string]string{"pool": pool, "method": "get"}, Values: map[string]float64{"pool.max": size}}
	}
	edge := func(k incident.Kind, service, method string) incident.Finding {
		return incident.Finding{ID: "e", Kind: k, Names: map[string]string{"service": service, "method": method}}
	}
	const dubbo = "DubboServerHandler-10.20.1.1:20880"
	both := caseOf(hot(dubbo, 40), edge(incident.RetryAmplified, "com.acme.A", "get"), edge(incident.RetryAmplified, "com.acme.A", "list"), edge(incident.RetryAmplified, "com.acme.B", "put"))
	want := `# this document holds the lines of ` + theCut + ` too: publishing it replaces that one
# config centre: group dubbo, key com.acme.A::.configurators
configVersion: v2.7
scope: service
key: com.acme.A
enabled: true
configs:
  - side: consumer
    addresses: ["0.0.0.0"]
    parameters:
      get.retries: 0
      list.retries: 0
  - side: provider
    addresses: ["0.0.0.0"]
    parameters:
      get.executes: 10`
	if got := both.limit(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	alone := caseOf(hot(dubbo, 40), edge(incident.CallTimeout, "com.acme.A", "get"), edge(incident.RetryAmplified, "com.acme.B", "put")).limit()
	if strings.Contains(alone, "retries") || !strings.Contains(alone, "key: com.acme.A\n") {
		t.Errorf("of a service that is not retried:\n%s", alone)
	}
	if got := caseOf(hot(dubbo, 40)).limit(); got != "" {
		t.Errorf("of no known service:\n%s", got)
	}
	for size, want := range map[float64]string{40: "10 at a time, a quarter of the pool's 40", 7: "", 0: ""} {
		if got := caseOf(hot("http-nio-8080-exec", size)).limitWords(); got != want {
			t.Errorf("of %v: %q, want %q", size, got, want)
		}
	}
}

// TestHop holds that the next hop is named as exactly as the trigger tells it.
func TestHop(t *testing.T) {
	finding := func(id string, k incident.Kind, names ...string) incident.Finding {
		f := incident.Finding{ID: id, Kind: k, Names: map[string]string{}}
		for i := 0; i+1 < len(names); i += 2 {
			f.Names[names[i]] = names[i+1]
		}
		return f
	}
	stack := finding("s", incident.StackHTTP, "process", "shop", "app_frame", "com.acme.Pay.charge(Pay.java:5)")
	for name, c := range map[string]struct {
		findings []incident.Finding
		want     string
	}{
		"peer":           {[]incident.Finding{stack, finding("d", incident.DownstreamSlow, "peer", "bank.example")}, "bank.example"},
		"itself":         {[]incident.Finding{stack, finding("d", incident.DownstreamSlow, "peer", "shop")}, "what com.acme.Pay.charge(Pay.java:5) calls"},
		"timed out":      {[]incident.Finding{stack, finding("c", incident.CallTimeout, "service", "com.acme.Bank")}, "com.acme.Bank"},
		"callers' calls": {[]incident.Finding{stack, finding("x", incident.CallTimeout, "service", "com.acme.Shop")}, "what com.acme.Pay.charge(Pay.java:5) calls"},
		"nothing":        {nil, ""},
	} {
		of := caseOf(c.findings...)
		of.incident.Chain = []incident.Link{{Role: incident.Trigger, Label: incident.DownstreamWait, Findings: []string{"s", "d", "c"}}}
		if got := of.hop(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestOwnerLine(t *testing.T) {
	of := func(owner string) *Case {
		return caseOf(incident.Finding{ID: "f", Kind: incident.LockConvoy, Names: map[string]string{"owner": owner}})
	}
	if got, want := of("http-nio-8080-exec-1").ownerLine(), `'"http-nio-8080-exec-1"'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := of("").ownerLine(); got != "" {
		t.Errorf("of nobody: %s", got)
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
