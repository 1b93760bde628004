package sender

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	grpcgzip "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// exportMethod is the one of traces.
const exportMethod = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

// raw hands bytes on as they are.
type raw struct{}

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("%T is no encoded request", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (raw) Name() string { return "proto" }

type overGRPC struct {
	conn    *grpc.ClientConn
	options []grpc.CallOption
	token   string
}

func dialGRPC(c Config) (transport, error) {
	conn, err := grpc.NewClient(c.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	t := &overGRPC{conn: conn, options: []grpc.CallOption{grpc.ForceCodecV2(raw{})}, token: c.Token}
	if c.Gzip {
		t.options = append(t.options, grpc.UseCompressor(grpcgzip.Name))
	}
	return t, nil
}

func (t *overGRPC) close() error { return t.conn.Close() }

func (t *overGRPC) send(ctx context.Context, body []byte) (int64, error) {
	if t.token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+t.token)
	}
	var answer []byte
	if err := t.conn.Invoke(ctx, exportMethod, body, &answer, t.options...); err != nil {
		return 0, asRefusal(err)
	}
	x := ptraceotlp.NewExportResponse()
	if err := x.UnmarshalProto(answer); err != nil {
		return 0, err
	}
	return x.PartialSuccess().RejectedSpans(), nil
}

// asRefusal tells the answers that senders take as a reason to come back, as
// the specification of OTLP lists them.
func asRefusal(err error) error {
	s := status.Convert(err)
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			return &refusal{info.GetRetryDelay().AsDuration(), err, true}
		}
	}
	switch s.Code() {
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded, codes.Aborted, codes.OutOfRange, codes.DataLoss:
		return &refusal{time.Second, err, false}
	}
	return err
}

type overHTTP struct {
	client *http.Client
	url    string
	kind   string
	token  string
	packed *bytes.Buffer // nil without compression
}

func dialHTTP(c Config) transport {
	t := &overHTTP{
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: time.Minute},
		url:    "http://" + c.HTTP + "/v1/traces", kind: "application/x-protobuf", token: c.Token,
	}
	if c.JSON {
		t.kind = "application/json"
	}
	if c.Gzip {
		t.packed = &bytes.Buffer{}
	}
	return t
}

func (t *overHTTP) close() error {
	t.client.CloseIdleConnections()
	return nil
}

func (t *overHTTP) send(ctx context.Context, body []byte) (int64, error) {
	if t.packed != nil {
		t.packed.Reset()
		z := gzip.NewWriter(t.packed)
		_, err := z.Write(body)
		if err := errors.Join(err, z.Close()); err != nil {
			return 0, err
		}
		body = t.packed.Bytes()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", t.kind)
	if t.packed != nil {
		req.Header.Set("Content-Encoding", "gzip")
	}
	if t.token != "" {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return 0, &refusal{time.Second, err, false} // no answer: senders try again
	}
	answer, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return 0, &refusal{time.Second, err, false}
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return rejected(resp.Header.Get("Content-Type"), answer)
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		if err != nil {
			after = 1
		}
		return 0, &refusal{time.Duration(after) * time.Second, errors.New(resp.Status), true}
	}
	return 0, fmt.Errorf("%s: %.200s", resp.Status, answer)
}

// rejected is how many spans a partial success leaves out.
func rejected(kind string, answer []byte) (int64, error) {
	x := ptraceotlp.NewExportResponse()
	if kind == "application/json" {
		if !json.Valid(answer) {
			return 0, fmt.Errorf("the answer is no JSON: %.200s", answer)
		}
		err := x.UnmarshalJSON(answer)
		return x.PartialSuccess().RejectedSpans(), err
	}
	err := x.UnmarshalProto(answer)
	return x.PartialSuccess().RejectedSpans(), err
}
