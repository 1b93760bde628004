package exporter

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/incident/bundle"
)

// shelf has the incidents of a store.
type shelf struct{ store *bundle.Store }

func (s shelf) Incidents() ([]Noticed, error) {
	return []Noticed{
		{ID: "one", Label: incident.SlowSQL, Certainty: incident.High, Opened: time.Date(2026, 3, 14, 10, 2, 0, 0, time.UTC), Bundle: &NoticedBundle{Bytes: 7}},
		{ID: "gone", Label: incident.GCPause, Certainty: incident.Low},
	}, nil
}

func (s shelf) IncidentReport(id string) (*incident.Report, error) {
	o, err := s.store.Open(id)
	if err != nil {
		return nil, err
	}
	r, err := o.Report()
	return r, errors.Join(err, o.Close())
}

func (s shelf) OpenBundle(id string) (*bundle.Opened, error) { return s.store.Open(id) }

func startShelf(t *testing.T) http.Handler {
	t.Helper()
	store, err := bundle.Open(t.TempDir(), bundle.Limits{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	err = store.Put(bundle.Manifest{ID: "one", Label: incident.SlowSQL}, []bundle.File{
		{Path: bundle.ReportName, Write: write(`{"schema":"firebreak.report/v1","incidents":[{"id":"x","label":"slow-sql"}]}`)},
		{Path: "evidence/records.jsonl.gz", Write: write("records")},
	})
	if err != nil {
		t.Fatal(err)
	}
	engine := live.New(live.Config{})
	engine.Publish()
	s := NewServer(engine, "test")
	s.Incidents = shelf{store}
	h, err := s.Handler()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestIncidentsAreListed(t *testing.T) {
	h := startShelf(t)
	get := httptest.NewRecorder()
	h.ServeHTTP(get, httptest.NewRequest(http.MethodGet, IncidentsPath, nil))
	var got struct{ Incidents []Noticed }
	if err := json.Unmarshal(get.Body.Bytes(), &got); err != nil || len(got.Incidents) != 2 || get.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%v: %s", err, get.Body)
	}
	if b := got.Incidents[0].Bundle; b == nil || b.Bytes != 7 || b.URL != IncidentsPath+"/one/bundle" || got.Incidents[1].Bundle != nil {
		t.Errorf("%s", get.Body)
	}
	if strings.Contains(get.Body.String(), "closed") {
		t.Errorf("one that is open has an end: %s", get.Body)
	}
	none, err := NewServer(live.New(live.Config{}), "test").Handler()
	if err != nil {
		t.Fatal(err)
	}
	get = httptest.NewRecorder()
	none.ServeHTTP(get, httptest.NewRequest(http.MethodGet, IncidentsPath, nil))
	if got := strings.Join(strings.Fields(get.Body.String()), ""); got != `{"incidents":[]}` {
		t.Errorf("without incidents: %s", got)
	}
}

// TestOpenIncidentsStandInTheReport has a report that says nothing of them.
func TestOpenIncidentsStandInTheReport(t *testing.T) {
	h := startShelf(t)
	get := httptest.NewRecorder()
	h.ServeHTTP(get, httptest.NewRequest(http.MethodGet, ReportPath, nil))
	r, err := incident.ReadJSON(get.Body)
	if err != nil || len(r.OpenIncidents) != 2 {
		t.Fatalf("%v, %+v", err, r)
	}
	if o := r.OpenIncidents[0]; o.ID != "one" || o.Label != incident.SlowSQL || o.Bundle != IncidentsPath+"/one/bundle" || o.Opened.IsZero() {
		t.Errorf("%+v", o)
	}
	if o := r.OpenIncidents[1]; o.ID != "gone" || o.Bundle != "" {
		t.Errorf("%+v", o)
	}
}

func TestBundlesAreSent(t *testing.T) {
	h := startShelf(t)
	get := httptest.NewRecorder()
	h.ServeHTTP(get, httptest.NewRequest(http.MethodGet, IncidentsPath+"/one", nil))
	r, err := incident.ReadJSON(get.Body)
	if err != nil || len(r.Incidents) != 1 || r.Incidents[0].Label != incident.SlowSQL {
		t.Errorf("the report: %v, %+v", err, r)
	}
	get = httptest.NewRecorder()
	h.ServeHTTP(get, httptest.NewRequest(http.MethodGet, IncidentsPath+"/one/bundle", nil))
	if got := get.Header().Get("Content-Disposition"); got != `attachment; filename="one.tar.gz"` {
		t.Error(got)
	}
	z, err := gzip.NewReader(get.Body)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for archive := tar.NewReader(z); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, head.Name)
	}
	if got := strings.Join(names, " "); got != "one/manifest.json one/README.md one/report.json one/evidence/records.jsonl.gz" {
		t.Error(got)
	}
	head := httptest.NewRecorder()
	h.ServeHTTP(head, httptest.NewRequest(http.MethodHead, IncidentsPath+"/one/bundle", nil))
	if head.Code != http.StatusOK || head.Body.Len() != 0 {
		t.Errorf("HEAD: %d, %d bytes", head.Code, head.Body.Len())
	}
}

func TestNothingElseIsSent(t *testing.T) {
	h := startShelf(t)
	for _, path := range []string{
		"/two", "/two/bundle", "/..", "/../one", "/%2e%2e", "/%2e%2e%2fone/bundle", "/one%2f..%2fone", "/one%00", "/.firebreak-new-one", "/one%5c..", "/./bundle", "//bundle", "/one/manifest.json", "/one/bundle/x",
		"/" + strings.Repeat("x", 5000), "/ONE",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RequestURI = IncidentsPath + path
		u, err := r.URL.Parse(r.RequestURI)
		if err != nil {
			continue
		}
		r.URL = u
		get := httptest.NewRecorder()
		h.ServeHTTP(get, r)
		if get.Code == http.StatusOK || strings.Contains(get.Body.String(), "slow-sql") {
			t.Errorf("%s: %d %s", path, get.Code, get.Body)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete, http.MethodPut} {
		get := httptest.NewRecorder()
		h.ServeHTTP(get, httptest.NewRequest(method, IncidentsPath+"/one", nil))
		if get.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, get.Code)
		}
	}
}
