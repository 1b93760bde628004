package truth

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Config says what traffic is made. The zero value of a field takes the default
// named beside it.
type Config struct {
	Seed     uint64
	Calls    int       // checkouts (1,000); each is about 15 spans
	Families int       // shops, each of seven services of its own (1)
	Batch    int       // spans in a request of one process, as its SDK sends them (512)
	Merge    int       // requests are merged until they hold so many spans, as a Collector does (0: not)
	From     time.Time // when the first checkout began (now)
}

func defaulted(c Config) Config {
	or := func(p *int, d int) {
		if *p <= 0 {
			*p = d
		}
	}
	or(&c.Calls, 1_000)
	or(&c.Families, 1)
	or(&c.Batch, 512)
	if c.From.IsZero() {
		c.From = time.Now()
	}
	return c
}

// flushEvery bounds how many checkouts a span waits in its process.
const flushEvery = 500

// process is one service's instance and what it has not sent yet.
type process struct {
	service string
	pending ptrace.Traces
	scopes  map[string]ptrace.SpanSlice
	spans   int
}

// maker makes traffic.
type maker struct {
	Config
	r         *rand.Rand
	emit      func(ptrace.Traces) error
	err       error // of emit
	processes map[string]*process
	order     []*process
	merged    ptrace.Traces
	edges     map[[3]string]*Edge
	spans     int64
	traces    int64

	family string
	trace  pcommon.TraceID
	n      uint64 // number of the checkout
}

// Make makes traffic, hands it on in batches, and returns its truth. What is
// handed on may be kept.
func Make(c Config, emit func(ptrace.Traces) error) (*Truth, error) {
	c = defaulted(c)
	m := &maker{
		Config: c, emit: emit, r: rand.New(rand.NewPCG(c.Seed, 0x5eed)), processes: map[string]*process{}, edges: map[[3]string]*Edge{},
		merged: ptrace.NewTraces(),
	}
	for i := range c.Calls {
		m.n = uint64(i)
		m.family = ""
		if f := m.r.IntN(c.Families); f > 0 {
			m.family = fmt.Sprintf("-%d", f)
		}
		m.checkout(c.From.Add(time.Duration(i) * time.Millisecond))
		if i%flushEvery == flushEvery-1 {
			m.flush()
		}
		if m.err != nil {
			return nil, m.err
		}
	}
	m.flush()
	m.send(m.merged)
	t := &Truth{Spans: m.spans, Traces: m.traces}
	for _, e := range m.edges {
		t.Edges = append(t.Edges, *e)
	}
	slices.SortFunc(t.Edges, compareEdges)
	return t, m.err
}

// begin begins a trace.
func (m *maker) begin() {
	m.traces++
	binary.LittleEndian.PutUint64(m.trace[:8], m.r.Uint64())
	binary.LittleEndian.PutUint64(m.trace[8:], m.r.Uint64())
}

// edge is the account of an edge of this family's.
func (m *maker) edge(caller, callee, protocol string, s Shape) *Edge {
	k := [3]string{caller, callee, protocol}
	e := m.edges[k]
	if e == nil {
		e = &Edge{Caller: caller, Callee: callee, Protocol: protocol, Shape: s}
		m.edges[k] = e
	}
	return e
}

// add adds a span to what its process has not sent yet.
func (m *maker) add(service, scope string, kind ptrace.SpanKind, name string, parent pcommon.SpanID, at time.Time, took time.Duration) ptrace.Span {
	instance := fmt.Sprintf("%s-%d", service, m.n%2)
	p := m.processes[instance]
	if p == nil {
		p = &process{service: service}
		m.processes[instance] = p
		m.order = append(m.order, p)
	}
	if p.spans >= m.Batch {
		m.take(p)
	}
	if p.spans == 0 {
		p.pending, p.scopes = ptrace.NewTraces(), map[string]ptrace.SpanSlice{}
		describe(p.pending.ResourceSpans().AppendEmpty().Resource().Attributes(), service, instance)
	}
	list, ok := p.scopes[scope]
	if !ok {
		ss := p.pending.ResourceSpans().At(0).ScopeSpans().AppendEmpty()
		ss.Scope().SetName(scope)
		ss.Scope().SetVersion("2.20.1")
		list = ss.Spans()
		p.scopes[scope] = list
	}
	p.spans++
	m.spans++
	s := list.AppendEmpty()
	var id pcommon.SpanID
	binary.LittleEndian.PutUint64(id[:], m.r.Uint64()|1)
	s.SetTraceID(m.trace)
	s.SetSpanID(id)
	s.SetParentSpanID(parent)
	s.SetName(name)
	s.SetKind(kind)
	s.SetStartTimestamp(pcommon.NewTimestampFromTime(at))
	s.SetEndTimestamp(pcommon.NewTimestampFromTime(at.Add(took)))
	s.SetFlags(0x101)
	if kind == ptrace.SpanKindServer && !parent.IsEmpty() {
		s.SetFlags(0x301)
	}
	return s
}

// describe is what SDKs say of their process.
func describe(a pcommon.Map, service, instance string) {
	for _, k := range slices.Sorted(maps.Keys(resource)) {
		a.PutStr(k, resource[k])
	}
	a.PutStr("service.name", service)
	a.PutStr("service.instance.id", instance)
	a.PutStr("host.name", instance)
}

var resource = map[string]string{
	"deployment.environment.name": "production", "os.type": "linux", "process.runtime.name": "OpenJDK Runtime Environment",
	"process.runtime.version": "25.0.1+8-LTS", "service.version": "4.11.2", "telemetry.distro.name": "opentelemetry-java-instrumentation",
	"telemetry.sdk.language": "java", "telemetry.sdk.name": "opentelemetry", "telemetry.sdk.version": "1.57.0",
}

// take takes what a process has not sent yet.
func (m *maker) take(p *process) {
	if p.spans == 0 {
		return
	}
	td := p.pending
	p.spans = 0
	if m.Merge <= 0 {
		m.send(td)
		return
	}
	td.ResourceSpans().MoveAndAppendTo(m.merged.ResourceSpans())
	if m.merged.SpanCount() >= m.Merge {
		m.send(m.merged)
		m.merged = ptrace.NewTraces()
	}
}

func (m *maker) flush() {
	for _, p := range m.order {
		m.take(p)
	}
}

func (m *maker) send(td ptrace.Traces) {
	if m.err == nil && td.ResourceSpans().Len() > 0 {
		m.err = m.emit(td)
	}
}
