package ledger

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// TestPartsSumUp counts the same traces at once and in parts, of which the
// names come and go.
func TestPartsSumUp(t *testing.T) {
	records := func(n int) []*evidence.Record {
		start := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
		var list []*evidence.Record
		for k, service := range []string{"order", fmt.Sprintf("stock-%d", n%7)} {
			r := &evidence.Record{
				Time: start.Add(time.Duration(k) * time.Millisecond), Place: evidence.Place{Service: service}, Cite: evidence.Citation{Source: "otlp"},
				Span: &evidence.Span{
					TraceID: [16]byte{1, byte(n >> 8), byte(n)}, ID: [8]byte{byte(k + 1)}, Kind: evidence.KindClient, Protocol: "http", Retries: evidence.None,
					Method: fmt.Sprintf("GET /%d", n%5), Duration: 10 * time.Millisecond, Outcome: evidence.OK, Peer: fmt.Sprintf("stock-%d", n%7),
				},
			}
			if k == 1 {
				r.Span.Parent, r.Span.Kind, r.Span.Duration = [8]byte{1}, evidence.KindServer, 5*time.Millisecond
			}
			list = append(list, r)
		}
		return list
	}
	sum := func(b *Book, into map[string]float64) {
		for _, e := range b.Edges {
			into[fmt.Sprint(e.Caller, e.Callee, e.Method)] += e.Calls
		}
	}
	whole, want := New(Config{}), map[string]float64{}
	parted, got := New(Config{}), map[string]float64{}
	var spans int64
	for n := range 1000 {
		for _, r := range records(n) {
			whole.AddSpan(r)
			parted.AddSpan(r)
		}
		if n%50 == 49 {
			// The newest 20 traces go on.
			part := parted.Part(func(id [16]byte) bool { return int(id[1])<<8|int(id[2]) < n-20 })
			if held := parted.Held(); held != 42 {
				t.Fatalf("%d spans are left, want 42", held)
			}
			b := part.Close()
			spans += b.Spans
			sum(b, got)
		}
	}
	if parted.Part(func([16]byte) bool { return false }) != nil {
		t.Error("a part of nothing")
	}
	b := parted.Close()
	spans += b.Spans
	sum(b, got)
	sum(whole.Close(), want)
	if len(want) != 35 || spans != 2000 {
		t.Fatalf("%d edges, %d spans", len(want), spans)
	}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%s: %v calls, want %v", k, got[k], n)
		}
	}
}

func TestSpanBytes(t *testing.T) {
	if n := reflect.TypeFor[span]().Size(); n != SpanBytes {
		t.Errorf("a span takes %d bytes", n)
	}
}
