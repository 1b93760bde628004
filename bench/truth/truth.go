// Package truth makes spans of traffic whose truth is known: how many logical
// calls there were on each edge, and how many attempts, by why they were made.
//
// A checkout in a shop, made again and again: each edge is shown in another of
// the shapes in which client libraries show retries. The same seed makes the
// same traffic. Spans come in batches as the SDK of each process sends them, or
// as a Collector does, in memory ([Make]) or encoded once to be sent many times
// under other trace IDs ([Encode]).
package truth

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Truth is what was made.
type Truth struct {
	Spans  int64  `json:"spans"`
	Traces int64  `json:"traces"`
	Edges  []Edge `json:"edges"` // ordered by their names
}

// Edge is one caller's use of one callee.
type Edge struct {
	Caller   string `json:"caller,omitempty"`
	Callee   string `json:"callee"`
	Protocol string `json:"protocol"`
	Shape    Shape  `json:"shape"`
	Calls    int64  `json:"calls"`
	Failed   int64  `json:"failed"` // calls that failed after all their attempts; of Rootless ones nobody can count that
	// Attempts, by why they were made.
	Initial int64 `json:"initial"`
	Retries int64 `json:"retries"` // that the caller made
	Proxied int64 `json:"proxied"` // that a proxy below the caller made
}

func compareEdges(a, b Edge) int {
	return cmp.Or(cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.Callee, b.Callee), cmp.Compare(a.Protocol, b.Protocol))
}

// Times is the truth of so many times the same traffic.
func (t *Truth) Times(n int64) *Truth {
	x := &Truth{Spans: n * t.Spans, Traces: n * t.Traces, Edges: slices.Clone(t.Edges)}
	for i := range x.Edges {
		e := &x.Edges[i]
		e.Calls, e.Failed, e.Initial, e.Retries, e.Proxied = n*e.Calls, n*e.Failed, n*e.Initial, n*e.Retries, n*e.Proxied
	}
	return x
}

// Plus is the truth of this traffic and another.
func (t *Truth) Plus(o *Truth) *Truth {
	x := &Truth{Spans: t.Spans + o.Spans, Traces: t.Traces + o.Traces, Edges: slices.Clone(t.Edges)}
	for _, e := range o.Edges {
		i := slices.IndexFunc(x.Edges, func(y Edge) bool { return compareEdges(y, e) == 0 })
		if i < 0 {
			x.Edges = append(x.Edges, e)
			continue
		}
		y := &x.Edges[i]
		y.Calls, y.Failed = y.Calls+e.Calls, y.Failed+e.Failed
		y.Initial, y.Retries, y.Proxied = y.Initial+e.Initial, y.Retries+e.Retries, y.Proxied+e.Proxied
	}
	slices.SortFunc(x.Edges, compareEdges)
	return x
}

// Counted is what /metrics of firebreak says of the same edges. Several
// instances add up.
type Counted map[string]float64

// Add reads a page of metrics.
func (c Counted) Add(page io.Reader) error {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(page)
	if err != nil {
		return err
	}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			key := name
			for _, label := range []string{"caller", "callee", "protocol", "reason", "transport"} {
				key += "|" + labelOf(m, label)
			}
			c[key] += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
		}
	}
	return nil
}

func labelOf(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// Total is a metric summed over its labels.
func (c Counted) Total(metric string) (sum float64) {
	for key, v := range c {
		if len(key) > len(metric) && key[:len(metric)] == metric && key[len(metric)] == '|' {
			sum += v
		}
	}
	return sum
}

// Differences says where what was counted is not the truth.
func (t *Truth) Differences(c Counted) (list []string) {
	attempts := 0.0
	calls := 0.0
	for _, e := range t.Edges {
		edge := "|" + e.Caller + "|" + e.Callee + "|" + e.Protocol + "|"
		for _, x := range []struct {
			metric, reason string
			want           int64
		}{
			{"firebreak_logical_calls_total", "", e.Calls},
			{"firebreak_failed_logical_calls_total", "", e.Failed},
			{"firebreak_attempts_total", "initial", e.Initial},
			{"firebreak_attempts_total", "retry", e.Retries},
			{"firebreak_attempts_total", "proxy", e.Proxied},
		} {
			if x.metric == "firebreak_failed_logical_calls_total" && e.Shape == Rootless {
				continue
			}
			if got := c[x.metric+edge+x.reason+"|"]; got != float64(x.want) {
				list = append(list, fmt.Sprintf("%s of %s -> %s (%s) %s is %.0f, true are %d", x.metric, e.Caller, e.Callee, e.Shape, x.reason, got, x.want))
			}
		}
		attempts += float64(e.Initial + e.Retries + e.Proxied)
		calls += float64(e.Calls)
	}
	if got := c.Total("firebreak_attempts_total"); got != attempts {
		list = append(list, fmt.Sprintf("%.0f attempts in all, true are %.0f", got, attempts))
	}
	if got := c.Total("firebreak_logical_calls_total"); got != calls {
		list = append(list, fmt.Sprintf("%.0f calls in all, true are %.0f", got, calls))
	}
	return list
}
