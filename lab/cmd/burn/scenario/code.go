package scenario

import (
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/load"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/stack"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/truth"
)

// both are the products of the usual layout.
var both = []string{"product-1", "product-2"}

func slowMethod(l Level) Dose {
	d := Dose{
		Setup:  shop(layout{retries: 2}),
		Load:   mix(of(l, 22, 12, 30.0), price, category),
		Faults: []Fault{inside(of(l, "kind=slow&ms=3000", "kind=slow&ms=300", "kind=slow&ms=2200"), both...)},
		Expect: truth.Expect{
			Label: "retry-amplification", Edge: priceEdge, Chain: []string{"amplifier retry-amplification", starved},
			Not: []string{"healthy", "slow-sql", "lock-contention", "gc-pause", "cpu-saturation"},
		},
	}
	if l == Mild {
		d.Expect = harmless("retry-amplification")
	}
	return d
}

func twoLayers(l Level) Dose {
	d := slowMethod(l)
	d.Setup = shop(layout{retries: 2, threads: 24, proxy: &stack.Proxy{NextUpstream: "error timeout http_503", Tries: 2, ReadTimeout: "20s"}})
	d.Load = mix(of(l, 14, 10, 18.0), price, category)
	return d
}

func hotLock(l Level) Dose {
	d := Dose{
		Setup:  shop(layout{retries: of(l, 2, 2, 0)}),
		Load:   mix(of(l, 26, 12, 34.0), price, category),
		Faults: []Fault{inside(of(l, "kind=sync&ms=200", "kind=sync&ms=20", "kind=sync&ms=160"), both...)},
		Expect: truth.Expect{
			Label: "lock-contention", Edge: priceEdge, Chain: []string{trigger("lock-contention"), amplified, starved},
			Not: []string{"healthy", "slow-sql", "gc-pause", "cpu-saturation"},
		},
	}
	if l == Second {
		d.Expect.Chain = []string{trigger("lock-contention"), starved}
	}
	if l == Mild {
		d.Expect = harmless("lock-contention")
	}
	return d
}

func vendorHang(l Level) Dose {
	d := Dose{
		Setup:  shop(layout{retries: 1}),
		Load:   mix(of(l, 16, 6, 20.0), quote, category),
		Faults: []Fault{{Kind: Hang, To: of(l, 0, FaultOn+time.Second, 0)}},
		Expect: truth.Expect{
			Label: "downstream-wait", Edge: quoteEdge, Chain: []string{trigger("downstream-wait"), amplified, starved},
			Not: []string{"healthy", "slow-sql", "lock-contention", "gc-pause"},
		},
	}
	if l == Mild {
		d.Expect = harmless("downstream-wait")
	}
	return d
}

func gcPressure(l Level) Dose {
	d := Dose{
		Setup:  shop(layout{retries: 2}),
		Load:   mix(of(l, 27, 10, 30.0), price, category),
		Faults: []Fault{inside(of(l, "kind=alloc&kb=3000&keep=22", "kind=alloc&kb=64&keep=20", "kind=alloc&kb=4000&keep=14"), both...)},
		Expect: truth.Expect{
			// Between a collector that takes a third of the time while every call still
			// succeeds, and a heap that is full, lies a cliff that differs from machine to
			// machine: this stays on the near side, where nobody is hurt.
			Label: "gc-pause", Or: []string{"healthy", "inconclusive"}, Edge: priceEdge, Not: []string{"slow-sql", "lock-contention"},
		},
	}
	for i := range d.Setup.Services {
		if s := &d.Setup.Services[i]; s.Role == "product" {
			s.Heap, s.GC = of(l, "128m", "192m", "120m"), of(l, "ParallelGC", "ParallelGC", "SerialGC")
		}
	}
	if l == Mild {
		d.Expect = harmless("gc-pause")
	}
	return d
}

func cpuBurn(l Level) Dose {
	d := Dose{
		Setup:  shop(layout{retries: 1, timeout: 1500}),
		Load:   mix(of(l, 16, 8, 20.0), price, category),
		Faults: []Fault{inside(of(l, "kind=cpu&ms=1500", "kind=cpu&ms=20", "kind=cpu&ms=1000"), both...)},
		Expect: truth.Expect{
			Label: "cpu-saturation", Edge: priceEdge, Not: []string{"healthy", "slow-sql", "lock-contention", "gc-pause"},
		},
		Host: "product-1",
	}
	if l == Mild {
		d.Expect = harmless("cpu-saturation")
	}
	return d
}

func oneSlowProvider(l Level) Dose {
	d := slowMethod(l)
	d.Load = mix(of(l, 22, 12, 26.0), price, category)
	d.Faults = []Fault{inside(of(l, "kind=slow&ms=3000", "kind=slow&ms=300", "kind=slow&ms=2500"), "product-2")}
	d.Dumps = both
	if l != Mild {
		// One of two is slow: whoever sees that may call it skewed, or starved.
		d.Expect.Or = []string{"pool-starvation", "inconclusive"}
		d.Expect.Chain = nil
	}
	return d
}

func burst(l Level) Dose {
	d := Dose{
		Setup:  shop(layout{retries: 2, threads: 60}),
		Load:   mix(of(l, 12, 12, 14.0), stock, category, price),
		Expect: truth.Expect{Label: "healthy", Or: []string{"inconclusive"}},
	}
	d.Load.Steps = []load.Step{{From: FaultOn, Factor: of(l, 5, 2, 6.0)}, {From: FaultOn + 8*time.Second, Factor: 1}}
	return d
}

func metastable(l Level) Dose {
	// A call takes 300 ms of one of 2 x 8 workers: 53 a second. Calls come at 24 a
	// second, three times that when each is tried three times.
	const always, slow = "kind=slow&ms=300", "kind=slow&ms=3000"
	d := Dose{
		Setup: shop(layout{retries: 2, threads: 8, queues: of(l, 120, 120, 160)}),
		Load:  mix(of(l, 30, 9, 34.0), price, category),
		Faults: []Fault{
			{Kind: Inside, Query: always, On: both, From: time.Millisecond},
			{Kind: Inside, Query: of(l, slow, "kind=slow&ms=600", slow), On: both, From: 4 * time.Second},
			{Kind: Inside, Query: always, On: both, From: 9 * time.Second},
		},
		Expect: truth.Expect{
			Label: "retry-amplification", Or: []string{"pool-starvation"}, Edge: priceEdge,
			Not: []string{"healthy", "slow-sql", "lock-contention", "gc-pause", "cpu-saturation"},
		},
	}
	if l == Mild {
		d.Expect = harmless("retry-amplification", "pool-starvation")
	}
	return d
}
