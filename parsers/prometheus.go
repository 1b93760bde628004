package parsers

import (
	"bytes"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Saved scrapes of Prometheus metrics, what "curl …/metrics" printed:
//
//	# HELP hikaricp_connections_active Active connections
//	# TYPE hikaricp_connections_active gauge
//	hikaricp_connections_active{application="order",pool="HikariPool-1",} 10.0
//	go_sql_wait_count_total{db_name="shop"} 370 1764502565000
//	grpc_client_attempt_started_total{grpc_method="shop.Sku/Stock"} 614 # {trace_id="4bf9"} 1.0 1764502565.2
//
// Text 0.0.4 as all client libraries write it since 2014, and OpenMetrics 1.0.
// Several scrapes may follow each other: one ends where a series comes again.
// Of the hundreds of families only those of pools, of calls and of a few states
// (promFamilies) are read; the others cost a look at their name.
func prometheusFormat() Format {
	return Format{
		Name:     "prometheus",
		Doc:      "Saved scrapes of metrics: gauges of thread and connection pools, counters of calls, attempts, retries, and of requests by how they ended",
		Versions: "Prometheus text 0.0.4, OpenMetrics 1.0; names of Micrometer, HikariCP, Tomcat, Jetty, Druid, Resilience4j, Dubbo 3.2 to 3.3, dubbo-go 3.3, client_golang, gRPC, OpenTelemetry, Envoy, Istio, Linkerd, nginx ingress, Traefik, HAProxy, Kong; any counter of requests with a status",
		Signs:    []string{"# TYPE hikaricp_connections_active gauge", `tomcat_threads_busy_threads{name="http-nio-8080",} 200.0`},
		Marks:    promMarks(),
		Starts:   startsPrometheus,
		Block:    readPrometheus,
	}
}

// promOpeners are families that mean nothing here and stand first in scrapes.
var promOpeners = []string{"go_gc_duration_seconds", "application_ready_time", "application_started_time", "jvm_buffer_", "jvm_classes_", "jvm_memory_", "process_cpu_seconds"}

func promMarks() []string {
	marks := append(slices.Clone(promOpeners), "_requests_total{", "_request_duration_seconds_count{", "_requests_seconds_count{", "_handled_total{")
	for name := range promFamilies {
		marks = append(marks, name)
	}
	slices.Sort(marks)
	// One that begins with another is found with it.
	out := marks[:0]
	for _, m := range marks {
		if len(out) == 0 || !bytes.HasPrefix([]byte(m), []byte(out[len(out)-1])) {
			out = append(out, m)
		}
	}
	return out
}

func startsPrometheus(line []byte) bool {
	name, _, ok := promLine(line)
	if !ok || len(name) == 0 {
		return false
	}
	if promFamilyOf(name) != nil {
		return true
	}
	for _, o := range promOpeners {
		if bytes.HasPrefix(name, []byte(o)) {
			return true
		}
	}
	return false
}

const (
	maxPromScrape = 4 << 20 // bytes of one scrape's lines that are of use
	maxPromSeries = 50_000  // of one scrape
	maxPromPrior  = 20_000  // counters remembered between scrapes
)

// promReader reads the scrapes of one input.
type promReader struct {
	in   *Input
	emit Emit
	rec  evidence.Record

	text   []byte           // the scrape's useful lines, made plain for expfmt
	series map[string]int   // by name and labels: the line where it stood
	lines  map[string][]int // by name: the lines of its series, in their order
	when   time.Time        // of the scrape, if anything says so
	zoned  evidence.Tri

	prior map[string]float64           // counters of the scrape before
	began map[evidence.Place]time.Time // when the processes of this scrape started, where they say
}

// readPrometheus reads one block: scrapes without anything between them.
func readPrometheus(in *Input, emit Emit) error {
	r := in.prom
	if r == nil {
		r = &promReader{in: in, series: map[string]int{}, lines: map[string][]int{}, prior: map[string]float64{}, began: map[evidence.Place]time.Time{}}
		in.prom = r
	}
	r.emit = emit
	if line := lastLine(in.Lines.Before()); len(line) > 0 && line[0] == '#' {
		if err := r.remark(line); err != nil {
			return err
		}
	}
	for in.Lines.Next() {
		line := in.Lines.Bytes()
		name, kind, ok := promLine(line)
		if !ok || kind == promRemark && in.starts != nil && in.starts(line) {
			in.Lines.Unread()
			break
		}
		switch kind {
		case promEOF:
			if err := r.flush(); err != nil {
				return err
			}
		case promRemark:
			if err := r.remark(line); err != nil {
				return err
			}
		case promSample:
			if err := r.sample(name, line); err != nil {
				return err
			}
		}
	}
	if err := r.flush(); err != nil {
		return err
	}
	return in.Lines.Err()
}

// sample keeps a line of a family that is of use. A series that was there
// already begins the next scrape.
func (r *promReader) sample(name, line []byte) error {
	if promFamilyOf(name) == nil {
		return nil
	}
	key, rest := promSplit(line, len(name))
	if key == nil {
		r.in.Skip(r.in.Lines.Number(), "sample without a value")
		return nil
	}
	if _, again := r.series[string(key)]; again {
		if err := r.flush(); err != nil {
			return err
		}
		r.in.Lines.settle(r.in.Lines.Number())
	}
	if len(r.text)+len(line) > maxPromScrape || len(r.series) >= maxPromSeries {
		r.in.Skip(r.in.Lines.Number(), "scrape is too large")
		return nil
	}
	r.series[string(key)] = r.in.Lines.Number()
	r.lines[string(name)] = append(r.lines[string(name)], r.in.Lines.Number())
	value, at := promValue(rest)
	if !at.IsZero() {
		r.when, r.zoned = at, evidence.Yes
	}
	r.text = append(append(append(append(r.text, key...), ' '), value...), '\n')
	return nil
}

// remark reads the time of a scrape out of a comment that says it, such as
// "# 2026-03-14T10:03:21Z", which scripts write in front of each.
func (r *promReader) remark(line []byte) error {
	b := bytes.TrimLeft(line, "# \t")
	var s stamp
	if len(b) < 19 || b[0] < '0' || b[0] > '9' || readStamp(b, &s) == 0 {
		return nil
	}
	if err := r.flush(); err != nil {
		return err
	}
	c := newClockwork(r.in)
	r.when, r.zoned = c.resolve(&s)
	return nil
}

// lastLine returns the last line of a text, without its end.
func lastLine(text []byte) []byte {
	text = bytes.TrimRight(text, "\r\n")
	return text[bytes.LastIndexByte(text, '\n')+1:]
}
