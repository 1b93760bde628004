package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// Traces as Jaeger's query API answers (/api/traces) and its UI downloads them
// since 1.0, as a list of traces without their envelope, and as its storage
// keeps spans, one a document:
//
//	{"data":[{"traceID":"5b8e…","spans":[{"traceID":"5b8e…","spanID":"eee1…","operationName":"GET /cart","references":[{"refType":"CHILD_OF","traceID":"5b8e…","spanID":"…"}],"startTime":1773479553120000,"duration":20400,"tags":[{"key":"span.kind","type":"string","value":"client"}],"logs":[…],"processID":"p1"}],"processes":{"p1":{"serviceName":"orders","tags":[…]}}}]}
//	{"traceID":"5b8e…","spanID":"eee1…","operationName":"GET /cart",…,"process":{"serviceName":"orders","tags":[…]}}
//
// Times are microseconds. The processes follow the spans, which therefore wait.
func jaegerFormat() Format {
	return Format{
		Name:     "jaeger",
		Doc:      "Traces in Jaeger's JSON: downloads of its UI, answers of its API, spans of its storage",
		Versions: "Jaeger 1.0 to 2.x, with spans of OpenTracing and OpenTelemetry clients",
		Signs:    []string{`{"data":[{"traceID":…,"spans":[…],"processes":{…}}]}`, `{"traceID":…,"spanID":…,"operationName":…`},
		Sniff:    sniffJaeger,
		Parse:    parseSpanJSON,
	}
}

func sniffJaeger(_ string, head []byte) Match {
	if !jsonDocument(head) {
		return No
	}
	has := func(key string) bool { return bytes.Contains(head, []byte(key)) }
	switch {
	case has(`"traceID"`) && (has(`"operationName"`) || has(`"spans"`)),
		has(`"data"`) && has(`"processes"`) && has(`"serviceName"`):
		return Sure
	}
	return No
}

// openTrace begins a trace whose spans name their processes by keys.
func (d *spanJSON) openTrace() {
	d.pending, d.processes, d.overflow = d.pending[:0], nil, false
}

// closeTrace emits the spans that waited for the processes.
func (d *spanJSON) closeTrace() {
	d.release(func(process string) evidence.Place {
		if p, ok := d.processes[process]; ok {
			return p
		}
		return d.r.in.place()
	})
	d.processes = nil
}

// readProcesses reads the processes of a trace.
func (d *spanJSON) readProcesses() {
	j := d.j
	if !j.open('{') {
		return
	}
	if d.processes == nil {
		d.processes = map[string]evidence.Place{}
	}
	for key := j.key(); key != nil; key = j.key() {
		id := d.r.names.of(key)
		if p, ok := d.readProcess(); ok && len(d.processes) < maxPendingSpans {
			d.processes[id] = p
		}
	}
}

// readProcess reads who made spans.
func (d *spanJSON) readProcess() (evidence.Place, bool) {
	j := d.j
	if !j.open('{') {
		return evidence.Place{}, false
	}
	d.res = [resourceFields]resValue{}
	for key := j.key(); key != nil; key = j.key() {
		switch string(key) {
		case "serviceName", "service_name":
			b, _ := j.scalar()
			d.res[resService] = resValue{text: d.r.names.of(b)}
		case "tags", "tag":
			d.attributes(toResource)
		default:
			j.pass()
		}
	}
	return d.place(), true
}

// traceSpan reads one span of a Jaeger trace.
func (d *spanJSON) traceSpan() {
	j := d.j
	line := j.line
	j.open('{')
	d.r.src.reset()
	d.openSpan()
	for key := j.key(); key != nil; key = j.key() {
		d.spanMember(key)
	}
	if j.why == "" {
		d.finishSpan(line)
	}
}

// openSpan forgets who made the last span.
func (d *spanJSON) openSpan() {
	d.process = ""
	d.res = [resourceFields]resValue{}
}

// finishSpan emits the span at hand, or keeps it until its process is known.
func (d *spanJSON) finishSpan(line int) {
	d.seen.Spans++
	d.r.src.chooseParent()
	if !d.r.fill(line) {
		return
	}
	if d.process != "" {
		if p, ok := d.processes[d.process]; ok {
			d.r.rec.Place = p
		} else {
			d.hold(d.process)
			return
		}
	} else {
		d.r.rec.Place = d.place()
	}
	d.err = d.r.emit(&d.r.rec)
}

// chooseParent takes the first parent in the same trace, which may have been
// named before the trace was.
func (s *spanSource) chooseParent() {
	for _, ref := range s.refs[:s.refCount] {
		if s.parent == [8]byte{} && (ref.trace == s.trace || ref.trace == [16]byte{}) {
			s.parent = ref.id
		}
	}
}

// spanMember reads one member of a span of Jaeger or Zipkin. It reports whether
// the key is one of theirs.
func (d *spanJSON) spanMember(key []byte) bool {
	j, s := d.j, &d.r.src
	switch string(key) {
	case "traceID", "traceId", "trace_id":
		s.trace = d.traceID()
	case "spanID", "spanId", "span_id", "id":
		s.id = d.spanID()
	case "parentSpanID", "parentId", "parentID", "parent_id":
		s.parent = d.spanID()
	case "operationName", "operation_name", "name":
		b, _ := j.scalar()
		s.name = s.keep(b)
	case "references":
		d.seen.Forms |= Jaeger
		d.references()
	case "startTime", "timestamp", "start_time":
		s.start, _ = d.micros()
	case "duration":
		if n, ok := d.micros(); ok && n >= 0 {
			s.duration = n
		} else if ok {
			s.duration = 0
		}
	case "tags", "tag":
		d.attributes(toSpan)
	case "logs":
		d.jaegerLogs()
	case "processID", "process_id":
		b, _ := j.scalar()
		d.process = d.r.names.of(b)
	case "process":
		d.readProcess()
	case "kind":
		b, _ := j.scalar()
		s.kind = spanKindOf(b)
	case "shared":
		_, kind := j.scalar()
		s.shared = kind == 't'
	case "localEndpoint":
		d.seen.Forms |= Zipkin
		d.localEndpoint()
	case "remoteEndpoint":
		d.remoteEndpoint()
	case "annotations":
		d.annotations()
	case "binaryAnnotations":
		d.attributes(toSpan)
	default:
		j.pass()
		return false
	}
	return true
}

// references notes the parents of a span; what it follows from is none.
func (d *spanJSON) references() {
	j, s := d.j, &d.r.src
	if !j.open('[') {
		return
	}
	for j.elem() {
		if !j.open('{') {
			continue
		}
		child, trace, id := true, [16]byte{}, [8]byte{}
		for key := j.key(); key != nil; key = j.key() {
			switch string(key) {
			case "refType", "ref_type":
				b, _ := j.scalar()
				child = len(b) == 0 || bytes.EqualFold(b, []byte("CHILD_OF")) || string(b) == "0"
			case "traceID", "traceId", "trace_id":
				trace = d.traceID()
			case "spanID", "spanId", "span_id":
				id = d.spanID()
			default:
				j.pass()
			}
		}
		if child && s.refCount < len(s.refs) {
			s.refs[s.refCount] = spanRef{trace, id}
			s.refCount++
		}
	}
}

// jaegerLogs reads the events of a span.
func (d *spanJSON) jaegerLogs() {
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
			if string(key) == "fields" {
				d.attributes(toEvent)
			} else {
				j.pass()
			}
		}
		s.closeEvent()
	}
}
