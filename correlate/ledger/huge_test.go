package ledger

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// TestHugeTraces joins single traces of many spans in the shapes that broken
// instrumentation makes. What costs the square of the spans takes minutes here.
func TestHugeTraces(t *testing.T) {
	const n = 200_000
	internal := evidence.KindInternal
	for name, parent := range map[string]func(i uint64) uint64{
		"a chain, its end first": func(i uint64) uint64 { return (i + 1) % n },
		"a ring":                 func(i uint64) uint64 { return i%n + 1 },
	} {
		for kinds, kind := range map[string]func(i uint64) evidence.SpanKind{
			"internal": func(uint64) evidence.SpanKind { return internal },
			"calls in internals": func(i uint64) evidence.SpanKind {
				return []evidence.SpanKind{internal, internal, internal, evidence.KindClient}[i%4]
			},
		} {
			began := time.Now()
			l := New(Config{})
			for i := uint64(1); i <= n; i++ {
				s := &evidence.Span{Kind: kind(i), Duration: time.Second, Outcome: evidence.OK, Retries: evidence.None, Rows: evidence.None, Protocol: "http", Method: "GET /a"}
				if s.Kind == internal {
					s.Protocol, s.Method = "", ""
				}
				s.TraceID[0] = 1
				binary.BigEndian.PutUint64(s.ID[:], i)
				binary.BigEndian.PutUint64(s.Parent[:], parent(i))
				l.AddSpan(&evidence.Record{Time: epoch.Add(time.Duration(i)), Place: evidence.Place{Service: "order"}, Span: s, Cite: evidence.Citation{Source: "traces.jsonl", Line: int(i)}})
			}
			b := l.Close()
			if b.Traces != 1 {
				t.Errorf("%s of %s: %d traces", name, kinds, b.Traces)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("%s of %s took %s", name, kinds, took)
			}
		}
	}
}
