//go:build ignore

// Make writes the composed traces of the four formats: go run make.go. Each is
// one way in which an instrumentation shows attempts, or something that looks
// like them; the shop and its hosts are fictional.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

type attrs []any // name, value, name, value, …

type span struct {
	service, scope, name string
	trace, id, parent    uint64
	kind                 int
	start, end           float64 // milliseconds
	status               int
	message, state       string
	flags                int
	attrs                attrs
	exception            string
}

const base = 1773479553120000000 // 2026-03-14T09:12:33.12Z

func value(v any) map[string]any {
	switch v := v.(type) {
	case int:
		return map[string]any{"intValue": fmt.Sprint(v)}
	case bool:
		return map[string]any{"boolValue": v}
	case []string:
		var list []any
		for _, s := range v {
			list = append(list, value(s))
		}
		return map[string]any{"arrayValue": map[string]any{"values": list}}
	}
	return map[string]any{"stringValue": fmt.Sprint(v)}
}

func pairs(a attrs) []any {
	list := []any{}
	for i := 0; i < len(a); i += 2 {
		list = append(list, map[string]any{"key": a[i], "value": value(a[i+1])})
	}
	return list
}

func nano(ms float64) int64 { return base + int64(ms*1e6) }

func trace(n uint64) string { return fmt.Sprintf("5b8efff798038103d269b633%08x", n) }

