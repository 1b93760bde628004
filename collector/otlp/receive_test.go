package otlp

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"github.com/firebreak-io/firebreak/evidence"
)

// store keeps what it is given, and refuses when it is told to.
type store struct {
	mu       sync.Mutex
	full     bool
	admitted map[string]int
	done     int
	logs     int
	records  []*evidence.Record
}

func (s *store) Admit(transport string, spans int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return false
	}
	s.admitted[transport] += spans
	return true
}

func (s *store) Done(spans int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += spans
}

func (s *store) AddLogs(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs += n
}

func (s *store) Add(r *evidence.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, r.Clone())
}

// free returns an address that nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// started starts a receiver that ends with the test.
func started(t *testing.T, c Config) (*store, *Receiver, Config) {
	t.Helper()
	s := &store{admitted: map[string]int{}}
	c.GRPC, c.HTTP = free(t), free(t)
	r, err := Start(context.Background(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if n := r.budget.used.Load(); n != 0 {
			t.Errorf("%d bytes are in flight when all is over", n)
		}
	})
	return s, r, c
}

func start(t *testing.T) (*store, Config) {
	t.Helper()
	s, _, c := started(t, Config{})
	return s, c
}

func spans(n int) ptraceotlp.ExportRequest {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "order")
	list := rs.ScopeSpans().AppendEmpty().Spans()
	for i := range n {
		s := list.AppendEmpty()
		var id [8]byte
		binary.BigEndian.PutUint64(id[:], uint64(i+1))
		s.SetTraceID([16]byte{1, 15: byte(i)})
		s.SetSpanID(id)
		s.SetName("GET")
		s.SetKind(ptrace.SpanKindClient)
		s.SetStartTimestamp(1773479553120000000)
		s.SetEndTimestamp(1773479553130000000)
		s.Attributes().PutStr("http.request.method", "GET")
		s.Attributes().PutStr("server.address", "stock")
		s.Attributes().PutInt("http.response.status_code", 200)
	}
	return ptraceotlp.NewExportRequestFromTraces(td)
}

func dial(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// post sends a body and returns the answer.
func post(t *testing.T, url, contentType string, body []byte) (*http.Response, string) {
	t.Helper()
	resp, err := http.Post(url, contentType, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

func TestSpansOverEveryTransport(t *testing.T) {
	s, c := start(t)
	ctx := context.Background()
	client := ptraceotlp.NewGRPCClient(dial(t, c.GRPC))
	for _, o := range [][]grpc.CallOption{nil, {grpc.UseCompressor(gzip.Name)}} {
		if _, err := client.Export(ctx, spans(10), o...); err != nil {
			t.Fatal(err)
		}
	}
	proto, err := spans(10).MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := spans(10).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + c.HTTP + "/v1/traces"
	for kind, body := range map[string][]byte{"application/x-protobuf": proto, "application/json": doc} {
		if resp, text := post(t, url, kind, body); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s", kind, resp.Status, text)
		}
	}
	if s.admitted[GRPC] != 20 || s.admitted[HTTP] != 20 || s.done != 40 || len(s.records) != 40 {
		t.Errorf("admitted %v, done %d, %d records", s.admitted, s.done, len(s.records))
	}
	r := s.records[0]
	if r.Place.Service != "order" || r.Span.Peer != "stock" || r.Span.Outcome != evidence.OK || r.Span.Duration != 10*time.Millisecond || r.Cite.Source != "otlp" {
		t.Errorf("%+v %+v", r, r.Span)
	}
}

func TestOverloadAsksToComeBack(t *testing.T) {
	s, c := start(t)
	s.full = true
	_, err := ptraceotlp.NewGRPCClient(dial(t, c.GRPC)).Export(context.Background(), spans(10))
	st := status.Convert(err)
	var wait time.Duration
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			wait = info.GetRetryDelay().AsDuration()
		}
	}
	if st.Code() != codes.Unavailable || wait < time.Second || wait > 5*time.Second || wait%time.Second != 0 {
		t.Errorf("gRPC: %v, after %v", err, wait)
	}
	body, err := spans(10).MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	resp, _ := post(t, "http://"+c.HTTP+"/v1/traces", "application/x-protobuf", body)
	after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if resp.StatusCode != http.StatusServiceUnavailable || err != nil || after < 1 || after > 5 {
		t.Errorf("HTTP: %s, Retry-After %q", resp.Status, resp.Header.Get("Retry-After"))
	}
	if s.done != 0 || len(s.records) != 0 {
		t.Error("refused spans were handed on")
	}
	s.mu.Lock()
	s.full = false
	s.mu.Unlock()
	if resp, text := post(t, "http://"+c.HTTP+"/v1/traces", "application/x-protobuf", body); resp.StatusCode != http.StatusOK {
		t.Errorf("there is room again: %s %s", resp.Status, text)
	}
}

