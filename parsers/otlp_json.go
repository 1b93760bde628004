package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// OTLP as JSON: what the Collector's file exporter writes, one export request a
// line (since 0.3x), what an exporter posts to /v1/traces, and what Tempo and
// Grafana give back for one trace:
//
//	{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"orders"}}]},"scopeSpans":[{"scope":{"name":"…"},"spans":[{"traceId":"5b8e…","spanId":"eee1…","parentSpanId":"","name":"GET /cart/{id}","kind":3,"startTimeUnixNano":"1773479553120000000","endTimeUnixNano":"…","attributes":[…],"status":{"code":2}}]}]}]}
//	{"batches":[{"resource":…,"instrumentationLibrarySpans":[…]}]}        Tempo; IDs in base64
//	{"trace":{"resourceSpans":[…]}}                                       Tempo's second API
//
// Keys may be in snake_case, enumerations names or numbers, 64-bit numbers in
// quotes or bare, IDs hexadecimal or base64. It is read by hand and not by
// pdata, which wants whole lines in memory, gives nothing of a line that is cut,
// silently finds no spans under the other roots, and takes four times as long;
// a test holds both to the same result.
func otlpJSONFormat() Format {
	return Format{
		Name:     "otlp-json",
		Doc:      "Traces and logs in OTLP's JSON: the Collector's file exporter, request bodies, Tempo and Grafana downloads",
		Versions: "OTLP 0.7 to 1.11 (also instrumentationLibrarySpans), Collector 0.165, Tempo v1 and v2 API",
		Signs:    []string{`{"resourceSpans":[…]}, one a line or one document`, `{"batches":[{"resource":…`, `{"trace":{"resourceSpans":…`, `{"resourceLogs":[…]}`},
		Sniff:    sniffOTLPJSON,
		Parse:    parseSpanJSON,
	}
}

// sniffOTLPJSON looks for a root's key. Lines of something else may stand
// between, but must not be the rule.
func sniffOTLPJSON(_ string, head []byte) Match {
	for _, key := range []string{`"resourceSpans"`, `"resource_spans"`, `"resourceLogs"`, `"resourceMetrics"`, `"batches"`} {
		at := bytes.Index(head, []byte(key))
		if at < 0 {
			continue
		}
		rest := bytes.TrimLeft(head[at+len(key):], " \t\r\n")
		if len(rest) == 0 || rest[0] != ':' {
			continue
		}
		if key == `"batches"` && !bytes.Contains(rest, []byte(`"resource"`)) && !bytes.Contains(rest, []byte(`nSpans"`)) &&
			!bytes.Contains(rest, []byte(`"scopeSpans"`)) {
			continue
		}
		if jsonDocument(head) {
			return Sure
		}
		before := bytes.Count(head[:at], newline)
		if before <= 2 || bytes.Count(head, []byte(key))*2 >= bytes.Count(head, newline) {
			return Likely
		}
	}
	return No
}

// jsonDocument reports whether a text begins with an object or an array.
func jsonDocument(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n\x1e")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

// resourceSpans reads the spans of one resource.
func (d *spanJSON) resourceSpans() {
	j := d.j
	j.open('{')
	d.res, d.ordered = [resourceFields]resValue{}, false
	d.pending = d.pending[:0]
	for key := j.key(); key != nil && d.err == nil; key = j.key() {
		switch string(key) {
		case "resource":
			d.resource()
			d.where, d.ordered = d.place(), true
		case "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans":
			d.see(key)
			d.list(d.scopeSpans)
		default:
			d.strange(key)
		}
	}
	if len(d.pending) > 0 && d.err == nil {
		place := d.place()
		d.release(func(string) evidence.Place { return place })
	}
}

// resource reads the attributes of a resource.
func (d *spanJSON) resource() {
	j := d.j
	if !j.open('{') {
		return
	}
	for key := j.key(); key != nil; key = j.key() {
		if string(key) == "attributes" {
			d.attributes(toResource)
		} else {
			j.pass()
		}
	}
}

// scopeSpans reads the spans of one instrumentation library.
func (d *spanJSON) scopeSpans() {
	j := d.j
	j.open('{')
	scope := ""
	for key := j.key(); key != nil && d.err == nil; key = j.key() {
		switch string(key) {
		case "scope", "instrumentationLibrary", "instrumentation_library":
			if !j.open('{') {
				continue
			}
			for key := j.key(); key != nil; key = j.key() {
				if string(key) == "name" {
					b, _ := j.scalar()
					scope = d.r.names.of(b)
				} else {
					j.pass()
				}
			}
		case "spans":
			d.list(func() { d.otlpSpan(scope) })
		default:
			d.strange(key)
		}
	}
}

// otlpSpan reads one span.
func (d *spanJSON) otlpSpan(scope string) {
	j, s := d.j, &d.r.src
	line := j.line
	j.open('{')
	s.reset()
	s.scope = scope
	d.seen.Spans++
	for key := j.key(); key != nil; key = j.key() {
		switch string(key) {
		case "traceId", "trace_id":
			s.trace = d.traceID()
		case "spanId", "span_id":
			s.id = d.spanID()
		case "parentSpanId", "parent_span_id":
			s.parent = d.spanID()
		case "traceState", "trace_state":
			if b, _ := j.scalar(); len(b) > 0 {
				s.weight = spanWeight(b)
			}
		case "flags":
			if n, ok := d.integer(); ok {
				s.flags(uint32(n))
			}
		case "name":
			b, _ := j.scalar()
			s.name = s.keep(b)
		case "kind":
			b, _ := j.scalar()
			s.kind = spanKindOf(b)
		case "startTimeUnixNano", "start_time_unix_nano":
			s.start, _ = d.integer()
		case "endTimeUnixNano", "end_time_unix_nano":
			s.end, _ = d.integer()
		case "attributes":
			d.attributes(toSpan)
		case "events":
			d.events()
		case "status":
			d.status()
		default:
			j.pass()
		}
	}
	if j.why != "" || !d.r.fill(line) {
		return
	}
	if !d.ordered {
		d.hold("")
		return
	}
	d.r.rec.Place = d.where
	d.err = d.r.emit(&d.r.rec)
}

// flags takes what the flags of an OTLP span say of its parent.
func (s *spanSource) flags(n uint32) {
	switch {
	case n&0x100 == 0:
	case n&0x200 != 0:
		s.remote = evidence.Yes
	default:
		s.remote = evidence.No
	}
}

// status reads a span's status.
func (d *spanJSON) status() {
	j, s := d.j, &d.r.src
	if !j.open('{') {
		return
	}
	for key := j.key(); key != nil; key = j.key() {
		switch string(key) {
		case "code":
			switch b, _ := j.scalar(); string(b) {
			case "1", "STATUS_CODE_OK", "Ok", "OK":
				s.status = 1
			case "2", "STATUS_CODE_ERROR", "Error", "ERROR":
				s.status = 2
			}
		case "message":
			b, _ := j.scalar()
			s.message = s.keep(b)
		default:
			j.pass()
		}
	}
}

// events reads the events of a span.
func (d *spanJSON) events() {
	j, s := d.j, &d.r.src
	if !j.open('[') {
		return
	}
	for j.elem() {
		if !j.open('{') {
			continue
		}
		s.openEvent()
		for key := j.key(); key != nil; key = j.key() {
			switch string(key) {
			case "name":
				b, _ := j.scalar()
				s.event.name = s.keep(b)
			case "attributes":
				d.attributes(toEvent)
			default:
				j.pass()
			}
		}
		s.closeEvent()
	}
}
