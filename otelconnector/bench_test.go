package otelconnector

import (
	"context"
	"testing"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/firebreak-io/firebreak/bench/truth"
)

// BenchmarkConsumeTraces takes in requests as a Collector of tier 1 sends them and
// counts them.
func BenchmarkConsumeTraces(b *testing.B) {
	var list []ptrace.Traces
	made, err := truth.Make(truth.Config{Calls: 4_000, Merge: 2_000}, func(td ptrace.Traces) error {
		list = append(list, td)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, f := context.Background(), NewFactory()
	b.ReportAllocs()
	for b.Loop() {
		c, err := f.CreateTracesToMetrics(ctx, connectortest.NewNopSettings(Type), f.CreateDefaultConfig(), consumertest.NewNop())
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Start(ctx, componenttest.NewNopHost()); err != nil {
			b.Fatal(err)
		}
		for _, td := range list {
			if err := c.ConsumeTraces(ctx, td); err != nil {
				b.Fatal(err)
			}
		}
		c.(*instance).shared.engine.Flush()
		b.StopTimer()
		if err := c.Shutdown(ctx); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N)*float64(made.Spans)/b.Elapsed().Seconds(), "spans/s")
}
