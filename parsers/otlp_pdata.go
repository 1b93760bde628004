package parsers

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/firebreak-io/firebreak/evidence"
)

// What pdata decoded becomes evidence here.

// resource reads one resource's spans.
func (p *otlpProto) resource(b []byte) error {
	switch kind := signal(b); kind {
	case "spans", "":
	default:
		p.in.Tally[kind]++
		return nil
	}
	var decoder ptrace.ProtoUnmarshaler
	traces, err := decoder.UnmarshalTraces(b)
	if err != nil {
		p.in.Skip(0, "OTLP protobuf is broken")
		return nil
	}
	return p.r.traces(traces)
}

// traces emits the spans of decoded traces.
func (r *spanReader) traces(t ptrace.Traces) error {
	for i := range t.ResourceSpans().Len() {
		rs := t.ResourceSpans().At(i)
		place := r.placeOf(rs.Resource().Attributes())
		for k := range rs.ScopeSpans().Len() {
			ss := rs.ScopeSpans().At(k)
			scope := r.names.text(ss.Scope().Name())
			for n := range ss.Spans().Len() {
				r.take(ss.Spans().At(n), scope)
				if err := r.done(place, 0); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// placeOf returns the place that a resource describes.
func (r *spanReader) placeOf(attributes pcommon.Map) evidence.Place {
	var res [resourceFields]resValue
	for name, v := range attributes.All() {
		at, ok := resourceNameOf[name]
		if !ok {
			continue
		}
		if text := v.AsString(); text != "" && (res[at.field].text == "" || at.rank < res[at.field].rank) {
			res[at.field] = resValue{r.names.text(text[:min(len(text), 1024)]), at.rank}
		}
	}
	return resourcePlace(&res, r.in)
}

// take fills the source from a decoded span.
func (r *spanReader) take(span ptrace.Span, scope string) {
	s := &r.src
	s.reset()
	s.trace, s.id, s.parent = span.TraceID(), span.SpanID(), span.ParentSpanID()
	s.scope = scope
	s.name = s.keepString(span.Name())
	if k := span.Kind(); k >= 0 && k <= ptrace.SpanKindConsumer {
		s.kind = evidence.SpanKind(k)
	}
	s.flags(span.Flags())
	if state := span.TraceState().AsRaw(); state != "" {
		s.weight = spanWeight([]byte(state))
	}
	s.start, s.end = int64(span.StartTimestamp()), int64(span.EndTimestamp())
	switch span.Status().Code() {
	case ptrace.StatusCodeOk:
		s.status = 1
	case ptrace.StatusCodeError:
		s.status = 2
	}
	if m := span.Status().Message(); m != "" {
		s.message = s.keepString(m)
	}
	for name, v := range span.Attributes().All() {
		at, ok := spanNameOf[name]
		if !ok {
			if len(name) > 12 && isParameter([]byte(name)) {
				s.parameter([]byte(name), []byte(v.AsString()))
			}
			continue
		}
		if s.set(at.field) && s.fields[at.field].rank <= at.rank {
			continue
		}
		s.putValue(at, v)
	}
	for i := range span.Events().Len() {
		e := span.Events().At(i)
		s.openEvent()
		s.event.name = s.keepString(e.Name())
		for name, v := range e.Attributes().All() {
			s.eventAttribute([]byte(name), []byte(v.AsString()))
		}
		s.closeEvent()
	}
}

// putValue gives a field a decoded value: the first of a list.
func (s *spanSource) putValue(at spanName, v pcommon.Value) {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		s.fields[at.field] = attribute{spanText: s.keepString(v.Str()), kind: 's', rank: at.rank}
		s.mark(at.field)
	case pcommon.ValueTypeInt:
		s.putInt(at, v.Int())
	case pcommon.ValueTypeDouble:
		s.putInt(at, int64(v.Double()))
	case pcommon.ValueTypeBool:
		s.putBool(at, v.Bool())
	case pcommon.ValueTypeSlice:
		if v.Slice().Len() > 0 && v.Slice().At(0).Type() != pcommon.ValueTypeSlice {
			s.putValue(at, v.Slice().At(0))
		}
	}
}
