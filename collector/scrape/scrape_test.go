package scrape

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/evidence"
)

// sink keeps what it is given.
type sink struct {
	mu      sync.Mutex
	full    bool
	records []*evidence.Record
	raw     map[string]string
	news    []collector.News
}

func (s *sink) Room() bool { return !s.full }

func (s *sink) Again(*evidence.Record, time.Time) { panic("endpoints are not read again") }

func (s *sink) Add(r *evidence.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, r.Clone())
}

func (s *sink) Raw(path string, _ time.Time, text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw[path] += string(text)
}

func (s *sink) Source(n collector.News) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news = append(s.news, n)
}

// last is the latest news.
func (s *sink) last() collector.News { return s.news[len(s.news)-1] }

// asker asks one target at times that the test sets.
type asker struct {
	t *testing.T
	*sink
	*Scraper
	now time.Time
}

func newAsker(t *testing.T, x Target) *asker {
	t.Helper()
	a := &asker{t: t, sink: &sink{raw: map[string]string{}}, now: time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)}
	s, err := New(Config{Targets: []Target{x}, Sink: a.sink, Now: func() time.Time { return a.now }, Agent: "firebreak/test"})
	if err != nil {
		t.Fatal(err)
	}
	a.Scraper = s
	return a
}

func (a *asker) ask() {
	a.now = a.now.Add(30 * time.Second)
	a.scrape(a.t.Context(), a.targets[0])
}

// up reports whether the target answers, and why it does not.
func (a *asker) up() (bool, string) {
	_, states := a.Stats()
	return states[0].Up, a.targets[0].problem
}

func serve(t *testing.T, f http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s
}

func TestGoroutines(t *testing.T) {
	for _, query := range []string{"", "?debug=2", "?debug=1", "?debug=0"} {
		s := serve(t, pprof.Index)
		a := newAsker(t, Target{URL: s.URL + "/debug/pprof/goroutine" + query, Kind: collector.KindGoroutines, Service: "order"})
		a.ask()
		a.ask()
		stacks, dumps := 0, map[string]bool{}
		for _, r := range a.records {
			if r.Time.IsZero() || r.Place.Service != "order" || r.Place.Instance == "" || !strings.HasPrefix(r.Cite.Source, s.URL+"/debug/pprof/goroutine@2026-03-14T09:3") {
				t.Fatalf("%q: %+v", query, r)
			}
			if r.Stack != nil {
				stacks++
			}
			if r.Dump != nil {
				dumps[r.Cite.Source+r.Dump.ID] = true
			}
		}
		up, why := a.up()
		if stacks < 4 || len(dumps) != 2 || !up || !a.last().Gone || a.last().Records == 0 {
			t.Errorf("%q: %d stacks, %v, %v %s, %+v", query, stacks, dumps, up, why, a.news)
		}
		if text := query != "?debug=0"; len(a.raw) != 2 && text || len(a.raw) != 0 && !text {
			t.Errorf("%q: %d are kept as they are", query, len(a.raw))
		}
		c, _ := a.Stats()
		if c.Bytes == 0 || len(c.Records) != 1 {
			t.Errorf("%q: %+v", query, c)
		}
	}
}

func TestMetricsAreComparedWithThoseBefore(t *testing.T) {
	n := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		if r.UserAgent() != "firebreak/test" || !strings.Contains(r.Header.Get("Accept"), "text/plain") {
			t.Errorf("%v", r.Header)
		}
		fmt.Fprintf(w, "# TYPE hikaricp_connections_active gauge\nhikaricp_connections_active{pool=\"HikariPool-1\"} 10\nhikaricp_connections_max{pool=\"HikariPool-1\"} 10\nhikaricp_connections_pending{pool=\"HikariPool-1\"} 7\nhikaricp_connections_timeout_total{pool=\"HikariPool-1\"} %d\n", 5*n)
	})
	a := newAsker(t, Target{URL: s.URL + "/metrics", Kind: collector.KindPrometheus, Service: "order"})
	a.ask()
	first := len(a.records)
	a.ask()
	if first == 0 || len(a.records) <= first {
		t.Fatalf("%d and %d records, %+v", first, len(a.records), a.news)
	}
	for i, r := range a.records {
		if r.Pool == nil {
			continue
		}
		if want := a.now.Add(-30 * time.Second); i < first && !r.Time.Equal(want) || r.Place.Service != "order" {
			t.Errorf("%v %+v", r.Time, r.Place)
		}
	}
	// Only the second shows that borrowers gave up meanwhile.
	refused := func(list []*evidence.Record) bool {
		for _, r := range list {
			if r.Pool != nil && r.Pool.Rejected {
				return true
			}
		}
		return false
	}
	if refused(a.records[:first]) || !refused(a.records[first:]) {
		t.Errorf("refused: %v, %v", refused(a.records[:first]), refused(a.records[first:]))
	}
	for path, text := range a.raw {
		if !strings.HasPrefix(text, "# 2026-03-14T09:3") || !strings.Contains(path, "/metrics@2026") {
			t.Errorf("%s: %s", path, text)
		}
	}
}

