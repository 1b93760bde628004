package ledger

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// randomTrace is a trace of no sense at all.
func randomTraces(m *maker, r *rand.Rand, traces int) {
	for range traces {
		m.root()
		ids := []uint64{0, 0, 7}
		for range 1 + r.IntN(12) {
			at := time.Duration(r.IntN(50)) * 10 * ms
			id := m.add(ids[r.IntN(len(ids))], evidence.SpanKind(r.IntN(6)), fmt.Sprintf("s%d", r.IntN(4)), at, time.Duration(r.IntN(40)-1)*ms,
				func(rec *evidence.Record, s *evidence.Span) {
					s.Outcome = evidence.Outcome(r.IntN(12))
					s.Protocol = []string{"", "http", "grpc", "dubbo", "db", "messaging", "redis"}[r.IntN(7)]
					s.Service, s.Method = []string{"", "Stock"}[r.IntN(2)], []string{"get", "put", ""}[r.IntN(3)]
					s.Ident, s.Ordinal = uint64(r.IntN(3)), max(0, r.IntN(8)-4)
					s.Attempt, s.Remote, s.Shared, s.Numbers = evidence.SpanRole(r.IntN(8)%4), evidence.Tri(r.IntN(3)), r.IntN(10) == 0, r.IntN(3) == 0
					s.Peer = []string{"", "10.20.0.1:80", "stock", "10.20.0.2:80"}[r.IntN(4)]
					s.Retries, s.Weight = r.IntN(9)-6, float64(r.IntN(3))
					s.Query = []string{"", "select 1", "select 2"}[r.IntN(3)]
					s.Reason = []string{"", "hedge", "transparent"}[max(0, r.IntN(12)-9)]
					rec.Place.Instance = fmt.Sprintf("%s-%d", rec.Place.Service, r.IntN(3))
				})
			ids = append(ids, id)
			if r.IntN(12) == 0 {
				m.records = append(m.records, m.records[len(m.records)-1])
				continue
			}
			if r.IntN(12) == 0 {
				c := m.records[len(m.records)-1].Clone()
				c.Cite.Source = "traces/again.jsonl"
				m.records = append(m.records, c)
			}
		}
	}
}

func randomLines(m *maker, r *rand.Rand, n int) {
	for range n {
		x := line1(evidence.Side(r.IntN(3)), fmt.Sprintf("/p%d/%d", r.IntN(3), r.IntN(20)), []int{-1, 200, 302, 401, 404, 499, 500, 503, 504}[r.IntN(9)])
		x.Attempts, x.Ordinal, x.Duration, x.Started = r.IntN(5)-1, max(0, r.IntN(5)-2), time.Duration(r.IntN(900)-1)*ms, r.IntN(2) == 0
		x.Client = fmt.Appendf(nil, "10.20.0.%d:5000", r.IntN(9))
		for range max(0, r.IntN(6)-3) {
			x.Upstreams = append(x.Upstreams, up(r.IntN(2), fmt.Sprintf("10.20.1.%d:80", r.IntN(2)), []int{-1, 200, 500, 504}[r.IntN(4)]))
		}
		if r.IntN(2) == 0 {
			x.RequestID = fmt.Appendf(nil, "r%d", r.IntN(n))
		}
		if r.IntN(3) == 0 {
			x.Service, x.Method, x.Key = "com.acme.Stock", "deduct", fmt.Appendf(nil, "k%d", r.IntN(30))
		}
		m.access(fmt.Sprintf("s%d", r.IntN(4)), fmt.Sprintf("log%d", r.IntN(5)), time.Duration(r.IntN(4000))*time.Second/10, x)
	}
}

// The same evidence gives the same book, whatever the order it came in.
func TestOrderDoesNotMatter(t *testing.T) {
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 2))
		var m maker
		randomTraces(&m, r, 40)
		randomLines(&m, r, 200)
		c := Config{}
		if seed%3 == 0 {
			c = Config{MaxAttempts: 100, MaxRequests: 40, MaxProviders: 2}
		}
		want, err := json.Marshal(book(t, c, m.records, 1))
		if err != nil {
			t.Fatal(err)
		}
		for again := range uint64(4) {
			got, err := json.Marshal(book(t, c, m.records, 2+again))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Fatalf("seed %d: the order changed the book\n%s\n%s", seed, clip(want, got), clip(got, want))
			}
		}
	}
}

// clip is the part of a that differs from b.
func clip(a, b []byte) []byte {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[max(0, i-300):min(len(a), i+100)]
}

// Memory is bounded by letting whole traces go; ratios stay.
func TestShareOfTraces(t *testing.T) {
	var m maker
	for k := range 2000 {
		m.root()
		h := m.server(0, "shop", 0, time.Second, http("GET /buy", 0))
		for n := range 3 {
			code := 503
			if n == 2 {
				code = 200
			}
			m.client(h, "shop", time.Duration(n)*30*ms, 20*ms, http("GET /stock", uint64(k)), status(code), ordinal(n+1), on("stock"))
		}
	}
	b := book(t, Config{MaxAttempts: 1000}, m.records, 1)
	e := edgeOf(t, b, "shop", "stock", "")
	if b.Share > 1.0/8 || b.SpansKept < 400 || b.SpansKept > 1000 || e.Amplification != 3 || b.Losses[LostSampled] != 8000-b.SpansKept {
		t.Errorf("share %v, kept %d, A %v, losses %v", b.Share, b.SpansKept, e.Amplification, b.Losses)
	}
}

func FuzzLedger(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(3))
	f.Add(uint64(99), uint8(0), uint8(200))
	f.Fuzz(func(t *testing.T, seed uint64, traces, lines uint8) {
		r := rand.New(rand.NewPCG(seed, 3))
		var m maker
		randomTraces(&m, r, int(traces))
		randomLines(&m, r, int(lines)+1)
		b := book(t, Config{MaxAttempts: 1 + r.IntN(300), MaxTraceSpans: 1 + r.IntN(12), MaxEdges: 1 + r.IntN(20), MaxPaths: 2 + r.IntN(20), MaxNames: 2 + r.IntN(20)}, m.records, seed)
		for _, e := range b.Edges {
			if e.Calls < evidence.None || e.Attempts < evidence.None || e.Orphaned < 0 || e.Server < 0 || e.Orphaned+e.Superseded+e.Failed > e.Server {
				t.Fatalf("edge %+v", e)
			}
		}
	})
}
