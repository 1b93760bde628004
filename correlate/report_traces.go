package correlate

import (
	"cmp"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// traces are examples of the foremost edges' calls, edge by edge.
func (q *inquiry) traces() []incident.Trace {
	var list []incident.Trace
	for i := range q.e.accounts() {
		x := &q.e.accounts()[i]
		for k := range x.Traces {
			list = append(list, exampleTrace(x, &x.Traces[k]))
		}
	}
	return list
}

func exampleTrace(x *ledger.Edge, t *ledger.Trace) incident.Trace {
	e := accountEdge(x)
	o := incident.Trace{
		ID: t.ID, Edge: e.Name(), Why: incident.Why(t.Why), Start: t.Start, DurationMS: millis(t.Duration), Spans: []incident.TraceSpan{}, More: t.More,
		Citations: []evidence.Citation{exampleCite(ledger.Example{Trace: t.ID, Cite: t.Cite})},
	}
	for i := range t.Spans {
		o.Spans = append(o.Spans, exampleSpan(&t.Spans[i]))
	}
	return o
}

// maxSpanSQL bounds a statement beside a span, in characters.
const maxSpanSQL = 200

func exampleSpan(s *ledger.TraceSpan) incident.TraceSpan {
	o := incident.TraceSpan{
		ID: s.ID, Parent: s.Parent, Depth: s.Depth, Service: s.Service, Name: spanName(s), Kind: spanKinds[s.Kind], StartMS: millis(s.Start), DurationMS: millis(s.Duration),
		Attempt: s.Attempt, Of: s.Of, Focus: s.Focus, Sent: s.Sent, Orphaned: s.Orphaned, SQL: clip(strings.Join(strings.Fields(s.Query), " "), maxSpanSQL), Citation: s.Cite,
	}
	if s.Outcome != evidence.OutcomeUnknown {
		o.Outcome = s.Outcome.String()
	}
	return o
}

var spanKinds = map[evidence.SpanKind]string{
	evidence.KindInternal: "internal", evidence.KindServer: "server", evidence.KindClient: "client", evidence.KindProducer: "producer", evidence.KindConsumer: "consumer",
}

// spanName is "SkuService.getSkuStock", "GET /stock/{id}" or what else the span
// is called.
func spanName(s *ledger.TraceSpan) string {
	if strings.Contains(s.Method, " ") {
		return s.Method
	}
	return cmp.Or(joinMethod(s.RPC, methodName(s.Method)), s.Protocol, "span")
}

func millis(d time.Duration) float64 { return round(float64(d)/float64(time.Millisecond), 3) }
