package otelconnector

import (
	"errors"
	"time"

	"go.opentelemetry.io/collector/component"
)

// Config is what may stand under `connectors: firebreak:`. Limits, report and
// runbooks are named and mean what they do in firebreak.yaml.
type Config struct {
	// MetricsFlushInterval is how often metrics are handed on (15s).
	MetricsFlushInterval time.Duration `mapstructure:"metrics_flush_interval"`
	// Histograms is how histograms are handed on: "explicit" buckets, whose names in
	// Prometheus are those that firebreak serve shows, or "exponential" ones of scale
	// 3, which become native histograms ("explicit").
	Histograms string `mapstructure:"histograms"`
	// WhenFull says what becomes of spans that find no room: "refuse" tells the
	// sender to send them again later, "drop" counts them as refused and says nothing
	// ("refuse"). A sender sends again to all pipelines: choose "drop" where the
	// receiver feeds other pipelines too that must not get anything twice.
	WhenFull string `mapstructure:"when_full"`
	// Limits bound memory.
	Limits Limits `mapstructure:"limits"`
	// Report is about the reports that incidents are found in.
	Report Report `mapstructure:"report"`
	// Detect says how sure reports must be before an incident is told of.
	Detect Detect `mapstructure:"detect"`
	// Runbooks is a folder of your own runbooks, which add to the built-in ones or
	// override them by name; empty: none.
	Runbooks string `mapstructure:"runbooks"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// Limits bound what is kept.
type Limits struct {
	// Lateness is how long nothing of a trace must have come before it is counted (10s).
	Lateness time.Duration `mapstructure:"lateness"`
	// MaxAge is how old a trace grows before it is counted all the same (1m).
	MaxAge time.Duration `mapstructure:"max_age"`
	// MaxSpans is how many spans wait for their traces to be done (1000000, about 150
	// bytes each).
	MaxSpans int `mapstructure:"max_spans"`
	// MaxEdges is how many pairs of caller and callee are counted by name (2000); the
	// rest is counted together, as __other__.
	MaxEdges int `mapstructure:"max_edges"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// Report is about the reports that incidents are found in.
type Report struct {
	// Every is how often one is made, if something came (10s).
	Every time.Duration `mapstructure:"every"`
	// Recent is how far back it looks (5m).
	Recent time.Duration `mapstructure:"recent"`
	// MaxRecords is how many spans and findings in logs it is made of (100000); past
	// it, of a share of the traces.
	MaxRecords int `mapstructure:"max_records"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// Detect says how sure reports must be before an incident is told of.
type Detect struct {
	// Hold is how many reports in a row must say that something is one (2). If they
	// are of low certainty, twice as many must.
	Hold int `mapstructure:"hold"`
	// Clear is for how long reports must say nothing of it before it is over (5m).
	Clear time.Duration `mapstructure:"clear"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// The choices.
const (
	Explicit    = "explicit"
	Exponential = "exponential"
	Refuse      = "refuse"
	Drop        = "drop"
)

func defaultConfig() component.Config {
	return &Config{
		MetricsFlushInterval: 15 * time.Second,
		Histograms:           Explicit,
		WhenFull:             Refuse,
		Limits:               Limits{Lateness: 10 * time.Second, MaxAge: time.Minute, MaxSpans: 1_000_000, MaxEdges: 2_000},
		Report:               Report{Every: 10 * time.Second, Recent: 5 * time.Minute, MaxRecords: 100_000},
		Detect:               Detect{Hold: 2, Clear: 5 * time.Minute},
	}
}

// Validate refuses what makes no sense. The Collector also validates the parts.
func (c *Config) Validate() error {
	var errs []error
	if c.MetricsFlushInterval < time.Second {
		errs = append(errs, errors.New("metrics_flush_interval must be 1s or more"))
	}
	if c.Histograms != Explicit && c.Histograms != Exponential {
		errs = append(errs, errors.New("histograms must be explicit or exponential"))
	}
	if c.WhenFull != Refuse && c.WhenFull != Drop {
		errs = append(errs, errors.New("when_full must be refuse or drop"))
	}
	return errors.Join(errs...)
}

// Validate refuses what makes no sense.
func (l *Limits) Validate() error {
	var errs []error
	if l.Lateness <= 0 {
		errs = append(errs, errors.New("lateness must be above zero"))
	}
	if l.MaxAge < l.Lateness {
		errs = append(errs, errors.New("max_age must not be below lateness"))
	}
	if l.MaxSpans <= 0 || l.MaxEdges <= 0 {
		errs = append(errs, errors.New("max_spans and max_edges must be above zero"))
	}
	return errors.Join(errs...)
}

// Validate refuses what makes no sense.
func (r *Report) Validate() error {
	var errs []error
	if r.Every < time.Second {
		errs = append(errs, errors.New("every must be 1s or more"))
	}
	if r.Recent < r.Every {
		errs = append(errs, errors.New("recent must not be below every"))
	}
	if r.MaxRecords <= 0 {
		errs = append(errs, errors.New("max_records must be above zero"))
	}
	return errors.Join(errs...)
}

// Validate refuses what makes no sense.
func (d *Detect) Validate() error {
	if d.Hold <= 0 || d.Clear <= 0 {
		return errors.New("hold and clear must be above zero")
	}
	return nil
}
