package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// OTLP reads export requests that arrive one after the other, as a receiver
// gets them, with the same readers as those of files. What repeats in requests
// (names, statements) is kept once. It is used by one goroutine at a time.
type OTLP struct {
	in   *Input
	p    *otlpProto
	doc  *spanJSON // of requests in JSON; nil until there is one
	emit Emit
	mute bool // what cannot be read is not told
}

// NewOTLP makes a reader. The name is what records cite as their source; skip
// hears what could not be read.
func NewOTLP(name string, skip func(why string)) *OTLP {
	o := &OTLP{}
	o.in = &Input{
		Name: name, Reader: bytes.NewReader(nil), Lines: NewLines(bytes.NewReader(nil)), Tally: map[string]int{}, text: text,
		Skip: func(_ int, why string) {
			if !o.mute {
				skip(why)
			}
		},
	}
	o.p = &otlpProto{in: o.in, r: newSpanReader(o.in, func(r *evidence.Record) error { return o.emit(r) })}
	return o
}

// Request reads the protobuf of one export request of traces or of logs and
// emits its records, which are lent. A stack trace whose lines came in several
// requests is cut between them.
func (o *OTLP) Request(body []byte, emit Emit) error {
	return o.request(body, signal, emit)
}

// Spans reads the protobuf of one export request that is known to be of traces.
func (o *OTLP) Spans(body []byte, emit Emit) error {
	return o.request(body, func([]byte) string { return "spans" }, emit)
}

// Logs reads the protobuf of one export request that is known to be of logs.
func (o *OTLP) Logs(body []byte, emit Emit) error {
	return o.request(body, func([]byte) string { return "otlp-logs" }, emit)
}

func (o *OTLP) request(body []byte, kind func(whole []byte) string, emit Emit) error {
	o.emit = emit
	var f protoField
	m := protoMessage{b: body}
	for whole := m.b; m.next(&f); whole = m.b {
		if f.num != 1 || f.wire != 2 {
			continue
		}
		if err := o.p.resourceOf(kind(whole[:len(whole)-len(m.b)]), f.b); err != nil {
			return err
		}
	}
	if m.torn {
		o.in.Skip(0, "OTLP protobuf is broken")
	}
	if o.p.logs == nil {
		return nil
	}
	err := o.p.logs.close()
	o.p.logs = nil
	return err
}
