package exporter

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/firebreak-io/firebreak/correlate/live"
)

// negotiated is the page in the format that is asked for.
func negotiated(t *testing.T, s *Server, format expfmt.FormatType) (expfmt.Format, io.Reader) {
	t.Helper()
	h, err := s.Handler()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", string(expfmt.NewFormat(format)))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	got := expfmt.ResponseFormat(w.Result().Header)
	if w.Code != http.StatusOK || got.FormatType() != format {
		t.Fatalf("%d %s, want %s", w.Code, w.Result().Header.Get("Content-Type"), expfmt.NewFormat(format))
	}
	return got, w.Result().Body
}

// protobuf is the page as Prometheus asks for it to get native histograms.
func protobuf(t *testing.T, s *Server) map[string]*dto.MetricFamily {
	t.Helper()
	format, body := negotiated(t, s, expfmt.TypeProtoDelim)
	families := map[string]*dto.MetricFamily{}
	for d := expfmt.NewDecoder(body, format); ; {
		f := &dto.MetricFamily{}
		if err := d.Decode(f); errors.Is(err, io.EOF) {
			return families
		} else if err != nil {
			t.Fatal(err)
		}
		families[f.GetName()] = f
	}
}

// native lists the counts of a native histogram by bucket.
func native(h *dto.Histogram) map[int]int64 {
	counts, at, n, k := map[int]int64{}, 0, int64(0), 0
	for _, s := range h.PositiveSpan {
		at += int(s.GetOffset())
		for range s.GetLength() {
			n += h.PositiveDelta[k]
			k++
			if n > 0 {
				counts[at] = n
			}
			at++
		}
	}
	return counts
}

func TestNativeHistograms(t *testing.T) {
	families := protobuf(t, serving())
	for _, x := range []struct {
		name   string
		count  uint64
		native map[int]int64
		zero   uint64
		bucket map[float64]uint64
	}{
		{"firebreak_attempt_duration_seconds", 260, map[int]int64{-30: 40, -29: 9, 10: 200, 48: 10}, 1, map[float64]uint64{0.1: 50, 1: 250, 60: 250}},
		{"firebreak_attempts_per_call", 107, map[int]int64{0: 32, 8: 25, 13: 49, 35: 1}, 0, map[float64]uint64{1: 32, 2: 57, 3: 106, 16: 106}},
	} {
		list := families[x.name].GetMetric()
		h := list[len(list)-1].GetHistogram()
		if got := native(h); h.GetSampleCount() != x.count || h.GetSchema() != live.NativeSchema || h.GetZeroCount() != x.zero || len(got) != len(x.native) {
			t.Errorf("%s: %v, zero %d, of %d", x.name, got, h.GetZeroCount(), h.GetSampleCount())
		} else {
			for at, n := range x.native {
				if got[at] != n {
					t.Errorf("%s: bucket %d has %d, want %d", x.name, at, got[at], n)
				}
			}
		}
		for _, b := range h.GetBucket() {
			if want, asked := x.bucket[b.GetUpperBound()]; asked && b.GetCumulativeCount() != want {
				t.Errorf("%s: %d up to %v, want %d", x.name, b.GetCumulativeCount(), b.GetUpperBound(), want)
			}
		}
	}
}

func TestExemplars(t *testing.T) {
	families := protobuf(t, serving())
	const trace, span = "ab000000000000000000000000000001", "cd00000000000002"
	check := func(what string, e *dto.Exemplar, value float64) {
		t.Helper()
		got := map[string]string{}
		for _, l := range e.GetLabel() {
			got[l.GetName()] = l.GetValue()
		}
		if e.GetValue() != value || got["trace_id"] != trace || got["span_id"] != span || e.GetTimestamp().AsTime().IsZero() {
			t.Errorf("%s: %v", what, e)
		}
	}
	for name, value := range map[string]float64{"firebreak_retried_calls_total": 20, "firebreak_failed_logical_calls_total": 61.5} {
		list := families[name].GetMetric()
		if len(list) != 2 || list[0].GetCounter().GetExemplar() != nil {
			t.Fatalf("%s: %v", name, list)
		}
		check(name, list[1].GetCounter().GetExemplar(), value)
	}
	h := families["firebreak_attempt_duration_seconds"].GetMetric()[0].GetHistogram()
	last := h.GetBucket()[len(h.GetBucket())-1]
	if !math.IsInf(last.GetUpperBound(), 1) || len(h.GetExemplars()) != 1 {
		t.Fatalf("%v", h)
	}
	check("a bucket", last.GetExemplar(), 61.5)
	check("a native histogram", h.GetExemplars()[0], 61.5)

	_, body := negotiated(t, serving(), expfmt.TypeOpenMetrics)
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	for series, value := range map[string]string{
		`firebreak_failed_attempts_total{callee="stock",caller="order",error="timeout",protocol="http"} 190.0 # {`: "} 61.5 ",
		`firebreak_attempts_per_call_bucket{callee="stock",caller="order",protocol="http",le="+Inf"} 107 # {`:      "} 20.0 ",
	} {
		_, rest, found := strings.Cut(string(text), series)
		line, _, _ := strings.Cut(rest, "\n")
		if !found || !strings.Contains(line, `trace_id="`+trace+`"`) || !strings.Contains(line, `span_id="`+span+`"`) || !strings.Contains(line, value) {
			t.Errorf("OpenMetrics has %q of %s", line, series)
		}
	}
	if !strings.HasSuffix(string(text), "# EOF\n") {
		t.Error("OpenMetrics has no end")
	}
}

