package scenario

import (
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/load"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/stack"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/truth"
)

// A scan takes 0.3 s of a processor, so two processors finish six a second, and
// with forty at once each takes six seconds.

func missingIndex(l Level) Dose {
	d := Dose{
		Setup:  shop(layout{retries: of(l, 2, 2, 1), threads: of(l, 20, 20, 14), timeout: of(l, 1000, 3000, 800)}),
		Load:   mix(of(l, 22, 2.0, 26), stock, category),
		Faults: []Fault{{Kind: DropIndex}},
		Expect: truth.Expect{
			Label: "slow-sql", Chain: []string{trigger("slow-sql"), amplified, starved}, Edge: stockEdge,
			Not: []string{"healthy", "lock-contention", "gc-pause"},
		},
	}
	if l == Mild {
		d.Expect = harmless("slow-sql")
	}
	return d
}

func postgresMissingIndex(l Level) Dose {
	d := missingIndex(l)
	d.Setup.Postgres = true
	return d
}

func slowSQLWithoutRetries(l Level) Dose {
	d := missingIndex(l)
	d.Setup = shop(layout{line: of(l, "dubbo3", "dubbo3", "dubbo27"), retries: 0, threads: of(l, 20, 20, 14), timeout: of(l, 2000, 3000, 1500)})
	d.Load = mix(of(l, 24, 2.0, 28), stock, category)
	if l != Mild {
		d.Expect.Chain = []string{trigger("slow-sql"), starved}
		d.Expect.Not = append(d.Expect.Not, "retry-amplification")
	}
	return d
}

func rowLock(l Level) Dose {
	skus := []string{"SKU1000", "SKU1001", "SKU1002", "SKU1003"}
	d := Dose{
		Setup:  shop(layout{retries: 0, threads: 14, timeout: 1500}),
		Load:   mix(of(l, 18, 5.0, 24), hotOrder, category),
		Faults: []Fault{{Kind: LockRows, Rows: skus, To: of(l, 0, FaultOn+time.Second, 0)}},
		Expect: truth.Expect{
			Label: "lock-contention", Chain: []string{trigger("lock-contention"), starved}, Edge: deductEdge,
			Not: []string{"healthy", "gc-pause", "retry-amplification"},
		},
	}
	if l == Mild {
		d.Expect = harmless("lock-contention")
	}
	return d
}

// farDatabase is one product whose database is 60 ms away each way.
func farDatabase(l layout, rate float64) Dose {
	l.products, l.threads = 1, 24
	set := shop(l)
	set.Delay = 60 * time.Millisecond
	return Dose{Setup: set, Load: mix(rate, stock, category)}
}

func hikariSmall(l Level) Dose {
	d := farDatabase(layout{retries: 0, timeout: 1500, pool: of(l, 2, 12, 1), product: map[string]string{"pool.timeout.ms": "4000"}}, 36)
	d.Expect = truth.Expect{
		Label: "pool-starvation", Edge: stockEdge, Not: []string{"slow-sql", "healthy", "lock-contention", "retry-amplification"},
	}
	if l == Mild {
		d.Expect = harmless("pool-starvation")
	}
	return d
}

func druidSmall(l Level) Dose {
	d := farDatabase(layout{
		line: "dubbo27", retries: 1, timeout: 1500, pool: of(l, 2, 12, 3),
		product: map[string]string{"pool": "druid", "pool.timeout.ms": "3000"},
	}, of(l, 34, 30, 44.0))
	d.Expect = truth.Expect{
		Label: "pool-starvation", Or: []string{"retry-amplification"}, Edge: stockEdge, Not: []string{"slow-sql", "healthy", "lock-contention"},
	}
	if l == Mild {
		d.Expect = harmless("pool-starvation")
	}
	return d
}

func duplicateWrites(l Level) Dose {
	d := Dose{
		Setup:  shop(layout{retries: 2, threads: 40, timeout: 1000}),
		Load:   mix(of(l, 12, 6, 14.0), order, category),
		Faults: []Fault{inside(of(l, "kind=slow&ms=1600&method=deductStock", "kind=slow&ms=400&method=deductStock", "kind=slow&ms=1300&method=deductStock"), "product-1", "product-2")},
		Expect: truth.Expect{
			Label: "duplicate-writes", Or: []string{"retry-amplification"}, Edge: deductEdge,
			Not: []string{"healthy", "slow-sql", "lock-contention"},
		},
	}
	if l == Mild {
		d.Expect = harmless("duplicate-writes")
	}
	return d
}

func goPool(l Level) Dose {
	d := Dose{
		Setup: stack.Setup{
			Proxy: noRetry, Delay: 60 * time.Millisecond,
			Services: []stack.Spec{
				{Name: "product-1", Role: "provider", Line: "dubbogo", Settings: map[string]string{
					"db-max": of(l, "4", "40", "2"), "db-idle": of(l, "4", "40", "2"),
				}},
				{Name: "order", Role: "consumer", Line: "dubbogo", Settings: map[string]string{"timeout": "1s"}},
			},
		},
		Load: load.Plan{Rate: of(l, 34, 20, 30.0), Mix: []load.Path{stock, category}},
		Expect: truth.Expect{
			Label: "pool-starvation", Or: []string{"retry-amplification"}, Edge: stockEdge,
			Not: []string{"healthy", "gc-pause", "cpu-saturation", "lock-contention"},
		},
	}
	if l == Mild {
		d.Expect = harmless("pool-starvation")
	}
	return d
}
