package parsers

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/firebreak-io/firebreak/evidence"
)

// promGroup is what the series of one pool, or of one edge, say together.
type promGroup struct {
	family *promFamily // of any of them
	name   string
	method string
	place  evidence.Place
	side   evidence.Side
	ip     string  // of the process, by its label
	line   int     // of its first series
	coded  float64 // requests by how they ended, where their sum is counted apart
	took   string  // the family that sums their time, whose name has the unit
	values [promBreaker + 1]float64
	has    [promBreaker + 1]bool
}

// counts reports whether there is any number of calls, attempts or failures.
func (g *promGroup) counts() bool {
	for f := promCalls; f <= promOverflow; f++ {
		if g.has[f] {
			return true
		}
	}
	return false
}

func (g *promGroup) add(field promField, v float64) {
	if g.has[field] {
		v += g.values[field]
	}
	g.values[field], g.has[field] = v, true
}

// count returns a whole number; None if the field is not there or is no number.
func (g *promGroup) count(field promField) int64 {
	v := g.values[field]
	if !g.has[field] || math.IsNaN(v) || v < 0 || v > 1<<53 {
		return evidence.None
	}
	return int64(v)
}

// flush emits what the scrape so far says, and begins a new one.
func (r *promReader) flush() error {
	if len(r.series) == 0 {
		return nil
	}
	families := r.parse()
	groups := map[[5]string]*promGroup{}
	var order []*promGroup
	var marks []*promGroup
	for _, name := range slices.Sorted(maps.Keys(families)) { // sums and names must not depend on a map's order
		f, metrics := promFamilyOf([]byte(name)), families[name]
		if f == nil {
			continue
		}
		for i, m := range metrics.Metric {
			v := promNum(m)
			if math.IsNaN(v) {
				continue
			}
			labels := promLabels(m)
			g := &promGroup{family: f, place: r.place(labels), ip: labels["ip"], line: r.line(name, i)}
			g.name, g.method = labels.first(f.name), labels[f.method]
			if f.field == promBegan {
				if v > 0 && v < 1e11 {
					r.began[g.place] = time.UnixMilli(int64(v * 1000)).UTC()
				}
				continue
			}
			if f.field > promFieldsOfCalls {
				g.name = cmp.Or(labels["name"], labels["container"], labels["action"])
				g.method = labels["state"]
				g.add(f.field, v)
				marks = append(marks, g)
				continue
			}
			if !g.named(labels) {
				continue
			}
			key := [5]string{f.impl, g.side.String(), g.name, g.method, g.place.Service + "\x00" + g.place.Instance}
			if have := groups[key]; have != nil {
				g = have
				g.line = min(g.line, r.line(name, i))
			} else {
				groups[key] = g
				order = append(order, g)
			}
			if f.field == promTook {
				g.took = name
			}
			r.take(g, f.field, labels, v)
		}
	}
	clear(r.series)
	clear(r.lines)
	defer clear(r.began)
	r.text = r.text[:0]
	compare := func(a, b *promGroup) int {
		return cmp.Or(strings.Compare(a.family.impl, b.family.impl), cmp.Compare(a.side, b.side), strings.Compare(a.name, b.name), strings.Compare(a.method, b.method),
			strings.Compare(a.place.Service, b.place.Service), strings.Compare(a.place.Instance, b.place.Instance), cmp.Compare(a.family.field, b.family.field))
	}
	slices.SortFunc(order, compare)
	slices.SortFunc(marks, compare)
	for _, g := range order {
		if err := r.group(g, groups); err != nil {
			return err
		}
	}
	for _, g := range marks {
		if err := r.mark(g, marks); err != nil {
			return err
		}
	}
	r.when, r.zoned = time.Time{}, evidence.Unknown
	return nil
}

// line is where the i-th series of a name stands.
func (r *promReader) line(name string, i int) int {
	if list := r.lines[name]; i < len(list) {
		return list[i]
	}
	return 0
}

// take adds one series to its group. Some families count by a label.
func (r *promReader) take(g *promGroup, field promField, labels promLabelSet, v float64) {
	switch {
	case field == promCoded:
		r.request(g, labels, v)
		return
	case field == promAttempts && g.family.impl == "dubbo" && g.family.side == evidence.Consumer && labels["application_module_id"] != "":
		field = promCalls // Java counts before it retries, since 3.2.5; dubbo-go counts each attempt
		fallthrough
	case field != promCallsAgain:
		g.add(field, v)
		if field == promCalls && g.family.impl == "grpc" {
			if grpcAnswered([]byte(labels["grpc_status"])) != evidence.OutcomeUnknown {
				g.add(promFailedParts, v)
			} else {
				g.add(promFailedParts, 0)
			}
		}
		return
	}
	kind := labels["kind"]
	g.add(promCalls, v)
	if strings.HasSuffix(kind, "_with_retry") {
		g.add(promRetries, v)
	}
	if strings.HasPrefix(kind, "failed_") {
		g.add(promFailed, v)
	}
}

