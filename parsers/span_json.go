package parsers

import (
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// spanJSON reads spans out of JSON, whoever wrote it: OTLP (otlp_json.go),
// Jaeger (jaeger.go) and Zipkin (zipkin.go), one document, one a line, or a
// mixture. What kind an object is, its keys tell. Spans are emitted as they are
// read; only those that stand in front of the process that made them wait for it.
type spanJSON struct {
	j   *jsonStream
	r   *spanReader
	err error // of emit

	log  otlpLog
	logs *logFeed // nil until there are log records

	res       [resourceFields]resValue
	where     evidence.Place // what the resource at hand describes
	ordered   bool           // it was read before its spans
	pending   []pendingSpan
	overflow  bool
	processes map[string]evidence.Place
	process   string // Jaeger: of the span at hand

	seen Posted // what was read so far

	name  []byte // of the attribute at hand
	value []byte // of it, where that stands in front of its name
	vkind byte
}

// resValue is the value of a resource's field.
type resValue struct {
	text string
	rank uint8
}

// pendingSpan waits for its process to be named.
type pendingSpan struct {
	rec     evidence.Record
	span    evidence.Span
	process string
}

const maxPendingSpans = 100_000

// sink says where attributes go.
type sink int8

const (
	toSpan sink = iota
	toEvent
	toResource
)

// parseSpanJSON reads a whole input.
func parseSpanJSON(in *Input, emit Emit) error {
	d := &spanJSON{j: newJSONStream(in.Reader, in.Skip), r: newSpanReader(in, emit)}
	return d.run()
}

// run reads all values of the stream, and ends the text of its log records.
func (d *spanJSON) run() error {
	err := d.read()
	if d.logs != nil {
		if e := d.logs.close(); err == nil {
			err = e
		}
	}
	return err
}

// read reads all values of the stream.
func (d *spanJSON) read() error {
	for d.j.document() {
		line := d.j.line
		if !d.root(0) && d.j.why == "" && d.err == nil {
			d.j.skip(line, "JSON of another kind")
		}
		if d.err != nil {
			return d.err
		}
	}
	return d.j.err
}

// root reads one value that may be, or may contain, spans. It reports whether
// it was of a known kind.
func (d *spanJSON) root(depth int) bool {
	j := d.j
	if depth > 4 {
		j.pass()
		return false
	}
	switch j.peek() {
	case '[':
		j.open('[')
		known, any := false, false
		for d.err == nil && j.elem() {
			any = true
			known = d.root(depth+1) || known
		}
		return known || !any
	case '{':
		return d.object(depth)
	}
	j.pass()
	return false
}

// object reads an object that is a root, a trace or a span.
func (d *spanJSON) object(depth int) bool {
	j, s := d.j, &d.r.src
	j.open('{')
	s.reset()
	d.openSpan()
	line, known, isSpan, trace := j.line, false, false, false
	for key := j.key(); key != nil && d.err == nil; key = j.key() {
		switch string(key) {
		case "resourceSpans", "resource_spans", "batches":
			d.see(key)
			d.list(d.resourceSpans)
			known = true
		case "resourceLogs", "resource_logs":
			d.see(key)
			d.list(d.resourceLogs)
			known = true
		case "resourceMetrics", "resource_metrics":
			d.passBy("otlp-metrics")
			known = true
		case "resourceProfiles", "resource_profiles":
			d.passBy("otlp-profiles")
			known = true
		case "data", "trace", "traces", "result":
			if isSpan {
				j.pass()
				continue
			}
			known = d.root(depth+1) || known
		case "spans":
			if !trace {
				d.openTrace()
			}
			known, trace = true, true
			d.see(key)
			d.list(d.traceSpan)
		case "processes":
			if !trace {
				d.openTrace()
			}
			known, trace = true, true
			d.readProcesses()
		default:
			isSpan = d.spanMember(key) || isSpan
		}
	}
	if d.err != nil {
		return true
	}
	if trace {
		d.closeTrace()
		return true
	}
	if isSpan && !known && j.why == "" {
		if s.id == [8]byte{} && s.trace == [16]byte{} {
			return false
		}
		d.finishSpan(line)
		return true
	}
	return known
}

// list calls f at each object of an array; a lone object counts as one.
func (d *spanJSON) list(f func()) {
	j := d.j
	if j.peek() == '{' {
		f()
		return
	}
	if !j.open('[') {
		return
	}
	for d.err == nil && j.elem() {
		if j.peek() != '{' {
			j.pass()
			continue
		}
		f()
	}
}

// passBy counts a value that is no evidence here, and is not damage either.
func (d *spanJSON) passBy(kind string) {
	d.j.pass()
	if d.j.why == "" {
		d.seen.Others++
		d.r.in.Tally[kind]++
	}
}

// hold keeps a record until its place is known.
func (d *spanJSON) hold(process string) {
	if len(d.pending) >= maxPendingSpans {
		if !d.overflow {
			d.r.in.Skip(d.r.rec.Cite.Line, "trace too large: the service of further spans is not known")
		}
		d.overflow = true
		d.r.rec.Place = d.r.in.place()
		d.err = d.r.emit(&d.r.rec)
		return
	}
	d.pending = append(d.pending, pendingSpan{rec: d.r.rec, span: d.r.span, process: process})
}

// release emits the records that were kept.
func (d *spanJSON) release(place func(process string) evidence.Place) {
	for i := range d.pending {
		if d.err != nil {
			break
		}
		p := &d.pending[i]
		p.rec.Span, p.rec.Place = &p.span, place(p.process)
		d.err = d.r.emit(&p.rec)
	}
	if len(d.pending) > 4096 {
		d.pending = nil
	}
	d.pending = d.pending[:0]
}

// place returns the place that the resource at hand describes.
func (d *spanJSON) place() evidence.Place { return resourcePlace(&d.res, d.r.in) }

// resourcePlace makes a place of a resource's fields.
func resourcePlace(res *[resourceFields]resValue, in *Input) evidence.Place {
	p := in.place()
	if s := res[resService].text; s != "" && !hasPrefix(s, "unknown_service") {
		p.Service = s
	}
	host := res[resPod].text
	if host == "" {
		if host = res[resHost].text; host == "" {
			host = res[resIP].text
		}
		if pid := res[resPID].text; host != "" && pid != "" {
			host += ":" + pid
		}
	}
	// SDKs make up a random instance ID where they are given none; a host says more.
	if id := res[resInstance].text; id != "" && (host == "" || !isUUID(id)) {
		host = id
	}
	if host != "" {
		p.Instance = host
	}
	p.Zone = res[resZone].text
	return p
}

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if hexDigits[s[i]] < 0 {
			return false
		}
	}
	return true
}

