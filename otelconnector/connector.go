package otelconnector

import (
	"context"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/parsers"
)

// transport is the value of the label by which spans are counted that came
// through a Collector's pipeline.
const transport = "collector"

// signal is what an instance takes in.
type signal int

const (
	traces signal = iota
	logs
)

// output is where an instance hands on: one of them.
type output struct {
	metrics consumer.Metrics
	logs    consumer.Logs
}

// instance is one pair of signals of a component.
type instance struct {
	shared *shared
	in     signal
	out    output
	// feeds says that it hands what comes to the engine. The Collector gives the
	// same request to the pair with metrics and to that with logs.
	feeds         bool
	started, left bool // guarded by shared.mu
}

// Capabilities implements consumer.Traces and consumer.Logs: what comes is only read.
func (*instance) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: false}
}

// Start implements component.Component. Its context is not kept.
func (i *instance) Start(context.Context, component.Host) error { return i.shared.start(i) }

// Shutdown implements component.Component.
func (i *instance) Shutdown(ctx context.Context) error { return i.shared.shutdown(ctx, i) }

// ConsumeTraces implements consumer.Traces.
func (i *instance) ConsumeTraces(_ context.Context, td ptrace.Traces) error {
	n := td.SpanCount()
	if !i.feeds || n == 0 {
		return nil
	}
	s := i.shared
	if !s.engine.Admit(transport, n) {
		if s.cfg.WhenFull == Drop {
			return nil
		}
		return busy()
	}
	defer s.engine.Done(n)
	body, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	if err != nil {
		return consumererror.NewPermanent(err)
	}
	return s.read(body, (*parsers.OTLP).Spans)
}

// ConsumeLogs implements consumer.Logs.
func (i *instance) ConsumeLogs(_ context.Context, ld plog.Logs) error {
	n := ld.LogRecordCount()
	if !i.feeds || n == 0 {
		return nil
	}
	body, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	if err != nil {
		return consumererror.NewPermanent(err)
	}
	i.shared.engine.AddLogs(n)
	return i.shared.read(body, (*parsers.OTLP).Logs)
}

// read hands on the records of one request. They are read from their bytes by
// the reader of files: what attributes mean stands in one place.
func (s *shared) read(body []byte, as func(*parsers.OTLP, []byte, parsers.Emit) error) error {
	reader := <-s.readers
	defer func() { s.readers <- reader }()
	return as(reader, body, func(r *evidence.Record) error {
		s.engine.Add(r)
		return nil
	})
}

// busy is the answer when there is no room. Exporters and retries of the
// Collector see that it may be sent again; its OTLP receiver passes status and
// delay on to the sender.
func busy() error {
	st := status.New(codes.Unavailable, "firebreak has no room for more spans now")
	delay := time.Duration(1+rand.IntN(5)) * time.Second
	if with, err := st.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(delay)}); err == nil {
		st = with
	}
	return consumererror.NewRetryableError(st.Err())
}
