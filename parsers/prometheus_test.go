package parsers

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

func TestPrometheus(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing known", "# TYPE up gauge\nup 1\nmy_counter_total 3\n", nil},
		{"a name in prose", "hikaricp_connections_active is full again\n", nil},
		{"a query", "hikaricp_connections_active{pool=\"a\"} / hikaricp_connections_max > 0.9\n", nil},
		{"size without limit", "go_sql_in_use_connections{db_name=\"a\"} 3\ngo_sql_max_open_connections{db_name=\"a\"} 0\n", []string{"go-sql a 3/-1"}},
		{"two pools of one kind", "hikaricp_connections_active{pool=\"a\"} 1\nhikaricp_connections_active{pool=\"b\"} 2\n", []string{"hikari a 1/-1", "hikari b 2/-1"}},
		{"jdbc beside its hikari", "hikaricp_connections_active{pool=\"a\"} 1\njdbc_connections_active{name=\"dataSource\"} 1\n", []string{"hikari a 1/-1"}},
		{"jdbc alone", "jdbc_connections_active{name=\"dataSource\"} 1\n", []string{"jdbc dataSource 1/-1"}},
		{
			"refusals between scrapes", "hikaricp_connections_active 1\nhikaricp_connections_timeout_total 5\nhikaricp_connections_active 1\nhikaricp_connections_timeout_total 6\n",
			[]string{"hikari  1/-1", "hikari  1/-1 rejected"},
		},
		{
			"a process that began anew", "envoy_cluster_upstream_rq_total{envoy_cluster_name=\"a\"} 90\nenvoy_cluster_upstream_rq_total{envoy_cluster_name=\"a\"} 5\n",
			[]string{"envoy a calls -1 attempts 90", "envoy a calls -1 attempts 5"},
		},
		{
			"calls from retries", "envoy_cluster_upstream_rq_total{envoy_cluster_name=\"a\"} 90\nenvoy_cluster_upstream_rq_retry{envoy_cluster_name=\"a\"} 60\n",
			[]string{"envoy a calls 30 attempts 90"},
		},
		{
			"a slow log right behind it", "tomcat_threads_busy_threads{name=\"n\"} 3\n# Time: 2026-03-14T10:03:21.000000Z\n# User@Host: shop[shop] @  [10.20.0.11]  Id:    12\n# Query_time: 3.000000  Lock_time: 0.000010 Rows_sent: 1  Rows_examined: 300000\nSELECT 1;\n",
			[]string{"tomcat n 3/-1", "sql"},
		},
		{
			"Dubbo's server under the name that its log has", "dubbo_thread_pool_active_size{application_name=\"shop-product\",ip=\"10.20.0.11\",thread_pool_name=\"DubboServerHandler-20880\",} 4.0\ndubbo_thread_pool_max_size{application_name=\"shop-product\",ip=\"10.20.0.11\",thread_pool_name=\"DubboServerHandler-20880\",} 4.0\n",
			[]string{"dubbo DubboServerHandler-10.20.0.11:20880 4/4"},
		},
		{
			"Dubbo's own pools and services", "dubbo_thread_pool_max_size{ip=\"10.20.0.11\",thread_pool_name=\"DubboServerHandler-shop-product/org.apache.dubbo.metadata.MetadataService:1.0.0\",} 4.0\ndubbo_thread_pool_active_size{ip=\"10.20.0.11\",thread_pool_name=\"internalServiceExecutor\",} 0.0\ndubbo_provider_requests_total{application_module_id=\"1.0\",application_name=\"shop-product\",group=\"shop-product\",interface=\"org.apache.dubbo.metadata.MetadataService\",method=\"getMetadataInfo\",version=\"1.0.0\",} 0.0\n",
			nil,
		},
		{
			"Dubbo for Java counts calls, whatever it retried", "dubbo_consumer_requests_total{application_module_id=\"1.0\",application_name=\"shop-order\",group=\"\",interface=\"a.Sku\",method=\"get\",version=\"\",} 56.0\n",
			[]string{"dubbo a.Sku calls 56 attempts -1"},
		},
		{"huge numbers", "executor_active_threads{name=\"e\"} 1e300\nexecutor_pool_max_threads{name=\"e\"} -1\nexecutor_queued_tasks{name=\"e\"} +Inf\n", nil},
	} {
		var got []string
		in := NewInput("metrics.prom", strings.NewReader(c.text))
		err := Read(in, func(r *evidence.Record) error {
			switch {
			case r.Pool != nil:
				s := fmt.Sprintf("%s %s %d/%d", r.Pool.Impl, r.Pool.Name, r.Pool.Active, r.Pool.Max)
				if r.Pool.Rejected {
					s += " rejected"
				}
				got = append(got, s)
			case r.Counter != nil:
				got = append(got, fmt.Sprintf("%s %s calls %d attempts %d", r.Counter.Impl, r.Counter.Service, r.Counter.Calls, r.Counter.Attempts))
			case r.SQL != nil:
				got = append(got, "sql")
			}
			return nil
		})
		if err != nil || strings.Join(got, "; ") != strings.Join(c.want, "; ") {
			t.Errorf("%s: %q, error %v; want %q", c.name, got, err, c.want)
		}
	}
}

