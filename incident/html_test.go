package incident

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/internal/golden"
	"github.com/firebreak-io/firebreak/internal/wellformed"
	"github.com/firebreak-io/firebreak/lang"
)

func htmlOf(t *testing.T, r *Report, o HTMLOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var styleSheet = regexp.MustCompile(`(?s)<style>.*</style>`)

// TestHTML compares pages without their style sheet, which is a file already.
func TestHTML(t *testing.T) {
	for _, name := range []string{"slow-sql", "inconclusive", "healthy", "hostile", "two"} {
		page := styleSheet.ReplaceAll(htmlOf(t, examples()[name], HTMLOptions{}), nil)
		golden.Check(t, "testdata/"+name+".html", page)
	}
}

// pages are all reports that are drawn in tests.
func pages() map[string]*Report {
	all := examples()
	all["empty"] = &Report{}
	all["drawn"] = drawnReport()
	all["huge"] = hugeReport(90)
	all["odd"] = oddReport()
	return all
}

func TestHTMLIsWellFormed(t *testing.T) {
	for name, r := range pages() {
		page := htmlOf(t, r, HTMLOptions{})
		if err := wellformed.HTML(page); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(page, htmlOf(t, r, HTMLOptions{})) {
			t.Errorf("%s: two pages of one report differ", name)
		}
	}
}

// TestHTMLIsText holds that names stay text: nothing of them becomes an element,
// steers the terminal of who looks at the source, or leads anywhere.
func TestHTMLIsText(t *testing.T) {
	for name, r := range pages() {
		page := string(htmlOf(t, r, HTMLOptions{}))
		for i, c := range page {
			if c != '\n' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)) {
				t.Fatalf("%s: %U at %q", name, c, page[max(0, i-40):i])
			}
		}
		markup := tags.FindAllString(page, -1)
		for _, tag := range markup {
			if strings.Contains(tag, "://") || strings.Contains(tag, "url(") {
				t.Errorf("%s: an address in %s", name, tag)
			}
		}
		if css := styleSheet.FindString(page); strings.Contains(css, "url(") || strings.Contains(css, "@import") || strings.Contains(css, "://") {
			t.Errorf("%s: the style sheet loads something", name)
		}
		if !strings.Contains(page, `content="default-src &#39;none&#39;`) && !strings.Contains(page, `content="default-src 'none'`) {
			t.Errorf("%s: no policy", name)
		}
	}
}

var tags = regexp.MustCompile(`<[a-z!/][^>]*>`)

// TestHTMLSaysAll holds that the page has what the other forms have.
func TestHTMLSaysAll(t *testing.T) {
	page := string(htmlOf(t, slowSQLReport(), HTMLOptions{Zone: time.FixedZone("", 8*3600)}))
	for _, want := range []string{
		"slow-sql", "high certainty", "right nineteen times in twenty", "◆ trigger", "▲ amplifier", "■ victim",
		"since 18:02:11", "18:02:11–18:09:40", "Act first: retry-amplification", "getSkuStock.retries: 0", "Overridden by hand:", "DBA confirms the missing index",
		"the walk ends with", "jstack -l 4242", "[mysql/slow.log:12]", "f7", "3.0x", "134,700", "404,100", "200/200", "db-read", "173",
		"2,481,932", "rises 18:02:14", "line 88: line longer than 1 MiB", "2026-03-14 18:12:00 &#43;08:00", "Also weighed", "Missing, and worth collecting",
		"directory", "after-route",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "since 10:02:11") {
		t.Error("a time that is not of the zone")
	}
}

// TestHTMLNumbersAreCited holds that each finding that the page names is printed
// with its places on the page, or said to be left out.
func TestHTMLNumbersAreCited(t *testing.T) {
	for name, r := range examples() {
		page := string(htmlOf(t, r, HTMLOptions{}))
		for i := range r.Findings {
			f := &r.Findings[i]
			anchor := fmt.Sprintf(`<li id="finding-%d">`, i+1)
			from := strings.Index(page, anchor)
			if from < 0 {
				t.Errorf("%s: %s is not on the page", name, f.ID)
				continue
			}
			item := page[from : from+strings.Index(page[from:], "</li>")]
			if !strings.Contains(item, `class="cite"`) {
				t.Errorf("%s: %s has no citation", name, f.ID)
			}
		}
	}
}

func TestHTMLIsBounded(t *testing.T) {
	start := time.Now()
	page := htmlOf(t, hugeReport(2000), HTMLOptions{})
	if len(page) > 3<<20 {
		t.Errorf("a page of %d bytes", len(page))
	}
	if d := time.Since(start); d > 20*time.Second { // generous: test machines are slow
		t.Errorf("took %s", d)
	}
	if !strings.Contains(string(page), "and 1,961 more") {
		t.Error("does not say what is left out")
	}
}