func TestOpenMetrics(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, "# TYPE hikaricp_connections_active gauge\nhikaricp_connections_active{pool=\"a\"} 3\nhikaricp_connections_max{pool=\"a\"} 10\n# EOF\n")
		z.Close()
	})
	a := newAsker(t, Target{URL: s.URL + "/metrics", Kind: collector.KindPrometheus})
	a.ask()
	if len(a.records) != 1 || a.records[0].Pool == nil || a.records[0].Pool.Active != 3 {
		t.Errorf("%+v", a.records)
	}
}

func TestFailuresAreSaid(t *testing.T) {
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") })
	release := make(chan struct{})
	defer close(release)
	for name, x := range map[string]struct {
		f    http.HandlerFunc
		want string
	}{
		"status":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "503"},
		"empty":      {func(http.ResponseWriter, *http.Request) {}, "empty"},
		"other host": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }, "another host"},
		"loop":       {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) }, "leads on and on"},
		"too large":  {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("goroutine\n", 10_000)) }, "larger than 1000"},
		"bomb": {func(w http.ResponseWriter, _ *http.Request) {
			z := gzip.NewWriter(w)
			fmt.Fprint(z, strings.Repeat("0", 1_000_000))
			z.Close()
		}, "larger than 1000"},
		"slow": {func(_ http.ResponseWriter, r *http.Request) { <-release }, "in time"},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "500")
			fmt.Fprint(w, "goroutine 1 [running]:\n")
		}, "unexpected EOF"},
		"something": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>log in</html>") }, "no goroutines"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(x.f)
			defer s.CloseClientConnections()
			a := newAsker(t, Target{URL: s.URL + "/debug/pprof/goroutine", Kind: collector.KindGoroutines, Timeout: 300 * time.Millisecond, MaxSize: 1000})
			a.ask()
			up, why := a.up()
			if up || !strings.Contains(why, x.want) || strings.Contains(why, "127.0.0.1") && name != "other host" {
				t.Errorf("%v %q", up, why)
			}
			if n := a.last(); n.Unread != why || n.Path != s.URL+"/debug/pprof/goroutine" {
				t.Errorf("%+v", n)
			}
			if len(a.records) > 0 {
				t.Errorf("%d records", len(a.records))
			}
		})
	}
}

func TestFailsAndAnswersAgain(t *testing.T) {
	broken := true
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if broken {
			w.WriteHeader(500)
			return
		}
		pprof.Index(w, r)
	})
	a := newAsker(t, Target{URL: s.URL + "/debug/pprof/goroutine", Kind: collector.KindGoroutines})
	a.ask()
	a.ask()
	if len(a.news) != 1 {
		t.Errorf("it is said %d times", len(a.news))
	}
	broken = false
	a.ask()
	if up, _ := a.up(); !up || a.last().Unread != "" || a.last().Path != s.URL+"/debug/pprof/goroutine" || !a.last().Gone {
		t.Errorf("%+v", a.news)
	}
	a.full = true
	before := len(a.records)
	a.ask()
	if len(a.records) != before {
		t.Error("there was no room")
	}
}

func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var got string
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		pprof.Index(w, r)
	}))
	defer s.Close()
	ca := file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	url := s.URL + "/debug/pprof/goroutine"
	a := newAsker(t, Target{URL: url, Kind: collector.KindGoroutines, CAFile: ca, TokenFile: file("token", "tok-1\n")})
	a.ask()
	if got != "Bearer tok-1" {
		t.Errorf("%q, %+v", got, a.news)
	}
	file("token", "tok-2")
	a.ask()
	if got != "Bearer tok-2" {
		t.Errorf("%q", got)
	}
	a = newAsker(t, Target{URL: url, Kind: collector.KindGoroutines, CAFile: ca, Username: "probe", PasswordFile: file("password", "pass word\n")})
	a.ask()
	if got != "Basic cHJvYmU6cGFzcyB3b3Jk" {
		t.Errorf("%q", got)
	}
	a = newAsker(t, Target{URL: strings.Replace(url, "https://", "https://probe:secret@", 1), Kind: collector.KindGoroutines})
	a.ask()
	if up, why := a.up(); up || !strings.Contains(why, "certificate") || strings.Contains(fmt.Sprint(a.news), "secret") {
		t.Errorf("%v %s %+v", up, why, a.news)
	}
	if _, err := New(Config{Targets: []Target{{URL: url, CAFile: filepath.Join(dir, "none.pem")}}, Sink: a.sink}); err == nil {
		t.Error("there is no such file")
	}
}

func TestRunEnds(t *testing.T) {
	asked := make(chan struct{}, 100)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		pprof.Index(w, r)
	})
	k := &sink{raw: map[string]string{}}
	sc, err := New(Config{Targets: []Target{{URL: s.URL + "/debug/pprof/goroutine", Kind: collector.KindGoroutines, Every: 10 * time.Millisecond}}, Sink: k})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { sc.Run(ctx); close(done) }()
	for range 3 {
		<-asked
	}
	cancel()
	<-done
}
