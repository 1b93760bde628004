package otlp

import (
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Documents of one span each. pdata reads none of the first eight as a span,
// and says nothing of it.
const (
	span      = `{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"GET","kind":3,"startTimeUnixNano":"1773479553120000000","endTimeUnixNano":"1773479553130000000"}`
	snakeSpan = `{"trace_id":"5b8efff798038103d269b633813fc60c","span_id":"eee19b7ec3c1b174","name":"GET","kind":3,"start_time_unix_nano":"1773479553120000000","end_time_unix_nano":"1773479553130000000"}`
	order     = `"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"order"}}]}`
	jaeger    = `{"traceID":"5b8efff798038103d269b633813fc60c","spanID":"eee19b7ec3c1b174","operationName":"GET","references":[],"startTime":1773479553120000,"duration":10000,"tags":[],"logs":[],"processID":"p1"}`
	zipkin    = `{"traceId":"5b8efff798038103d269b633813fc60c","id":"eee19b7ec3c1b174","kind":"CLIENT","name":"get","timestamp":1773479553120000,"duration":10000,"localEndpoint":{"serviceName":"order"}}`
)

// TestDocumentsOfOthersAreRead holds that what is certainly meant is read, and
// that it is counted that it was not plain OTLP.
func TestDocumentsOfOthersAreRead(t *testing.T) {
	for name, x := range map[string]struct{ doc, form string }{
		"Tempo":                          {`{"batches":[{` + order + `,"scopeSpans":[{"spans":[` + span + `]}]}]}`, "tempo"},
		"Tempo v2":                       {`{"trace":{"resourceSpans":[{` + order + `,"scopeSpans":[{"spans":[` + span + `]}]}]}}`, ""},
		"old libraries":                  {`{"resourceSpans":[{` + order + `,"instrumentationLibrarySpans":[{"spans":[` + span + `]}]}]}`, "instrumentation-libraries"},
		"old Tempo":                      {`{"batches":[{` + order + `,"instrumentationLibrarySpans":[{"spans":[` + span + `]}]}]}`, "tempo"},
		"snake case":                     {`{"resource_spans":[{"resource":{"attributes":[{"key":"service.name","value":{"string_value":"order"}}]},"scope_spans":[{"spans":[` + snakeSpan + `]}]}]}`, "snake-case"},
		"Jaeger":                         {`{"data":[{"traceID":"5b8efff798038103d269b633813fc60c","spans":[` + jaeger + `],"processes":{"p1":{"serviceName":"order"}}}]}`, "jaeger"},
		"Zipkin":                         {`[` + zipkin + `]`, "zipkin"},
		"Zipkin, one":                    {zipkin, "zipkin"},
		"OTLP":                           {`{"resourceSpans":[{` + order + `,"scopeSpans":[{"spans":[` + span + `]}]}]}`, ""},
		"OTLP, service behind its spans": {`{"resourceSpans":[{"scopeSpans":[{"spans":[` + span + `]}],` + order + `}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, r, c := started(t, Config{})
			resp, text := post(t, "http://"+c.HTTP+"/v1/traces", "application/json; charset=utf-8", []byte(x.doc))
			if resp.StatusCode != http.StatusOK || len(s.records) != 1 || s.admitted[HTTP] != 1 {
				t.Fatalf("%s %s: %d records, admitted %v", resp.Status, text, len(s.records), s.admitted)
			}
			if rec := s.records[0]; rec.Place.Service != "order" || rec.Span == nil || rec.Span.ID[0] != 0xee {
				t.Errorf("%+v", rec)
			}
			if n := r.Stats().Converted[x.form]; x.form != "" && n != 1 || x.form == "" && len(r.Stats().Converted) > 0 {
				t.Errorf("converted: %v", r.Stats().Converted)
			}
		})
	}
}

// TestWhatWouldBeReadAsNothing holds that its sender is told, and what to do.
func TestWhatWouldBeReadAsNothing(t *testing.T) {
	logs := plog.NewLogs()
	record := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.SetTimestamp(1773479553120000000)
	record.Body().SetStr("x")
	protoLogs, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	jsonLogs, err := plogotlp.NewExportRequestFromLogs(logs).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	metrics := pmetric.NewMetrics()
	m := metrics.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("http.server.request.duration")
	m.SetEmptyGauge().DataPoints().AppendEmpty().SetIntValue(1)
	protoMetrics, err := pmetricotlp.NewExportRequestFromMetrics(metrics).MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	protoSpans, err := spans(1).MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct{ path, kind, body, want string }{
		"another root":           {"/v1/traces", asJSON, `{"spanBatch":[` + span + `]}`, "resourceSpans"},
		"a list of other things": {"/v1/traces", asJSON, `[{"level":"info"}]`, "resourceSpans"},
		"a text":                 {"/v1/traces", asJSON, `"resourceSpans"`, "resourceSpans"},
		"misspelt scope":         {"/v1/traces", asJSON, `{"resourceSpans":[{"scopeSpan":[{"spans":[` + span + `]}]}]}`, "keys that OTLP has not"},
		"misspelt spans":         {"/v1/traces", asJSON, `{"resourceSpans":[{"scopeSpans":[{"span":[` + span + `]}]}]}`, "keys that OTLP has not"},
		"logs":                   {"/v1/traces", asJSON, string(jsonLogs), "/v1/logs"},
		"metrics":                {"/v1/traces", asJSON, `{"resourceMetrics":[{}]}`, "metrics and profiles are not taken"},
		"spans as logs":          {"/v1/logs", asJSON, `{"resourceSpans":[{"scopeSpans":[{"spans":[` + span + `]}]}]}`, "/v1/traces"},
		"lines of JSON":          {"/v1/traces", asJSON, `{"resourceSpans":[]}` + "\n" + `{"resourceSpans":[]}`, "no JSON document"},
		"protobuf of logs":       {"/v1/traces", asProto, string(protoLogs), "logs to /v1/logs"},
		"protobuf of metrics":    {"/v1/traces", asProto, string(protoMetrics), "no OTLP export request"},
		"protobuf of spans":      {"/v1/logs", asProto, string(protoSpans), "traces to /v1/traces"},
		"other protobuf":         {"/v1/traces", asProto, "\x12\x05hello", "no OTLP export request"},
		"JSON as protobuf":       {"/v1/traces", asProto, `{"resourceSpans":[]}`, "protobuf"},
	} {
		t.Run(name, func(t *testing.T) {
			s, r, c := started(t, Config{})
			resp, text := post(t, "http://"+c.HTTP+x.path, x.kind, []byte(x.body))
			if resp.StatusCode != http.StatusBadRequest || !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), x.want) {
				t.Errorf("%s %q, want %q", resp.Status, text, x.want)
			}
			if got := r.Stats().Refused[HTTP]; got[Foreign]+got[Malformed] != 1 || len(s.records) > 0 {
				t.Errorf("refused %v, %d records", got, len(s.records))
			}
		})
	}
	// The same over gRPC.
	_, r, c := started(t, Config{})
	_, err = plogotlp.NewGRPCClient(dial(t, c.GRPC)).Export(t.Context(), plogotlp.NewExportRequestFromLogs(logs))
	if err != nil {
		t.Error(err)
	}
	_, err = pmetricotlp.NewGRPCClient(dial(t, c.GRPC)).Export(t.Context(), pmetricotlp.NewExportRequestFromMetrics(metrics))
	if status.Code(err) != codes.Unimplemented || r.Stats().Refused[GRPC][NotFound] != 1 {
		t.Errorf("metrics: %v, %v", err, r.Stats().Refused)
	}
}

// TestNothingIsNotForeign holds that requests which say nothing are taken.
func TestNothingIsNotForeign(t *testing.T) {
	_, r, c := started(t, Config{})
	n := int64(0)
	for kind, docs := range map[string][]string{
		asJSON:  {`{}`, ` { } `[1:4], `{"resourceSpans":[]}`, `{"resourceSpans":[{` + order + `,"scopeSpans":[]}]}`, `{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"x"},"spans":[],"schemaUrl":""}]}]}`, `[]`},
		asProto: {"", "\x0a\x00", "\x0a\x02\x12\x00"},
	} {
		for _, doc := range docs {
			if resp, text := post(t, "http://"+c.HTTP+"/v1/traces", kind, []byte(doc)); resp.StatusCode != http.StatusOK {
				t.Errorf("%q: %s %s", doc, resp.Status, text)
			}
			n++
		}
	}
	if s := r.Stats(); s.Taken[HTTP] != n || len(s.Refused[HTTP]) > 0 {
		t.Errorf("%+v", s)
	}
}
