package otlp

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

func request(t *testing.T, spans int) []byte {
	t.Helper()
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for range spans {
		ss.AppendEmpty().SetName("com.acme.shop.SkuService/getSkuStock")
	}
	data, err := ptraceotlp.NewExportRequestFromTraces(td).MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data)
	_ = z.Close()
	return b.Bytes()
}

func TestReceiverWritesALineForEachRequest(t *testing.T) {
	var r Receiver
	post := func(body []byte, encoding string) int {
		req := httptest.NewRequest(http.MethodPost, "/v1/traces", bytes.NewReader(body))
		req.Header.Set("Content-Encoding", encoding)
		w := httptest.NewRecorder()
		r.traces(w, req)
		return w.Code
	}
	if code := post(request(t, 9), ""); code != http.StatusOK {
		t.Fatalf("before a recording: %d", code)
	}
	name := filepath.Join(t.TempDir(), "otlp.jsonl")
	if err := r.Record(name); err != nil {
		t.Fatal(err)
	}
	if code := post(request(t, 2), ""); code != http.StatusOK {
		t.Errorf("plain: %d", code)
	}
	if code := post(zipped(request(t, 3)), "gzip"); code != http.StatusOK {
		t.Errorf("gzip: %d", code)
	}
	if code := post([]byte("not protobuf"), ""); code != http.StatusBadRequest {
		t.Errorf("damaged: %d", code)
	}
	spans, err := r.Stop()
	if err != nil || spans != 5 {
		t.Errorf("%d spans, %v", spans, err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	if len(lines) != 2 {
		t.Fatalf("%d lines", len(lines))
	}
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(lines[1])
	if err != nil || td.SpanCount() != 3 {
		t.Errorf("second line: %v", err)
	}
}