// otlp writes one line for each run of spans of one service and scope.
func otlp(spans []span) string {
	var b strings.Builder
	for i := 0; i < len(spans); {
		k := i
		var list []any
		for ; k < len(spans) && spans[k].service == spans[i].service && spans[k].scope == spans[i].scope; k++ {
			s := spans[k]
			m := map[string]any{
				"traceId": trace(s.trace), "spanId": fmt.Sprintf("%016x", s.id), "parentSpanId": "", "name": s.name, "kind": s.kind,
				"startTimeUnixNano": fmt.Sprint(nano(s.start)), "endTimeUnixNano": fmt.Sprint(nano(s.end)), "attributes": pairs(s.attrs), "status": map[string]any{},
			}
			if s.parent != 0 {
				m["parentSpanId"] = fmt.Sprintf("%016x", s.parent)
			}
			if s.status != 0 {
				m["status"] = map[string]any{"code": s.status, "message": s.message}
			}
			if s.flags != 0 {
				m["flags"] = s.flags
			}
			if s.state != "" {
				m["traceState"] = s.state
			}
			if s.exception != "" {
				m["events"] = []any{map[string]any{"timeUnixNano": fmt.Sprint(nano(s.end)), "name": "exception", "attributes": pairs(attrs{"exception.type", s.exception, "exception.message", s.message})}}
			}
			list = append(list, m)
		}
		line, err := json.Marshal(map[string]any{"resourceSpans": []any{map[string]any{
			"resource":   map[string]any{"attributes": pairs(attrs{"service.name", spans[i].service, "host.name", spans[i].service + "-7d9f-1", "process.pid", 71, "cloud.availability_zone", "zone-a"})},
			"scopeSpans": []any{map[string]any{"scope": map[string]any{"name": spans[i].scope}, "spans": list}},
		}}})
		check(err)
		b.Write(append(line, '\n'))
		i = k
	}
	return b.String()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func write(path, text string) { check(os.WriteFile(path, []byte(text), 0o644)) }

func http(code int, url string, more ...any) attrs {
	a := attrs{"http.request.method", "GET", "url.full", url, "server.address", "stock.shop", "server.port", 8080}
	if code > 0 {
		a = append(a, "http.response.status_code", code)
		if code >= 400 {
			a = append(a, "error.type", fmt.Sprint(code))
		}
	}
	return append(a, more...)
}

func served(code int, more ...any) attrs {
	return append(attrs{"http.request.method", "GET", "http.route", "/stock/{id}", "url.path", "/stock/7", "http.response.status_code", code}, more...)
}

const stock = "http://stock.shop:8080/stock/7"

func main() {
	handler := span{service: "orders", scope: "io.opentelemetry.tomcat-10.0", name: "POST /buy", trace: 1, id: 1, kind: 2, start: 0, end: 400, flags: 0x301, attrs: attrs{"http.request.method", "POST", "http.route", "/buy", "http.response.status_code", 200}}
	client := func(id uint64, from, to float64, status int, a attrs) span {
		return span{service: "orders", scope: "io.opentelemetry.okhttp-3.0", name: "GET", trace: 1, id: id, parent: 1, kind: 3, start: from, end: to, status: status, attrs: a}
	}
	server := func(id, parent uint64, from, to float64, status, code int, more ...any) span {
		return span{service: "stock", scope: "io.opentelemetry.tomcat-10.0", name: "GET /stock/{id}", trace: 1, id: id, parent: parent, kind: 2, start: from, end: to, status: status, flags: 0x301, attrs: served(code, more...)}
	}
	with := func(scope string, s span) span { s.scope = scope; return s }
	f1 := []span{
		handler, client(2, 10, 30, 2, http(503, stock)),
		client(3, 80, 100, 2, attrs{"http.method", "GET", "http.url", stock, "net.peer.name", "stock.shop", "net.peer.port", 8080, "http.status_code", 503, "http.resend_count", 1}),
		client(4, 200, 220, 0, http(200, stock, "http.request.resend_count", 2, "http.method", "GET", "http.status_code", 200)),
		server(12, 2, 12, 28, 2, 503), server(13, 3, 82, 98, 2, 503), server(14, 4, 202, 218, 0, 200),
	}
	f4 := []span{handler, client(2, 10, 330, 0, http(200, stock)), server(12, 2, 12, 98, 2, 503, "http.request.header.x-envoy-attempt-count", []string{"1"}), server(13, 2, 112, 198, 2, 503, "http.request.header.x-envoy-attempt-count", []string{"2"}), server(14, 2, 212, 318, 0, 200, "http.request.header.x-envoy-attempt-count", []string{"3"})}
	const otelhttp = "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	grpc := func(scope string, base uint64, client, server int) []span {
		all := []span{{service: "orders", scope: scope, name: "Sent.shop.Stock.Reserve", trace: 3, id: base, kind: client, start: 0, end: 200}}
		for i := range uint64(3) {
			at, status, message := float64(i*60), 2, "rpc error: code = Unavailable desc = stock is starting"
			if i == 2 {
				status, message = 1, ""
			}
			all = append(all, span{service: "orders", scope: scope, name: "Attempt.shop.Stock.Reserve", trace: 3, id: base + 1 + i, parent: base, kind: 1, start: at, end: at + 40, status: status, message: message, attrs: attrs{"previous-rpc-attempts", int(i), "transparent-retry", false}})
		}
		for i := range uint64(3) {
			at := float64(i * 60)
			all = append(all, span{service: "stock", scope: scope, name: "Recv.shop.Stock.Reserve", trace: 3, id: base + 11 + i, parent: base + 1 + i, kind: server, start: at + 2, end: at + 38})
		}
		return all
	}
	var n1, loop []span
	for i := range uint64(30) {
		at := float64(i * 4)
		n1 = append(n1, span{service: "orders", scope: "io.opentelemetry.jdbc", name: "SELECT shop.price", trace: 6, id: 2 + i, parent: 1, kind: 3, start: at, end: at + 3, attrs: attrs{"db.system", "mysql", "db.name", "shop", "db.operation", "SELECT", "db.sql.table", "price", "db.statement", "select amount from price where sku = ?", "db.query.parameter.0", fmt.Sprint(1000 + i), "server.address", "db.shop", "server.port", 3306, "db.response.returned_rows", 1}})
	}
	for i := range uint64(10) {
		at := float64(i) * 2.1
		loop = append(loop, span{service: "orders", scope: "io.opentelemetry.apache-dubbo-2.7", name: "com.acme.shop.Stock/reserve", trace: 7, id: 2 + i, parent: 1, kind: 3, start: at, end: at + 2, status: 2, message: "connection refused", exception: "org.apache.dubbo.rpc.RpcException", attrs: attrs{"rpc.system", "apache_dubbo", "rpc.service", "com.acme.shop.Stock", "rpc.method", "reserve", "net.peer.name", "10.20.1.9", "net.peer.port", 20880}})
	}
	f5 := []span{{service: "gateway", scope: otelhttp, name: "GET /buy", trace: 5, id: 1, kind: 2, start: 0, end: 900}}
	for i := range uint64(2) {
		at, code, st := float64(i*450), 503, 2
		if i == 1 {
			code, st = 200, 0
		}
		f5 = append(f5, span{service: "gateway", scope: otelhttp, name: "HTTP POST", trace: 5, id: 10 + i, parent: 1, kind: 3, start: at + 5, end: at + 400, status: st, attrs: attrs{"http.request.method", "POST", "url.full", "http://orders.shop/buy", "server.address", "orders.shop", "server.port", 80, "http.response.status_code", code}},
			span{service: "orders", scope: otelhttp, name: "POST /buy", trace: 5, id: 20 + i, parent: 10 + i, kind: 2, start: at + 7, end: at + 398, status: st, flags: 0x301, attrs: attrs{"http.request.method", "POST", "http.route", "/buy", "http.response.status_code", code}},
			span{service: "orders", scope: otelhttp, name: "HTTP GET", trace: 5, id: 30 + i, parent: 20 + i, kind: 3, start: at + 10, end: at + 390, status: st, attrs: http(code, stock)})
		for k := range 3 - i {
			c, s := 503, 2
			if i == 1 && k == 1 {
				c, s = 200, 0
			}
			f5 = append(f5, span{service: "stock", scope: otelhttp, name: "GET /stock/{id}", trace: 5, id: 40 + 10*i + k, parent: 30 + i, kind: 2, start: at + 12 + float64(k)*100, end: at + 90 + float64(k)*100, status: s, flags: 0x301, attrs: served(c)})
		}
	}
	f12 := []span{server(21, 99, 5, 25, 0, 200), server(21, 99, 5, 25, 0, 200), server(22, 98, 50, 20, 0, 200)}
	weighted := client(2, 10, 30, 0, http(200, stock))
	weighted.state = "vendor=1,ot=rv:d0000000000000;th:c"
	all := map[string][]span{
		"f01-okhttp-numbered-resends":    f1,
		"f02-otelhttp-siblings":          {handler, with(otelhttp, client(2, 10, 30, 2, http(503, stock))), with(otelhttp, client(3, 90, 110, 2, http(503, stock))), with(otelhttp, client(4, 250, 270, 0, http(200, stock)))},
		"f03-grpc-go-native":             grpc("grpc-go", 1, 3, 2),
		"f03-grpc-java-native":           grpc("grpc-java", 1, 1, 1),
		"f04-mesh-three-servers":         f4,
		"f05-two-layers":                 f5,
		"f06-n-plus-one":                 n1,
		"f07-loop-all-fail":              loop,
		"f08-hedge":                      {handler, with(otelhttp, client(2, 10, 90, 0, http(0, stock))), with(otelhttp, client(3, 40, 80, 0, http(200, stock)))},
		"f09-redirect-and-challenge":     {handler, client(2, 10, 20, 0, http(302, stock)), client(3, 21, 30, 0, http(200, stock+"/", "http.request.resend_count", 1)), client(4, 40, 50, 2, http(401, "http://price.shop/p")), client(5, 51, 60, 0, http(200, "http://price.shop/p", "http.request.resend_count", 1))},
		"f10-timeout-then-success":       {handler, with(otelhttp, client(2, 10, 30, 2, http(0, stock, "error.type", "context.deadlineExceededError"))), with(otelhttp, client(3, 50, 65, 0, http(200, stock))), server(12, 2, 11, 71, 0, 200), server(13, 3, 51, 64, 0, 200)},
		"f11-rootless-resends":           nil,
		"f12-orphan-duplicate-backwards": f12,
		"f13-weighted-and-not":           {weighted, client(3, 40, 60, 0, http(200, stock))},
	}
	for i := range uint64(3) {
		s := client(2+i, float64(100*i), float64(100*i+20), 2, http(503, stock))
		s.trace, s.parent = 110+i, 0
		if i > 0 {
			s.attrs = append(s.attrs, "http.request.resend_count", int(i))
		}
		all["f11-rootless-resends"] = append(all["f11-rootless-resends"], s)
	}
	packer, err := zstd.NewWriter(nil)
	check(err)
	for name, spans := range all {
		text := otlp(spans)
		write(name+".jsonl", text)
		if name[:3] != "f01" && name[:3] != "f04" {
			continue
		}
		var frames, packed []byte
		for line := range strings.Lines(text) {
			t, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(line))
			check(err)
			b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(t)
			check(err)
			frames = append(binary.BigEndian.AppendUint32(frames, uint32(len(b))), b...)
			z := packer.EncodeAll(b, nil)
			packed = append(binary.BigEndian.AppendUint32(packed, uint32(len(z))), z...)
		}
		write("../otlp-proto/"+name+".binpb", string(frames))
		write("../otlp-proto/"+name+"-zstd.binpb", string(packed))
		write("../jaeger/"+name+".json", jaeger(spans))
		write("../zipkin/"+name+".json", zipkin(spans))
		write("tempo-v1-"+name+".json", strings.NewReplacer(`{"resourceSpans":[`, `{"batches":[`, "scopeSpans", "instrumentationLibrarySpans", `"scope":`, `"instrumentationLibrary":`).Replace(`{"resourceSpans":[`+strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(text), `{"resourceSpans":[`, ""), "]}\n", ",\n")+"\n"))
	}
	whole := otlp(f1)
	write("composed-cut-tail.jsonl", whole[:len(whole)-300])
	write("composed-mixed-lines.jsonl", "2026-03-14T09:12:30Z info exporter started\n"+otlp(f1[:1])+"2026-03-14T09:12:34Z warn queue is full\n"+`{"resourceLogs":[{"scopeLogs":[]}]}`+"\n2026-03-14T09:12:35Z debug "+otlp(f1[1:2]))
}