// TestCreated tests that a series tells since when it counts: an edge that comes
// back is no counter that was reset.
func TestCreated(t *testing.T) {
	s := serving()
	started := time.Date(2026, 3, 14, 7, 30, 0, 0, time.UTC)
	families := protobuf(t, s)
	for name, want := range map[string]time.Time{
		"firebreak_spans_late_total": started, "firebreak_retried_calls_total": started.Add(time.Hour), "firebreak_attempts_per_call": started.Add(time.Hour),
		"firebreak_entry_requests_total": started.Add(time.Hour),
	} {
		list := families[name].GetMetric()
		m := list[len(list)-1]
		got := m.GetCounter().GetCreatedTimestamp()
		if m.Histogram != nil {
			got = m.GetHistogram().GetCreatedTimestamp()
		}
		if !got.AsTime().Equal(want) {
			t.Errorf("%s counts since %v, want %v", name, got.AsTime(), want)
		}
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetType() == dto.MetricType_COUNTER && m.GetCounter().GetCreatedTimestamp().AsTime().Before(started) {
				t.Errorf("%s does not say since when it counts: %v", f.GetName(), m)
			}
		}
	}
}

func TestWhatIsForgottenVanishes(t *testing.T) {
	s := serving()
	e := s.Engine.(*still)
	const gone = `caller="order"`
	if _, text, _ := page(t, s, "/metrics"); !strings.Contains(text, gone) {
		t.Fatal("the edge is missing")
	}
	e.snapshot.Edges = e.snapshot.Edges[:1]
	if _, text, _ := page(t, s, "/metrics"); strings.Contains(text, gone) {
		t.Error("the edge is still shown")
	}
}

// TestWholePage compares what is gathered with the page, as Prometheus reads it.
func TestWholePage(t *testing.T) {
	f, err := os.Open("testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := testutil.GatherAndCompare(serving().Registry, f); err != nil {
		t.Error(err)
	}
}

// promtool runs Prometheus' own tool: that which FIREBREAK_PROMTOOL names, or one
// in the path.
func promtool(t *testing.T, input string, args ...string) {
	t.Helper()
	tool := os.Getenv("FIREBREAK_PROMTOOL")
	if tool == "" {
		found, err := exec.LookPath("promtool")
		if err != nil {
			t.Skip("there is no promtool: FIREBREAK_PROMTOOL may name one")
		}
		tool = found
	}
	cmd := exec.CommandContext(t.Context(), tool, args...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestPromtoolReadsThePage(t *testing.T) {
	_, text, _ := page(t, serving(), "/metrics")
	promtool(t, text, "check", "metrics")
}

// TestPromtoolReadsTheQueries of the documentation, as the rules they could be.
func TestPromtoolReadsTheQueries(t *testing.T) {
	rules := strings.Builder{}
	rules.WriteString("groups:\n- name: documented\n  rules:\n")
	for i, q := range documentedQueries(t) {
		fmt.Fprintf(&rules, "  - record: documented:query%d\n    expr: |\n      %s\n", i, strings.ReplaceAll(q, "\n", "\n      "))
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "", "check", "rules", file)
}

// documentedQueries are the queries of the documentation, a line that is
// indented going on with the one before.
func documentedQueries(t *testing.T) []string {
	t.Helper()
	doc, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(doc), "## Queries\n\n```\n")
	text, _, closed := strings.Cut(text, "```\n")
	if !found || !closed {
		t.Fatal("there are no queries")
	}
	var list []string
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " "):
			list[len(list)-1] += line
		default:
			list = append(list, line)
		}
	}
	return list
}

// TestDocumentedQueries tests that the metrics and labels of the queries in the
// documentation exist.
func TestDocumentedQueries(t *testing.T) {
	labels := map[string]map[string]bool{}
	for _, m := range Metrics() {
		names := []string{m.Name}
		if m.Type == string(histogram) {
			names = append(names, m.Name+"_bucket", m.Name+"_sum", m.Name+"_count")
		}
		for _, name := range names {
			labels[name] = map[string]bool{"le": strings.HasSuffix(name, "_bucket")}
			for _, l := range m.Labels {
				labels[name][l] = true
			}
		}
	}
	selector := regexp.MustCompile(`(?:by \(([^)]*)\) \((?:rate\()?)?(firebreak_\w+)(?:\{(\w+)[^}]*\})?`)
	seen := 0
	for _, m := range selector.FindAllStringSubmatch(strings.Join(documentedQueries(t), "\n"), -1) {
		seen++
		have := labels[m[2]]
		if have == nil {
			t.Errorf("there is no %s", m[2])
			continue
		}
		for _, l := range append(strings.Split(m[1], ", "), m[3]) {
			if l != "" && !have[l] {
				t.Errorf("%s has no label %s", m[2], l)
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d metrics are asked for", seen)
	}
}
