// Package exporter shows a running engine to others: its counters to Prometheus
// and its reports over HTTP. It only reads.
//
// Metrics are made of one snapshot a scrape, so what the engine has forgotten is
// gone from the next page. The label sets are bounded by the engine's caps.
package exporter

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/firebreak-io/firebreak/correlate/live"
)

// Engine is what is shown.
type Engine interface {
	Snapshot() *live.Snapshot
	Latest() *live.Published
}

// collector makes metrics of an engine and of what stands around it.
type collector struct {
	engine Engine
	stats  *Stats
	descs  []*prometheus.Desc // of metrics, one for one
}

// NewCollector makes the metrics of an engine, to be registered. What stats
// points to may be filled until they are asked for.
func NewCollector(e Engine, stats *Stats) prometheus.Collector {
	c := &collector{engine: e, stats: stats}
	for _, m := range metrics {
		c.descs = append(c.descs, prometheus.NewDesc(m.name, m.help, m.labels, nil))
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	v := view{c.engine.Snapshot(), c.engine.Latest(), *c.stats}
	for i, m := range metrics {
		m.values(v, put{to: to, desc: c.descs[i], kind: m.kind, created: v.Started})
	}
}
