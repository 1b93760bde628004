package scenario

import (
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/load"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/truth"
)

func routerOne(l Level) Dose {
	d := Dose{
		Setup: shop(layout{products: 3, retries: of(l, 2, 2, 0), threads: 16, timeout: 1500}),
		Load:  mix(of(l, 30, 12, 36.0), price, category),
		Faults: []Fault{
			{Kind: Inside, Query: "kind=slow&ms=800", On: []string{"product-1", "product-2", "product-3"}, From: time.Millisecond},
			inside("kind=tag&tag=gray", "order"),
		},
		Expect: truth.Expect{
			Label: "traffic-skew", Or: []string{"pool-starvation", "retry-amplification"}, Edge: priceEdge,
			Not: []string{"healthy", "slow-sql", "no-provider", "lock-contention"},
		},
	}
	d.Setup.Services[2].Settings["tag"] = "gray" // product-1
	if l == Mild {
		d.Expect = harmless("traffic-skew")
	}
	return d
}

func routerNone(l Level) Dose {
	d := Dose{
		Setup:  shop(layout{retries: 2}),
		Load:   mix(of(l, 16, 10, 20.0), price, category),
		Faults: []Fault{{Kind: Inside, Query: "kind=tag&tag=blue&force=true", On: []string{"order"}, From: FaultOn}},
		Dumps:  []string{"order"},
		Expect: truth.Expect{
			Label: "no-provider", Not: []string{"healthy", "slow-sql", "pool-starvation", "retry-amplification"},
		},
	}
	if l == Mild {
		// For a moment only.
		d.Faults = append(d.Faults, Fault{Kind: Inside, Query: "kind=none", On: []string{"order"}, From: FaultOn + 400*time.Millisecond})
		d.Expect = harmless("no-provider")
	}
	return d
}

func skewByWeight(l Level) Dose {
	d := Dose{
		Setup:  shop(layout{retries: of(l, 2, 2, 1), threads: 16, timeout: 1500}),
		Load:   mix(of(l, 14, 8, 16.0), price, category),
		Faults: []Fault{{Kind: Inside, Query: "kind=slow&ms=800", On: both, From: time.Millisecond}},
		Dumps:  both,
		Expect: truth.Expect{
			Label: "traffic-skew", Or: []string{"pool-starvation", "retry-amplification"}, Edge: priceEdge,
			Not: []string{"healthy", "slow-sql", "no-provider", "lock-contention"},
		},
	}
	d.Load.Steps = []load.Step{{From: FaultOn, Factor: of(l, 2.6, 1.2, 2.4)}}
	d.Setup.Services[2].Settings["weight"] = of(l, "1000", "300", "800")
	d.Setup.Services[3].Settings["weight"] = of(l, "20", "200", "30")
	if l == Mild {
		d.Expect = harmless("traffic-skew")
	}
	return d
}
