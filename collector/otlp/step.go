package otlp

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
)

// step begins a span of taking in one request, if whoever runs the receiver
// asked for that; what is returned ends it.
func (r *Receiver) step(transport string, what signal, elements int) func(error) {
	if r.cfg.Tracer == nil {
		return untold
	}
	_, s := r.cfg.Tracer.Start(context.Background(), "receive")
	if !s.IsRecording() {
		return untold
	}
	s.SetAttributes(attribute.String("transport", transport), attribute.Bool("logs", what == logs), attribute.Int("elements", elements))
	return func(err error) {
		if err != nil {
			s.SetStatus(codes.Error, err.Error())
		}
		s.End()
	}
}

func untold(error) {}
