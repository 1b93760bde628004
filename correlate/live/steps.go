package live

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// step begins a span of the engine's own work, if whoever runs it asked for
// that. There is one for each batch and each report, none for what comes in.
func (e *Engine) step(ctx context.Context, name string, said ...attribute.KeyValue) (context.Context, trace.Span) {
	return e.cfg.Tracer.Start(ctx, name, trace.WithAttributes(said...))
}

// ended ends a step that may have failed.
func ended(s trace.Span, err error) {
	if err != nil {
		s.RecordError(err)
		s.SetStatus(codes.Error, "")
	}
	s.End()
}
