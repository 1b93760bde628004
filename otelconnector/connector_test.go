package otelconnector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/firebreak-io/firebreak/bench/truth"
)

// rig is a component with all pairs, as a Collector builds it.
type rig struct {
	tracesToMetrics, tracesToLogs connector.Traces
	logsToMetrics, logsToLogs     connector.Logs
	metrics                       *consumertest.MetricsSink
	logs                          *consumertest.LogsSink
}

// newSettings are those of a Collector with a name.
func newSettings() connector.Settings {
	set := connectortest.NewNopSettings(Type)
	set.Resource = pcommon.NewResource()
	set.Resource.Attributes().PutStr("service.instance.id", "tier-2-a")
	return set
}

func newRig(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	f := NewFactory()
	cfg := f.CreateDefaultConfig().(*Config)
	if change != nil {
		change(cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	ctx, set := context.Background(), newSettings()
	r := &rig{metrics: new(consumertest.MetricsSink), logs: new(consumertest.LogsSink)}
	var errs [4]error
	r.tracesToMetrics, errs[0] = f.CreateTracesToMetrics(ctx, set, cfg, r.metrics)
	r.tracesToLogs, errs[1] = f.CreateTracesToLogs(ctx, set, cfg, r.logs)
	r.logsToMetrics, errs[2] = f.CreateLogsToMetrics(ctx, set, cfg, r.metrics)
	r.logsToLogs, errs[3] = f.CreateLogsToLogs(ctx, set, cfg, r.logs)
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range r.all() {
		if err := c.Start(ctx, componenttest.NewNopHost()); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *rig) all() []component.Component {
	return []component.Component{r.tracesToMetrics, r.logsToMetrics, r.tracesToLogs, r.logsToLogs}
}

// traces takes a request as the Collector hands it on: to each pair.
func (r *rig) traces(td ptrace.Traces) error {
	if err := r.tracesToMetrics.ConsumeTraces(context.Background(), td); err != nil {
		return err
	}
	return r.tracesToLogs.ConsumeTraces(context.Background(), td)
}

func (r *rig) shutdown(t *testing.T) {
	t.Helper()
	for _, c := range r.all() {
		if err := c.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// page writes what was handed on last as a page of metrics.
func page(t *testing.T, all pmetric.Metrics) string {
	t.Helper()
	var b strings.Builder
	for _, rm := range all.ResourceMetrics().All() {
		if id, _ := rm.Resource().Attributes().Get("service.instance.id"); id.AsString() != "tier-2-a" {
			t.Errorf("metrics of %v", rm.Resource().Attributes().AsRaw())
		}
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				if m.Type() != pmetric.MetricTypeSum {
					continue
				}
				if !m.Sum().IsMonotonic() || m.Sum().AggregationTemporality() != pmetric.AggregationTemporalityCumulative {
					t.Errorf("%s is not cumulative", m.Name())
				}
				fmt.Fprintf(&b, "# TYPE %s counter\n", m.Name())
				for _, p := range m.Sum().DataPoints().All() {
					var labels []string
					for k, v := range p.Attributes().All() {
						labels = append(labels, fmt.Sprintf("%s=%q", k, v.AsString()))
					}
					fmt.Fprintf(&b, "%s{%s} %g\n", m.Name(), strings.Join(labels, ","), p.DoubleValue())
					if p.StartTimestamp() == 0 || p.StartTimestamp() > p.Timestamp() {
						t.Errorf("%s%v starts at %v", m.Name(), labels, p.StartTimestamp())
					}
				}
			}
		}
	}
	return b.String()
}

// What was taken in is handed on at shutdown, once, and it is the truth.
func TestCountsTheTruth(t *testing.T) {
	r := newRig(t, nil)
	made, err := truth.Make(truth.Config{Calls: 300}, r.traces)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.metrics.AllMetrics()) != 0 {
		t.Error("something was handed on before its time")
	}
	r.shutdown(t)
	all := r.metrics.AllMetrics()
	if len(all) != 1 {
		t.Fatalf("handed on %d times", len(all))
	}
	text := page(t, all[0])
	counted := truth.Counted{}
	if err := counted.Add(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	for _, d := range made.Differences(counted) {
		t.Error(d)
	}
	if want := fmt.Sprintf("firebreak_spans_received_total{transport=\"collector\"} %d\n", made.Spans); !strings.Contains(text, want) {
		t.Errorf("no %s", want)
	}
}

// Pairs with logs may be gone before those with metrics, and the other way round.
func TestOrderOfShutdown(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2, 3}, {2, 3, 0, 1}, {0, 2, 1, 3}} {
		r := newRig(t, nil)
		if _, err := truth.Make(truth.Config{Calls: 10}, r.traces); err != nil {
			t.Fatal(err)
		}
		for n, i := range order {
			if err := r.all()[i].Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
			metricsLeft := false
			for _, later := range order[n+1:] {
				metricsLeft = metricsLeft || later < 2
			}
			if got := len(r.metrics.AllMetrics()); (got == 0) != metricsLeft {
				t.Errorf("%v: after %d handed on %d times", order, i, got)
			}
		}
	}
}

func TestLogsAreTakenOnce(t *testing.T) {
	r := newRig(t, nil)
	ld := plog.NewLogs()
	ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr("Thread pool is EXHAUSTED!")
	for _, c := range []connector.Logs{r.logsToMetrics, r.logsToLogs} {
		if err := c.ConsumeLogs(context.Background(), ld); err != nil {
			t.Fatal(err)
		}
	}
	r.shutdown(t)
	if text := page(t, r.metrics.AllMetrics()[0]); !strings.Contains(text, "firebreak_log_records_received_total{} 1\n") {
		t.Error(text)
	}
}

func TestRefusesWhatDoesNotFit(t *testing.T) {
	spans := func(n int) ptrace.Traces {
		td := ptrace.NewTraces()
		list := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
		for i := range n {
			s := list.AppendEmpty()
			s.SetTraceID([16]byte{1, byte(i)})
			s.SetSpanID([8]byte{1, byte(i)})
		}
		return td
	}
	for _, when := range []string{Refuse, Drop} {
		r := newRig(t, func(c *Config) { c.Limits.MaxSpans, c.WhenFull = 10, when })
		err := r.traces(spans(11))
		if when == Refuse {
			var retry *consumererror.Error
			st, ok := status.FromError(err)
			if err == nil || consumererror.IsPermanent(err) || !errors.As(err, &retry) || !retry.IsRetryable() || !ok || st.Code() != codes.Unavailable {
				t.Errorf("it answers %v", err)
			} else if info, ok := st.Details()[0].(*errdetails.RetryInfo); !ok || info.GetRetryDelay().AsDuration().Seconds() < 1 {
				t.Errorf("it says %v", st.Details())
			}
		} else if err != nil {
			t.Error(err)
		}
		if err := r.traces(spans(10)); err != nil {
			t.Error(err)
		}
		r.shutdown(t)
		if text := page(t, r.metrics.AllMetrics()[0]); !strings.Contains(text, "firebreak_spans_refused_total{transport=\"collector\"} 11\n") {
			t.Error(text)
		}
	}
}

// A Collector with the connector does not link what it never shows.
func TestLinksNoScreen(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	for _, p := range []string{"github.com/firebreak-io/firebreak/tui", "github.com/firebreak-io/firebreak/cmd", "charm.land/", "github.com/spf13/cobra"} {
		for line := range bytes.Lines(out) {
			if strings.HasPrefix(string(line), p) {
				t.Errorf("%s is linked", line)
			}
		}
	}
}
