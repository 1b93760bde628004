package exporter

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/incident"
)

// ReportPath is where reports are; RevisionHeader says which one an answer is.
const (
	ReportPath     = "/api/v1/report"
	RevisionHeader = "Firebreak-Revision"
)

// longestWait is how long a request for the next report waits before it is
// answered that there is none (204). Proxies mostly give up after 30 s or 60 s.
const longestWait = 25 * time.Second

// Reports is where reports come from.
type Reports interface {
	// Wait returns the last report once it has another revision than the one given.
	Wait(ctx context.Context, after uint64) (*live.Published, error)
}

// Server answers over HTTP.
type Server struct {
	Engine interface {
		Engine
		Reports
	}
	Version  string
	Registry *prometheus.Registry // what /metrics shows
	Stats    Stats                // of what is not the engine's, for /metrics; set before it answers
	// Incidents is where incidents come from; nil if none are noticed. Set before it answers.
	Incidents Incidents

	ready atomic.Bool
	gone  chan struct{} // closed when it ends: who waits is sent away
}

// NewServer makes a server of an engine. It is not ready until SetReady says so.
func NewServer(e interface {
	Engine
	Reports
}, version string,
) *Server {
	s := &Server{Engine: e, Version: version, Registry: prometheus.NewRegistry(), gone: make(chan struct{})}
	s.Registry.MustRegister(NewCollector(e, &s.Stats))
	return s
}

// SetReady says whether spans are taken in.
func (s *Server) SetReady(yes bool) { s.ready.Store(yes) }

// Leave answers who waits for a report, and whoever will. It is called once.
func (s *Server) Leave() { close(s.gone) }

// Handler answers all requests. They only read.
func (s *Server) Handler() (http.Handler, error) {
	landing, err := web.NewLandingPage(web.LandingConfig{
		Name: "firebreak", Description: "Tells why an RPC fleet is burning, while it burns", Version: s.Version, Profiling: "false",
		Links: []web.LandingLinks{
			{Address: "/metrics", Text: "Metrics"},
			{Address: ReportPath, Text: "Report", Description: "the last one, as JSON; firebreak attach shows it"},
			{Address: IncidentsPath, Text: "Incidents", Description: "that were noticed, with their bundles of evidence, as JSON"},
			{Address: "/-/healthy", Text: "Healthy"},
			{Address: "/-/ready", Text: "Ready"},
		},
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.Registry, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: 4}))
	mux.HandleFunc("GET "+ReportPath, s.report)
	s.incidents(mux)
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("healthy\n")) })
	mux.HandleFunc("GET /-/ready", func(w http.ResponseWriter, _ *http.Request) {
		if !s.ready.Load() {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ready\n"))
	})
	mux.Handle("GET /{$}", landing)
	return mux, nil
}

// report answers with the last report. With after=REVISION it waits for another
// one than that, and answers 204 if none came.
func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	after := uint64(0)
	if text := r.URL.Query().Get("after"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			http.Error(w, "after is a revision: a whole number", http.StatusBadRequest)
			return
		}
		after = n
	}
	ctx, cancel := context.WithTimeout(r.Context(), longestWait)
	defer cancel()
	go func() {
		select {
		case <-s.gone:
			cancel()
		case <-ctx.Done():
		}
	}()
	p, err := s.Engine.Wait(ctx, after)
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case err == nil:
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(RevisionHeader, strconv.FormatUint(p.Revision, 10))
	report := *p.Report
	report.GeneratedAt = p.At.UTC()
	report.OpenIncidents = s.open()
	_ = incident.WriteJSON(w, &report) // who went away is told nothing
}
