package incident

import (
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Trace is one trace that shows what an edge's numbers mean: its spans as a
// waterfall, in the order in which they are to be drawn.
type Trace struct {
	ID         string              `json:"id"`    // hex
	Edge       string              `json:"edge"`  // the edge that it exemplifies, by its Name
	Why        Why                 `json:"why"`   // why this one was chosen
	Start      time.Time           `json:"start"` // of the trace, by the clock of its first span
	DurationMS float64             `json:"duration_ms"`
	Spans      []TraceSpan         `json:"spans"`          // parents before their children, these by start
	More       int                 `json:"more,omitempty"` // spans of the trace that are left out, those farthest from the edge's call
	Citations  []evidence.Citation `json:"citations"`
}

// Why says what a trace is an example of.
type Why string

// The reasons for which a trace is shown.
const (
	TraceExhausted  Why = "exhausted"           // its call used up its attempts and failed
	TraceMost       Why = "most-attempts"       // its call made the most attempts
	TraceAfterRetry Why = "success-after-retry" // its call succeeded with a later attempt
	TraceOrphaned   Why = "orphaned"            // its provider worked longest after the caller had given up
	TraceSlowest    Why = "slowest"             // its call took longest
)

// Whys lists the reasons, the most telling first.
func Whys() []Why {
	return []Why{TraceExhausted, TraceMost, TraceAfterRetry, TraceOrphaned, TraceSlowest}
}

// TraceSpan is one span of a trace. Its start is moved where the trace itself
// proves that its host's clock was wrong: a provider cannot begin before it was
// asked.
type TraceSpan struct {
	ID         string            `json:"id"`               // hex; in Zipkin's form a call's two sides share one
	Parent     string            `json:"parent,omitempty"` // may be a span that was never seen
	Depth      int               `json:"depth"`            // of nesting among the spans that are shown
	Service    string            `json:"service,omitempty"`
	Name       string            `json:"name"`
	Kind       string            `json:"kind,omitempty"` // "client", "server", "internal", "producer", "consumer"
	StartMS    float64           `json:"start_ms"`       // since the trace's start
	DurationMS float64           `json:"duration_ms"`
	Outcome    string            `json:"outcome,omitempty"`
	Attempt    int               `json:"attempt,omitempty"`  // which attempt of its call it is; absent if it is none
	Of         int               `json:"of,omitempty"`       // how many attempts that call made
	Focus      bool              `json:"focus,omitempty"`    // it belongs to the call that the trace was chosen for
	Sent       string            `json:"sent,omitempty"`     // why it was sent if not for the first time: "retry", "proxy-retry", "hedge", "transparent", "redirect", "challenge"
	Orphaned   bool              `json:"orphaned,omitempty"` // it went on after the caller had given up
	SQL        string            `json:"sql,omitempty"`      // its statement without literals, perhaps shortened
	Citation   evidence.Citation `json:"citation,omitzero"`
}