func (r *promReader) group(g *promGroup, groups map[[5]string]*promGroup) error {
	if g.family.field < promFieldsOfPools {
		return r.pool(g, groups)
	}
	return r.calls(g)
}

// pool emits one pool's gauges.
func (r *promReader) pool(g *promGroup, groups map[[5]string]*promGroup) error {
	if g.family.impl == "jdbc" {
		// Spring Boot shows the same pool a second time, under the bean's name.
		for _, other := range groups {
			if other.family.resource == "db" && other.family.impl != "jdbc" && other.place == g.place {
				return nil
			}
		}
	}
	p := &evidence.PoolSnapshot{
		Name: g.name, Kind: g.family.kind, Impl: g.family.impl, Resource: g.family.resource,
		Max: int(g.count(promMax)), Active: int(g.count(promActive)), Idle: int(g.count(promIdle)), Waiting: int(g.count(promWaiting)),
		Size: int(g.count(promSize)), Queued: int(g.count(promQueued)), Largest: int(g.count(promLargest)),
		Tasks: evidence.None, Completed: g.count(promCompleted), Waited: evidence.None,
	}
	if g.has[promFree] && p.Max >= 0 && p.Active < 0 {
		p.Active = max(0, p.Max-int(g.count(promFree)))
	}
	if p.Impl == "dubbo" {
		if dubboInternalPool(p.Name) {
			return nil
		}
		p.Name, p.Owner = dubboPoolName(p.Name, g.ip)
	}
	if p.Max > 1<<30 || g.family.impl == "go-sql" && p.Max == 0 { // without a limit
		p.Max = evidence.None
	}
	refused, _ := r.since(g, promRefused)
	p.Rejected = refused > 0
	waits, delta := r.since(g, promWaits)
	spent, _ := r.since(g, promWaitTime)
	if !delta { // since the start: what was waited on average
		waits, spent = g.values[promWaits], g.values[promWaitTime]
	}
	if waits > 0 && spent > 0 && spent < 1e9 {
		p.Waited = time.Duration(spent / waits * float64(time.Second))
	}
	if p.Active == evidence.None && p.Max == evidence.None && p.Waiting == evidence.None && p.Queued == evidence.None && !p.Rejected {
		return nil
	}
	r.rec.Pool = p
	return r.send(g)
}

// dubboInternalPool reports whether a pool of Dubbo's metrics serves Dubbo
// itself: the executors of its own services, which it counts apart, and its
// helpers. Requests of the application do not run there.
func dubboInternalPool(name string) bool {
	if strings.Contains(name, "/org.apache.dubbo.") {
		return true // DubboServerHandler-shop-product/org.apache.dubbo.metadata.MetadataService:1.0.0
	}
	switch name {
	case "internalServiceExecutor", "mappingRefreshingExecutor", "poolRouterExecutor", "connectivityScheduledExecutor", "metadataRetryExecutor",
		"sharedScheduledExecutor", "nacosPushReceiver", "serviceDiscoveryAddressNotificationExecutor", "registryNotificationExecutor":
		return true
	}
	return false
}

// dubboPoolName completes the name of a server's pool, DubboServerHandler-20880,
// to what its threads and its log are called by: with the address that it serves.
func dubboPoolName(name, ip string) (full, owner string) {
	handler, port, ok := strings.Cut(name, "-")
	if !ok || handler != "DubboServerHandler" || ip == "" || port == "" || strings.Trim(port, "0123456789") != "" {
		return name, ""
	}
	owner = ip + ":" + port
	return handler + "-" + owner, owner
}

// calls emits one edge's counters.
func (r *promReader) calls(g *promGroup) error {
	if g.family.impl == "dubbo" && strings.HasPrefix(g.name, "org.apache.dubbo.") {
		return nil // Dubbo's own services, all zero
	}
	c := &evidence.Counter{Impl: g.family.impl, Side: g.side, Service: g.name, Method: g.method, Began: r.start(g.place)}
	if service, method, ok := strings.Cut(g.method, "/"); ok && c.Impl == "grpc" {
		c.Service, c.Method = service, method
	}
	fields := []struct {
		field promField
		to    *int64
	}{
		{promCalls, &c.Calls},
		{promAttempts, &c.Attempts},
		{promRetries, &c.Retries},
		{promFailed, &c.Failed},
		{promTimeouts, &c.Timeouts},
		{promRetriesRefused, &c.RetriesRefused},
		{promOverflow, &c.Overflow},
		{promTook, &c.Took},
	}
	if g.family.impl == "dubbo" && g.has[promFailedParts] && g.has[promTimeouts] {
		g.values[promFailedParts] += g.values[promTimeouts] // which are counted apart
	}
	if g.has[promFailedParts] && !(g.has[promFailed] && g.values[promFailed] >= g.values[promFailedParts]) {
		g.values[promFailed], g.has[promFailed] = g.values[promFailedParts], true
	}
	if g.coded > 0 && !g.has[promAttempts] {
		g.add(promAttempts, g.coded)
	}
	if g.has[promTook] {
		g.values[promTook] *= promUnit(g.took)
	}
	if !g.counts() {
		return nil
	}
	diffs := make([]float64, len(fields))
	c.Delta = true
	for i, f := range fields {
		delta := false
		diffs[i], delta = r.since(g, f.field)
		c.Delta = c.Delta && (delta || !g.has[f.field])
	}
	for i, f := range fields {
		*f.to = g.count(f.field)
		if c.Delta && g.has[f.field] {
			*f.to = int64(diffs[i])
		}
	}
	c.Took = max(0, c.Took)
	if c.Attempts >= 0 && c.Retries >= 0 && c.Calls == evidence.None && c.Retries <= c.Attempts {
		c.Calls = c.Attempts - c.Retries
	}
	r.rec.Counter = c
	return r.send(g)
}

