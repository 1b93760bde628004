// Package otelconnector is the engine of firebreak serve as a connector of the
// OpenTelemetry Collector: traces and logs come in, metrics and one log record
// for each incident that begins, changes or is over go out.
//
// It promises: all pairs of one component share one engine, and each request is
// counted once, however many pipelines go on from it; what does not fit is
// refused with an error after which senders send it again later, before anything
// is spent on it; counters are cumulative and exact, as those of firebreak serve;
// what was taken in before Shutdown is counted and handed on during it; memory is
// bounded by the configuration. It keeps nothing of what it is given.
//
// It cannot join what it does not see: all spans of a trace must reach one
// instance.
package otelconnector

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"
)

// Type is the name of the connector in configurations.
var Type = component.MustNewType("firebreak")

const stability = component.StabilityLevelAlpha

// NewFactory makes the factory, for a Collector's list of connectors.
func NewFactory() connector.Factory {
	c := &components{}
	return connector.NewFactory(Type, defaultConfig,
		connector.WithTracesToMetrics(func(_ context.Context, set connector.Settings, cfg component.Config, next consumer.Metrics) (connector.Traces, error) {
			return c.join(set, cfg, traces, output{metrics: next})
		}, stability),
		connector.WithLogsToMetrics(func(_ context.Context, set connector.Settings, cfg component.Config, next consumer.Metrics) (connector.Logs, error) {
			return c.join(set, cfg, logs, output{metrics: next})
		}, stability),
		connector.WithTracesToLogs(func(_ context.Context, set connector.Settings, cfg component.Config, next consumer.Logs) (connector.Traces, error) {
			return c.join(set, cfg, traces, output{logs: next})
		}, stability),
		connector.WithLogsToLogs(func(_ context.Context, set connector.Settings, cfg component.Config, next consumer.Logs) (connector.Logs, error) {
			return c.join(set, cfg, logs, output{logs: next})
		}, stability),
	)
}
