package incident

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/internal/golden"
)

func jsonOf(t *testing.T, r *Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(JSONSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, data []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func TestJSON(t *testing.T) {
	s := compileSchema(t)
	for name, r := range examples() {
		t.Run(name, func(t *testing.T) {
			data := jsonOf(t, r)
			golden.Check(t, "testdata/"+name+".json", data)
			if err := validate(t, s, data); err != nil {
				t.Errorf("%#v", err)
			}
			if !bytes.HasPrefix(data, []byte("{\n  \"schema\": \"firebreak.report/v1\",\n")) {
				t.Errorf("schema does not come first: %.60s", data)
			}
			back, err := ReadJSON(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if again := jsonOf(t, back); !bytes.Equal(again, data) {
				t.Error("writing, reading and writing again changes the report")
			}
		})
	}
}

// TestJSONEmpty holds that unknown is absent and empty lists are [].
func TestJSONEmpty(t *testing.T) {
	data := jsonOf(t, &Report{})
	want := `{"schema":"firebreak.report/v1","tool":{"version":""},"incidents":[],"findings":[],"edges":[],"pools":[],"stacks":[],"sql":[],"timeline":[],"sources":[]}`
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil || compact.String() != want {
		t.Errorf("got  %s (%v)\nwant %s", &compact, err, want)
	}
	if err := validate(t, compileSchema(t), data); err != nil {
		t.Errorf("%#v", err)
	}
}

func TestJSONLeavesOutWhatIsNotANumber(t *testing.T) {
	r := &Report{
		Findings: []Finding{{ID: "f1", Kind: PoolBusy, Values: map[string]float64{"a": math.NaN(), "b": 1}, Citations: cite("x", 1)}},
		Edges:    []Edge{{Amplification: ptr(math.Inf(1))}},
		Timeline: []Series{{Points: []Point{{at("10:00:00"), math.NaN()}, {at("10:00:01"), 2}}}},
	}
	data := string(jsonOf(t, r))
	if strings.Contains(data, "amplification") || strings.Contains(data, `"a"`) || !strings.Contains(data, `"b": 1`) {
		t.Error(data)
	}
	if err := validate(t, compileSchema(t), []byte(data)); err != nil {
		t.Errorf("%#v", err)
	}
}

func TestJSONTimesAreUTC(t *testing.T) {
	local := at("10:00:00").In(time.FixedZone("CST", 8*3600))
	if data := jsonOf(t, &Report{GeneratedAt: local}); !bytes.Contains(data, []byte(`"2026-03-14T10:00:00Z"`)) {
		t.Errorf("%s", data)
	}
}

// TestSchemaRefusesUnknownKeys adds a key to every object of a report, one at a
// time, and wants each refused.
func TestSchemaRefusesUnknownKeys(t *testing.T) {
	s := compileSchema(t)
	data := jsonOf(t, slowSQLReport())
	open := map[string]bool{"values": true, "names": true, "by_attempts": true, "outcomes": true, "by_wait_kind": true}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	tried := 0
	var walk func(key string, node any)
	walk = func(key string, node any) {
		switch node := node.(type) {
		case map[string]any:
			if !open[key] {
				tried++
				node["surprise"] = 1
				if err := s.Validate(v); err == nil {
					t.Errorf("an unknown key in %q is accepted", key)
				}
				delete(node, "surprise")
			}
			for k, child := range node {
				walk(k, child)
			}
		case []any:
			for _, child := range node {
				walk(key, child)
			}
		}
	}
	walk("", v)
	if tried < 30 {
		t.Errorf("only %d objects were tried", tried)
	}
}

// TestSchemaKnowsEveryKey holds the schema to the keys that the product
// document promises.
func TestSchemaKnowsEveryKey(t *testing.T) {
	const promised = `schema generated_at tool version window from to incidents id label certainty act_first headline
		chain role since subject findings alternatives for against why_not walk runbook step answer because overridden_by
		actions order what command why risk missing would_tell kind text values first last count citations
		edges consumer service method calls attempts amplification by_attempts ceiling timeout_ms candidates stage outcomes basis
		pools name max active idle queued waiting rejected by_wait_kind stacks pool threads wait_kind app_frame top dumps
		sql fingerprint total_s p95_s rows_examined full_scan running_now timeline signal unit points
		sources path format bytes records skipped problems`
	for key := range strings.FieldsSeq(promised) {
		if !bytes.Contains(JSONSchema(), []byte(`"`+key+`": {`)) {
			t.Errorf("the schema lacks %q", key)
		}
	}
	var s struct {
		Defs struct {
			Label struct{ Enum []Label }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(JSONSchema(), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Defs.Label.Enum) != len(Labels()) {
		t.Errorf("the schema lists %d labels of %d", len(s.Defs.Label.Enum), len(Labels()))
	}
	for i, l := range Labels() {
		if s.Defs.Label.Enum[i] != l {
			t.Errorf("label %d is %q in the schema", i, s.Defs.Label.Enum[i])
		}
	}
}

// TestSchemaKnowsEveryField fills every field of every type and validates the
// result, so that a new field cannot be forgotten in the schema.
func TestSchemaKnowsEveryField(t *testing.T) {
	r := slowSQLReport()
	r.Incidents[0].Walk[0].Concludes = SlowSQL
	r.Incidents[0].Remarks = []Remark{{Stance: For, About: "trigger slow-sql", Text: "the dashboard shows it too", Findings: []string{"f1"}, Citations: r.Findings[0].Citations}}
	r.Pools[0].Waiting = ptr(1)
	r.Edges[0].Scope, r.Edges[0].Exact = "failed-calls", true
	e := &r.Edges[0]
	e.Provider, e.Protocol, e.Peak, e.RetryShare, e.Cumulative = "product", "dubbo", ptr(3.0), ptr(2.0), ptr(9.0)
	e.Fates, e.OtherSends = map[string]int64{"exhausted": 1}, map[string]int64{"hedges": 1}
	e.Abandoned = ptr(int64(1))
	e.Ambiguous, e.OrphanedS, e.WastedShare, e.AttemptP95MS, e.CallP95MS = ptr(int64(1)), ptr(1.0), ptr(0.5), ptr(int64(1000)), ptr(int64(3000))
	e.Providers = []ProviderShare{{Name: "10.20.1.21:20880", Attempts: 3, Failures: 1, BusyS: ptr(1.5), P95MS: ptr(int64(9))}}
	r.Paths = []Path{{Layers: []Layer{{Edge: "a -> b", Calls: 1, Attempts: 3, FanOut: 1, Amplification: 3}}, Amplification: 3, Load: 3, InPerS: ptr(1.0), OutPerS: ptr(3.0), Citations: e.Citations}}
	r.Traces = []Trace{{
		ID: "0af7651916cd43dd8448eb211c80319c", Edge: e.Name(), Why: TraceExhausted, Start: at("10:02:31"), DurationMS: 3021.5, More: 2, Citations: e.Citations,
		Spans: []TraceSpan{{
			ID: "b7ad6b7169203331", Parent: "00f067aa0ba902b7", Depth: 1, Service: "order", Name: "SkuService.getSkuStock", Kind: "client", StartMS: 1, DurationMS: 1000,
			Outcome: "timeout", Attempt: 2, Of: 3, Focus: true, Sent: "retry", Orphaned: true, SQL: "select 1", Citation: e.Citations[0],
		}},
	}}
	r.SQL[0].MaxSeconds, r.SQL[0].LockWaits, r.SQL[0].DAOFrame = ptr(1.0), ptr(2), "x"
	r.Sources[3].Unread = "permission denied"
	r.Stacks[0].Lock, r.Stacks[0].Owner = "a", "b"
	r.OpenIncidents = []OpenIncident{{
		ID: "2026-03-14T10-02Z-slow-sql", Label: SlowSQL, Certainty: High, Subject: "SkuService", Headline: "h", Opened: at("10:02:31"), Said: at("10:04:31"),
		Now: RetryAmplification, Bundle: "/api/v1/incidents/2026-03-14T10-02Z-slow-sql/bundle",
	}}
	var b bytes.Buffer
	if err := WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	if missing := emptyFields(*r); len(missing) > 0 {
		t.Errorf("this test does not fill: %v", missing)
	}
	if err := validate(t, compileSchema(t), b.Bytes()); err != nil {
		t.Errorf("%#v", err)
	}
}

func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":       "plain text",
		"\x1b[31mred\x1b[": "␛[31mred␛[",
		"a\nb\r\tc\x00":    "a␊b␍ c␀",
		"\u202egpj.exe":    `\u202egpj.exe`,
		"a\u200bb\ufeff":   `a\u200bb\ufeff`,
		"\u009b31m\x7f":    `\u009b31m␡`,
		"\xff\xfe支付":       `\xff\xfe支付`,
		"\U000e0041":       `\U000e0041`,
		"a\u2028b":         `a\u2028b`,
		"\u3164":           `\u3164`,
		"naïve 🔥":          "naïve 🔥",
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
	r := hostileReport()
	r.Incidents[0].Actions[1].Command = "one\r\ntwo\nthree\x1b"
	Sanitize(r)
	if got := r.Incidents[0].Actions[1].Command; got != "one\ntwo\nthree␛" {
		t.Errorf("command became %q", got)
	}
	once := jsonOf(t, r)
	Sanitize(r)
	if !bytes.Equal(once, jsonOf(t, r)) {
		t.Error("sanitising twice changes the report")
	}
	long := strings.Repeat("支付", maxText)
	if got := cutMiddle(long, maxText); len(got) > maxText || cutMiddle(got, maxText) != got || Visible(got) != got {
		t.Errorf("a long text became %d bytes", len(got))
	}
}

// TestNothingHostileIsShown reads every form for characters that act.
func TestNothingHostileIsShown(t *testing.T) {
	r := hostileReport()
	forms := map[string]string{
		"text":     textOf(t, r, TextOptions{}),
		"ascii":    textOf(t, r, TextOptions{ASCII: true}),
		"markdown": markdownOf(t, r, MarkdownOptions{}),
		"json":     string(jsonOf(t, r)),
	}
	for name, form := range forms {
		for i, c := range form {
			if c != '\n' && (c < 0x20 || c == 0x7f || c == 0xfffd || hides(c)) {
				t.Errorf("%s: character %U at …%q", name, c, form[max(0, i-40):i])
				break
			}
		}
		if strings.Contains(form, "\n# @channel") {
			t.Errorf("%s: a name began a line", name)
		}
	}
	for i, c := range forms["ascii"] {
		if c > 0x7e {
			t.Errorf("ASCII form has %q at …%q", c, forms["ascii"][max(0, i-40):i])
			break
		}
	}
}

func TestCitationRoundTrip(t *testing.T) {
	c := evidence.Citation{Source: "a/b.log", Line: 3, Part: "#t"}
	text, _ := c.MarshalText()
	var back evidence.Citation
	if err := back.UnmarshalText(text); err != nil || back != c {
		t.Errorf("%v became %v (%v)", c, back, err)
	}
}
