// Package live runs beside the burning shop what would run beside a real one:
// firebreak serve, and a Prometheus with our rules. It asks both what they say.
package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
)

// Serve is a running firebreak serve.
type Serve struct {
	Tool      string // the program
	Web       string // host:port of metrics and reports
	Incidents string // folder of what it keeps
	proc      *env.Process
}

// Logs is a set of files of one service, to be followed.
type Logs struct{ Path, Service string }

// StartServe starts it with its defaults, following logs from where they end now, and
// watching for dumps.
func StartServe(ctx context.Context, e *env.Env, tool string, otlp, web int, logs, dumps []Logs) (*Serve, error) {
	dir, err := e.Folder("live", "serve")
	if err != nil {
		return nil, err
	}
	s := &Serve{Tool: tool, Web: env.Addr(web), Incidents: filepath.Join(dir, "incidents")}
	config := map[string]any{
		"otlp":      map[string]any{"grpc": "", "http": env.Addr(otlp)},
		"web":       map[string]any{"listen": []string{s.Web}},
		"state_dir": filepath.Join(dir, "state"),
		"incidents": map[string]any{"dir": s.Incidents},
	}
	var follow, watch []any
	for _, l := range logs {
		follow = append(follow, map[string]any{"paths": []string{l.Path}, "service": l.Service})
	}
	for _, d := range dumps {
		watch = append(watch, map[string]any{"dir": d.Path, "patterns": []string{"Dubbo_JStack.log*", "jstack-*.txt"}, "service": d.Service})
	}
	config["logs"], config["dumps"] = follow, watch
	// JSON is YAML.
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "firebreak.yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return nil, err
	}
	log := filepath.Join(dir, "serve.log")
	// The services write their logs in UTC.
	s.proc, err = e.Start(env.Command{Name: "firebreak serve", Path: tool, Args: []string{"serve", "--config", file}, Dir: dir, Env: []string{"TZ=UTC"}, Log: log})
	if err != nil {
		return nil, err
	}
	return s, s.proc.Wait(ctx, 20*time.Second, func(ctx context.Context) error {
		_, err := Get(ctx, "http://"+s.Web+"/-/ready")
		return err
	})
}

// Stop ends it as systemd would.
func (s *Serve) Stop() error { return s.proc.Stop() }

// Metrics is its page of metrics.
func (s *Serve) Metrics(ctx context.Context) ([]byte, error) {
	return Get(ctx, "http://"+s.Web+"/metrics")
}

// Reports calls f with each new report, and when it came, until the context ends.
func (s *Serve) Reports(ctx context.Context, f func(at time.Time, r *incident.Report)) error {
	after := "0"
	for {
		resp, err := request(ctx, "http://"+s.Web+"/api/v1/report?after="+after)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case resp.StatusCode == http.StatusNoContent:
			_ = resp.Body.Close()
			continue
		case resp.StatusCode != http.StatusOK:
			_ = resp.Body.Close()
			return fmt.Errorf("report: %s", resp.Status)
		}
		r := &incident.Report{}
		err = json.NewDecoder(resp.Body).Decode(r)
		_ = resp.Body.Close()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("report: %w", err)
		}
		after = resp.Header.Get("Firebreak-Revision")
		f(time.Now(), r)
	}
}

// patient waits for a long poll.
var patient = &http.Client{Timeout: 40 * time.Second}

func request(ctx context.Context, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return patient.Do(req)
}

// Get gives what stands at a URL, which must answer 200.
func Get(ctx context.Context, url string) ([]byte, error) {
	resp, err := request(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(url + ": " + resp.Status)
	}
	return body, err
}
