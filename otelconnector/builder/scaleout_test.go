package builder

import (
	"context"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/bench/sender"
	"github.com/firebreak-io/firebreak/bench/truth"
)

// load is traffic of so many checkouts.
func load(t *testing.T, calls int) *sender.Load {
	t.Helper()
	const lap = 1_000
	corpus, err := truth.Encode(truth.Config{Calls: lap}, false)
	if err != nil {
		t.Fatal(err)
	}
	return &sender.Load{Corpus: corpus, Laps: calls / lap, Step: time.Second}
}

// The sums over tier 2 are what one instance would count: the truth.
func TestSumsOverTier2AreTheTruth(t *testing.T) {
	f := newFleet(t, 10*time.Second)
	calls := 10_000
	if n, err := strconv.Atoi(os.Getenv("FIREBREAK_SCALEOUT_CALLS")); err == nil {
		calls = n
	}
	l := load(t, calls)
	want := l.Truth()
	before := map[*collector]time.Duration{}
	for _, c := range f.all() {
		before[c], _ = c.usage(t)
	}
	began := time.Now()
	sent, err := sender.Send(context.Background(), sender.Config{GRPC: f.grpc, HTTP: f.http, Connections: 4}, l)
	if err != nil || sent.Accepted != want.Spans || sent.Failed != 0 {
		t.Fatalf("sent %+v of %d: %v", sent, want.Spans, err)
	}
	var sums truth.Counted
	until(t, "all is counted", 2*time.Minute, func() bool {
		sums = f.sums(t)
		return settled(sums, want.Spans)
	})
	for _, d := range want.Differences(sums) {
		t.Error(d)
	}
	if late := sums.Total("firebreak_spans_late_total"); late != 0 {
		t.Errorf("%.0f spans came too late", late)
	}
	if got := sums.Total("firebreak_spans_received_total"); got != float64(want.Spans) {
		t.Errorf("%.0f spans were received, %d were sent", got, want.Spans)
	}
	million := float64(want.Spans) / 1e6
	cpu, peak := f.tier1.usage(t)
	t.Logf("%d spans in %v, counted after %v", want.Spans, sent.Took.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	t.Logf("tier 1: %.2f CPU seconds per million spans, %d MB at most", (cpu-before[f.tier1]).Seconds()/million, peak>>10)
	var all time.Duration
	for i, c := range f.tier2 {
		cpu, peak := c.usage(t)
		all += cpu - before[c]
		one := truth.Counted{}
		page := scrape(t, f.pages[i])
		if err := one.Add(strings.NewReader(page)); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.0f spans, %d MB at most", c.name, one.Total("firebreak_spans_received_total"), peak>>10)
		documented(t, page)
	}
	t.Logf("tier 2: %.2f CPU seconds per million spans", all.Seconds()/million)
}

var (
	shown      = regexp.MustCompile(`(?m)^# TYPE (firebreak_\S+)`)
	inTheTable = regexp.MustCompile("(?m)^\\| `(firebreak_\\S+)`")
)

// documented holds the names that Prometheus reads to the documentation.
func documented(t *testing.T, page string) {
	t.Helper()
	doc, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range inTheTable.FindAllSubmatch(doc, -1) {
		known[string(m[1])] = true
	}
	names := shown.FindAllStringSubmatch(page, -1)
	for _, m := range names {
		if !known[m[1]] {
			t.Errorf("%s is not in docs/metrics.md", m[1])
		}
	}
	if len(names) < 20 {
		t.Errorf("only %d metrics", len(names))
	}
}

// One of tier 2 stops and starts again while spans come. What tier 1 took in
// meanwhile waits there.
func TestOneOfTier2StartsAnew(t *testing.T) {
	const (
		rate     = 10_000 // spans a second
		lateness = 2 * time.Second
	)
	for _, how := range []struct {
		name string
		sig  syscall.Signal
		// lost is how many spans may be in no counter at most.
		lost float64
	}{
		{"stopped", syscall.SIGTERM, 0},
		// Those that waited, and those that were counted since the last push. One in
		// three is sent to it; all are allowed for, since the machine may have paused.
		{"killed", syscall.SIGKILL, rate * (lateness + flush + time.Second).Seconds()},
	} {
		t.Run(how.name, func(t *testing.T) {
			f := newFleet(t, lateness)
			l := load(t, 8_000)
			want := l.Truth()
			type outcome struct {
				sender.Result
				err error
			}
			done := make(chan outcome, 1)
			go func() {
				r, err := sender.Send(context.Background(), sender.Config{GRPC: f.grpc, HTTP: f.http, Connections: 4, Rate: rate}, l)
				done <- outcome{r, err}
			}()
			victim := f.tier2[1]
			calls := func(i int) float64 {
				c := truth.Counted{}
				_ = c.Add(strings.NewReader(scrape(t, f.pages[i])))
				return c.Total("firebreak_logical_calls_total")
			}
			until(t, "it counts", time.Minute, func() bool { return calls(1) > 2_000 })
			// Not just when it has pushed, but at another's time.
			last := calls(2)
			until(t, "another one counts on", time.Minute, func() bool { return calls(2) != last })
			victim.end(how.sig)
			before := f.pushed.take(victim.name)
			victim.start(t)
			sent := <-done
			if sent.err != nil || sent.Accepted != want.Spans {
				t.Fatalf("sent %+v of %d: %v", sent.Result, want.Spans, sent.err)
			}
			// What it had counted when it ended, apart from what waited.
			held, split := before.Total("firebreak_spans_held"), before.Total("firebreak_traces_open")
			var sums truth.Counted
			received, since := 0.0, time.Now()
			until(t, "all else is counted", 4*time.Minute, func() bool {
				sums = f.pushed.sums()
				if !settled(sums, 0) {
					return false
				}
				add(sums, before)
				if now := sums.Total("firebreak_spans_received_total"); now != received {
					received, since = now, time.Now()
				}
				// Tier 1 does not say whether anything waits there that it sends again.
				return received-held >= float64(want.Spans)-how.lost && time.Since(since) > 2*retry
			})
			lost := float64(want.Spans) - (received - held)
			counted, attempts := sums.Total("firebreak_logical_calls_total"), sums.Total("firebreak_attempts_total")
			var trueCalls, trueAttempts float64
			for _, e := range want.Edges {
				trueCalls += float64(e.Calls)
				trueAttempts += float64(e.Initial + e.Retries + e.Proxied)
			}
			late := sums.Total("firebreak_spans_late_total")
			t.Logf("%s at %.0f of its spans: %d spans accepted by tier 1, %.0f lost (%.0f waited in %.0f traces when it pushed last), %.0f late",
				how.name, before.Total("firebreak_spans_received_total"), want.Spans, lost, held, split, late)
			t.Logf("logical calls %.0f of %.0f (%+.3f %%), attempts %.0f of %.0f (%+.3f %%)", counted, trueCalls, 100*(counted/trueCalls-1), attempts, trueAttempts, 100*(attempts/trueAttempts-1))
			if lost > how.lost || lost < -how.lost {
				t.Errorf("%.0f spans are in no counter, at most %.0f may be", lost, how.lost)
			}
			// Traces that were under way are counted in two parts, or not at all.
			share := float64(want.Spans) / trueCalls
			bound := (rate*(lateness+flush+time.Second).Seconds() + math.Abs(lost)) / share
			if math.Abs(counted-trueCalls) > bound || math.Abs(attempts-trueAttempts) > bound {
				t.Errorf("more than the %.0f calls that can have been under way are wrong", bound)
			}
		})
	}
}