var kinds = []string{"", "internal", "server", "client", "producer", "consumer"}

func jaeger(spans []span) string {
	processes, list := map[string]any{}, []any{}
	for _, s := range spans {
		processes["p-"+s.service] = map[string]any{"serviceName": s.service, "tags": []any{
			map[string]any{"key": "host.name", "type": "string", "value": s.service + "-7d9f-1"},
			map[string]any{"key": "process.pid", "type": "int64", "value": 71},
			map[string]any{"key": "cloud.availability_zone", "type": "string", "value": "zone-a"},
		}}
		tags := []any{map[string]any{"key": "span.kind", "type": "string", "value": kinds[s.kind]}, map[string]any{"key": "otel.scope.name", "type": "string", "value": s.scope}}
		if s.status == 2 {
			tags = append(tags, map[string]any{"key": "otel.status_code", "type": "string", "value": "ERROR"}, map[string]any{"key": "error", "type": "bool", "value": true})
		}
		for i := 0; i < len(s.attrs); i += 2 {
			v := s.attrs[i+1]
			if l, ok := v.([]string); ok {
				b, _ := json.Marshal(l)
				v = string(b)
			}
			tags = append(tags, map[string]any{"key": s.attrs[i], "type": "string", "value": v})
		}
		refs := []any{}
		if s.parent != 0 {
			refs = append(refs, map[string]any{"refType": "CHILD_OF", "traceID": trace(s.trace), "spanID": fmt.Sprintf("%016x", s.parent)})
		}
		list = append(list, map[string]any{"traceID": trace(s.trace), "spanID": fmt.Sprintf("%016x", s.id), "flags": 1, "operationName": s.name, "references": refs, "startTime": nano(s.start) / 1000, "duration": int64((s.end - s.start) * 1000), "tags": tags, "logs": []any{}, "processID": "p-" + s.service, "warnings": nil})
	}
	// In the order in which Jaeger writes its fields: the processes come last.
	text, err := json.Marshal(list)
	check(err)
	tail, err := json.Marshal(processes)
	check(err)
	return fmt.Sprintf(`{"data":[{"traceID":"%s","spans":%s,"processes":%s,"warnings":null}],"total":0,"limit":0,"offset":0,"errors":null}`+"\n", trace(spans[0].trace), text, tail)
}

func zipkin(spans []span) string {
	list := []any{}
	for _, s := range spans {
		tags := map[string]string{"otel.scope.name": s.scope}
		if s.status == 2 {
			tags["error"], tags["otel.status_code"] = "true", "ERROR"
		}
		for i := 0; i < len(s.attrs); i += 2 {
			if l, ok := s.attrs[i+1].([]string); ok {
				b, _ := json.Marshal(l)
				tags[s.attrs[i].(string)] = string(b)
				continue
			}
			tags[s.attrs[i].(string)] = fmt.Sprint(s.attrs[i+1])
		}
		m := map[string]any{"traceId": trace(s.trace), "id": fmt.Sprintf("%016x", s.id), "kind": strings.ToUpper(kinds[s.kind]), "name": strings.ToLower(s.name), "timestamp": nano(s.start) / 1000, "duration": int64((s.end - s.start) * 1000), "localEndpoint": map[string]any{"serviceName": s.service}, "tags": tags}
		if s.parent != 0 {
			m["parentId"] = fmt.Sprintf("%016x", s.parent)
		}
		list = append(list, m)
	}
	b, err := json.MarshalIndent(list, "", "  ")
	check(err)
	return string(b) + "\n"
}
