package bench

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/bench/truth"
	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/parsers"
)

// corpora is traffic as SDKs and as Collectors send it.
func corpora(b *testing.B) map[string]*truth.Corpus {
	m := map[string]*truth.Corpus{}
	for name, merge := range map[string]int{"sdk": 0, "collector": 8192} {
		c, err := truth.Encode(truth.Config{Seed: 1, Calls: 3_000, Families: 4, Merge: merge}, false)
		if err != nil {
			b.Fatal(err)
		}
		m[name] = c
	}
	return m
}

// used is the processor time of this process, which is the same however busy the
// machine is.
func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// perSpan reports what a span took, by the processor time.
func perSpan(b *testing.B, before time.Duration, spans int64) {
	b.ReportMetric(float64(used(b)-before)/float64(spans), "cpu-ns/span")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkLiveRead reads requests, and does nothing with their spans.
func BenchmarkLiveRead(b *testing.B) {
	for name, c := range corpora(b) {
		b.Run(name, func(b *testing.B) {
			reader := parsers.NewOTLP("otlp", func(why string) { b.Error(why) })
			var buf []byte
			var spans int64
			b.ReportAllocs()
			before := used(b)
			for lap := uint64(0); b.Loop(); lap++ {
				for i := range c.Requests {
					buf = c.Requests[i].Lap(buf[:0], lap, 0)
					if err := reader.Spans(buf, func(*evidence.Record) error { spans++; return nil }); err != nil {
						b.Fatal(err)
					}
				}
			}
			perSpan(b, before, spans)
		})
	}
}

// BenchmarkLiveCount takes in spans at so many a second of its own clock, and
// counts them, with a report every ten seconds and without.
func BenchmarkLiveCount(b *testing.B) {
	for name, c := range corpora(b) {
		for _, rate := range []int64{20_000, 100_000} {
			for _, reports := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/%dk/reports=%v", name, rate/1000, reports), func(b *testing.B) {
					now := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
					e := live.New(live.Config{Now: func() time.Time { return now }, MaxSpans: 4_000_000, Fingerprint: parsers.Fingerprint})
					reader := parsers.NewOTLP("otlp", func(why string) { b.Error(why) })
					hand := func(r *evidence.Record) error { e.Add(r); return nil }
					var buf []byte
					var spans, sinceSecond int64
					seconds := 0
					b.ReportAllocs()
					before := used(b)
					for lap := uint64(0); b.Loop(); lap++ {
						for i := range c.Requests {
							r := &c.Requests[i]
							buf = r.Lap(buf[:0], lap, 0)
							if !e.Admit("grpc", r.Spans) {
								b.Fatal("no room")
							}
							if err := reader.Spans(buf, hand); err != nil {
								b.Fatal(err)
							}
							e.Done(r.Spans)
							spans += int64(r.Spans)
							now = now.Add(time.Duration(int64(r.Spans) * int64(time.Second) / rate))
							if sinceSecond += int64(r.Spans); sinceSecond >= rate {
								sinceSecond -= rate
								e.Advance()
								if seconds++; reports && seconds%10 == 0 {
									e.Publish()
								}
							}
						}
					}
					e.Flush()
					perSpan(b, before, spans)
				})
			}
		}
	}
}
