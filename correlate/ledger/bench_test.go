package ledger

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// BenchmarkSpans takes in and joins a million spans of three layers.
func BenchmarkSpans(b *testing.B) {
	w := &world{r: rand.New(rand.NewPCG(1, 1)), fail: 0.2, layers: []shape{numberedSiblings, rpcSiblings, container}, most: []int{3, 3, 2}}
	w.make(20_000)
	n := 1_000_000
	b.ReportAllocs()
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		l := New(Config{})
		began := time.Now()
		for i := range n {
			r := w.records[i%len(w.records)]
			// The same traces under other IDs, so that there are a million spans.
			r.Span.TraceID[0] = byte(i / len(w.records))
			l.AddSpan(r)
		}
		added := time.Since(began)
		book := l.Close()
		joined := time.Since(began) - added
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(added.Nanoseconds())/float64(n), "ns/add")
		b.ReportMetric(float64(joined.Nanoseconds())/float64(n), "ns/join")
		b.ReportMetric(float64(after.Sys)/1e6, "MB-sys")
		if book.SpansKept != int64(n) {
			b.Fatalf("kept %d, losses %v", book.SpansKept, book.Losses)
		}
	}
}

// BenchmarkAccess takes in lines of a proxy with upstream lists and request IDs.
func BenchmarkAccess(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var m maker
	for k := range 20_000 {
		x := line1(evidence.Consumer, fmt.Sprintf("/api/v1/stock/%d?sku=%d", r.IntN(100_000), k), 200)
		x.Backend, x.Client, x.RequestID = "stock", fmt.Appendf(nil, "10.20.0.%d:44%03d", r.IntN(40), r.IntN(999)), fmt.Appendf(nil, "%032x", r.Uint64())
		x.Upstreams = []evidence.Upstream{up(0, "10.20.0.1:80", 200)}
		if r.IntN(10) == 0 {
			x.Upstreams = append([]evidence.Upstream{up(0, "10.20.0.2:80", 504)}, x.Upstreams...)
		}
		m.access("nginx", "nginx/access.log", time.Duration(k)*10*ms, x)
	}
	b.ReportAllocs()
	l := New(Config{})
	i := 0
	for b.Loop() {
		l.AddAccess(m.records[i%len(m.records)])
		i++
	}
	l.Close()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mlines/s")
}
