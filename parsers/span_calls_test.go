package parsers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// TestWhatASpanCovers reads client spans of instrumentations that stand outside
// their library's retries, and of those that show each send.
func TestWhatASpanCovers(t *testing.T) {
	const http = `{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"url.full","value":{"stringValue":"http://price.shop/p/1"}}`
	attribute := func(name, value string) string {
		return fmt.Sprintf(`,{"key":%q,"value":{"stringValue":%q}}`, name, value)
	}
	for _, c := range []struct {
		scope, name, more string
		kind              evidence.SpanKind
		whole             bool
		ordinal, retries  int
	}{
		{scope: "go.opentelemetry.io/contrib/instrumentation/github.com/aws/aws-sdk-go-v2/otelaws", whole: true},
		{scope: "github.com/redis/go-redis/extra/redisotel", name: "get", whole: true},
		{scope: "github.com/redis/go-redis/extra/redisotel", name: "redis.dial"},
		{scope: "io.opentelemetry.aws-sdk-2.2", whole: true},
		{scope: "io.opentelemetry.apache-httpclient-5.0", whole: true},
		{scope: "io.opentelemetry.apache-httpclient-5.2"},
		{scope: "io.opentelemetry.apache-dubbo-2.7"},
		{scope: "org.apache.dubbo", whole: true},
		{scope: "org.apache.dubbo", kind: evidence.KindServer},
		{scope: "opentelemetry.instrumentation.urllib3", whole: true},
		{scope: "opentelemetry.instrumentation.httpx"},
		{scope: "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"},
		{name: "async stock egress", more: attribute("component", "proxy"), whole: true},
		{name: "router stock egress", more: attribute("component", "proxy")},
		{more: attribute("http.retry_count", "2"), ordinal: 3},
		{scope: "opentelemetry.instrumentation.botocore", more: attribute("retry_attempts", "2"), whole: true, retries: 2},
	} {
		kind, want := 3, c.retries
		if c.kind == evidence.KindServer {
			kind = 2
		}
		if want == 0 {
			want = evidence.None
		}
		line := fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"scope":{"name":%q},"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","name":%q,"kind":%d,"startTimeUnixNano":"1773482400000000000","endTimeUnixNano":"1773482400020000000","attributes":[%s%s]}]}]}]}`,
			c.scope, c.name, kind, http, c.more)
		var got []evidence.Span
		if err := Read(NewInput("traces.jsonl", strings.NewReader(line+"\n")), func(r *evidence.Record) error {
			got = append(got, *r.Span)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Whole != c.whole || got[0].Ordinal != c.ordinal || got[0].Retries != want {
			t.Errorf("%s %q%s: %+v", c.scope, c.name, c.more, got)
		}
	}
}