// attributes reads attributes: a list of keys and values, or a map.
func (d *spanJSON) attributes(to sink) {
	j := d.j
	if j.peek() == '{' {
		j.open('{')
		for key := j.key(); key != nil; key = j.key() {
			d.named(to, key)
		}
		return
	}
	if !j.open('[') {
		return
	}
	for j.elem() {
		if !j.open('{') {
			continue
		}
		named, early := false, false
		for key := j.key(); key != nil; key = j.key() {
			switch string(key) {
			case "key", "Key":
				key, _ := j.scalar()
				d.name, named = append(d.name[:0], key...), true
			case "value", "Value", "vStr", "vInt64", "vFloat64", "vBool", "v_str", "v_int64", "v_bool":
				if named {
					d.named(to, d.name)
					continue
				}
				v, kind := d.scalarOf()
				d.value, d.vkind, early = append(d.value[:0], v...), kind, true
			default:
				j.pass()
			}
		}
		if early && named && j.why == "" {
			if at, ok := d.wanted(to, d.name); ok {
				d.put(to, d.name, at, d.value, d.vkind)
			}
		}
	}
}

// wanted reports whether the value of an attribute is used, and where it goes.
func (d *spanJSON) wanted(to sink, name []byte) (spanName, bool) {
	switch to {
	case toSpan:
		at, ok := d.r.src.wants(name)
		return at, ok || isParameter(name)
	case toResource:
		at, ok := resourceNameOf[string(name)]
		if ok && d.res[at.field].text != "" && d.res[at.field].rank <= at.rank {
			ok = false
		}
		return at, ok
	}
	return spanName{}, true
}

