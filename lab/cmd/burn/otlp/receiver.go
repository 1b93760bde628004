// Package otlp receives spans over OTLP/HTTP, as a Collector would, and writes them
// as the Collector's file exporter does: one JSON document a line.
package otlp

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// largest is the largest request taken; an agent's batch has 512 spans.
const largest = 16 << 20

// Receiver is an OTLP endpoint that writes to a file.
type Receiver struct {
	server *http.Server

	mu    sync.Mutex
	file  *os.File // nil: what comes is forgotten
	spans int64
	err   error // the first
}

// Listen starts a receiver.
func Listen(addr string) (*Receiver, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	r := &Receiver{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", r.traces)
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = r.server.Serve(l) }()
	return r, nil
}

// Record sends what comes from now on to a new file. It fails if the last
// recording did.
func (r *Receiver) Record(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil {
		r.fail(r.file.Close())
	}
	last := r.err
	r.file, r.spans, r.err = f, 0, nil
	return last
}

// Stop ends the recording and says how many spans it has.
func (r *Receiver) Stop() (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil {
		r.fail(r.file.Close())
		r.file = nil
	}
	return r.spans, r.err
}

// Close ends the endpoint.
func (r *Receiver) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := r.server.Shutdown(ctx)
	_, stopped := r.Stop()
	if err != nil {
		return err
	}
	return stopped
}

func (r *Receiver) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *Receiver) traces(w http.ResponseWriter, req *http.Request) {
	body := io.Reader(http.MaxBytesReader(w, req.Body, largest))
	if req.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = io.LimitReader(z, largest)
	}
	data, err := io.ReadAll(body)
	if err == nil {
		err = r.write(data)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf") // an empty answer is "all taken"
}

func (r *Receiver) write(data []byte) error {
	in := ptraceotlp.NewExportRequest()
	if err := in.UnmarshalProto(data); err != nil {
		return fmt.Errorf("not an OTLP export request: %w", err)
	}
	line, err := (&ptrace.JSONMarshaler{}).MarshalTraces(in.Traces())
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	r.spans += int64(in.Traces().SpanCount())
	_, err = r.file.Write(append(line, '\n'))
	r.fail(err)
	return nil
}
