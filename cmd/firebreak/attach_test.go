package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/exporter"
	"github.com/firebreak-io/firebreak/incident"
)

// answers gives one answer after the other, the last one again and again, and
// notes what was asked for.
type answers struct {
	list  []func(http.ResponseWriter)
	asked []string
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.asked = append(a.asked, r.URL.RequestURI())
	a.list[min(len(a.asked), len(a.list))-1](w)
}

func status(code int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { w.WriteHeader(code) }
}

func reported(revision int, label incident.Label) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set(exporter.RevisionHeader, fmt.Sprint(revision))
		_ = incident.WriteJSON(w, &incident.Report{Incidents: []incident.Incident{{Label: label, Certainty: incident.High, Headline: "it burns"}}})
	}
}

func TestAttachFollows(t *testing.T) {
	a := &answers{list: []func(http.ResponseWriter){
		reported(5, incident.SlowSQL), status(http.StatusNoContent), status(http.StatusNoContent), reported(6, incident.Healthy),
		status(http.StatusBadGateway), reported(2, incident.SlowSQL),
	}}
	srv := httptest.NewServer(a)
	defer srv.Close()
	source := remoteSource(t, srv.URL+"/behind/a/proxy/")
	ctx := context.Background()
	r, err := source.Read(ctx, incident.Window{}, nil)
	if err != nil || r.Revision != 5 || r.Report.Incidents[0].Label != incident.SlowSQL || r.Books == nil {
		t.Fatalf("%+v %v", r, err)
	}
	if r, err = source.Next(ctx, r.Revision); err != nil || r.Revision != 6 {
		t.Fatalf("%+v %v", r, err)
	}
	if _, err := source.Next(ctx, 6); err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("a broken proxy: %v", err)
	}
	// The server was started again meanwhile: its revisions are others.
	if r, err = source.Next(ctx, 6); err != nil || r.Revision != 2 {
		t.Errorf("%+v %v", r, err)
	}
	want := "/behind/a/proxy/api/v1/report?after=%d"
	for i, after := range []int{0, 5, 5, 5, 6, 6} {
		if a.asked[i] != fmt.Sprintf(want, after) {
			t.Errorf("asked for %s, want after=%d", a.asked[i], after)
		}
	}
	if _, err := source.Excerpt(ctx, evidence.Citation{Source: "otlp"}); err == nil {
		t.Error("an excerpt of what is not kept")
	}
}

func TestAttachToSomethingElse(t *testing.T) {
	a := &answers{list: []func(http.ResponseWriter){status(http.StatusOK), status(http.StatusNotFound)}}
	srv := httptest.NewServer(a)
	defer srv.Close()
	for _, code := range []int{200, 404} {
		want := fmt.Sprintf("%s is no firebreak serve: it answers HTTP %d; is this firebreak's web address, by default :9464?", srv.URL, code)
		if _, err := remoteSource(t, srv.URL).Next(context.Background(), 0); err == nil || err.Error() != want {
			t.Errorf("%v", err)
		}
	}
	gone := strings.Replace(srv.URL, "://", "://reader:secret@", 1)
	srv.Close()
	_, err := remoteSource(t, gone).Next(context.Background(), 0)
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "reader:xxxxx@") {
		t.Errorf("%v", err)
	}
}

func TestAttachAwayFromATerminal(t *testing.T) {
	a := &answers{list: []func(http.ResponseWriter){reported(5, incident.SlowSQL)}}
	srv := httptest.NewServer(a)
	defer srv.Close()
	var out, errs bytes.Buffer
	app := newApp(analyse)
	app.stdout, app.stderr, app.outTerminal = &out, &errs, false
	if code := app.run([]string{"attach", strings.TrimPrefix(srv.URL, "http://")}); code != exitAnalysed || !strings.Contains(out.String(), "it burns") {
		t.Errorf("exit %d\n%s%s", code, out.String(), errs.String())
	}
}

// TestAttachSaysWhatIsOpen says under a report that tells nothing what an alert
// told, and where its evidence is; not how it was asked for.
func TestAttachSaysWhatIsOpen(t *testing.T) {
	a := &answers{list: []func(http.ResponseWriter){func(w http.ResponseWriter) {
		w.Header().Set(exporter.RevisionHeader, "5")
		_ = incident.WriteJSON(w, &incident.Report{
			Incidents: []incident.Incident{{Label: incident.Inconclusive, Certainty: incident.Low}},
			OpenIncidents: []incident.OpenIncident{{
				ID: "one", Label: incident.SlowSQL, Opened: time.Date(2026, 3, 14, 10, 27, 0, 0, time.UTC), Bundle: "/api/v1/incidents/one/bundle",
			}},
		})
	}}}
	srv := httptest.NewServer(a)
	defer srv.Close()
	var out, errs bytes.Buffer
	app := newApp(analyse)
	app.stdout, app.stderr, app.outTerminal = &out, &errs, false
	code := app.run([]string{"attach", strings.Replace(srv.URL, "://", "://reader:secret@", 1) + "/behind"})
	want := "! open: slow-sql since 10:27; bundle: " + srv.URL + "/behind/api/v1/incidents/one/bundle\n"
	if code != exitAnalysed || !strings.Contains(out.String(), want) {
		t.Errorf("exit %d, without %q\n%s%s", code, want, out.String(), errs.String())
	}
}
