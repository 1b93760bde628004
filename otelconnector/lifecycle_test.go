package otelconnector

import (
	"context"
	"testing"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pairs are the pairs of signals, by name.
var pairs = []struct {
	name string
	make func(f connector.Factory, cfg component.Config) (component.Component, error)
}{
	{"traces to metrics", func(f connector.Factory, cfg component.Config) (component.Component, error) {
		return f.CreateTracesToMetrics(context.Background(), connectortest.NewNopSettings(Type), cfg, consumertest.NewNop())
	}},
	{"logs to metrics", func(f connector.Factory, cfg component.Config) (component.Component, error) {
		return f.CreateLogsToMetrics(context.Background(), connectortest.NewNopSettings(Type), cfg, consumertest.NewNop())
	}},
	{"traces to logs", func(f connector.Factory, cfg component.Config) (component.Component, error) {
		return f.CreateTracesToLogs(context.Background(), connectortest.NewNopSettings(Type), cfg, consumertest.NewNop())
	}},
	{"logs to logs", func(f connector.Factory, cfg component.Config) (component.Component, error) {
		return f.CreateLogsToLogs(context.Background(), connectortest.NewNopSettings(Type), cfg, consumertest.NewNop())
	}},
}

func TestLifecycle(t *testing.T) {
	ctx, host := context.Background(), componenttest.NewNopHost()
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			f := NewFactory()
			made := func(cfg component.Config) component.Component {
				c, err := p.make(f, cfg)
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			down := func(c component.Component) {
				t.Helper()
				if err := c.Shutdown(ctx); err != nil {
					t.Error(err)
				}
			}
			cfg := f.CreateDefaultConfig()
			never := made(cfg)
			down(never)
			if err := never.Start(ctx, host); err == nil {
				t.Error("it starts after it was shut down")
			}
			// A Collector that reloads makes all anew, here even of the same configuration.
			for range 2 {
				c := made(cfg)
				if err := c.Start(ctx, host); err != nil {
					t.Fatal(err)
				}
				if err := c.Start(ctx, host); err == nil {
					t.Error("it starts twice")
				}
				down(c)
				down(c)
			}
			if c, ok := made(cfg).(interface{ Capabilities() consumer.Capabilities }); !ok || c.Capabilities().MutatesData {
				t.Error("it says that it changes what it is given")
			}
		})
	}
}

// A context given to Start ends when all have started.
func TestStartsContextIsNotKept(t *testing.T) {
	f := NewFactory()
	c, err := pairs[0].make(f, f.CreateDefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := c.Start(ctx, componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	cancel()
	s := c.(*instance).shared
	select {
	case <-s.done:
		t.Error("it stopped working")
	default:
	}
	if err := c.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	<-s.done
}

func TestInstancesShareOneEngine(t *testing.T) {
	f := NewFactory()
	one, other := f.CreateDefaultConfig(), f.CreateDefaultConfig()
	engines := map[any]int{}
	var all []component.Component
	for _, cfg := range []component.Config{one, one, other} {
		for _, p := range pairs {
			c, err := p.make(f, cfg)
			if err != nil {
				t.Fatal(err)
			}
			engines[c.(*instance).shared.engine]++
			all = append(all, c)
		}
	}
	if len(engines) != 2 {
		t.Errorf("%d engines for two components", len(engines))
	}
	for _, c := range all {
		if err := c.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}
	// Whoever has left is forgotten.
	again, err := pairs[0].make(f, one)
	if err != nil {
		t.Fatal(err)
	}
	if engines[again.(*instance).shared.engine] != 0 {
		t.Error("an engine that was shut down is used again")
	}
}
