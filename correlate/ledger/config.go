package ledger

import (
	"cmp"
	"time"
)

// Config bounds what a ledger keeps and how it joins. The zero value of a field
// takes the default named beside it.
type Config struct {
	// MaxAttempts is how many spans are kept (2,000,000). Past it, whole traces
	// are let go by a hash of their trace ID, half of those left each time.
	MaxAttempts int
	// MaxTraceSpans is the size of a trace beyond which only numbered attempts
	// are joined (10,000).
	MaxTraceSpans int
	// MaxNames bounds each table of distinct names: services, operations, peers,
	// statements (50,000). Names beyond it share the one that Other is ("other").
	MaxNames int
	Other    string
	// MaxEdges bounds the edges, MaxPaths the nodes of the tree of call paths,
	// MaxProviders the providers of one edge, MaxRoutes the masked paths of one
	// access log's server (2,000, 5,000, 64, 200). The rest is in one "other".
	MaxEdges, MaxPaths, MaxProviders, MaxRoutes int
	// MaxRequests bounds the request IDs and business keys that are remembered
	// (1,000,000), by a hash, half of those left each time.
	MaxRequests int

	// Epsilon is how much two spans of one process may overlap and still count as
	// one after the other (1 ms).
	Epsilon time.Duration
	// MaxGap is the longest wait between two attempts of one call (60 s).
	MaxGap time.Duration
	// MinWait is the shortest gap that looks like a back-off (5 ms).
	MinWait time.Duration
	// MaxChain is the largest number of attempts that are inferred to be one
	// call's (16).
	MaxChain int
	// SkewBound is the difference of clocks that is allowed for where two hosts'
	// times are compared at all (50 ms).
	SkewBound time.Duration
	// KeyWindow is how far apart two executions with one business key may be and
	// still count as one written twice (2 min).
	KeyWindow time.Duration
	// Windows is into how many intervals the time covered is cut at most (120).
	Windows int
	// Experience is what ledgers before this one have learned; nil without.
	Experience *Experience
	// Fingerprint removes the literals of a statement, if given; system is
	// "mysql", "postgresql" and so on. It is called once per distinct text.
	Fingerprint func(system, text string) string
}

func defaulted(c Config) Config {
	or := func(p *int, d int) {
		if *p <= 0 {
			*p = d
		}
	}
	wait := func(p *time.Duration, d time.Duration) {
		if *p <= 0 {
			*p = d
		}
	}
	or(&c.MaxAttempts, 2_000_000)
	or(&c.MaxTraceSpans, 10_000)
	or(&c.MaxNames, 50_000)
	c.Other = cmp.Or(c.Other, "other")
	or(&c.MaxEdges, 2_000)
	or(&c.MaxPaths, 5_000)
	or(&c.MaxProviders, 64)
	or(&c.MaxRoutes, 200)
	or(&c.MaxRequests, 1_000_000)
	wait(&c.Epsilon, time.Millisecond)
	wait(&c.MaxGap, time.Minute)
	wait(&c.MinWait, 5*time.Millisecond)
	or(&c.MaxChain, 16)
	wait(&c.SkewBound, 50*time.Millisecond)
	wait(&c.KeyWindow, 2*time.Minute)
	or(&c.Windows, 120)
	return c
}
