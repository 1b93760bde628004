package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/otel/trace"

	"github.com/firebreak-io/firebreak/collector/otlp"
)

// certificateAge is how often a certificate's file is read again.
const certificateAge = time.Minute

// startOTLP takes in traces and logs, unless memory is full. What breaks down later is sent to broken.
func startOTLP(ctx context.Context, c otlpConfig, full func() bool, sink otlp.Sink, tracer trace.Tracer, logger *slog.Logger, broken chan<- error) (*otlp.Receiver, error) {
	o := otlp.Config{
		GRPC: c.GRPC, HTTP: c.HTTP, MaxBytesInFlight: c.MaxBytesInFlight, MaxConnections: c.MaxConnections, IdleTimeout: c.IdleTimeout,
		Full:    full,
		Logger:  logger,
		Tracer:  tracer,
		Skipped: func(why string) { logger.Debug("not read", "why", why) },
		Failed: func(err error) {
			select {
			case broken <- err:
			default:
			}
		},
	}
	if c.TokenFile != "" {
		token, err := otlp.ReadToken(c.TokenFile)
		if err != nil {
			return nil, fmt.Errorf("otlp.token_file: %w", err)
		}
		o.Token = token
	}
	if c.TLS.CertFile != "" {
		t := configtls.NewDefaultServerConfig()
		t.CertFile, t.KeyFile, t.ReloadInterval = c.TLS.CertFile, c.TLS.KeyFile, certificateAge
		t.ClientCAFile = c.TLS.ClientCAFile
		o.TLS = &t
	}
	return otlp.Start(ctx, o, sink)
}

// refusedRequests counts by reason, whatever the transport. There is no receiver
// at first.
func refusedRequests(r *otlp.Receiver) map[string]int64 {
	if r == nil {
		return nil
	}
	sums := map[string]int64{}
	for _, reasons := range r.Stats().Refused {
		for why, n := range reasons {
			sums[string(why)] += n
		}
	}
	return sums
}