// since returns by how much a counter grew since the scrape before. It reports
// false if there was none, or if the process began to count anew.
func (r *promReader) since(g *promGroup, field promField) (float64, bool) {
	if !g.has[field] {
		return 0, false
	}
	key := strings.Join([]string{g.family.impl, g.name, g.method, g.place.Service, g.place.Instance, string(rune('a' + int(field))), g.side.String(), r.start(g.place).String()}, "\x00")
	before, ok := r.prior[key]
	if ok || len(r.prior) < maxPromPrior {
		r.prior[key] = g.values[field]
	}
	if !ok || g.values[field] < before {
		return 0, false
	}
	return g.values[field] - before, true
}

// start is when a process of this scrape started; zero if none says so. What a
// library counts of the process itself may bear other labels than its calls.
func (r *promReader) start(p evidence.Place) time.Time {
	if at, ok := r.began[p]; ok || len(r.began) != 1 {
		return at
	}
	for _, at := range r.began {
		return at
	}
	return time.Time{}
}

// mark emits what is no pool and no call.
func (r *promReader) mark(g *promGroup, all []*promGroup) error {
	m := &evidence.Mark{Subject: g.name}
	v := g.values[g.family.field]
	switch g.family.field {
	case promCPU:
		if v < 0 || v > 1 {
			return nil
		}
		m.Kind, m.Value, m.Text = evidence.MarkCPU, v, "system_cpu_usage"
	case promPause:
		// The gauge keeps the longest pause for some minutes: told once.
		if grown, known := r.since(g, promPause); v <= 0 || v > 3600 || known && grown == 0 {
			return nil
		}
		m.Kind, m.Value, m.Text, m.Subject = evidence.MarkGCPause, v, g.name, evidence.LongestOnly
	case promBreaker:
		if v != 1 || !strings.EqualFold(g.method, "open") {
			return nil
		}
		m.Kind, m.Text = evidence.MarkBreakerOpen, g.method
	case promPeriods:
		periods, ok := r.since(g, promPeriods)
		if !ok || periods <= 0 {
			return nil
		}
		for _, other := range all {
			if other.family.field != promThrottled || other.name != g.name || other.place != g.place {
				continue
			}
			throttled, ok := r.since(other, promThrottled)
			if !ok {
				return nil
			}
			m.Kind, m.Value, m.Text = evidence.MarkThrottled, min(1, throttled/periods), "container_cpu_cfs_throttled_periods_total"
		}
	}
	if m.Kind == "" {
		return nil
	}
	r.rec.Mark = m
	return r.send(g)
}

func (r *promReader) send(g *promGroup) error {
	if r.rec.Time, r.rec.Zoned = r.when, r.zoned; r.when.IsZero() {
		r.rec.Time, r.rec.Zoned = blockTime(r.in, nil)
	}
	r.rec.Place = g.place
	r.rec.Cite = evidence.Citation{Source: r.in.Name, Line: g.line}
	err := r.emit(&r.rec)
	r.rec = evidence.Record{}
	return err
}

// promLabelSet is the labels of one series.
type promLabelSet map[string]string

func promLabels(m *dto.Metric) promLabelSet {
	out := promLabelSet{}
	for _, l := range m.Label {
		out[l.GetName()] = l.GetValue()
	}
	return out
}

func (l promLabelSet) first(keys []string) string {
	for _, k := range keys {
		if v := l[k]; v != "" {
			return v
		}
	}
	return ""
}

// place is whose metrics they are, where the series say so.
func (r *promReader) place(l promLabelSet) evidence.Place {
	return evidence.Place{
		Service:  cmp.Or(l.first([]string{"application", "application_name", "service_name", "app"}), r.in.Hint.Service),
		Instance: cmp.Or(l.first([]string{"instance", "pod", "hostname", "ip"}), r.in.Hint.Instance),
	}
}
