package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/exporter"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/parsers"
	"github.com/firebreak-io/firebreak/runbooks"
)

// watched is an engine whose incidents are noticed, with a clock that the test
// moves.
type watched struct {
	t      *testing.T
	watch  *watch
	engine *live.Engine
	at     time.Time
	log    bytes.Buffer
}

func startWatched(t *testing.T, at time.Time, change func(*config)) *watched {
	t.Helper()
	w := &watched{t: t, at: at}
	c := defaultConfig()
	change(c)
	books, err := runbooks.Load("")
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return w.at }
	w.watch, err = startBundles(c, nil, slog.New(slog.NewTextHandler(&w.log, nil)), now)
	if err != nil {
		t.Fatal(err)
	}
	w.engine = live.New(live.Config{Now: now, Version: version(), Conclude: books.Apply, Fingerprint: parsers.Fingerprint, Observed: w.watch.observe})
	w.watch.engine = w.engine
	return w
}

// read feeds the evidence of a folder, its lines for people too.
func (w *watched) read(dir string) {
	w.t.Helper()
	sources, err := collector.Collect(w.t.Context(), []string{dir}, collector.Options{
		Zone: time.UTC, Exclude: []string{filepath.Join(dir, "want.json"), filepath.Join(dir, "truth.json")}, Foreign: notEvidence,
	}, func(r *evidence.Record) error { w.engine.Add(r); return nil })
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range sources {
		w.engine.Source(live.SourceNews{Path: s.Path, Format: s.Format, Bytes: s.Bytes, Records: int64(s.Records), Skipped: int64(s.Skipped), From: s.From, To: s.To, Problems: s.Problems, Unread: s.Unread})
		if data, err := os.ReadFile(filepath.Join(dir, s.Path)); err == nil {
			w.engine.Raw(s.Path, w.at, data)
		}
	}
}

// tell makes a report ten seconds later, of something new that says nothing.
func (w *watched) tell() {
	w.at = w.at.Add(10 * time.Second)
	w.engine.Add(&evidence.Record{Time: w.at, Zoned: evidence.Yes, Cite: evidence.Citation{Source: "quiet.log", Line: 1}, Mark: &evidence.Mark{Kind: evidence.MarkLogLevel, Subject: "INFO", Count: 1}})
	w.engine.Publish()
}

func (w *watched) only() exporter.Noticed {
	w.t.Helper()
	list, err := w.watch.Incidents()
	if err != nil || len(list) != 1 {
		w.t.Fatalf("%d incidents, want one: %+v, %v\n%s", len(list), list, err, w.log.String())
	}
	return list[0]
}

