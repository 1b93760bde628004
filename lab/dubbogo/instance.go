package main

import (
	"fmt"

	"dubbo.apache.org/dubbo-go/v3"
	_ "dubbo.apache.org/dubbo-go/v3/imports"
	"dubbo.apache.org/dubbo-go/v3/logger"
	"dubbo.apache.org/dubbo-go/v3/metrics"
	"dubbo.apache.org/dubbo-go/v3/otel/trace"
)

// newInstance configures what both roles share: logger, metrics and tracing, all
// of dubbo-go's own making. Its metrics go to the default registry, which the
// control port serves; its own exporter, which would listen on every interface,
// is off, and so is the metadata service, which would ask for a port of its own.
func newInstance(c *config) (*dubbo.Instance, error) {
	opts := []dubbo.InstanceOption{
		dubbo.WithName(c.name),
		dubbo.WithOrganization("acme"),
		dubbo.WithRemoteMetadata(),
		dubbo.WithMetrics(metrics.WithEnabled(), metrics.WithPrometheus(), withoutExporter),
	}
	log := []logger.Option{logger.WithZap(), logger.WithLevel(c.level)}
	if c.log != "" {
		log = append(log, logger.WithAppender("file"), logger.WithFileName(c.log), logger.WithFileMaxSize(512))
	}
	opts = append(opts, dubbo.WithLogger(log...))
	if c.otlp != "" {
		opts = append(opts, dubbo.WithTracing(
			trace.WithEnabled(), trace.WithOtlpHttpExporter(), trace.WithEndpoint(c.otlp),
			trace.WithInsecure(), trace.WithAlwaysMode(), trace.WithW3cPropagator(),
		))
	}
	ins, err := dubbo.NewInstance(opts...)
	if err != nil {
		return nil, fmt.Errorf("configure dubbo-go: %w", err)
	}
	return ins, nil
}

func withoutExporter(o *metrics.Options) {
	off := false
	o.Metrics.Prometheus.Exporter.Enabled = &off
}
