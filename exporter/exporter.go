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

// collector makes metrics of an engine.
type collector struct {
	engine Engine
	descs  []*prometheus.Desc // of metrics, one for one
}

// NewCollector makes the metrics of an engine, to be registered.
func NewCollector(e Engine) prometheus.Collector {
	c := &collector{engine: e}
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
	v := view{c.engine.Snapshot(), c.engine.Latest()}
	for i, m := range metrics {
		d := c.descs[i]
		m.values(v, put{
			value: func(x float64, labels ...string) {
				send(to, d)(prometheus.NewConstMetric(d, m.kind.valueType(), x, labels...))
			},
			counted: func(n uint64, sum float64, buckets map[float64]uint64, labels ...string) {
				send(to, d)(prometheus.NewConstHistogram(d, n, sum, buckets, labels...))
			},
		})
	}
}

// send sends a metric, or in its place what is wrong with it.
func send(to chan<- prometheus.Metric, d *prometheus.Desc) func(prometheus.Metric, error) {
	return func(m prometheus.Metric, err error) {
		if err != nil {
			m = prometheus.NewInvalidMetric(d, err)
		}
		to <- m
	}
}
