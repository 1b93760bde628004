package otelconnector

import (
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
)

func TestConfig(t *testing.T) {
	if err := componenttest.CheckConfigStruct(defaultConfig()); err != nil {
		t.Error(err)
	}
	all, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	full := &Config{
		MetricsFlushInterval: 30 * time.Second, Histograms: Exponential, WhenFull: Drop,
		Limits:   Limits{Lateness: 5 * time.Second, MaxAge: 30 * time.Second, MaxSpans: 200_000, MaxEdges: 500},
		Report:   Report{Every: 20 * time.Second, Recent: 10 * time.Minute, MaxRecords: 50_000},
		Detect:   Detect{Hold: 3, Clear: 10 * time.Minute},
		Runbooks: "/etc/firebreak/runbooks",
	}
	for _, c := range []struct {
		name string
		want *Config
		err  string // a pattern
	}{
		{"firebreak", defaultConfig().(*Config), ""},
		{"firebreak/full", full, ""},
		{"firebreak/unknown", nil, "invalid keys: lateness"},
		{"firebreak/short", nil, "metrics_flush_interval.*1s"},
		{"firebreak/choices", nil, "(?s)histograms.*when_full"},
		{"firebreak/limits", nil, "(?s)limits: max_age must not be below lateness.*max_spans"},
		{"firebreak/detect", nil, "detect: hold and clear"},
		{"firebreak/report", nil, "(?s)report: .*every.*recent.*max_records"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sub, err := all.Sub(c.name)
			if err != nil {
				t.Fatal(err)
			}
			cfg := defaultConfig()
			err = sub.Unmarshal(cfg)
			if err == nil {
				err = confmap.Validate(cfg)
			}
			switch {
			case c.err == "" && err != nil:
				t.Error(err)
			case c.err == "" && !reflect.DeepEqual(cfg, c.want):
				t.Errorf("%+v", cfg)
			case c.err != "" && (err == nil || !regexp.MustCompile(c.err).MatchString(err.Error())):
				t.Errorf("%v, want %s", err, c.err)
			}
		})
	}
}

// A folder that cannot be read is found out when the Collector is built.
func TestRunbooksThatAreNotThere(t *testing.T) {
	f := NewFactory()
	cfg := f.CreateDefaultConfig().(*Config)
	cfg.Runbooks = filepath.Join(t.TempDir(), "none")
	if _, err := pairs[0].make(f, cfg); err == nil || !strings.Contains(err.Error(), "runbooks") {
		t.Error(err)
	}
}
