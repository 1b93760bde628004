// Package otlp receives traces and logs as OpenTelemetry sends them, over gRPC
// and HTTP, and hands them on as evidence.
//
// Servers, TLS, authentication, decompression and limits are the Collector's own
// (configgrpc, confighttp). Its otlpreceiver is not used: it decodes every span
// into an object of its own before it hands it on, which took 40 % of the
// processor time of a span (docs/performance.md). Here the bytes of a request go
// to the reader of files, which reads the fields where they stand.
//
// It promises: a request is acknowledged only after all of it was handed on;
// what could not be read of it is told in the answer (a partial success); what
// does not fit is refused before it is read, with a status that senders take as
// a reason to send it again later, never silently. Requests are read by as many
// goroutines at once as there are processors.
package otlp

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"time"

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

// Receiver listens.
type Receiver struct {
	cfg     Config
	sink    Sink
	readers chan *parsers.OTLP
	servers []server
}

// server is one that listens.
type server interface {
	// shutdown stops listening and waits for the requests at hand.
	shutdown(ctx context.Context) error
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
	for _, x := range []struct {
		addr  string
		start func(context.Context) (server, error)
	}{{cfg.GRPC, r.startGRPC}, {cfg.HTTP, r.startHTTP}} {
		if x.addr == "" {
			continue
		}
		s, err := x.start(ctx)
		if err != nil {
			return nil, errors.Join(err, r.Shutdown(ctx))
		}
		r.servers = append(r.servers, s)
	}
	return r, nil
}

// Shutdown stops listening and waits for the requests at hand.
func (r *Receiver) Shutdown(ctx context.Context) error {
	var errs []error
	for _, s := range r.servers {
		errs = append(errs, s.shutdown(ctx))
	}
	r.servers = nil
	return errors.Join(errs...)
}

// failed tells that a listener broke down.
func (r *Receiver) failed(err error) {
	if r.cfg.Failed != nil {
		r.cfg.Failed(err)
	}
}

// signal is what a request is about.
type signal int

const (
	traces signal = iota
	logs
)

// receive takes in the protobuf of one request, and returns how many of its
// spans or log records could not be read.
func (r *Receiver) receive(transport string, what signal, body []byte) (rejected int, err error) {
	n, whole := parsers.OTLPElements(body)
	if !whole {
		return 0, status.Error(codes.InvalidArgument, "the request is no protobuf of OTLP")
	}
	if what == logs {
		r.sink.AddLogs(n)
		_, err := r.read(what, body)
		return 0, err // a record is not always one of evidence
	}
	if !r.sink.Admit(transport, n) {
		return 0, busy()
	}
	defer r.sink.Done(n)
	read, err := r.read(what, body)
	return max(0, n-read), err
}

// read hands on what is in a request, and counts it.
func (r *Receiver) read(what signal, body []byte) (n int, err error) {
	reader := <-r.readers
	defer func() { r.readers <- reader }()
	hand := func(rec *evidence.Record) error {
		n++
		r.sink.Add(rec)
		return nil
	}
	if what == logs {
		return n, reader.Logs(body, hand)
	}
	err = reader.Spans(body, hand)
	return n, err
}

// unread is what a partial success says.
const unread = "spans without a trace ID or a span ID, or broken ones, were left out"

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
