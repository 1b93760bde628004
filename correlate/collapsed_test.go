package correlate

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// TestHiddenAttempts has calls of which only the client's span was saved. Where
// that span covers whatever its library sent, it says nothing against retries.
func TestHiddenAttempts(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*evidence.Span)
		hidden bool
	}{
		{"each send has a span", func(*evidence.Span) {}, false},
		{"one span around an SDK's call", func(s *evidence.Span) { s.Whole = true }, true},
		{"gRPC's span of the call, none of its attempts", func(s *evidence.Span) { s.Attempt = evidence.RoleLogical }, true},
		{"one span, which tells of its retries", func(s *evidence.Span) { s.Whole, s.Retries = true, 0 }, false},
		{"one span, and a header with the number", func(s *evidence.Span) { s.Whole, s.Ordinal = true, 1 }, false},
	} {
		e := New(Config{})
		for i := range 60 {
			s := evidence.Span{Kind: evidence.KindClient, Name: "PutObject", Duration: 20 * time.Millisecond, Outcome: evidence.OK, Protocol: "aws", Service: "S3", Method: "PutObject", Retries: evidence.None}
			binary.BigEndian.PutUint64(s.TraceID[8:], uint64(i+1))
			binary.BigEndian.PutUint64(s.ID[:], uint64(i+1))
			c.change(&s)
			r := &evidence.Record{
				Time: failedAt.Add(time.Duration(i) * time.Second), Zoned: evidence.Yes, Place: evidence.Place{Service: "archive"},
				Cite: evidence.Citation{Source: "traces.jsonl", Line: i + 1}, Span: &s,
			}
			if err := e.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		r := e.Report()
		if len(r.Edges) != 1 || *r.Edges[0].Calls != 60 || *r.Edges[0].Attempts != 60 || r.Edges[0].Exact == c.hidden {
			t.Errorf("%s: edges %+v", c.name, r.Edges)
		}
		kinds := kindsOf(r)
		if kinds[incident.RetryNone] == c.hidden || kinds[incident.RetryAmplified] {
			t.Errorf("%s: findings %v", c.name, kinds)
		}
		said := false
		for _, s := range r.Sources {
			said = said || s.Path == "(spans)" && len(s.Problems) == 1 && strings.HasPrefix(s.Problems[0], "60 calls have one span each")
		}
		if said != c.hidden {
			t.Errorf("%s: sources %+v", c.name, r.Sources)
		}
	}
}
