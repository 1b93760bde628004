package runbooks

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/incident"
)

// TestActionsOfIncidents holds what is proposed, and what is not, for whole
// incidents.
func TestActionsOfIncidents(t *testing.T) {
	l := builtIn(t)
	for name, c := range map[string]struct{ has, not []string }{
		"reference-slow-sql-retries":    {has: []string{"holds the lines of step 3 too", "Begin with 50 at a time, a quarter of the pool's 200"}, not: []string{theCut}},
		"deadlock-postgresql":           {has: []string{"End no session for the deadlocks", "# Java", "# Go"}, not: []string{"pg_terminate_backend"}},
		"judge-pg-activity-own-columns": {has: []string{"session 20311, a candidate", "\n-- SELECT pg_terminate_backend(20311);"}},
		"lock-rows-in-mysql":            {has: []string{"session 690, which holds the lock", "\n-- KILL 690;"}},
		"judge-metadata-queue":          {has: []string{"performance_schema.metadata_locks", "session 881201, a candidate", "\n-- KILL 881201;", "others pass: alter table t_member"}},
		"downstream-rpc-one-hop":        {has: []string{"one hop down, to com.acme.coupon.CouponService,"}, not: []string{"key: SERVICE"}},
		"downstream-redis":              {has: []string{"one hop down, to redis,"}},
		"downstream-hystrix-breaker":    {has: []string{"one hop down, to InventoryClient#stock(Long),"}},
		"downstream-http-hang":          {has: []string{"what com.acme.checkout.PayPartner.charge(PayPartner.java:52) calls"}},
		"retry-dubbo-go-3.3":            {has: []string{"# Java", "# Go"}},
		"lock-monitor-convoy":           {has: []string{`grep -F -A 30 '"DubboServerHandler-10.20.50.1:20880-thread-5"'`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := reportOf(t, filepath.Join(incidentsFolder, name))
			if err := l.Apply(r); err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, a := range r.Incidents[0].Actions {
				b.WriteString("\n" + a.What + "\n" + a.Command + "\n" + a.Why + "\n" + a.Risk)
			}
			for _, s := range c.has {
				if !strings.Contains(b.String(), s) {
					t.Errorf("%q is not in %s", s, b.String())
				}
			}
			for _, s := range append(c.not, "\nKILL ", "\nSELECT pg_terminate_backend") {
				if strings.Contains(b.String(), s) {
					t.Errorf("%q is in %s", s, b.String())
				}
			}
			for _, w := range r.Incidents[0].Walk {
				if name == "deadlock-postgresql" && w.Step == "deadlock" && w.Answer == incident.No {
					t.Errorf("no circle, because of %v", w.Because)
				}
			}
			if name == "deadlock-postgresql" && !strings.Contains(r.Incidents[0].Actions[0].Command, "pg_stat_activity") {
				t.Errorf("first %q", r.Incidents[0].Actions[0].What)
			}
		})
	}
}