// named reads the value of an attribute.
func (d *spanJSON) named(to sink, name []byte) {
	at, ok := d.wanted(to, name)
	if !ok {
		d.j.pass()
		return
	}
	if to == toEvent || at == (spanName{}) { // looked at again behind the value
		d.name = append(d.name[:0], name...)
		name = d.name
	}
	v, kind := d.scalarOf()
	if kind != 0 && d.j.why == "" {
		d.put(to, name, at, v, kind)
	}
}

// put stores the value of an attribute.
func (d *spanJSON) put(to sink, name []byte, at spanName, v []byte, kind byte) {
	if kind == 'n' || kind == 0 {
		return
	}
	s := &d.r.src
	switch to {
	case toEvent:
		s.eventAttribute(name, v)
	case toResource:
		if len(v) > 0 {
			d.res[at.field] = resValue{d.r.names.of(v[:min(len(v), 1024)]), at.rank}
		}
	default:
		if at == (spanName{}) && isParameter(name) {
			s.parameter(name, v)
			return
		}
		switch kind {
		case 't', 'f':
			s.putBool(at, kind == 't')
		case '"':
			s.putText(at, v)
		default:
			if n, ok := wholeNumber(v); ok {
				s.putInt(at, n)
			}
		}
	}
}

// scalarOf reads a value: a plain one, an OTLP value in its object, or the first
// of a list. Kind is '"', 't', 'f', a number's first byte, or 0 for none.
func (d *spanJSON) scalarOf() (v []byte, kind byte) { return d.scalarAt(0) }

func (d *spanJSON) scalarAt(depth int) (v []byte, kind byte) {
	j := d.j
	switch j.peek() {
	case '{':
		if depth > 6 {
			j.pass()
			return nil, 0
		}
		j.open('{')
		for key := j.key(); key != nil; key = j.key() {
			switch string(key) {
			case "stringValue", "intValue", "boolValue", "doubleValue", "arrayValue", "values",
				"string_value", "int_value", "bool_value", "double_value", "array_value", "Value":
				v, kind = d.scalarAt(depth + 1)
				if j.pos < j.end && j.buf[j.pos] == '}' { // nearly always; then v stays where it is
					j.pos++
					return v, kind
				}
				d.value = append(d.value[:0], v...)
				v = d.value
			default:
				j.pass()
			}
		}
		return v, kind
	case '[':
		if depth > 6 {
			j.pass()
			return nil, 0
		}
		j.open('[')
		first := true
		for j.elem() {
			if !first {
				j.pass()
				continue
			}
			first = false
			v, kind = d.scalarAt(depth + 1)
			d.value = append(d.value[:0], v...)
			v = d.value
		}
		return v, kind
	}
	return j.scalar()
}

// jsonID copies an ID out of the stream.
func (d *spanJSON) traceID() [16]byte {
	b, _ := d.j.scalar()
	return traceID(b)
}

func (d *spanJSON) spanID() [8]byte {
	b, _ := d.j.scalar()
	return spanID(b)
}

// integer reads a number that may stand in quotes.
func (d *spanJSON) integer() (int64, bool) {
	b, _ := d.j.scalar()
	return wholeNumber(b)
}

// micros reads a time or a length of time in microseconds, as nanoseconds; also
// RFC 3339 and protobuf's "0.012s".
func (d *spanJSON) micros() (int64, bool) {
	b, kind := d.j.scalar()
	if n, ok := wholeNumber(b); ok {
		if n > 1<<53 || n < -1<<53 {
			return 0, false
		}
		return n * 1000, true
	}
	if kind != '"' || len(b) > 40 {
		return 0, false
	}
	if n := len(b); n > 1 && b[n-1] == 's' {
		v, err := time.ParseDuration(string(b))
		return int64(v), err == nil
	}
	t, err := time.Parse(time.RFC3339Nano, string(b))
	return t.UnixNano(), err == nil
}
