package parsers

import (
	"bytes"
	"encoding/base64"
)

// Log records in OTLP's JSON; what becomes of them stands in otlp_logs.go.

// feed returns the text that log records go to.
func (d *spanJSON) feed() *logFeed {
	if d.logs == nil {
		d.logs = newLogFeed(d.r.in, d.r.emit, !d.r.noLines)
	}
	return d.logs
}

// resourceLogs reads the log records of one resource.
func (d *spanJSON) resourceLogs() {
	j := d.j
	j.open('{')
	d.res = [resourceFields]resValue{}
	for key := j.key(); key != nil && d.err == nil; key = j.key() {
		switch string(key) {
		case "resource":
			d.resource()
		case "scopeLogs", "scope_logs", "instrumentationLibraryLogs", "instrumentation_library_logs":
			d.where = d.place()
			d.see(key)
			d.list(d.scopeLogs)
		default:
			d.strange(key)
		}
	}
}

func (d *spanJSON) scopeLogs() {
	j := d.j
	j.open('{')
	scope := ""
	for key := j.key(); key != nil && d.err == nil; key = j.key() {
		switch string(key) {
		case "scope", "instrumentationLibrary", "instrumentation_library":
			scope = d.scopeName()
		case "logRecords", "log_records", "logs":
			d.list(func() { d.logRecord(scope) })
		default:
			d.strange(key)
		}
	}
}

// scopeName reads the name of an instrumentation library, or of a logger.
func (d *spanJSON) scopeName() (name string) {
	j := d.j
	if !j.open('{') {
		return ""
	}
	for key := j.key(); key != nil; key = j.key() {
		if string(key) == "name" {
			b, _ := j.scalar()
			name = d.r.names.of(b)
		} else {
			j.pass()
		}
	}
	return name
}

func (d *spanJSON) logRecord(scope string) {
	j, o := d.j, &d.log
	line := j.line
	j.open('{')
	o.reset()
	o.scope = scope
	d.seen.Logs++
	for key := j.key(); key != nil; key = j.key() {
		switch string(key) {
		case "timeUnixNano", "time_unix_nano":
			o.time, _ = d.integer()
		case "observedTimeUnixNano", "observed_time_unix_nano":
			o.observed, _ = d.integer()
		case "severityNumber", "severity_number":
			b, _ := j.scalar()
			o.severity = severityOf(b)
		case "severityText", "severity_text":
			b, _ := j.scalar()
			o.level = append(o.level[:0], b...)
		case "body":
			d.logBody()
		case "attributes":
			d.logAttributes()
		case "traceId", "trace_id":
			if id := d.traceID(); id != [16]byte{} {
				o.trace = appendHex(o.trace[:0], id[:])
			}
		default:
			j.pass()
		}
	}
	if j.why == "" && d.err == nil {
		d.err = d.feed().put(o, d.where, line)
	}
}

// severityOf reads a severity's number or the name of its enumerator.
func severityOf(b []byte) int64 {
	if n, ok := wholeNumber(b); ok {
		return n
	}
	name := bytes.TrimRight(bytes.TrimPrefix(b, []byte("SEVERITY_NUMBER_")), "1234")
	for n := int64(1); n <= 24; n += 4 {
		if levelOfSeverity(n) == string(name) {
			return n
		}
	}
	return 0
}

// logBody reads a record's body: a text, or members.
func (d *spanJSON) logBody() {
	j, o := d.j, &d.log
	if j.peek() != '{' {
		b, _ := j.scalar()
		o.body = append(o.body[:0], b[:min(len(b), maxLogBody)]...)
		return
	}
	j.open('{')
	for key := j.key(); key != nil; key = j.key() {
		switch string(key) {
		case "kvlistValue", "kvlist_value":
			o.structured = true
			d.logMembers(o.bodyMember)
		case "bytesValue", "bytes_value":
			b, _ := j.scalar()
			text, err := base64.StdEncoding.AppendDecode(nil, b)
			if err == nil {
				o.body = append(o.body[:0], text[:min(len(text), maxLogBody)]...)
			}
		case "stringValue", "string_value", "intValue", "int_value", "doubleValue", "double_value", "boolValue", "bool_value":
			b, _ := j.scalar()
			o.body = append(o.body[:0], b[:min(len(b), maxLogBody)]...)
		default:
			j.pass()
		}
	}
}

// bodyMember takes a member of a structured body.
func (o *otlpLog) bodyMember(name, value []byte) {
	switch string(name) {
	case "MESSAGE": // journald
		name = []byte("message")
	case "_SYSTEMD_UNIT":
		name, value = []byte("logger"), bytes.TrimSuffix(value, []byte(".service"))
	}
	if len(o.body)+len(value) <= maxLogBody {
		o.body = append(appendJSONText(append(o.body, ','), name), ':')
		o.body = appendJSONText(o.body, value)
	}
}

func (d *spanJSON) logAttributes() { d.logPairs(d.log.attribute) }

// logMembers reads {"values":[…]}.
func (d *spanJSON) logMembers(f func(name, value []byte)) {
	j := d.j
	if !j.open('{') {
		return
	}
	for key := j.key(); key != nil; key = j.key() {
		if string(key) == "values" {
			d.logPairs(f)
		} else {
			j.pass()
		}
	}
}

// logPairs calls f for each name and scalar value of a list.
func (d *spanJSON) logPairs(f func(name, value []byte)) {
	j, o := d.j, &d.log
	if !j.open('[') {
		return
	}
	for j.elem() {
		if !j.open('{') {
			continue
		}
		o.key = o.key[:0]
		for key := j.key(); key != nil; key = j.key() {
			switch string(key) {
			case "key":
				b, _ := j.scalar()
				o.key = append(o.key[:0], b...)
			case "value":
				if v, kind := d.scalarOf(); kind != 0 && kind != 'n' && j.why == "" && len(o.key) > 0 {
					f(o.key, v)
				}
			default:
				j.pass()
			}
		}
	}
}

func appendHex(dst, b []byte) []byte {
	const digits = "0123456789abcdef"
	for _, c := range b {
		dst = append(dst, digits[c>>4], digits[c&15])
	}
	return dst
}
