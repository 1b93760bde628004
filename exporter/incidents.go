package exporter

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/incident/bundle"
)

// IncidentsPath is where the incidents are that were noticed.
const IncidentsPath = "/api/v1/incidents"

// Noticed is one incident in the list.
type Noticed struct {
	ID        string             `json:"id"`
	Label     incident.Label     `json:"label"`
	Certainty incident.Certainty `json:"certainty"`
	Subject   string             `json:"subject,omitempty"`
	Headline  string             `json:"headline"`
	ActFirst  incident.Label     `json:"act_first,omitempty"`
	Opened    time.Time          `json:"opened"`
	Updated   time.Time          `json:"updated"`
	Said      time.Time          `json:"said,omitzero"`   // when a report last said it
	Closed    time.Time          `json:"closed,omitzero"` // absent while it is open
	Ended     string             `json:"ended,omitempty"` // "over", or "lost" where no evidence came any more
	Now       *NoticedNow        `json:"now,omitempty"`   // what the last report says of it; absent if nothing, and once it is closed
	Bundle    *NoticedBundle     `json:"bundle,omitempty"`
}

// NoticedNow is the last verdict on an incident, where the list has the deepest.
type NoticedNow struct {
	Label     incident.Label     `json:"label"`
	Certainty incident.Certainty `json:"certainty"`
}

// NoticedBundle says where the evidence of an incident is.
type NoticedBundle struct {
	Bytes int64  `json:"bytes"`
	URL   string `json:"url"` // a tar.gz that firebreak triage opens
}

// Incidents is where incidents come from. An incident that there is not is
// bundle.ErrNone.
type Incidents interface {
	// Incidents are those that are open and those that were, the latest first.
	Incidents() ([]Noticed, error)
	// IncidentReport is the report with the verdict on one.
	IncidentReport(id string) (*incident.Report, error)
	// OpenBundle opens the evidence of one.
	OpenBundle(id string) (*bundle.Opened, error)
}

// maxDownloads is how many bundles are sent at once, and downloadTime how long
// one may take.
const (
	maxDownloads = 2
	downloadTime = 15 * time.Minute
)

// incidents adds the paths of incidents.
func (s *Server) incidents(mux *http.ServeMux) {
	downloads := make(chan struct{}, maxDownloads)
	mux.HandleFunc("GET "+IncidentsPath, s.listIncidents)
	mux.HandleFunc("GET "+IncidentsPath+"/{id}", s.incidentReport)
	mux.HandleFunc("GET "+IncidentsPath+"/{id}/bundle", func(w http.ResponseWriter, r *http.Request) {
		select {
		case downloads <- struct{}{}:
			defer func() { <-downloads }()
			s.incidentBundle(w, r)
		default:
			w.Header().Set("Retry-After", "10")
			http.Error(w, "other bundles are being downloaded", http.StatusServiceUnavailable)
		}
	})
}

func (s *Server) listIncidents(w http.ResponseWriter, _ *http.Request) {
	list := []Noticed{}
	if s.Incidents != nil {
		noticed, err := s.Incidents.Incidents()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		list = append(list, noticed...)
	}
	for i := range list {
		if b := list[i].Bundle; b != nil {
			b.URL = bundlePath(list[i].ID)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(map[string]any{"incidents": list}) // who went away is told nothing
}

// open are the incidents that are not over, for the report, which may say nothing
// of them any more. A report goes without them where the list cannot be read.
func (s *Server) open() []incident.OpenIncident {
	if s.Incidents == nil {
		return nil
	}
	noticed, err := s.Incidents.Incidents()
	if err != nil {
		return nil
	}
	var open []incident.OpenIncident
	for i := range noticed {
		n := &noticed[i]
		if !n.Closed.IsZero() {
			continue
		}
		o := incident.OpenIncident{ID: n.ID, Label: n.Label, Certainty: n.Certainty, Subject: n.Subject, Headline: n.Headline, Opened: n.Opened, Said: n.Said}
		if n.Now != nil {
			o.Now = n.Now.Label
		}
		if n.Bundle != nil {
			o.Bundle = bundlePath(n.ID)
		}
		open = append(open, o)
	}
	return open
}

// bundlePath is where a bundle can be fetched.
func bundlePath(id string) string { return IncidentsPath + "/" + id + "/bundle" }

// incidentID is the incident that a request asks for; empty if it cannot be one.
func (s *Server) incidentID(r *http.Request) string {
	if id := r.PathValue("id"); s.Incidents != nil && id == bundle.Name(id) {
		return id
	}
	return ""
}

// refuse answers where there is nothing to answer with.
func refuse(w http.ResponseWriter, err error) {
	if errors.Is(err, bundle.ErrNone) {
		http.Error(w, "no such incident, or it has no bundle", http.StatusNotFound)
		return
	}
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

func (s *Server) incidentReport(w http.ResponseWriter, r *http.Request) {
	id := s.incidentID(r)
	if id == "" {
		refuse(w, bundle.ErrNone)
		return
	}
	report, err := s.Incidents.IncidentReport(id)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = incident.WriteJSON(w, report) // who went away is told nothing
}

func (s *Server) incidentBundle(w http.ResponseWriter, r *http.Request) {
	id := s.incidentID(r)
	if id == "" {
		refuse(w, bundle.ErrNone)
		return
	}
	o, err := s.Incidents.OpenBundle(id)
	if err != nil {
		refuse(w, err)
		return
	}
	defer func() { _ = o.Close() }() // only read
	w.Header().Set("Content-Type", "application/gzip")
	w.Header().Set("Content-Disposition", `attachment; filename="`+id+`.tar.gz"`)
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return
	}
	// The server's own deadline is for short answers.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(downloadTime)) // where it cannot be set there is none
	if err := o.WriteTar(w); err != nil {
		panic(http.ErrAbortHandler) // so that the receiver does not take half for all
	}
}
