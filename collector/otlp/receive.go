// Package otlp receives traces and logs as OpenTelemetry sends them, over gRPC
// and HTTP, by the Collector's own receiver, and hands them on as evidence.
//
// It promises: a request is acknowledged only after all of it was handed on;
// what does not fit is refused before it is read, with a status that senders
// take as a reason to send it again later, never silently. Requests are decoded
// by as many goroutines at once as there are processors.
package otlp

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/config/configgrpc"
	"go.opentelemetry.io/collector/config/confignet"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	metric "go.opentelemetry.io/otel/metric/noop"
	trace "go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/parsers"
)

// Sink takes what is received. Its methods are called by many goroutines.
type Sink interface {
	// Admit asks for room for some spans that came by a transport, before they are
	// read; Done follows if there was any.
	Admit(transport string, spans int) bool
	Done(spans int)
	// Add takes a record, which is lent.
	Add(*evidence.Record)
	// AddLogs says how many records of logs came.
	AddLogs(n int)
}

// The transports.
const (
	GRPC = "grpc"
	HTTP = "http"
)

// Config says where to listen. An empty address leaves a transport out.
type Config struct {
	GRPC, HTTP string // host:port
	Logger     *slog.Logger
	Skipped    func(why string) // hears what could not be read; may be nil
	Failed     func(err error)  // hears that a listener broke down; may be nil
}

// maxRequest bounds one request after decompression.
const maxRequest = 20 // MiB

// Receiver listens.
type Receiver struct {
	cfg     Config
	sink    Sink
	readers chan *parsers.OTLP
	servers []receiver.Traces
}

// Start begins to listen and to hand on what comes.
func Start(ctx context.Context, cfg Config, sink Sink) (*Receiver, error) {
	r := &Receiver{cfg: cfg, sink: sink, readers: make(chan *parsers.OTLP, runtime.GOMAXPROCS(0))}
	skipped := cfg.Skipped
	if skipped == nil {
		skipped = func(string) {}
	}
	for range cap(r.readers) {
		r.readers <- parsers.NewOTLP("otlp", skipped)
	}
	for _, transport := range []string{GRPC, HTTP} {
		if err := r.listen(ctx, transport); err != nil {
			return nil, errors.Join(err, r.Shutdown(ctx))
		}
	}
	return r, nil
}

// listen starts a receiver of one transport, so that what comes by it is known
// to come by it.
func (r *Receiver) listen(ctx context.Context, transport string) error {
	factory := otlpreceiver.NewFactory()
	cfg := factory.CreateDefaultConfig().(*otlpreceiver.Config)
	switch {
	case transport == GRPC && r.cfg.GRPC != "":
		g := cfg.Protocols.GRPC.GetOrInsertDefault()
		g.NetAddr = confignet.AddrConfig{Endpoint: r.cfg.GRPC, Transport: confignet.TransportTypeTCP}
		g.MaxRecvMsgSizeMiB = maxRequest
	case transport == HTTP && r.cfg.HTTP != "":
		h := cfg.Protocols.HTTP.GetOrInsertDefault()
		h.ServerConfig.NetAddr = confignet.AddrConfig{Endpoint: r.cfg.HTTP, Transport: confignet.TransportTypeTCP}
		h.ServerConfig.MaxRequestBodySize = maxRequest << 20
		h.ServerConfig.ReadHeaderTimeout = 10 * time.Second // nobody holds a connection by saying nothing
		h.ServerConfig.ReadTimeout = time.Minute
	default:
		return nil
	}
	if transport == GRPC {
		cfg.Protocols.HTTP = configoptional.None[otlpreceiver.HTTPConfig]()
	} else {
		cfg.Protocols.GRPC = configoptional.None[configgrpc.ServerConfig]()
	}
	set := receiver.Settings{
		ID: component.NewIDWithName(factory.Type(), transport),
		TelemetrySettings: component.TelemetrySettings{
			Logger: zapTo(r.cfg.Logger), TracerProvider: trace.NewTracerProvider(), MeterProvider: metric.NewMeterProvider(),
		},
	}
	traces, err := consumer.NewTraces(func(_ context.Context, td ptrace.Traces) error { return r.traces(transport, td) })
	if err != nil {
		return err
	}
	logs, err := consumer.NewLogs(func(_ context.Context, ld plog.Logs) error { return r.logs(ld) })
	if err != nil {
		return err
	}
	server, err := factory.CreateTraces(ctx, set, cfg, traces)
	if err != nil {
		return err
	}
	if _, err := factory.CreateLogs(ctx, set, cfg, logs); err != nil { // it is the same server
		return err
	}
	if err := server.Start(ctx, r); err != nil {
		return err
	}
	r.servers = append(r.servers, server)
	return nil
}

// GetExtensions implements component.Host: there are none.
func (r *Receiver) GetExtensions() map[component.ID]component.Component { return nil }

// Report implements componentstatus.Reporter.
func (r *Receiver) Report(e *componentstatus.Event) {
	if e.Err() != nil && r.cfg.Failed != nil {
		r.cfg.Failed(e.Err())
	}
}

// Shutdown stops listening and waits for the requests at hand.
func (r *Receiver) Shutdown(ctx context.Context) error {
	var errs []error
	for _, s := range r.servers {
		errs = append(errs, s.Shutdown(ctx))
	}
	r.servers = nil
	return errors.Join(errs...)
}

// traces hands on the spans of one request. They are read by the reader of
// files, from their bytes: what attributes mean stands in one place.
func (r *Receiver) traces(transport string, td ptrace.Traces) error {
	n := td.SpanCount()
	if !r.sink.Admit(transport, n) {
		return busy()
	}
	defer r.sink.Done(n)
	body, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	return r.read(body)
}

// logs hands on the records of one request.
func (r *Receiver) logs(ld plog.Logs) error {
	body, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	r.sink.AddLogs(ld.LogRecordCount())
	return r.read(body)
}

func (r *Receiver) read(body []byte) error {
	reader := <-r.readers
	defer func() { r.readers <- reader }()
	return reader.Request(body, func(rec *evidence.Record) error {
		r.sink.Add(rec)
		return nil
	})
}

// busy is the answer when there is no room: unavailable, come back in a few
// seconds, not all at once. Without the delay senders over gRPC would drop what
// they have, and one below a second becomes none over HTTP.
func busy() error {
	s := status.New(codes.Unavailable, "firebreak has no room for more spans now")
	delay := time.Duration(1+rand.IntN(5)) * time.Second
	if with, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(delay)}); err == nil {
		s = with
	}
	return s.Err()
}
