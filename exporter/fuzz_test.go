package exporter

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/correlate/live"
)

// FuzzAPI asks for anything. The API only reads, so nothing that is asked may be an
// error of the server's own, or change anything.
func FuzzAPI(f *testing.F) {
	for _, x := range []struct{ method, target string }{
		{"GET", "/"},
		{"GET", "/metrics"},
		{"GET", "/-/ready"},
		{"GET", "/-/healthy"},
		{"HEAD", ReportPath},
		{"GET", ReportPath + "?after=0"},
		{"GET", ReportPath + "?after=18446744073709551616"},
		{"GET", ReportPath + "?after=-1"},
		{"GET", ReportPath + "?after=1&after=2"},
		{"GET", ReportPath + "?after=%zz"},
		{"GET", IncidentsPath},
		{"GET", IncidentsPath + "/x"},
		{"GET", IncidentsPath + "/x/bundle"},
		{"GET", IncidentsPath + "/..%2f..%2fetc%2fpasswd/bundle"},
		{"GET", IncidentsPath + "/%00/bundle"},
		{"GET", IncidentsPath + "//bundle"},
		{"POST", ReportPath},
		{"DELETE", IncidentsPath + "/x"},
		{"PUT", "/metrics"},
		{"GET", "/debug/pprof/"},
	} {
		f.Add(x.method, x.target)
	}
	e := live.New(live.Config{Now: func() time.Time { return time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC) }})
	e.Publish()
	s := NewServer(e, "test")
	s.SetReady(true)
	s.Leave() // who would wait is sent away
	h, err := s.Handler()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, target string) {
		req, err := http.NewRequest(method, "http://localhost:9464"+target, nil)
		if err != nil || req.Host != "localhost:9464" {
			return
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code >= 500 {
			t.Errorf("%s %q: %d %s", method, target, w.Code, w.Body)
		}
		if w.Code == http.StatusOK && method != "" && method != http.MethodGet && method != http.MethodHead { // none is GET
			t.Errorf("%s %q is answered", method, target)
		}
	})
}
