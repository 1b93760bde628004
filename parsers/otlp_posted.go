package parsers

import (
	"bytes"
	"errors"

	"github.com/firebreak-io/firebreak/evidence"
)

// Requests that are posted to a receiver. Their senders are still there, so what
// would be passed by in a file is told them: a request that is broken, or of
// which nothing would be read although something was sent.

// ErrNotOTLP is returned for protobuf that is no export request of the kind.
var ErrNotOTLP = errors.New("the protobuf is no OTLP export request of this kind")

// ErrBroken is returned for protobuf that is not well formed.
var ErrBroken = errors.New("the protobuf is broken")

// Posted is what a request in JSON holds.
type Posted struct {
	Spans, Logs int
	Others      int  // metrics and profiles, by resource
	Known       bool // a root was found, or the document is empty
	Unknown     int  // keys of a resource or a scope that OTLP has not
	Forms       Form // what was not plain OTLP/JSON
}

// Form is a set of forms that pdata would not have read.
type Form uint8

// The forms.
const (
	Tempo     Form = 1 << iota // the root "batches"
	Libraries                  // instrumentationLibrarySpans, before OTLP 0.15
	SnakeCase                  // resource_spans: proto3 JSON allows it
	Jaeger
	Zipkin
)

// Names lists the forms of a set.
func (f Form) Names() []string {
	var list []string
	for i, name := range []string{"tempo", "instrumentation-libraries", "snake-case", "jaeger", "zipkin"} {
		if f&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return list
}

// CountSpans says how many spans an export request in protobuf holds, once it
// has seen that the messages around them are well formed, and of each scope that
// the first is a span.
func CountSpans(body []byte) (int, error) { return countPosted(body, isSpan) }

// CountLogs does so for log records.
func CountLogs(body []byte) (int, error) { return countPosted(body, isLogRecord) }

func countPosted(body []byte, is func(f *protoField) bool) (n int, err error) {
	var f protoField
	strange := false
	request := protoMessage{b: body}
	for request.next(&f) {
		if f.num != 1 || f.wire != 2 {
			strange = true
			continue
		}
		resource := protoMessage{b: f.b}
		for resource.next(&f) {
			switch {
			case f.wire == 2 && (f.num == 2 || f.num == 1000):
				k, err := countScope(f.b, is)
				if err != nil {
					return 0, err
				}
				n += k
			case f.wire == 2 && f.num == 1:
				attributes := protoMessage{b: f.b}
				for attributes.next(&f) { //nolint:revive // all of it is well formed, or it is torn
				}
				if attributes.torn {
					return 0, ErrBroken
				}
			case f.wire != 2 || f.num != 3:
				strange = true
			}
		}
		if resource.torn {
			return 0, ErrBroken
		}
	}
	switch {
	case request.torn:
		return 0, ErrBroken
	case n == 0 && strange:
		return 0, ErrNotOTLP
	}
	return n, nil
}

// countScope counts what one scope holds.
func countScope(b []byte, is func(f *protoField) bool) (n int, err error) {
	var f protoField
	scope := protoMessage{b: b}
	for scope.next(&f) {
		if f.num != 2 {
			continue
		}
		if f.wire != 2 {
			return 0, ErrNotOTLP
		}
		if n++; n > 1 {
			continue
		}
		item := protoMessage{b: f.b}
		for item.next(&f) {
			if !is(&f) {
				return 0, ErrNotOTLP
			}
		}
		if item.torn {
			return 0, ErrBroken
		}
	}
	if scope.torn {
		return 0, ErrBroken
	}
	return n, nil
}

// isSpan reports whether a field may be one of a span: metrics, log records and
// foreign messages differ in its first ones.
func isSpan(f *protoField) bool {
	switch f.num {
	case 1:
		return f.wire == 2 && (len(f.b) == 16 || len(f.b) == 0)
	case 2, 4:
		return f.wire == 2 && (len(f.b) == 8 || len(f.b) == 0)
	case 5:
		return f.wire == 2
	case 7, 8:
		return f.wire == 1
	}
	return true
}

// isLogRecord does so for a field of a log record.
func isLogRecord(f *protoField) bool {
	switch f.num {
	case 1, 11:
		return f.wire == 1
	case 2:
		return f.wire == 0
	case 3, 5, 6:
		return f.wire == 2
	case 9:
		return f.wire == 2 && (len(f.b) == 16 || len(f.b) == 0)
	case 10:
		return f.wire == 2 && (len(f.b) == 8 || len(f.b) == 0)
	}
	return true
}

// Holds says what a request in JSON holds: see Document.
func (o *OTLP) Holds(body []byte) (Posted, error) {
	o.mute = true
	defer func() { o.mute = false }()
	return o.Document(body, func(*evidence.Record) error { return nil })
}

// Document reads a request in JSON, of OTLP or of what is like it (Tempo, Jaeger,
// Zipkin), as a file of it would be read, and emits its records, which are lent.
func (o *OTLP) Document(body []byte, emit Emit) (Posted, error) {
	o.emit = emit
	if o.doc == nil {
		r := newSpanReader(o.in, func(r *evidence.Record) error { return o.emit(r) })
		r.noLines = true
		o.doc = &spanJSON{r: r, j: newJSONStream(bytes.NewReader(nil), func(_ int, why string) { o.in.Skip(0, why) })}
	}
	d := o.doc
	d.j.reset(bytes.NewReader(body))
	d.err, d.seen = nil, Posted{}
	if inner, ok := bytes.CutPrefix(bytes.TrimSpace(body), []byte("{")); ok {
		d.seen.Known = string(bytes.TrimSpace(inner)) == "}" // which says nothing
	}
	for d.j.document() {
		if d.root(0) {
			d.seen.Known = true
		}
		if d.err != nil {
			break
		}
	}
	err := d.err
	if d.logs != nil {
		if e := d.logs.close(); err == nil {
			err = e
		}
		d.logs = nil
	}
	return d.seen, err
}

// see notes under which key something stood.
func (d *spanJSON) see(key []byte) {
	switch string(key) {
	case "batches":
		d.seen.Forms |= Tempo
	case "resource_spans", "resource_logs", "scope_spans", "scope_logs":
		d.seen.Forms |= SnakeCase
	case "instrumentationLibrarySpans", "instrumentation_library_spans", "instrumentationLibraryLogs", "instrumentation_library_logs":
		d.seen.Forms |= Libraries
	case "spans", "processes":
		d.seen.Forms |= Jaeger
	}
}

// strange passes by a value whose key is not known here.
func (d *spanJSON) strange(key []byte) {
	switch string(key) {
	case "schemaUrl", "schema_url", "deprecatedScopeSpans":
	default:
		d.seen.Unknown++
	}
	d.j.pass()
}
