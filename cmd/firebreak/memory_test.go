package main

import (
	"math"
	"runtime/debug"
	"testing"
)

// TestLimitsFollowFromMemory holds that what follows fits, never goes above the
// defaults, and leaves alone what was given.
func TestLimitsFollowFromMemory(t *testing.T) {
	defaults := defaultConfig()
	for m := int64(leastMemory); m <= 8<<30; m += 7 << 20 {
		c := defaultConfig()
		c.Limits.Memory = m
		c.deriveLimits(func(string) bool { return false })
		if bad := c.Validate(); len(bad) > 0 {
			t.Fatalf("%d MiB: %v", m>>20, bad)
		}
		if c.Limits.MaxSpans > defaults.Limits.MaxSpans || c.OTLP.MaxBytesInFlight > defaults.OTLP.MaxBytesInFlight || c.RecentBytes > defaults.RecentBytes {
			t.Fatalf("%d MiB: %+v", m>>20, c)
		}
		if m > 2<<30 && c.Limits.MaxSpans != defaults.Limits.MaxSpans {
			t.Fatalf("%d MiB, and only %d spans", m>>20, c.Limits.MaxSpans)
		}
	}
	c := defaultConfig()
	c.Limits.Memory, c.Limits.MaxSpans = 512<<20, 700_000
	c.deriveLimits(func(key string) bool { return key == "limits.max_spans" })
	if c.Limits.MaxSpans != 700_000 || c.Report.MaxRecords >= defaults.Report.MaxRecords {
		t.Errorf("%+v", c)
	}
}

func TestMemoryGuard(t *testing.T) {
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	if limitMemory(0) != nil {
		t.Error("there is a guard without a limit")
	}
	full := limitMemory(1 << 40)
	if full() {
		t.Error("a tebibyte is full")
	}
	if got := debug.SetMemoryLimit(-1); got != 1<<40*9/10 {
		t.Errorf("the runtime's limit is %d", got)
	}
	if !limitMemory(1 << 20)() {
		t.Error("a mebibyte is not full")
	}
}
