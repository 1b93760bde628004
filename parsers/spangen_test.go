package parsers

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// otlpLines writes spans as the Collector's file exporter does, some a line.
func otlpLines(spans int) []byte {
	var b bytes.Buffer
	const batch = 100
	for i := 0; i < spans; i += batch {
		fmt.Fprintf(&b, `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"orders"}},{"key":"service.instance.id","value":{"stringValue":"orders-%d"}},{"key":"telemetry.sdk.language","value":{"stringValue":"java"}}]},"scopeSpans":[{"scope":{"name":"io.opentelemetry.okhttp-3.0","version":"2.10.0-alpha"},"spans":[`, i%7)
		for k := i; k < min(i+batch, spans); k++ {
			if k > i {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"traceId":"%032x","spanId":"%016x","parentSpanId":"%016x","flags":257,"name":"GET","kind":3,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"url.full","value":{"stringValue":"http://stock.shop:8080/stock/%d?full=true"}},{"key":"server.address","value":{"stringValue":"stock.shop"}},{"key":"server.port","value":{"intValue":"8080"}},{"key":"network.protocol.version","value":{"stringValue":"1.1"}},{"key":"http.response.status_code","value":{"intValue":"200"}},{"key":"thread.id","value":{"intValue":"41"}},{"key":"thread.name","value":{"stringValue":"http-nio-8080-exec-7"}}],"status":{}}`,
				k/10+1, k+1, k/10*10+1, 1773479553120000000+k*1000, 1773479553140000000+k*1000, k)
		}
		b.WriteString("]}],\"schemaUrl\":\"https://opentelemetry.io/schemas/1.24.0\"}]}\n")
	}
	return b.Bytes()
}

func benchSpans(b *testing.B, data []byte, spans int) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if err := Read(NewInput("bench", bytes.NewReader(data)), func(r *evidence.Record) error {
			n++
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		if n != spans {
			b.Fatalf("%d spans, want %d", n, spans)
		}
	}
	b.ReportMetric(float64(spans)*float64(b.N)/b.Elapsed().Seconds(), "spans/s")
}

func BenchmarkOTLPJSON(b *testing.B) { benchSpans(b, otlpLines(20_000), 20_000) }
