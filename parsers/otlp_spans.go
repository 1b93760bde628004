package parsers

import (
	"math"

	"github.com/firebreak-io/firebreak/evidence"
)

// Spans of OTLP's protobuf are read field by field where they stand: decoding a
// request into objects first takes more than half of the time. Tests hold this
// to what pdata encodes. The fields' numbers are those of trace.proto,
// resource.proto and common.proto.

// resource reads what one message says of one resource: its spans or its log
// records. Metrics are passed by.
func (p *otlpProto) resource(whole, b []byte) error { return p.resourceOf(signal(whole), b) }

// resourceOf reads what one message says of one resource, of a kind that is
// known.
func (p *otlpProto) resourceOf(kind string, b []byte) error {
	switch kind {
	case "spans", "", "otlp-logs":
	default:
		p.in.Tally[kind]++
		return nil
	}
	// The resource comes last where pdata wrote it, and first elsewhere.
	var f protoField
	p.res = [resourceFields]resValue{}
	m := protoMessage{b: b}
	for m.next(&f) {
		if f.num == 1 && f.wire == 2 {
			p.resourceAttributes(f.b)
		}
	}
	torn := m.torn
	place := resourcePlace(&p.res, p.in)
	m = protoMessage{b: b}
	for m.next(&f) {
		if f.wire != 2 || f.num != 2 && f.num != 1000 {
			continue
		}
		var err error
		if kind == "otlp-logs" {
			err = p.scopeLogs(f.b, place, &torn)
		} else {
			err = p.scopeSpans(f.b, place, &torn)
		}
		if err != nil {
			return err
		}
	}
	if torn {
		p.in.Skip(0, "OTLP protobuf is broken")
	}
	return nil
}

func (p *otlpProto) resourceAttributes(b []byte) {
	var f protoField
	for m := (protoMessage{b: b}); m.next(&f); {
		if f.num != 1 || f.wire != 2 {
			continue
		}
		name, v := p.keyValue(f.b)
		at, ok := resourceNameOf[string(name)]
		if !ok {
			continue
		}
		if text := v.str(); len(text) > 0 && (p.res[at.field].text == "" || at.rank < p.res[at.field].rank) {
			p.res[at.field] = resValue{p.r.names.of(text[:min(len(text), 1024)]), at.rank}
		}
	}
}

// scopeName reads the name of an instrumentation scope's message.
func (p *otlpProto) scopeName(b []byte) string {
	var f protoField
	for m := (protoMessage{b: b}); m.next(&f); {
		if f.num == 1 {
			return p.r.names.of(f.b)
		}
	}
	return ""
}

// inScope calls each for the elements of one scope, with the scope's name.
func (p *otlpProto) inScope(b []byte, torn *bool, each func(b []byte, scope string, torn *bool) error) error {
	var f protoField
	scope := ""
	m := protoMessage{b: b}
	for m.next(&f) {
		if f.num == 1 && f.wire == 2 {
			scope = p.scopeName(f.b)
		}
	}
	*torn = *torn || m.torn
	for m = (protoMessage{b: b}); m.next(&f); {
		if f.num == 2 && f.wire == 2 {
			if err := each(f.b, scope, torn); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *otlpProto) scopeSpans(b []byte, place evidence.Place, torn *bool) error {
	return p.inScope(b, torn, func(b []byte, scope string, torn *bool) error {
		if !p.span(b, scope) {
			*torn = true
			return nil
		}
		return p.r.done(place, 0)
	})
}

// span fills the source from a span's message.
func (p *otlpProto) span(b []byte, scope string) bool {
	s := &p.r.src
	s.reset()
	s.scope = scope
	var f protoField
	m := protoMessage{b: b}
	for m.next(&f) {
		switch f.num {
		case 1:
			if len(f.b) == len(s.trace) {
				s.trace = [16]byte(f.b)
			}
		case 2:
			if len(f.b) == len(s.id) {
				s.id = [8]byte(f.b)
			}
		case 3:
			if len(f.b) > 0 {
				s.weight = spanWeight(f.b)
			}
		case 4:
			if len(f.b) == len(s.parent) {
				s.parent = [8]byte(f.b)
			}
		case 5:
			s.name = s.keep(f.b)
		case 6:
			if f.v <= uint64(evidence.KindConsumer) {
				s.kind = evidence.SpanKind(f.v)
			}
		case 7:
			s.start = int64(min(f.v, math.MaxInt64))
		case 8:
			s.end = int64(min(f.v, math.MaxInt64))
		case 9:
			p.spanAttribute(f.b)
		case 11:
			p.spanEvent(f.b)
		case 15:
			p.spanStatus(f.b)
		case 16:
			s.flags(uint32(f.v))
		}
	}
	return !m.torn
}

func (p *otlpProto) spanAttribute(b []byte) {
	s := &p.r.src
	name, value, ok := protoPair(b)
	if ok {
		at, known := p.names.find(name)
		if !known {
			if len(name) > 12 && isParameter(name) {
				s.parameter(name, protoAny(value, 0).str())
			}
			return
		}
		if v, ok := protoScalar(value); ok {
			if s.lacks(at) {
				p.put(at, v)
			}
			return
		}
	}
	name, v := p.keyValue(b)
	at, ok := s.wants(name)
	switch {
	case ok:
		p.put(at, v)
	case len(name) > 12 && isParameter(name):
		s.parameter(name, v.str())
	}
}

// put gives a field of the span its value.
func (p *otlpProto) put(at spanName, v protoValue) {
	switch s := &p.r.src; v.kind {
	case 's':
		s.putText(at, v.text)
	case 'i':
		s.putInt(at, v.n)
	case 'b':
		s.putBool(at, v.n != 0)
	}
}

func (p *otlpProto) spanEvent(b []byte) {
	s := &p.r.src
	var f protoField
	s.openEvent()
	for m := (protoMessage{b: b}); m.next(&f); {
		switch {
		case f.num == 2:
			s.event.name = s.keep(f.b)
		case f.num == 3 && f.wire == 2:
			name, v := p.keyValue(f.b)
			s.eventAttribute(name, v.str())
		}
	}
	s.closeEvent()
}

func (p *otlpProto) spanStatus(b []byte) {
	s := &p.r.src
	var f protoField
	for m := (protoMessage{b: b}); m.next(&f); {
		switch {
		case f.num == 2 && len(f.b) > 0:
			s.message = s.keep(f.b)
		case f.num == 3 && (f.v == 1 || f.v == 2):
			s.status = int(f.v)
		}
	}
}

// keyValue reads an attribute.
func (p *otlpProto) keyValue(b []byte) (name []byte, v protoValue) {
	var f protoField
	for m := (protoMessage{b: b}); m.next(&f); {
		switch {
		case f.num == 1:
			name = f.b
		case f.num == 2 && f.wire == 2:
			v = protoAny(f.b, 0)
		}
	}
	return name, v
}
