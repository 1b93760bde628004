package otlp

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/config/configgrpc"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

// The services of OTLP, as their messages are on the wire: requests are taken as
// bytes. Both have one method.
const (
	traceService = "opentelemetry.proto.collector.trace.v1.TraceService"
	logsService  = "opentelemetry.proto.collector.logs.v1.LogsService"
)

// overGRPC is the server for gRPC.
type overGRPC struct {
	server *grpc.Server
	done   chan struct{}
}

func (r *Receiver) startGRPC(ctx context.Context) (server, error) {
	cfg := r.cfg.grpcServer()
	s, err := cfg.ToServer(ctx, r.cfg.extensions(), r.cfg.telemetry(), configgrpc.WithGrpcServerOption(grpc.ForceServerCodecV2(rawCodec{})))
	if err != nil {
		return nil, err
	}
	for what, name := range map[signal]string{traces: traceService, logs: logsService} {
		s.RegisterService(&grpc.ServiceDesc{
			ServiceName: name, HandlerType: (*any)(nil),
			Methods: []grpc.MethodDesc{{MethodName: "Export", Handler: r.exporting(what, "/"+name+"/Export")}},
		}, r)
	}
	l, err := cfg.NetAddr.Listen(ctx)
	if err != nil {
		return nil, err
	}
	g := &overGRPC{server: s, done: make(chan struct{})}
	go func() {
		defer close(g.done)
		if err := s.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			r.failed(err)
		}
	}()
	return g, nil
}

// shutdown waits for the requests at hand, but no longer than the context lasts.
func (g *overGRPC) shutdown(ctx context.Context) error {
	stop := context.AfterFunc(ctx, g.server.Stop)
	defer stop()
	g.server.GracefulStop()
	<-g.done
	return ctx.Err()
}

// exporting handles the method Export of a service. The interceptors (who may
// send) come before the request is read, though not before it is here.
func (r *Receiver) exporting(what signal, method string) grpc.MethodHandler {
	return func(srv any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		var body message
		if err := decode(&body); err != nil {
			return nil, err
		}
		defer body.free()
		handle := func(context.Context, any) (any, error) {
			rejected, err := r.receive(GRPC, what, body.bytes())
			if err != nil || rejected == 0 {
				return answer(nil), err
			}
			x := ptraceotlp.NewExportResponse()
			x.PartialSuccess().SetRejectedSpans(int64(rejected))
			x.PartialSuccess().SetErrorMessage(unread)
			b, err := x.MarshalProto()
			return answer(b), err
		}
		if interceptor == nil {
			return handle(ctx, &body)
		}
		return interceptor(ctx, &body, &grpc.UnaryServerInfo{Server: srv, FullMethod: method}, handle)
	}
}

// message is a request as it came; answer is an encoded answer.
type (
	message struct{ buf mem.Buffer }
	answer  []byte
)

func (m *message) bytes() []byte {
	if m.buf == nil {
		return nil
	}
	return m.buf.ReadOnlyData()
}

func (m *message) free() {
	if m.buf != nil {
		m.buf.Free()
		m.buf = nil
	}
}

// rawCodec hands messages on as they came.
type rawCodec struct{}

// buffers holds requests; those of Collectors have megabytes.
var buffers = mem.NewTieredBufferPool(4<<10, 16<<10, 64<<10, 256<<10, 1<<20, 4<<20, 16<<20)

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(*message)
	if !ok {
		return fmt.Errorf("%T is no request", v)
	}
	m.buf = data.MaterializeToBuffer(buffers)
	return nil
}

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.(answer)
	if !ok {
		return nil, fmt.Errorf("%T is no answer", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

func (rawCodec) Name() string { return "proto" }
