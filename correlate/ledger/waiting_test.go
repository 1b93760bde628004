package ledger

import (
	"encoding/binary"
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
	parted, got := NewWaiting(Config{}), map[string]float64{}
	parted.limit = 8 // names are forgotten all the time
	now := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
	var spans int64
	for n := range 1000 {
		now = now.Add(time.Second)
		for _, r := range records(n) {
			whole.AddSpan(r)
			parted.Add(r, now)
		}
		if n%50 == 49 {
			// The newest 20 traces go on.
			taken := 0
			part := parted.Take(now, Patience{Quiet: 20 * time.Second, Age: time.Hour}, func(_ [16]byte, quiet, age time.Duration) {
				taken++
				if quiet < 20*time.Second || age != quiet {
					t.Errorf("taken when quiet for %v, at the age of %v", quiet, age)
				}
			})
			if parted.Held() != 40 || parted.Open() != 20 || taken == 0 {
				t.Fatalf("%d spans of %d traces are left, want 40 of 20; %d traces were taken", parted.Held(), parted.Open(), taken)
			}
			b := part.Close()
			spans += b.Spans
			sum(b, got)
		}
	}
	if parted.Take(now, Patience{Quiet: time.Hour, Age: time.Hour}, nil) != nil {
		t.Error("a part of nothing")
	}
	b := parted.Take(now, Patience{All: true}, func([16]byte, time.Duration, time.Duration) {}).Close()
	if parted.Held() != 0 || parted.Open() != 0 || len(parted.traces) != 0 {
		t.Error("something is left of all")
	}
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

// Traces that go on keep their place by when something of them came last, and
// leave when they are too old all the same.
func TestWhatIsQuietGoesFirst(t *testing.T) {
	w := NewWaiting(Config{})
	start := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	id := byte(0)
	add := func(trace byte, s int) {
		id++
		w.Add(&evidence.Record{Time: at(s), Span: &evidence.Span{TraceID: [16]byte{trace}, ID: [8]byte{id}, Retries: evidence.None}}, at(s))
	}
	take := func(s int) (gone []byte) {
		w.Take(at(s), Patience{Quiet: 10 * time.Second, Age: 60 * time.Second}, func(trace [16]byte, _, _ time.Duration) { gone = append(gone, trace[0]) })
		return gone
	}
	for s := range 80 {
		add(1, s) // goes on and on
		if s < 5 {
			add(byte(10+s), s)
		}
		if s == 8 {
			add(12, s) // again
		}
		want := map[int][]byte{10: {10}, 11: {11}, 13: {13}, 14: {14}, 18: {12}, 60: {1}, 79: nil}
		if got := take(s); string(got) != string(want[s]) {
			t.Errorf("after %d s: %v are gone, want %v", s, got, want[s])
		}
	}
	if !w.Has([16]byte{1}) || w.Has([16]byte{10}) || w.Held() != 19 {
		t.Errorf("%d spans are left", w.Held())
	}
}

// A burst's memory is given back, and nothing of what stays is lost.
func TestMemoryOfABurst(t *testing.T) {
	w := NewWaiting(Config{})
	now := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	add := func(trace, span int) {
		r := &evidence.Record{Time: now, Place: evidence.Place{Service: fmt.Sprint("svc", trace)}, Span: &evidence.Span{Retries: evidence.None, Kind: evidence.KindServer, Protocol: "http", Method: "GET /"}}
		binary.BigEndian.PutUint32(r.Span.TraceID[:], uint32(trace+1))
		binary.BigEndian.PutUint32(r.Span.ID[:], uint32(span+1))
		w.Add(r, now)
	}
	for n := range 100_000 {
		add(n/10, n)
	}
	now = now.Add(5 * time.Second)
	for n := range 1_000 {
		add(20_000+n/10, n)
	}
	now = now.Add(5 * time.Second)
	w.Take(now, Patience{Quiet: 10 * time.Second, Age: time.Hour}, func([16]byte, time.Duration, time.Duration) {})
	if len(w.spans.pieces) > 1 || w.Held() != 1_000 || w.names.widest() > 110 {
		t.Errorf("%d pieces for %d spans, %d names", len(w.spans.pieces), w.Held(), w.names.widest())
	}
	b := w.Take(now, Patience{All: true}, func([16]byte, time.Duration, time.Duration) {}).Close()
	calls := 0.0
	for _, e := range b.Edges {
		calls += e.Calls
	}
	if b.Spans != 1_000 || calls != 1_000 || len(b.Edges) != 100 || len(b.Losses) != 0 {
		t.Errorf("%d spans, %v calls on %d edges, losses %v", b.Spans, calls, len(b.Edges), b.Losses)
	}
	if w.open.made != 0 && len(w.traces) != 0 {
		t.Error("traces are left")
	}
}

func TestSpanBytes(t *testing.T) {
	if n := reflect.TypeFor[waitingSpan]().Size(); n != SpanBytes {
		t.Errorf("a span takes %d bytes", n)
	}
	if n := reflect.TypeFor[openTrace]().Size(); n+20+20 < OpenBytes-4 || n+20+20 > OpenBytes+4 {
		t.Errorf("a trace takes %d bytes", n)
	}
}
