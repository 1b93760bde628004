// Package otlp receives traces and logs as OpenTelemetry sends them, over gRPC
// and HTTP, and hands them on as evidence.
//
// It promises: a request is acknowledged only after all of it was handed on;
// what does not fit is refused, with a status that senders take as a reason to
// send it again later; what is not understood is refused with what to do. Nothing
// is dropped silently: Stats counts all of it. The memory that requests take
// while they are read is bounded by Config.MaxBytesInFlight, whatever they unpack
// to and however many come at once. Requests are decoded by as many goroutines at
// once as there are processors.
//
// It is no Collector's receiver: that one makes objects of a request before it
// asks whether there is room, and reads documents under other roots as nothing.
// docs/architecture.md has the figures.
package otlp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/net/netutil"

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
	TLS        *configtls.ServerConfig
	Token      *Token // what senders must know; nil: nothing
	// MaxBytesInFlight bounds the bytes of requests that are being read, unpacked
	// (64 MiB); MaxConnections the connections of each transport (2,000).
	MaxBytesInFlight int64
	MaxConnections   int
	// IdleTimeout is within what time a request must have come whole, and after
	// what time a connection that says nothing is closed (1 min).
	IdleTimeout time.Duration

	// Full says that no request may be read now, whatever else there is room for;
	// may be nil.
	Full func() bool

	Logger  *slog.Logger
	Skipped func(why string) // hears what could not be read; may be nil
	Failed  func(err error)  // hears that a listener broke down; may be nil
	Tracer  trace.Tracer     // takes a span of each request; may be nil
}

// maxRequest bounds one request after decompression. LeastInFlight is what one
// takes while it is read.
const (
	maxRequest    = 20 << 20
	LeastInFlight = 48 << 20
)

// Receiver listens.
type Receiver struct {
	cfg     Config
	sink    Sink
	readers chan *parsers.OTLP
	budget  budget
	stats   *counters
	servers []*http.Server
	running sync.WaitGroup

	addresses map[string]string // where it listens, by transport
	strangers strangers
}

// Address is where a transport is listened for; empty if it is not.
func (r *Receiver) Address(transport string) string { return r.addresses[transport] }

// Start begins to listen and to hand on what comes.
func Start(ctx context.Context, cfg Config, sink Sink) (*Receiver, error) {
	if cfg.MaxBytesInFlight <= 0 {
		cfg.MaxBytesInFlight = 64 << 20
	}
	if cfg.MaxConnections <= 0 {
		cfg.MaxConnections = 2_000
	}
	if cfg.IdleTimeout <= 0 {
		cfg.IdleTimeout = time.Minute
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	r := newReceiver(cfg, sink)
	var secure *tls.Config
	if cfg.TLS != nil {
		var err error
		if secure, err = cfg.TLS.LoadTLSConfig(ctx); err != nil {
			return nil, fmt.Errorf("TLS of OTLP: %w", err)
		}
	}
	for _, x := range []struct {
		name   string
		addr   string
		handle http.HandlerFunc
		http1  bool
	}{{GRPC, cfg.GRPC, r.overGRPC, false}, {HTTP, cfg.HTTP, r.overHTTP, true}} {
		if x.addr == "" {
			continue
		}
		if err := r.listen(ctx, x.name, x.addr, r.server(x.handle, x.http1, secure)); err != nil {
			return nil, errors.Join(err, r.Shutdown(ctx))
		}
	}
	return r, nil
}

func newReceiver(cfg Config, sink Sink) *Receiver {
	r := &Receiver{cfg: cfg, sink: sink, readers: make(chan *parsers.OTLP, runtime.GOMAXPROCS(0)), stats: newCounters(), addresses: map[string]string{}}
	r.budget.limit = cfg.MaxBytesInFlight
	skipped := func(why string) {
		r.stats.skipped(why)
		if cfg.Skipped != nil {
			cfg.Skipped(why)
		}
	}
	for range cap(r.readers) {
		r.readers <- parsers.NewOTLP("otlp", skipped)
	}
	return r
}

// server makes a server whose every wait ends, and whose connections hold little.
func (r *Receiver) server(handle http.HandlerFunc, http1 bool, secure *tls.Config) *http.Server {
	idle := r.cfg.IdleTimeout
	s := &http.Server{
		Handler:           handle,
		TLSConfig:         secure.Clone(), // a server changes its own
		ReadHeaderTimeout: min(10*time.Second, idle),
		ReadTimeout:       idle,
		WriteTimeout:      2 * idle, // from the end of the headers: the body comes first
		IdleTimeout:       idle,
		MaxHeaderBytes:    16 << 10,
		Protocols:         new(http.Protocols),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 100,
			MaxReadFrameSize:     16 << 10,
			// What may have come and was not read yet.
			MaxReceiveBufferPerStream:     128 << 10,
			MaxReceiveBufferPerConnection: 128 << 10,
			SendPingTimeout:               idle / 2, // a sender that is gone is noticed
			PingTimeout:                   min(15*time.Second, idle),
			WriteByteTimeout:              min(30*time.Second, idle),
		},
	}
	s.Protocols.SetHTTP1(http1)
	s.Protocols.SetHTTP2(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	s.ErrorLog = slog.NewLogLogger(r.cfg.Logger.Handler(), slog.LevelDebug)
	return s
}

// listen starts a server.
func (r *Receiver) listen(ctx context.Context, transport, addr string, s *http.Server) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	r.addresses[transport] = l.Addr().String()
	l = netutil.LimitListener(l, r.cfg.MaxConnections)
	r.servers = append(r.servers, s)
	r.running.Go(func() {
		serve := s.Serve
		if s.TLSConfig != nil {
			serve = func(l net.Listener) error { return s.ServeTLS(l, "", "") }
		}
		if err := serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) && r.cfg.Failed != nil {
			r.cfg.Failed(err)
		}
	})
	return nil
}

// Shutdown stops listening and waits for the requests at hand, until the context
// ends; those that are not done then are cut off.
func (r *Receiver) Shutdown(ctx context.Context) error {
	var errs []error
	for _, s := range r.servers {
		err := s.Shutdown(ctx)
		if err != nil {
			err = errors.Join(err, s.Close())
		}
		errs = append(errs, err)
	}
	r.running.Wait()
	r.servers = nil
	return errors.Join(errs...)
}