func TestLogs(t *testing.T) {
	s, c := start(t)
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "stock")
	list := rl.ScopeLogs().AppendEmpty().LogRecords()
	r := list.AppendEmpty()
	r.SetTimestamp(1773479553120000000)
	r.SetSeverityText("WARN")
	r.SetSeverityNumber(plog.SeverityNumberWarn)
	r.Body().SetStr(" [DUBBO] Thread pool is EXHAUSTED! Thread Name: DubboServerHandler-10.20.3.17:20880, Pool Size: 200 (active: 200, core: 200, max: 200, largest: 200), Task: 5120 (completed: 4920), Executor status:(isShutdown:false, isTerminated:false, isTerminating:false), in dubbo://10.20.3.17:20880!, dubbo version: 3.2.9")
	if _, err := plogotlp.NewGRPCClient(dial(t, c.GRPC)).Export(context.Background(), plogotlp.NewExportRequestFromLogs(ld)); err != nil {
		t.Fatal(err)
	}
	if s.logs != 1 || len(s.records) != 1 || s.records[0].Pool == nil || s.records[0].Pool.Active != 200 || s.records[0].Place.Service != "stock" {
		t.Errorf("%d logs, records %+v", s.logs, s.records)
	}
}

func TestHostileRequests(t *testing.T) {
	s, c := start(t)
	url := "http://" + c.HTTP + "/v1/traces"
	for name, x := range map[string]struct {
		kind string
		body []byte
		want int
	}{
		"not protobuf": {"application/x-protobuf", []byte("\xff\xff\xff\xffnot it"), http.StatusBadRequest},
		"not JSON":     {"application/json", []byte(`{"resourceSpans":[{`), http.StatusBadRequest},
		"unknown kind": {"text/plain", []byte("x"), http.StatusUnsupportedMediaType},
		"too large":    {"application/json", bytes.Repeat([]byte(" "), maxRequest+1), http.StatusRequestEntityTooLarge},
	} {
		resp, text := post(t, url, x.kind, x.body)
		if resp.StatusCode != x.want {
			t.Errorf("%s: %s %s", name, resp.Status, strings.TrimSpace(text))
		}
	}
	if len(s.records) != 0 {
		t.Errorf("%d records of nothing", len(s.records))
	}
}

// What is read of a request is acknowledged, and what is not is told.
func TestPartialSuccess(t *testing.T) {
	s, c := start(t)
	req := spans(10)
	list := req.Traces().ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	list.At(3).SetTraceID([16]byte{})
	list.At(4).SetSpanID([8]byte{})
	resp, err := ptraceotlp.NewGRPCClient(dial(t, c.GRPC)).Export(context.Background(), req)
	if err != nil || resp.PartialSuccess().RejectedSpans() != 2 || resp.PartialSuccess().ErrorMessage() == "" {
		t.Errorf("gRPC: %v, %d rejected", err, resp.PartialSuccess().RejectedSpans())
	}
	for kind, marshal := range map[string]func() ([]byte, error){asProto: req.MarshalProto, asJSON: req.MarshalJSON} {
		body, err := marshal()
		if err != nil {
			t.Fatal(err)
		}
		answered, text := post(t, "http://"+c.HTTP+"/v1/traces", kind, body)
		resp := ptraceotlp.NewExportResponse()
		if kind == asJSON {
			err = resp.UnmarshalJSON([]byte(text))
		} else {
			err = resp.UnmarshalProto([]byte(text))
		}
		if err != nil || answered.StatusCode != http.StatusOK || resp.PartialSuccess().RejectedSpans() != 2 {
			t.Errorf("%s: %s %v, %d rejected", kind, answered.Status, err, resp.PartialSuccess().RejectedSpans())
		}
	}
	if len(s.records) != 24 || s.done != 30 {
		t.Errorf("%d records, %d done", len(s.records), s.done)
	}
}

// A broken request is refused for good, and none of it is taken in.
func TestBrokenOverGRPC(t *testing.T) {
	s, c := start(t)
	const export = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
	conn := dial(t, c.GRPC)
	body, err := spans(10).MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range [][]byte{[]byte("\xff\xff\xff\xffnot it"), body[:len(body)-3]} {
		err := conn.Invoke(context.Background(), export, x, new([]byte), grpc.ForceCodecV2(rawClient{}))
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("%.20q: %v", x, err)
		}
	}
	if err := conn.Invoke(context.Background(), export, []byte{}, new([]byte), grpc.ForceCodecV2(rawClient{})); err != nil {
		t.Errorf("an empty request: %v", err)
	}
	if len(s.records) != 0 {
		t.Errorf("%d records", len(s.records))
	}
}

// rawClient sends bytes as they are.
type rawClient struct{}

func (rawClient) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (rawClient) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (rawClient) Name() string { return "proto" }

func TestNothingToListenAt(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// The first listener is closed again when the second cannot be had.
	c := Config{GRPC: free(t), HTTP: l.Addr().String()}
	if _, err := Start(context.Background(), c, &store{}); err == nil {
		t.Fatal("it listens where another does")
	}
	again, err := net.Listen("tcp", c.GRPC)
	if err != nil {
		t.Fatalf("the other listener is still there: %v", err)
	}
	again.Close()
}
