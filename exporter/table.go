package exporter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/correlate/live"
)

// metric is one metric: what stands of it in the documentation, and where its
// values come from.
type metric struct {
	name   string
	kind   kind
	labels []string
	help   string
	bound  string // how many series there can be
	values func(v view, put put)
}

type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
)

// view is the state of a moment.
type view struct {
	*live.Snapshot
	published *live.Published // nil before the first report
	stats     Stats
}

// metrics are all of them, in the order of the documentation.
var metrics = slices.Concat(callMetrics, reportMetrics, sourceMetrics, bundleMetrics, healthMetrics)

// Table is the documentation's table of metrics, in Markdown.
func Table() string {
	var b strings.Builder
	b.WriteString("| Metric | Type | Labels | Meaning | Series |\n|---|---|---|---|---|\n")
	for _, m := range metrics {
		labels := "–"
		if len(m.labels) > 0 {
			labels = "`" + strings.Join(m.labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.name, m.kind, labels, m.help, m.bound)
	}
	return b.String()
}
