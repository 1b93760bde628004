package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
)

// Prometheus is Debian's, with the rules of deploy/prometheus as they are.
type Prometheus struct {
	addr string
}

// StartPrometheus starts one that scrapes s. Of deploy/prometheus/prometheus.yml only
// the addresses and the times between scrapes are changed; the rules' thresholds
// and waits are not.
func StartPrometheus(ctx context.Context, e *env.Env, port int, deploy string, s *Serve) (*Prometheus, error) {
	tool, err := env.Tool("prometheus")
	if err != nil {
		return nil, err
	}
	dir, err := e.Folder("live", "prometheus")
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(filepath.Join(dir, "data")); err != nil {
		return nil, err
	}
	for _, name := range []string{"recording.yml", "alerts.yml", "prometheus.yml"} {
		data, err := os.ReadFile(filepath.Join(deploy, name))
		if err != nil {
			return nil, err
		}
		text := string(data)
		if name == "prometheus.yml" {
			text = strings.NewReplacer("scrape_interval: 15s", "scrape_interval: 5s", "evaluation_interval: 15s", "evaluation_interval: 5s", `"localhost:9464"`, `"`+s.Web+`"`).Replace(text)
			if !strings.Contains(text, s.Web) {
				return nil, errors.New("prometheus.yml has no target to replace")
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	p := &Prometheus{addr: env.Addr(port)}
	proc, err := e.Start(env.Command{
		Name: "prometheus", Path: tool, Dir: dir, Log: filepath.Join(dir, "prometheus.log"), Kill: true,
		Args: []string{"--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.listen-address=" + p.addr, "--log.level=warn"},
	})
	if err != nil {
		return nil, err
	}
	return p, proc.Wait(ctx, 30*time.Second, func(ctx context.Context) error {
		_, err := Get(ctx, "http://"+p.addr+"/-/ready")
		return err
	})
}

// Alert is one that fires or waits to.
type Alert struct {
	Labels      map[string]string
	Annotations map[string]string
	State       string // pending or firing
}

// Name is its name, and what it is about: the labels of incidents stand in its
// text.
func (a Alert) Name() string {
	if _, labels, ok := strings.Cut(a.Annotations["summary"], "is burning: "); ok && a.Labels["label"] == "" {
		return a.Labels["alertname"] + " " + labels
	}
	for _, label := range []string{"label", "pool", "callee"} {
		if v := a.Labels[label]; v != "" {
			return a.Labels["alertname"] + " " + v
		}
	}
	return a.Labels["alertname"]
}

// Alerts are those of now, as the API of Prometheus has them.
func (p *Prometheus) Alerts(ctx context.Context) ([]Alert, error) {
	body, err := Get(ctx, "http://"+p.addr+"/api/v1/alerts")
	if err != nil {
		return nil, err
	}
	var answer struct{ Data struct{ Alerts []Alert } }
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("alerts: %w", err)
	}
	return answer.Data.Alerts, nil
}

// Lint has promtool look at a page of metrics.
func Lint(ctx context.Context, page []byte) error {
	tool, err := env.Tool("promtool")
	if err != nil {
		return err
	}
	_, err = env.Run(ctx, string(page), tool, "check", "metrics")
	return err
}
