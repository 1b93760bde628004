package main

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/firebreak-io/firebreak/collector/otlp"
)

// What things take, in bytes: with the defaults, measured (docs/performance.md),
// and a little more.
const (
	baseBytes       = 40 << 20 // the program, names, edges
	spanBytes       = 160      // of a span that waits, with its share of a trace
	recordBytes     = 1400     // of a record that reports are made of
	connectionBytes = 64 << 10
	leastMemory     = 256 << 20
)

// deriveLimits makes the limits that were not given such that all of them
// together fit into limits.memory. It never raises one above its default.
func (c *config) deriveLimits(given func(key string) bool) {
	if c.Limits.Memory == 0 {
		return
	}
	share := func(key string, to *int, of, each int64) {
		if !given(key) {
			*to = min(*to, int(c.Limits.Memory/of/each))
		}
	}
	share("limits.max_spans", &c.Limits.MaxSpans, 5, spanBytes)
	share("report.max_records", &c.Report.MaxRecords, 10, recordBytes)
	share("otlp.max_connections", &c.OTLP.MaxConnections, 16, connectionBytes)
	if !given("otlp.max_bytes_in_flight") {
		c.OTLP.MaxBytesInFlight = min(c.OTLP.MaxBytesInFlight, max(otlp.LeastInFlight, c.Limits.Memory/8))
	}
	c.RecentBytes, c.RawBytes = min(c.RecentBytes, c.Limits.Memory/10), min(c.RawBytes, c.Limits.Memory/32)
}

// need is about what the limits come to. Reading a request leaves half as much
// garbage as it takes, and making a report as much.
func (c *config) need() int64 {
	return baseBytes + c.OTLP.MaxBytesInFlight*3/2 + int64(c.Limits.MaxSpans)*spanBytes +
		2*min(c.RecentBytes, int64(c.Report.MaxRecords)*recordBytes) + c.RawBytes + int64(c.OTLP.MaxConnections)*connectionBytes
}

// limitMemory makes the runtime collect garbage more often near the limit. It
// returns what says whether requests must wait until there is memory again.
func limitMemory(limit int64) (full func() bool) {
	if limit == 0 {
		return nil
	}
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // nobody said otherwise by GOMEMLIMIT
		debug.SetMemoryLimit(limit * 9 / 10)
	}
	g := &memoryGuard{limit: uint64(limit), samples: []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}}
	return g.full
}

// memoryGuard looks at what the process uses, now and then.
type memoryGuard struct {
	limit uint64

	mu      sync.Mutex
	samples []metrics.Sample
	looked  time.Time
	freed   time.Time
	over    bool
}

// How often memory is looked at, and given back at most.
const (
	lookAtMemory = 50 * time.Millisecond
	freeMemory   = 5 * time.Second
)

func (g *memoryGuard) full() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if now.Sub(g.looked) < lookAtMemory {
		return g.over
	}
	g.looked = now
	metrics.Read(g.samples)
	live, used := g.samples[0].Value.Uint64(), g.samples[1].Value.Uint64()-g.samples[2].Value.Uint64()
	g.over = live > g.limit*3/4 || used > g.limit*97/100
	if g.over && now.Sub(g.freed) > freeMemory {
		g.freed = now
		go debug.FreeOSMemory() // nothing that comes in would cause it
	}
	return g.over
}
