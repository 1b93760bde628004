package main

import (
	"compress/gzip"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// gzipped packs a file that was written plain under its name and ".gz".
func gzipped(f files, file string) {
	gz := gzip.NewWriter(f.at(file + ".gz"))
	if _, err := gz.Write([]byte(f.at(file).String())); err != nil {
		panic(err)
	}
	if err := gz.Close(); err != nil {
		panic(err)
	}
	delete(f, file)
}

// exported are the spans in the order in which an exporter sends them: as they end.
func (t *traces) exported() []*span {
	list := slices.Clone(t.spans)
	slices.SortStableFunc(list, func(a, b *span) int { return a.start.Add(a.dur).Compare(b.start.Add(b.dur)) })
	return list
}

// clock makes a start look like a clock's reading rather than a round number.
func (s *span) clock() time.Time {
	n := 0
	for _, c := range s.id {
		n = n*31 + int(c)
	}
	return s.start.Add(s.from.skew + time.Duration(n%700+100)*time.Microsecond + time.Duration(n%997))
}

// otlp writes the spans as the Collector's file exporter does: a line for each
// batch, a batch for each process.
func (t *traces) otlp(f files, file string) {
	const batch = 64
	pending := map[*process][]*span{}
	var order []*process
	flush := func(p *process) {
		if len(pending[p]) == 0 {
			return
		}
		var scopes []string
		by := map[string][]any{}
		for _, s := range pending[p] {
			if by[s.scope] == nil {
				scopes = append(scopes, s.scope)
			}
			by[s.scope] = append(by[s.scope], s.otlp())
		}
		var groups []any
		for _, name := range scopes {
			groups = append(groups, map[string]any{"scope": map[string]any{"name": name, "version": "2.14.0-alpha"}, "spans": by[name]})
		}
		resource := map[string]any{"attributes": otlpAttrs([]attr{
			{"service.name", p.service},
			{"service.instance.id", p.instance},
			{"host.name", p.instance},
			{"k8s.pod.name", p.instance},
			{"k8s.pod.ip", p.ip},
			{"process.pid", 1},
			{"telemetry.sdk.language", p.lang},
			{"telemetry.sdk.name", "opentelemetry"},
			{"telemetry.sdk.version", "1.48.0"},
		})}
		f.printf(file, "%s\n", jsonLine(map[string]any{"resourceSpans": []any{map[string]any{"resource": resource, "scopeSpans": groups, "schemaUrl": "https://opentelemetry.io/schemas/1.24.0"}}}))
		pending[p] = nil
	}
	for _, s := range t.exported() {
		if pending[s.from] == nil && !slices.Contains(order, s.from) {
			order = append(order, s.from)
		}
		pending[s.from] = append(pending[s.from], s)
		if len(pending[s.from]) == batch {
			flush(s.from)
		}
	}
	for _, p := range order {
		flush(p)
	}
}

func (s *span) otlp() map[string]any {
	start := s.clock()
	status := map[string]any{}
	if s.failed {
		status["code"] = 2
	}
	o := map[string]any{
		"traceId": s.trace, "spanId": s.id, "parentSpanId": s.parent, "flags": s.flags, "name": s.name, "kind": s.kind,
		"startTimeUnixNano": strconv.FormatInt(start.UnixNano(), 10), "endTimeUnixNano": strconv.FormatInt(start.Add(s.dur).UnixNano(), 10),
		"attributes": otlpAttrs(s.attrs), "status": status,
	}
	if s.state != "" {
		o["traceState"] = s.state
	}
	return o
}

func otlpAttrs(list []attr) []any {
	out := []any{}
	for _, a := range list {
		var v map[string]any
		switch x := a.value.(type) {
		case string:
			v = map[string]any{"stringValue": x}
		case int:
			v = map[string]any{"intValue": strconv.Itoa(x)}
		case bool:
			v = map[string]any{"boolValue": x}
		}
		out = append(out, map[string]any{"key": a.key, "value": v})
	}
	return out
}

// byTrace groups the spans by trace, in order of appearance.
func (t *traces) byTrace() [][]*span {
	var list [][]*span
	at := map[string]int{}
	for _, s := range t.spans {
		i, ok := at[s.trace]
		if !ok {
			i = len(list)
			at[s.trace] = i
			list = append(list, nil)
		}
		list[i] = append(list[i], s)
	}
	return list
}

// jaeger writes the spans as Jaeger's query API answers.
func (t *traces) jaeger(f files, file string) {
	var data []any
	for _, list := range t.byTrace() {
		processes, number := map[string]any{}, map[*process]string{}
		var spans []any
		for _, s := range list {
			if number[s.from] == "" {
				p := fmt.Sprintf("p%d", len(number)+1)
				number[s.from] = p
				processes[p] = map[string]any{"serviceName": s.from.service, "tags": jaegerTags([]attr{{"host.name", s.from.instance}, {"ip", s.from.ip}, {"telemetry.sdk.language", s.from.lang}})}
			}
			refs := []any{}
			if s.parent != "" {
				refs = append(refs, map[string]any{"refType": "CHILD_OF", "traceID": s.trace, "spanID": s.parent})
			}
			tags := append([]attr{{"otel.scope.name", s.scope}, {"span.kind", [...]string{"", "internal", "server", "client"}[s.kind]}}, s.attrs...)
			if s.failed {
				tags = append(tags, attr{"otel.status_code", "ERROR"}, attr{"error", true})
			}
			spans = append(spans, map[string]any{
				"traceID": s.trace, "spanID": s.id, "operationName": s.name, "references": refs, "startTime": s.clock().UnixMicro(), "duration": s.dur.Microseconds(),
				"tags": jaegerTags(tags), "logs": []any{}, "processID": number[s.from], "warnings": nil,
			})
		}
		data = append(data, map[string]any{"traceID": list[0].trace, "spans": spans, "processes": processes, "warnings": nil})
	}
	f.printf(file, "%s\n", jsonLine(map[string]any{"data": data, "total": 0, "limit": 0, "offset": 0, "errors": nil}))
}

func jaegerTags(list []attr) []any {
	out := []any{}
	for _, a := range list {
		kind := "string"
		switch a.value.(type) {
		case int:
			kind = "int64"
		case bool:
			kind = "bool"
		}
		out = append(out, map[string]any{"key": a.key, "type": kind, "value": a.value})
	}
	return out
}

// zipkin writes the spans as Zipkin's API answers: the callee's span has an ID of
// its own, as OpenTelemetry's exporter sends them.
func (t *traces) zipkin(f files, file string) {
	var all []any
	for _, list := range t.byTrace() {
		var spans []any
		for _, s := range list {
			tags := map[string]string{"otel.scope.name": s.scope}
			for _, a := range s.attrs {
				tags[a.key] = fmt.Sprint(a.value)
			}
			if s.failed {
				tags["otel.status_code"], tags["error"] = "ERROR", ""
			}
			o := map[string]any{
				"traceId": s.trace, "id": s.id, "name": s.name, "timestamp": s.clock().UnixMicro(), "duration": s.dur.Microseconds(),
				"localEndpoint": map[string]any{"serviceName": s.from.service, "ipv4": s.from.ip}, "tags": tags,
			}
			if s.parent != "" {
				o["parentId"] = s.parent
			}
			if s.kind > internal {
				o["kind"] = [...]string{"SERVER", "CLIENT"}[s.kind-serverKind]
			}
			spans = append(spans, o)
		}
		all = append(all, spans)
	}
	f.printf(file, "%s\n", jsonLine(all))
}
