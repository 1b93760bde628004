package otlp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// The kinds of bodies.
const (
	asProto = "application/x-protobuf"
	asJSON  = "application/json"
)

// overHTTP is the server for HTTP.
type overHTTP struct {
	server *http.Server
	done   chan struct{}
}

func (r *Receiver) startHTTP(ctx context.Context) (server, error) {
	cfg := r.cfg.httpServer()
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/traces", func(w http.ResponseWriter, req *http.Request) { r.serve(w, req, traces) })
	mux.HandleFunc("/v1/logs", func(w http.ResponseWriter, req *http.Request) { r.serve(w, req, logs) })
	s, err := cfg.ToServer(ctx, r.cfg.extensions(), r.cfg.telemetry(), mux, confighttp.WithErrorHandler(refused))
	if err != nil {
		return nil, err
	}
	l, err := cfg.ToListener(ctx)
	if err != nil {
		return nil, err
	}
	h := &overHTTP{server: s, done: make(chan struct{})}
	go func() {
		defer close(h.done)
		if err := s.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			r.failed(err)
		}
	}()
	return h, nil
}

// shutdown waits for the requests at hand, but no longer than the context lasts.
func (h *overHTTP) shutdown(ctx context.Context) error {
	err := h.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, h.server.Close())
	}
	<-h.done
	return err
}

// bodies are buffers for requests, those of 4 MiB at most.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// serve answers one request.
func (r *Receiver) serve(w http.ResponseWriter, req *http.Request, what signal) {
	if req.Method != http.MethodPost {
		write(w, "text/plain", http.StatusMethodNotAllowed, []byte("405 method not allowed, supported: [POST]"))
		return
	}
	kind := kindOf(req)
	if kind != asProto && kind != asJSON {
		write(w, "text/plain", http.StatusUnsupportedMediaType, fmt.Appendf(nil, "415 unsupported media type, supported: [%s, %s]", asJSON, asProto))
		return
	}
	buf := bodies.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= 4<<20 {
			buf.Reset()
			bodies.Put(buf)
		}
	}()
	buf.Grow(int(min(max(0, req.ContentLength), 1<<20)) + bytes.MinRead) // no more on the word of a sender
	if _, err := buf.ReadFrom(req.Body); err != nil {
		refuse(w, kind, status.New(codes.InvalidArgument, err.Error()))
		return
	}
	body := buf.Bytes()
	if kind == asJSON {
		var err error
		if body, err = fromJSON(what, body); err != nil {
			refuse(w, kind, status.New(codes.InvalidArgument, err.Error()))
			return
		}
	}
	rejected, err := r.receive(HTTP, what, body)
	if err != nil {
		refuse(w, kind, status.Convert(err))
		return
	}
	msg, err := accepted(what, kind, rejected)
	if err != nil {
		refuse(w, kind, status.New(codes.Internal, err.Error()))
		return
	}
	write(w, kind, http.StatusOK, msg)
}

func kindOf(req *http.Request) string {
	kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// fromJSON makes the protobuf of a request in JSON.
func fromJSON(what signal, body []byte) ([]byte, error) {
	if what == logs {
		x := plogotlp.NewExportRequest()
		if err := x.UnmarshalJSON(body); err != nil {
			return nil, err
		}
		return x.MarshalProto()
	}
	x := ptraceotlp.NewExportRequest()
	if err := x.UnmarshalJSON(body); err != nil {
		return nil, err
	}
	return x.MarshalProto()
}

// accepted is the answer to a request that was taken in.
func accepted(what signal, kind string, rejected int) ([]byte, error) {
	if rejected == 0 || what == logs {
		if kind == asJSON {
			return []byte("{}"), nil
		}
		return nil, nil
	}
	x := ptraceotlp.NewExportResponse()
	x.PartialSuccess().SetRejectedSpans(int64(rejected))
	x.PartialSuccess().SetErrorMessage(unread)
	if kind == asJSON {
		return x.MarshalJSON()
	}
	return x.MarshalProto()
}

// refused answers for the Collector's handlers, which say why in words.
func refused(w http.ResponseWriter, req *http.Request, why string, code int) {
	of := codes.Unknown
	switch {
	case code == http.StatusTooManyRequests:
		of = codes.ResourceExhausted
	case code == http.StatusUnauthorized:
		of = codes.Unauthenticated
	case code < http.StatusInternalServerError:
		of = codes.InvalidArgument
	}
	writeStatus(w, kindOf(req), code, status.New(of, why))
}

// refuse answers by a status.
func refuse(w http.ResponseWriter, kind string, s *status.Status) {
	code := http.StatusInternalServerError
	switch s.Code() {
	case codes.Unavailable:
		code = http.StatusServiceUnavailable
	case codes.ResourceExhausted:
		code = http.StatusTooManyRequests
	case codes.InvalidArgument:
		code = http.StatusBadRequest
	}
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			w.Header().Set("Retry-After", strconv.Itoa(int(info.GetRetryDelay().AsDuration()/time.Second)))
		}
	}
	writeStatus(w, kind, code, s)
}

// writeStatus answers with a status in the form that was asked in, as OTLP
// requires.
func writeStatus(w http.ResponseWriter, kind string, code int, s *status.Status) {
	marshal := protojson.Marshal
	if kind == asProto {
		marshal = proto.Marshal
	} else {
		kind = asJSON
	}
	msg, err := marshal(s.Proto())
	if err != nil {
		kind, code, msg = asJSON, http.StatusInternalServerError, []byte(`{"code":13,"message":"failed to marshal error message"}`)
	}
	write(w, kind, code, msg)
}

func write(w http.ResponseWriter, kind string, code int, msg []byte) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(code)
	_, _ = w.Write(msg) // who asked has gone away
}
