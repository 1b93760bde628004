package parsers

import (
	"math"

	"github.com/firebreak-io/firebreak/evidence"
)

// Log records in OTLP's protobuf; what becomes of them stands in otlp_logs.go.
// The fields' numbers are those of logs.proto.

func (p *otlpProto) scopeLogs(b []byte, place evidence.Place, torn *bool) error {
	if p.logs == nil {
		p.logs = newLogFeed(p.in, p.r.emit, false)
	}
	return p.inScope(b, torn, func(b []byte, scope string, torn *bool) error {
		if !p.logRecord(b, scope) {
			*torn = true
			return nil
		}
		return p.logs.put(&p.log, place, 0)
	})
}

func (p *otlpProto) logRecord(b []byte, scope string) bool {
	o := &p.log
	o.reset()
	o.scope = scope
	var f protoField
	m := protoMessage{b: b}
	for m.next(&f) {
		switch f.num {
		case 1:
			o.time = int64(min(f.v, math.MaxInt64))
		case 2:
			o.severity = int64(min(f.v, 100))
		case 3:
			o.level = append(o.level[:0], f.b...)
		case 5:
			switch v := protoAny(f.b, 0); v.kind {
			case 'm':
				o.structured = true
				var f protoField
				for m := (protoMessage{b: v.text}); m.next(&f); {
					if name, v := p.keyValue(f.b); f.num == 1 && v.kind != 'm' && v.kind != 0 {
						o.bodyMember(name, v.str())
					}
				}
			default:
				text := v.str()
				o.body = append(o.body, text[:min(len(text), maxLogBody)]...)
			}
		case 6:
			if name, v := p.keyValue(f.b); v.kind != 'm' && v.kind != 0 && len(name) > 0 {
				o.attribute(name, v.str())
			}
		case 9:
			if len(f.b) == 16 && [16]byte(f.b) != [16]byte{} {
				o.trace = appendHex(o.trace[:0], f.b)
			}
		case 11:
			o.observed = int64(min(f.v, math.MaxInt64))
		}
	}
	return !m.torn
}
