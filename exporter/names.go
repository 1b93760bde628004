package exporter

import "slices"

// Described is what a query has to know of a metric.
type Described struct {
	Name   string
	Type   string // counter, gauge or histogram
	Labels []string
}

// Metrics are all that /metrics shows of the engine, in the order of the
// documentation: what alerts and dashboards may ask for.
func Metrics() []Described {
	var list []Described
	for _, m := range metrics {
		list = append(list, Described{m.name, string(m.kind), slices.Clone(m.labels)})
	}
	return list
}
