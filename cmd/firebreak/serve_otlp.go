package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/otel/trace"

	"github.com/firebreak-io/firebreak/collector/otlp"
	"github.com/firebreak-io/firebreak/correlate/live"
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

// requestStats are those of the receiver. There is none at first.
func requestStats(r *otlp.Receiver) live.RequestStats {
	if r == nil {
		return live.RequestStats{}
	}
	s := r.Stats()
	x := live.RequestStats{
		Taken: s.Taken, Refused: map[string]int64{}, Converted: s.Converted, Skipped: s.Skipped, Bytes: s.BytesInFlight, MaxBytes: s.MaxBytesInFlight,
	}
	for _, reasons := range s.Refused { // whatever the transport
		for why, n := range reasons {
			x.Refused[string(why)] += n
		}
	}
	return x
}