func TestWrap(t *testing.T) {
	for _, s := range []string{"", "a", "one two three four five", strings.Repeat("x", 99), "支付服务的两个线程互相等待对方持有的锁 and more", "DubboServerHandler-10.20.1.21:20880 200/200, 0 queued"} {
		for columns := 4; columns < 40; columns++ {
			lines := wrap(s, columns, 3)
			if len(lines) > 3 {
				t.Errorf("wrap(%q, %d): %d lines", s, columns, len(lines))
			}
			for _, line := range lines {
				if cells(line) > columns || line == "" {
					t.Errorf("wrap(%q, %d): %q", s, columns, lines)
				}
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for _, span := range []time.Duration{time.Second, 7 * time.Second, time.Minute, 13 * time.Minute, 5 * time.Hour, 30 * time.Hour, 400 * 24 * time.Hour, 90 * 365 * 24 * time.Hour} {
		h := newHTMLPage(&Report{}, HTMLOptions{Zone: time.FixedZone("", 5*3600+1800)})
		ticks := h.ticks(axis{at("10:02:11"), at("10:02:11").Add(span)})
		labels := map[string]bool{}
		for _, tick := range ticks {
			labels[tick.Label] = true
		}
		if len(ticks) == 0 || len(ticks) > laneTicks+2 || len(labels) != len(ticks) {
			t.Errorf("%s: %v", span, ticks)
		}
	}
}

// drawnReport has something for each drawing.
func drawnReport() *Report {
	r := slowSQLReport()
	r.Paths = []Path{{Layers: []Layer{{"gateway -> order", 100, 300, 1, 3}, {"order -> Sku.get", 300, 900, 1, 3}}, Amplification: 9, Load: 9, Citations: cite("trace.json", 1)}}
	r.Edges[0].Providers = []ProviderShare{{"10.20.1.21:20880", 300, 200, ptr(12.5), ptr(int64(900))}, {"10.20.1.22:20880", 3, 0, nil, nil}}
	r.Edges[0].OrphanedS, r.Edges[0].WastedShare, r.Edges[0].Abandoned = ptr(146.0), ptr(0.5), ptr(int64(18))
	r.Edges[0].ByAttempts = map[string]int64{"1": 40, "2": 10, "3": 90}
	for i := range 14 {
		r.Edges[0].ByAttempts[fmt.Sprint(i+4)] = int64(i)
	}
	r.Traces = []Trace{{
		ID: "4bf92f3577b34da6a3ce929d0e0e4736", Edge: "order -> SkuService.getSkuStock", Why: TraceExhausted, Start: at("10:02:14"), DurationMS: 3003,
		Spans: []TraceSpan{
			{ID: "1", Service: "order", Name: "POST /checkout", DurationMS: 3003, Outcome: "error"},
			{ID: "2", Parent: "1", Depth: 1, Service: "order", Name: "SkuService/getSkuStock", Kind: "client", StartMS: 1, DurationMS: 1000, Attempt: 1, Of: 3, Focus: true, Outcome: "timeout"},
			{ID: "3", Parent: "2", Depth: 2, Service: "product", Name: "SkuService/getSkuStock", Kind: "server", StartMS: 3, DurationMS: 3100, Orphaned: true, SQL: "select stock from t_sku_stock where sku_code = ?"},
			{ID: "4", Parent: "1", Depth: 1, Service: "order", Name: "SkuService/getSkuStock", Kind: "client", StartMS: 1002, DurationMS: 1000, Attempt: 2, Of: 3, Focus: true, Sent: "retry"},
		},
		More: 3, Citations: cite("traces.json", 7),
	}}
	r.Incidents[0].Remarks = []Remark{
		{Stance: For, About: "f2: 173 of 200 workers wait for an answer of the database", Text: "the DBA sees the same", Findings: []string{"f2"}, Citations: cite("product/app.log", 88)},
		{About: "order -> SkuService.getSkuStock"},
	}
	r.Pools = append(r.Pools, Pool{Name: "HikariPool-1", Kind: "connection", Max: ptr(24), Active: ptr(0), Waiting: ptr(3), Citations: cite("metrics.txt", 9)})
	kinds := map[string]int{}
	for i, k := range []WaitKind{WaitDBRead, WaitDBPool, WaitRedis, WaitHTTP, WaitRPC, WaitMQ, WaitLock, WaitCondition, WaitDisk, WaitDNS, WaitLogging, WaitGC, WaitCPU, WaitIdle, WaitOther} {
		kinds[string(k)] = 40 - 2*i
	}
	r.Pools = append(r.Pools, Pool{Name: "http-nio-8080", Kind: "thread", Max: ptr(200), Active: ptr(170), ByWaitKind: kinds, Citations: cite("dump.txt", 9)})
	return r
}

// oddReport has what no engine should say.
func oddReport() *Report {
	r := drawnReport()
	in := &r.Incidents[0]
	in.Chain = append(in.Chain, in.Chain...)
	in.Chain[0].Role, in.Chain[1].Label = "nobody knows", Label(strings.Repeat("long", 2500))
	in.Chain[2].Subject = strings.Repeat("x", 10_000)
	in.Actions = append(in.Actions, in.Actions...)
	in.ActFirst = "unheard of"
	for i := range r.Findings {
		r.Findings[i].ID = "f 1\" onclick=x"
	}
	r.Findings = append(r.Findings, Finding{}, Finding{ID: "f9"})
	r.Timeline = []Series{
		{},
		{Signal: "one", Points: []Point{{at("10:00:00"), 3}}},
		{Signal: "down", Points: []Point{{at("10:00:00"), -3}, {at("10:00:00"), 0}}},
		{Signal: "years", Unit: "GB", Onset: at("10:00:00").AddDate(-3, 0, 0), Points: []Point{{at("10:00:00").AddDate(-3, 0, 0), 1}, {at("10:00:00"), 1e300}}},
	}
	r.Pools[0].Max, r.Pools[0].Active = ptr(3), ptr(9000)
	r.Pools[0].ByWaitKind = map[string]int{"db-read": -3, "lock": 0}
	r.Edges[0].ByAttempts = map[string]int64{"many": 3, "-2": 4, "3": 0, "9": 1}
	r.Edges[0].Candidates = []Stage{{"a", -1}, {"b", 0}}
	r.Traces[0].DurationMS, r.Traces[0].Spans[0].StartMS, r.Traces[0].Spans[1].DurationMS, r.Traces[0].Spans[2].Depth = 0, -5, -1, -9
	return r
}

// hugeReport has n of everything.
func hugeReport(n int) *Report {
	r := drawnReport()
	in := &r.Incidents[0]
	for i := range n {
		id := fmt.Sprintf("g%d", i)
		f := r.Findings[i%7]
		f.ID, f.Citations = id, slices.Repeat([]evidence.Citation{{Source: id, Line: i + 1}}, 3)
		for k := range 60 {
			f.Citations = append(f.Citations, evidence.Citation{Source: id, Line: k + 2})
		}
		r.Findings = append(r.Findings, f)
		in.Notes = append(in.Notes, Note{id, []string{id}})
		in.Alternatives = append(in.Alternatives, in.Alternatives[0])
		in.Walk = append(in.Walk, in.Walk[i%4])
		in.Missing = append(in.Missing, in.Missing[0])
		e := r.Edges[0]
		e.ByAttempts, e.Consumer = maps.Clone(e.ByAttempts), id
		r.Edges = append(r.Edges, e)
		r.Paths = append(r.Paths, r.Paths[0])
		r.Traces = append(r.Traces, r.Traces[0])
		r.Pools = append(r.Pools, r.Pools[0])
		r.Stacks = append(r.Stacks, r.Stacks[0])
		r.SQL = append(r.SQL, r.SQL[0])
		r.Sources = append(r.Sources, Source{Path: id, Problems: slices.Repeat([]string{"odd"}, 99)})
		if i < 100 {
			s := r.Timeline[0]
			for k := range 500 {
				s.Points = append(s.Points, Point{at("10:10:00").Add(time.Duration(k) * time.Second), float64(k)})
			}
			r.Timeline = append(r.Timeline, s)
		}
	}
	for range 20 {
		r.Incidents = append(r.Incidents, *in)
	}
	return r
}

// TestHTMLWords holds that the texts of the templates are all in htmlWords, where
// the catalogue of languages finds them, and no others.
func TestHTMLWords(t *testing.T) {
	names, err := htmlFiles.ReadDir("html")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, entry := range names {
		data, err := htmlFiles.ReadFile("html/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range templateText.FindAllSubmatch(data, -1) {
			used[string(m[1])] = true
		}
	}
	if got := slices.Sorted(maps.Keys(used)); !slices.Equal(got, htmlWords) {
		t.Errorf("the templates have\n%q\nand htmlWords is\n%q", got, htmlWords)
	}
}

var templateText = regexp.MustCompile(`\bt "([^"]+)"`)

func TestHTMLInChinese(t *testing.T) {
	if err := lang.Use(lang.Chinese); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lang.Use(lang.English) }()
	for name, r := range pages() {
		page := htmlOf(t, r, HTMLOptions{})
		if err := wellformed.HTML(page); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Contains(page, []byte(`<html lang="zh-Hans"`)) {
			t.Errorf("%s: the page does not name its language", name)
		}
	}
}

func BenchmarkHTML(b *testing.B) {
	r := drawnReport()
	b.ReportAllocs()
	for b.Loop() {
		if err := WriteHTML(io.Discard, r, HTMLOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