// conclusion is all that a report says, but for what it was read from.
func conclusion(t *testing.T, r *incident.Report) string {
	t.Helper()
	c := *r
	c.Sources, c.GeneratedAt = nil, time.Time{}
	var b bytes.Buffer
	if err := incident.WriteJSON(&b, &c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func reopened(t *testing.T, path string) *incident.Report {
	t.Helper()
	r, _, err := analyse(t.Context(), request{paths: []string{path}, zone: time.UTC, version: version()}, func(progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// differs says where two texts first differ.
func differs(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: %s\ninstead of: %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines instead of %d", len(x), len(y))
}

// TestBundlesComeToTheSameAnswer freezes incidents with known answers and opens
// their bundles again, as folders and as downloads.
func TestBundlesComeToTheSameAnswer(t *testing.T) {
	for name, label := range map[string]incident.Label{
		"reference-slow-sql-retries":             incident.SlowSQL,
		"traces-layers-of-retries":               incident.SlowSQL,
		"traces-callee-slow-in-sql":              incident.SlowSQL,
		"lab-hot-lock":                           incident.LockContention,
		"gc-full-collections":                    incident.GCPause,
		"no-provider-empty-registry":             incident.NoProvider,
		"access-envoy-attempts":                  "",
		"slow-sql-postgresql-tomcat-json":        incident.SlowSQL,
		"downstream-go-grpc":                     incident.DownstreamWait,
		"slow-sql-two-databases-two-services":    "",
		"lock-dump-in-docker-log":                incident.LockContention,
		"slow-sql-kubernetes-prefixes":           incident.SlowSQL,
		"pool-hikari-too-small":                  incident.PoolStarvation,
		"judge2-jstat-only":                      incident.GCPause,
		"cpu-throttled-container":                incident.CPUSaturation,
		"deadlock-java-monitors":                 incident.Deadlock,
		"duplicate-writes-without-unique-key":    "",
		"skew-one-provider-of-four":              incident.TrafficSkew,
		"retry-dubbo-go-consumer":                incident.RetryAmplification,
		"downstream-connection-held-across-http": incident.DownstreamWait,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w := startWatched(t, time.Date(2026, 3, 14, 10, 3, 0, 0, time.UTC), func(c *config) { c.Incidents.Dir, c.Detect.Hold = dir, 1 })
			w.read("../../testdata/incidents/" + name)
			w.tell()
			w.tell() // low certainty takes twice as many
			list, err := w.watch.Incidents()
			if err != nil || len(list) == 0 {
				t.Fatalf("nothing was noticed: %v\n%s", err, w.log.String())
			}
			if label != "" && list[0].Label != label {
				t.Errorf("it is called %s, want %s", list[0].Label, label)
			}
			want := conclusion(t, w.engine.Latest().Report)
			for _, n := range list {
				if n.Bundle == nil || n.Bundle.Bytes == 0 || n.Now == nil {
					t.Fatalf("%+v\n%s", n, w.log.String())
				}
				folder := reopened(t, filepath.Join(dir, n.ID))
				stored, err := w.watch.IncidentReport(n.ID)
				if err != nil {
					t.Fatal(err)
				}
				if at := stored.GeneratedAt; at.Equal(w.at) { // the first one may be older
					if got := conclusion(t, folder); got != want {
						t.Errorf("the bundle says otherwise than the report did:\n%s", differs(got, want))
					}
				}
				if got, want := conclusion(t, folder), conclusion(t, stored); got != want {
					t.Errorf("the bundle says otherwise than the report in it:\n%s", differs(got, want))
				}
				carried := reopened(t, download(t, w, n.ID))
				if got, want := conclusion(t, carried), conclusion(t, folder); got != want {
					t.Errorf("the download says otherwise than the folder:\n%s", differs(got, want))
				}
				said := map[string]bool{}
				records := map[bool]int{}
				for _, s := range folder.Sources {
					said[s.Path] = true
					records[s.Path == "evidence/records.jsonl.gz"] += s.Records
					if strings.Contains(s.Path, collector.RawFolder+"/") {
						t.Errorf("%s was read", s.Path)
					}
				}
				if records[true] != 0 || records[false] == 0 {
					t.Errorf("records are counted twice: %d of the sources they came from, %d as they were kept", records[false], records[true])
				}
				for _, path := range []string{"manifest.json", "README.md", "report.json", "report.md", "evidence/records.jsonl.gz", "evidence/firebreak-raw"} {
					if !said[path] {
						t.Errorf("the sources do not say what became of %s", path)
					}
				}
			}
		})
	}
}

// TestLinesOfABundleCanBeShown cites lines of followed files, of which one was
// rotated in between, and opens them in the bundle.
func TestLinesOfABundleCanBeShown(t *testing.T) {
	dir := t.TempDir()
	w := startWatched(t, time.Date(2026, 3, 14, 10, 3, 0, 0, time.UTC), func(c *config) { c.Incidents.Dir, c.Detect.Hold = dir, 1 })
	const path = "/var/log/shop/product.log"
	line := 0
	say := func(first, last int, rotated bool) {
		if rotated {
			line = 0
		}
		for n := first; n <= last; n++ {
			line++
			w.engine.Raw(path, w.at, fmt.Appendf(nil, "line %d of all\n", n))
			if n%10 == 0 {
				w.engine.Add(poolFull(path, line, n, w.at))
			}
		}
		w.engine.Source(live.SourceNews{Path: path, Format: "app-log", Lines: int64(line)})
		w.at = w.at.Add(time.Second)
	}
	line = 700 // it was read from its end
	say(1, 100, false)
	say(101, 200, false)
	say(201, 300, true)
	w.tell()
	n := w.only()
	for _, open := range []string{filepath.Join(dir, n.ID), download(t, w, n.ID)} {
		r := reopened(t, open)
		shown := 0
		for _, f := range r.Findings {
			for _, c := range f.Citations {
				text, err := collector.Excerpt(t.Context(), []string{open}, collector.Options{}, c, 0, 0)
				if err != nil || len(text.Lines) != 1 {
					t.Errorf("%s: %v", c, err)
					continue
				}
				shown++
				if !strings.HasSuffix(text.Lines[0], "0 of all") {
					t.Errorf("%s shows %q", c, text.Lines[0])
				}
			}
		}
		if shown == 0 {
			t.Error("nothing is cited")
		}
	}
}

// poolFull is a line of a log: the workers are all busy. The nth says so.
func poolFull(path string, line, n int, at time.Time) *evidence.Record {
	none := evidence.None
	return &evidence.Record{
		Time: at, Zoned: evidence.Yes, Place: evidence.Place{Service: "product"}, Cite: evidence.Citation{Source: path, Line: line},
		Pool: &evidence.PoolSnapshot{
			Name: "DubboServerHandler-10.20.1.21:20880", Kind: evidence.ThreadPool, Impl: "dubbo", Owner: "10.20.1.21:20880", Max: 200, Active: 200, Idle: none, Waiting: none, Size: 200,
			Queued: none, Largest: 200, Tasks: int64(1000 + n), Completed: int64(800 + n), Rejected: true, Waited: evidence.None,
		},
	}
}

// download fetches a bundle over HTTP.
func download(t *testing.T, w *watched, id string) string {
	t.Helper()
	server := exporter.NewServer(w.engine, "test")
	server.Incidents = w.watch
	h, err := server.Handler()
	if err != nil {
		t.Fatal(err)
	}
	get := httptest.NewRecorder()
	h.ServeHTTP(get, httptest.NewRequest(http.MethodGet, exporter.IncidentsPath+"/"+id+"/bundle", nil))
	archive := filepath.Join(t.TempDir(), "download.tar.gz")
	if err := os.WriteFile(archive, get.Body.Bytes(), 0o600); err != nil || get.Code != http.StatusOK {
		t.Fatal(get.Code, err)
	}
	return archive
}

// TestAnIncidentFromItsBeginningToItsEnd has one come, be left in the middle by a
// process that ends, go on in another one, and end.
func TestAnIncidentFromItsBeginningToItsEnd(t *testing.T) {
	dir := t.TempDir()
	set := func(c *config) { c.Incidents.Dir = dir }
	w := startWatched(t, time.Date(2026, 3, 14, 10, 3, 0, 0, time.UTC), set)
	w.tell()
	if list, err := w.watch.Incidents(); err != nil || len(list) != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	w.read("../../testdata/incidents/reference-slow-sql-retries")
	w.tell()
	w.tell()
	n := w.only()
	if n.ID != "2026-03-14T10-02Z-slow-sql-skuservice" || n.Label != incident.SlowSQL || n.Certainty != incident.High || !n.Closed.IsZero() || n.Bundle == nil {
		t.Errorf("%+v", n)
	}
	for _, said := range []string{`level=WARN msg="incident opened" id=` + n.ID + " label=slow-sql certainty=high", "act_first=", "do=", "bundle written"} {
		if !strings.Contains(w.log.String(), said) {
			t.Errorf("the log does not say %s:\n%s", said, w.log.String())
		}
	}
	raw, err := filepath.Glob(filepath.Join(dir, n.ID, "evidence", "firebreak-raw", "*"))
	if err != nil || len(raw) == 0 {
		t.Error("there are no lines for people")
	}

	// Killed here: what it was writing is left.
	half := filepath.Join(dir, ".firebreak-new-x")
	if err := os.Mkdir(half, 0o700); err != nil {
		t.Fatal(err)
	}
	at := w.at.Add(time.Minute)
	w = startWatched(t, at, set)
	if _, err := os.Stat(half); err == nil {
		t.Error("what was half written is still there")
	}
	if got := w.only(); got.ID != n.ID || !got.Closed.IsZero() || got.Bundle == nil {
		t.Errorf("after the restart: %+v", got)
	}
	w.read("../../testdata/incidents/reference-slow-sql-retries")
	for range 20 { // longer than until the bundle is written again
		w.tell()
	}
	if got := w.only(); got.ID != n.ID || got.Now == nil || got.Now.Label != incident.SlowSQL {
		t.Errorf("while it goes on: %+v", got)
	}
	if strings.Contains(w.log.String(), "incident opened") {
		t.Errorf("it was told of again:\n%s", w.log.String())
	}
	for range 70 { // until the ring has forgotten it, and the quiet time
		w.tell()
	}
	got := w.only()
	if got.Closed.IsZero() || got.Ended != "over" || got.Now != nil || !strings.Contains(w.log.String(), "incident over") {
		t.Errorf("at the end: %+v\n%s", got, w.log.String())
	}
	if r := reopened(t, filepath.Join(dir, n.ID)); r.Incidents[0].Label != incident.SlowSQL {
		t.Errorf("at the end the bundle says %s: the calm after it took its place", r.Incidents[0].Label)
	}
	// It is kept as over by the next process.
	w = startWatched(t, w.at.Add(time.Hour), set)
	if again := w.only(); !again.Closed.Equal(got.Closed) {
		t.Errorf("%+v", again)
	}
}

func TestIncidentsWithoutAFolder(t *testing.T) {
	w := startWatched(t, time.Date(2026, 3, 14, 10, 3, 0, 0, time.UTC), func(*config) {})
	w.read("../../testdata/incidents/reference-slow-sql-retries")
	w.tell()
	w.tell()
	n := w.only()
	if n.Bundle != nil {
		t.Errorf("%+v", n)
	}
	if r, err := w.watch.IncidentReport(n.ID); err != nil || r.Incidents[0].Label != incident.SlowSQL {
		t.Error(err)
	}
	for range 70 {
		w.tell()
	}
	if n = w.only(); n.Closed.IsZero() {
		t.Errorf("%+v", n)
	}
	if _, err := w.watch.IncidentReport(n.ID); err != nil {
		t.Error(err)
	}
}

// TestABundleThatCannotBeWritten is tried again, and said.
func TestABundleThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "incidents")
	w := startWatched(t, time.Date(2026, 3, 14, 10, 3, 0, 0, time.UTC), func(c *config) { c.Incidents.Dir = dir })
	if err := os.Mkdir(filepath.Join(dir, "2026-03-14T10-02Z-slow-sql-skuservice"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.read("../../testdata/incidents/reference-slow-sql-retries")
	w.tell()
	w.tell()
	n := w.only()
	if n.Bundle != nil || !strings.Contains(w.log.String(), "bundle failed") || w.watch.stats()().Failed != 1 {
		t.Errorf("%+v\n%s", n, w.log.String())
	}
	if _, err := w.watch.IncidentReport(n.ID); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, n.ID)); err != nil {
		t.Fatal(err)
	}
	for range 7 {
		w.tell()
	}
	if n = w.only(); n.Bundle == nil {
		t.Errorf("%+v\n%s", n, w.log.String())
	}
}

// TestABundleIsKeptThoughNothingMoreComes: after a failure there may be silence.
func TestABundleIsKeptThoughNothingMoreComes(t *testing.T) {
	for name, next := range map[string]func(w *watched){
		"a minute later": func(w *watched) {
			w.watch.keep(t.Context(), w.at) // too early
			if w.only().Bundle != nil {
				t.Error("tried again at once")
			}
			w.at = w.at.Add(tryAgain)
			w.watch.keep(t.Context(), w.at)
		},
		"at the end": func(w *watched) {
			w.watch.begin(t.Context(), w.engine)
			w.watch.end()
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "incidents")
			w := startWatched(t, time.Date(2026, 3, 14, 10, 3, 0, 0, time.UTC), func(c *config) { c.Incidents.Dir = dir })
			if err := os.Mkdir(filepath.Join(dir, "2026-03-14T10-02Z-slow-sql-skuservice"), 0o700); err != nil {
				t.Fatal(err)
			}
			w.read("../../testdata/incidents/reference-slow-sql-retries")
			w.tell()
			w.tell()
			n := w.only()
			if n.Bundle != nil {
				t.Fatalf("%+v", n)
			}
			if err := os.Remove(filepath.Join(dir, n.ID)); err != nil {
				t.Fatal(err)
			}
			next(w)
			if n = w.only(); n.Bundle == nil || len(w.watch.unkept) != 0 {
				t.Errorf("%+v\n%s", n, w.log.String())
			}
		})
	}
}