// TestPrometheusCitesTheSeries reads two pools of one family: each is cited where
// its own numbers stand, also behind a line that nothing can be made of.
func TestPrometheusCitesTheSeries(t *testing.T) {
	for _, bad := range []string{"", "hikaricp_connections_active{pool=\"x\"} nothing\n"} {
		text := "# TYPE hikaricp_connections_active gauge\n" + bad + "hikaricp_connections_active{pool=\"a\"} 1\nhikaricp_connections_active{pool=\"b\"} 2\n" +
			"# TYPE hikaricp_connections_max gauge\nhikaricp_connections_max{pool=\"a\"} 9\nhikaricp_connections_max{pool=\"b\"} 9\n"
		want := map[string]int{"a": 2 + strings.Count(bad, "\n"), "b": 3 + strings.Count(bad, "\n")}
		err := Read(NewInput("metrics.prom", strings.NewReader(text)), func(r *evidence.Record) error {
			if r.Pool != nil && r.Cite.Line != want[r.Pool.Name] {
				t.Errorf("%q: pool %s at line %d, want %d", bad, r.Pool.Name, r.Cite.Line, want[r.Pool.Name])
			}
			delete(want, r.Pool.Name)
			return nil
		})
		if err != nil || len(want) > 0 {
			t.Errorf("%q: not read: %v, error %v", bad, want, err)
		}
	}
}

// TestPrometheusKnowsRestarts reads two scrapes between which the process says
// that it started again: nothing is subtracted, though its counters are higher.
func TestPrometheusKnowsRestarts(t *testing.T) {
	scrape := "process_start_time_seconds %d\nenvoy_cluster_upstream_rq_total{envoy_cluster_name=\"a\"} %d\n"
	for _, c := range []struct {
		began int
		delta bool
	}{{1764500000, true}, {1764500600, false}} {
		text := fmt.Sprintf(scrape, 1764500000, 90) + fmt.Sprintf(scrape, c.began, 100)
		n := 0
		err := Read(NewInput("metrics.prom", strings.NewReader(text)), func(r *evidence.Record) error {
			if n++; n == 2 && r.Counter.Delta != c.delta {
				t.Errorf("began at %d: %+v", c.began, r.Counter)
			}
			return nil
		})
		if err != nil || n != 2 {
			t.Errorf("%d records, error %v", n, err)
		}
	}
}

func FuzzPrometheus(f *testing.F) { fuzzFormat(f, "prometheus") }

func BenchmarkPrometheus(b *testing.B) {
	// What services expose: mostly families of no use here.
	var text bytes.Buffer
	for scrape := range 40 {
		fmt.Fprintf(&text, "# 2026-03-14T10:%02d:21Z\n", scrape)
		for i := range 200 {
			fmt.Fprintf(&text, "# HELP http_server_requests_seconds_%d Duration\n# TYPE http_server_requests_seconds_%d histogram\n", i, i)
			for le := range 12 {
				fmt.Fprintf(&text, "http_server_requests_seconds_%d_bucket{method=\"GET\",uri=\"/stock/{sku}\",le=\"%d\",} %d\n", i, le, scrape*le)
			}
			fmt.Fprintf(&text, "hikaricp_connections_active{pool=\"HikariPool-%d\",} %d\nhikaricp_connections_max{pool=\"HikariPool-%d\",} 10\n", i, scrape%11, i)
		}
	}
	data := text.Bytes()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		in := NewInput("metrics.prom", bytes.NewReader(data))
		if err := Read(in, func(*evidence.Record) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
