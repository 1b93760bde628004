package truth

import (
	"bytes"
	"net/http/httptest"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/exporter"
	"github.com/firebreak-io/firebreak/parsers"
)

// engine is one that takes in requests.
type engine struct {
	t *testing.T
	*live.Engine
	reader *parsers.OTLP
	at     time.Time
}

func newEngine(t *testing.T) *engine {
	e := &engine{t: t, at: time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)}
	e.reader = parsers.NewOTLP("otlp", func(why string) { t.Error(why) })
	e.Engine = live.New(live.Config{Now: func() time.Time { return e.at }})
	return e
}

func (e *engine) send(body []byte) {
	err := e.reader.Request(body, func(r *evidence.Record) error {
		e.Add(r)
		return nil
	})
	if err != nil {
		e.t.Fatal(err)
	}
}

// counted is what the engine's page of metrics says.
func (e *engine) counted() Counted {
	h, err := exporter.NewServer(e.Engine, "test").Handler()
	if err != nil {
		e.t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	c := Counted{}
	if err := c.Add(w.Body); err != nil {
		e.t.Fatal(err)
	}
	return c
}

func TestWhatIsMadeIsCounted(t *testing.T) {
	for name, c := range map[string]Config{
		"processes":  {Seed: 1, Calls: 3_000, Families: 3},
		"collectors": {Seed: 2, Calls: 2_000, Merge: 8_192},
	} {
		t.Run(name, func(t *testing.T) {
			corpus, err := Encode(c, false)
			if err != nil {
				t.Fatal(err)
			}
			e := newEngine(t)
			const laps = 3
			spans := 0
			for lap := range uint64(laps) {
				for _, r := range corpus.Requests {
					e.send(r.Lap(nil, lap, time.Duration(lap)*time.Second))
					spans += r.Spans
				}
				e.at = e.at.Add(11 * time.Second)
				e.Advance()
			}
			if want := corpus.Truth.Times(laps); want.Spans != int64(spans) {
				t.Errorf("%d spans in requests, %d in the truth", spans, want.Spans)
			}
			for _, d := range corpus.Truth.Times(laps).Differences(e.counted()) {
				t.Error(d)
			}
			if n := float64(corpus.Truth.Spans) / float64(c.Calls); n < 14 || n > 16 {
				t.Errorf("a checkout has %.1f spans", n)
			}
		})
	}
}

// The same traffic as JSON, in any lap.
func TestJSONIsTheSame(t *testing.T) {
	c := Config{Seed: 3, Calls: 200, From: time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)}
	proto, err := Encode(c, false)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := Encode(c, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(proto.Requests) != len(doc.Requests) {
		t.Fatalf("%d requests, %d", len(proto.Requests), len(doc.Requests))
	}
	for lap := range uint64(3) {
		for i, r := range proto.Requests {
			a, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(r.Lap(nil, lap, time.Duration(lap)*time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			b, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(doc.Requests[i].Lap(nil, lap, time.Duration(lap)*time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			x, _ := (&ptrace.ProtoMarshaler{}).MarshalTraces(a)
			y, _ := (&ptrace.ProtoMarshaler{}).MarshalTraces(b)
			if !bytes.Equal(x, y) {
				t.Fatalf("lap %d, request %d differs", lap, i)
			}
		}
	}
}

func TestTheSameSeedMakesTheSame(t *testing.T) {
	c := Config{Seed: 4, Calls: 100, Families: 2, From: time.Unix(1773479553, 0)}
	a, err := Encode(c, false)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Encode(c, false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Requests {
		if !bytes.Equal(a.Requests[i].Body, b.Requests[i].Body) {
			t.Fatalf("request %d differs", i)
		}
	}
	if s := a.Truth.Plus(b.Truth); s.Edges[0] != a.Truth.Times(2).Edges[0] || s.Spans != 2*a.Truth.Spans {
		t.Errorf("twice: %+v", s)
	}
}
