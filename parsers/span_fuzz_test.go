package parsers

import "testing"

func FuzzOTLPJSON(f *testing.F) {
	fuzzFormat(f, "otlp-json", string(otlpLines(3)), "{\"resourceSpans\":[\n{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":\"a\",\"spanId\":\"b\",\"name\":\"x\\u00e4\"}]}]}]}\n", "x\n{\"resourceSpans\":[]}\n")
}

func FuzzJaeger(f *testing.F) { fuzzFormat(f, "jaeger") }

func FuzzZipkin(f *testing.F) {
	fuzzFormat(f, "zipkin", `[[{"traceId":"1","id":"2","localEndpoint":{}}]]`, "{\"traceId\":\"1\",\"id\":\"2\",\"localEndpoint\":{}}\n{")
}
