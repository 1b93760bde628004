package builder

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"

	"github.com/firebreak-io/firebreak/bench/truth"
)

// What the instances of tier 2 are told, so that a test need not wait long.
const (
	flush = time.Second
	retry = time.Second // of tier 1
)

// fleet is one Collector of tier 1 and three of tier 2.
type fleet struct {
	grpc, http string // where tier 1 takes in
	tier1      *collector
	tier2      []*collector
	pages      []string // where they show metrics
	pushed     *pushed
}

func newFleet(t *testing.T, lateness time.Duration) *fleet {
	t.Helper()
	program(t)
	f := &fleet{grpc: free(t), http: free(t), pushed: &pushed{series: map[string]map[string]series{}}}
	receiver := httptest.NewServer(f.pushed)
	t.Cleanup(receiver.Close)
	var backends, all []string
	for i := range 3 {
		otlp, page := free(t), free(t)
		f.tier2 = append(f.tier2, run(t, fmt.Sprintf("tier2-%d", i), "tier2.yaml",
			"receivers::otlp::protocols::grpc::endpoint: "+otlp,
			"exporters::prometheus::endpoint: "+page,
			"exporters::otlp_http: {endpoint: \""+receiver.URL+"\", compression: none}",
			"service::pipelines::metrics::exporters: [prometheus, otlp_http]",
			"connectors::firebreak::metrics_flush_interval: "+flush.String(),
			"connectors::firebreak::limits: {lateness: "+lateness.String()+", max_age: "+(4*lateness).String()+"}",
			fmt.Sprintf("service::telemetry::resource::service.instance.id: tier2-%d", i),
			"service::telemetry::metrics::level: none",
		))
		f.pages = append(f.pages, page)
		backends, all = append(backends, `"`+otlp+`"`), append(all, otlp, page)
	}
	f.tier1 = run(t, "tier1", "tier1.yaml",
		"receivers::otlp::protocols::grpc::endpoint: "+f.grpc,
		"receivers::otlp::protocols::http::endpoint: "+f.http,
		"exporters::load_balancing::resolver::static::hostnames: ["+strings.Join(backends, ", ")+"]",
		"exporters::load_balancing::protocol::otlp::retry_on_failure::max_interval: "+retry.String(),
		"service::telemetry::metrics::level: none",
	)
	for _, addr := range append(all, f.grpc, f.http) {
		until(t, "somebody listens", time.Minute, func() bool { return listens(addr) })
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, c := range f.all() {
				t.Logf("%s: %.4000s", c.name, c.said())
			}
		}
	})
	return f
}

func (f *fleet) all() []*collector { return append(slices.Clone(f.tier2), f.tier1) }

// scrape is what Prometheus would read of an instance.
func scrape(t *testing.T, addr string) string {
	t.Helper()
	r, err := web.Get("http://" + addr + "/metrics")
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	page, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		return ""
	}
	return string(page)
}

// sums adds up what all instances show.
func (f *fleet) sums(t *testing.T) truth.Counted {
	t.Helper()
	c := truth.Counted{}
	for _, addr := range f.pages {
		if err := c.Add(strings.NewReader(scrape(t, addr))); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// settled reports whether so many spans came and none of them waits.
func settled(c truth.Counted, spans int64) bool {
	return c.Total("firebreak_spans_received_total") >= float64(spans) && c.Total("firebreak_spans_held") == 0 && c.Total("firebreak_traces_open") == 0
}

// pushed takes in metrics over OTLP, as Prometheus does.
type pushed struct {
	mu     sync.Mutex
	series map[string]map[string]series // by instance, and all their labels
}

type series struct {
	labels pcommon.Map
	name   string
	value  float64
}

func (p *pushed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	q := pmetricotlp.NewExportRequest()
	if err == nil {
		err = q.UnmarshalProto(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, rm := range q.Metrics().ResourceMetrics().All() {
		id, _ := rm.Resource().Attributes().Get("service.instance.id")
		of := p.series[id.AsString()]
		if of == nil {
			of = map[string]series{}
			p.series[id.AsString()] = of
		}
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				var points pmetric.NumberDataPointSlice
				switch m.Type() {
				case pmetric.MetricTypeSum:
					points = m.Sum().DataPoints()
				case pmetric.MetricTypeGauge:
					points = m.Gauge().DataPoints()
				default:
					continue
				}
				for _, x := range points.All() {
					of[m.Name()+fmt.Sprint(x.Attributes().AsRaw())] = series{x.Attributes(), m.Name(), x.DoubleValue()}
				}
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// take returns what an instance pushed last, and forgets it.
func (p *pushed) take(instance string) truth.Counted {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := counted(p.series[instance])
	delete(p.series, instance)
	return c
}

// sums adds up what all instances pushed last.
func (p *pushed) sums() truth.Counted {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := truth.Counted{}
	for _, of := range p.series {
		add(c, counted(of))
	}
	return c
}

func add(to, from truth.Counted) {
	for k, v := range from {
		to[k] += v
	}
}

// counted reads series as a page of metrics is read.
func counted(all map[string]series) truth.Counted {
	byName := map[string][]string{}
	for s := range maps.Values(all) {
		var labels []string
		for k, v := range s.labels.All() {
			labels = append(labels, fmt.Sprintf("%s=%q", k, v.AsString()))
		}
		byName[s.name] = append(byName[s.name], fmt.Sprintf("%s{%s} %g\n", s.name, strings.Join(labels, ","), s.value))
	}
	var page strings.Builder
	for name, lines := range byName {
		page.WriteString("# TYPE " + name + " untyped\n" + strings.Join(lines, ""))
	}
	c := truth.Counted{}
	_ = c.Add(strings.NewReader(page.String())) // of the page just made
	return c
}
