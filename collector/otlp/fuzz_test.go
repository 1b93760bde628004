package otlp

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// tally counts what it is given, and has little room.
type tally struct{ admitted, done, spans, others atomic.Int64 }

func (s *tally) Admit(_ string, n int) bool {
	if n > 1000 {
		return false
	}
	s.admitted.Add(int64(n))
	return true
}
func (s *tally) Done(n int) { s.done.Add(int64(n)) }
func (s *tally) Add(r *evidence.Record) {
	if r.Span != nil {
		s.spans.Add(1)
	} else {
		s.others.Add(1)
	}
}
func (s *tally) AddLogs(int) {}

// check holds that nothing is kept of a request that is answered.
func (s *tally) check(t *testing.T, r *Receiver) {
	t.Helper()
	if n := r.budget.used.Load(); n != 0 {
		t.Fatalf("%d bytes are still in flight", n)
	}
	if s.admitted.Load() != s.done.Load() {
		t.Fatalf("%d admitted, %d done", s.admitted.Load(), s.done.Load())
	}
}

var fuzzEncodings = []string{"", "gzip", "zstd", "deflate", "snappy", "x-snappy-framed", "identity", "br"}

// seeds are requests of every kind, packed in every way.
func seeds(f *testing.F, add func(body []byte, kind int, encoding int)) {
	proto, err := spans(3).MarshalProto()
	if err != nil {
		f.Fatal(err)
	}
	for _, body := range []string{
		string(proto), `{"batches":[{` + order + `,"scopeSpans":[{"spans":[` + span + `]}]}]}`, `[` + zipkin + `]`,
		`{"data":[{"traceID":"5b8efff798038103d269b633813fc60c","spans":[` + jaeger + `],"processes":{"p1":{"serviceName":"order"}}}]}`,
		`{"resourceLogs":[{` + order + `,"scopeLogs":[{"logRecords":[{"timeUnixNano":"1773479553120000000","body":{"stringValue":"x"}}]}]}]}`,
		`{"resourceSpans":[{"resource":{"attributes":[]}}]}`, `{`, "",
	} {
		for kind := range 4 {
			add([]byte(body), kind, 0)
		}
		for i, encoding := range fuzzEncodings[1:6] {
			add(pack(f, encoding, bytes.NewReader([]byte(body))), 0, i+1)
		}
	}
}

// FuzzHTTP posts anything to both paths.
func FuzzHTTP(f *testing.F) {
	seeds(f, func(body []byte, kind, encoding int) { f.Add(body, kind, encoding) })
	sink := &tally{}
	r := newReceiver(Config{MaxBytesInFlight: 64 << 20}, sink)
	f.Fuzz(func(t *testing.T, body []byte, kind, encoding int) {
		kind, encoding = kind&3, encoding&7
		req := httptest.NewRequest(http.MethodPost, []string{"/v1/traces", "/v1/logs"}[kind&1], bytes.NewReader(body))
		req.Header.Set("Content-Type", []string{asProto, asJSON}[kind>>1])
		req.Header.Set("Content-Encoding", fuzzEncodings[encoding])
		w := httptest.NewRecorder()
		before := sink.admitted.Load()
		r.overHTTP(w, req)
		sink.check(t, r)
		if !slices.Contains([]int{200, 400, 413, 415, 503}, w.Code) {
			t.Fatalf("%d: %s", w.Code, w.Body)
		}
		if w.Code != http.StatusOK && sink.admitted.Load() != before {
			t.Fatalf("%d, and something was admitted", w.Code)
		}
	})
}

// FuzzGRPC calls both methods with anything.
func FuzzGRPC(f *testing.F) {
	seeds(f, func(body []byte, kind, encoding int) {
		packed := byte(min(encoding, 1))
		f.Add(append(binary.BigEndian.AppendUint32([]byte{packed}, uint32(len(body))), body...), kind, encoding)
	})
	sink := &tally{}
	r := newReceiver(Config{MaxBytesInFlight: 64 << 20}, sink)
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range methods {
			if !yield(name) {
				return
			}
		}
	})
	f.Fuzz(func(t *testing.T, body []byte, kind, encoding int) {
		req := httptest.NewRequest(http.MethodPost, names[kind&1], bytes.NewReader(body))
		req.Header.Set("Content-Type", "application/grpc")
		req.Header.Set("Grpc-Encoding", fuzzEncodings[encoding&7])
		w := httptest.NewRecorder()
		before := sink.admitted.Load()
		r.overGRPC(w, req)
		sink.check(t, r)
		code, err := strconv.Atoi(w.Header().Get("Grpc-Status"))
		if w.Code != http.StatusOK || err != nil || code > 16 {
			t.Fatalf("%d, status %q", w.Code, w.Header().Get("Grpc-Status"))
		}
		if code != 0 && sink.admitted.Load() != before {
			t.Fatalf("%d, and something was admitted", code)
		}
	})
}
