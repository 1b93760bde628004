package main

import (
	"net"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"github.com/firebreak-io/firebreak/collector/otlp"
	"github.com/firebreak-io/firebreak/lang"
)

// config says how serve runs. The keys of the file, the variables and the flags
// that fill it stand in settings.
type config struct {
	OTLP      otlpConfig
	Web       webConfig
	Public    bool
	Logs      []logsConfig
	Dumps     []dumpsConfig
	Scrape    []scrapeConfig
	StateDir  string // of checkpoints; empty: none are kept
	Incidents incidentsConfig
	Limits    limitsConfig
	Report    reportConfig
	Detect    detectConfig
	Runbooks  string
	Telemetry telemetryConfig
	Log       logConfig

	// RecentBytes and RawBytes bound what is kept for reports and bundles. They
	// have no keys: they follow from Limits.Memory.
	RecentBytes, RawBytes int64
}

// otlpConfig is where and how traces and logs come in.
type otlpConfig struct {
	GRPC, HTTP       string // addresses; empty: not by this transport
	TLS              tlsConfig
	TokenFile        string // empty: none is asked for
	MaxBytesInFlight int64
	MaxConnections   int
	IdleTimeout      time.Duration
}

// tlsConfig names PEM files. Without a certificate there is no TLS, without a
// client CA no certificate is asked of clients.
type tlsConfig struct{ CertFile, KeyFile, ClientCAFile string }

// webConfig is where metrics, reports and incidents are shown.
type webConfig struct {
	Listen     []string
	ConfigFile string // of Prometheus' exporters
}

// logsConfig is a set of followed files.
type logsConfig struct {
	Paths, Exclude []string // globs
	Service        string   // whose they are, if they do not say so
	Format         string   // the name of a format; empty: it is recognised
	AccessFormat   string   // as --access-format
	From           string   // fromEnd or fromStart: where a file begins that was not known
}

// Where a followed file begins.
const (
	fromEnd   = "end"
	fromStart = "start"
)

// dumpsConfig is a folder in which dumps are dropped.
type dumpsConfig struct {
	Dir      string
	Patterns []string // globs of names; empty: all
	Service  string
}

// scrapeConfig is an endpoint of a service that is asked now and then.
type scrapeConfig struct {
	URL     string
	Kind    string // scrapeGoroutines or scrapePrometheus
	Service string
	Every   time.Duration
	Timeout time.Duration
	MaxSize int64 // bytes of an answer

	// Files with what the endpoint asks for.
	TokenFile, Username, PasswordFile string
	CAFile, CertFile, KeyFile         string
}

// The kinds of endpoints.
const (
	scrapeGoroutines = "goroutines"
	scrapePrometheus = "prometheus"
)

// incidentsConfig bounds the folder of bundles.
type incidentsConfig struct {
	Dir      string // empty: none are kept
	MaxCount int
	MaxBytes int64
	MaxAge   time.Duration
}

// limitsConfig bounds what waits to be counted.
type limitsConfig struct {
	Memory             int64 // 0: none is set
	Lateness, MaxAge   time.Duration
	MaxSpans, MaxEdges int
}

// reportConfig is how often reports are made, and of what.
type reportConfig struct {
	Every, Recent time.Duration
	MaxRecords    int
}

// detectConfig is when an incident begins and is over.
type detectConfig struct {
	Hold  int           // reports in a row that must say it
	Clear time.Duration // quiet time after which it is over
}

// telemetryConfig is where what serve tells of itself is sent by OTLP.
type telemetryConfig struct {
	Endpoint        string // empty: nowhere
	Traces, Metrics bool
}

type logConfig struct{ Level, Format string }

// defaultConfig is what is not said otherwise.
func defaultConfig() *config {
	return &config{
		OTLP:      otlpConfig{GRPC: "localhost:4317", HTTP: "localhost:4318", MaxBytesInFlight: 64 << 20, MaxConnections: 2_000, IdleTimeout: time.Minute},
		Web:       webConfig{Listen: []string{"localhost:9464"}},
		Incidents: incidentsConfig{MaxCount: 50, MaxBytes: 1 << 30, MaxAge: 720 * time.Hour},
		Limits:    limitsConfig{Lateness: 10 * time.Second, MaxAge: time.Minute, MaxSpans: 1_000_000, MaxEdges: 2_000},
		Report:    reportConfig{Every: 10 * time.Second, Recent: 5 * time.Minute, MaxRecords: 100_000},
		Detect:    detectConfig{Hold: 2, Clear: 5 * time.Minute},
		Log:       logConfig{Level: "info", Format: "logfmt"},

		RecentBytes: 128 << 20, RawBytes: 32 << 20,
	}
}

// invalid is a key whose value makes no sense.
type invalid struct{ key, text string }

// verdicts collects what is invalid.
type verdicts []invalid

func (v *verdicts) refuse(key, format string, args ...any) {
	*v = append(*v, invalid{key, lang.Sprintf(format, args...)})
}

// Validate says what makes no sense, by key. What a value must look like was
// seen to when it was read; here is what it must mean.
func (c *config) Validate() []invalid {
	var v verdicts
	c.validateListeners(&v)
	c.validateSources(&v)
	switch m := c.Limits.Memory; {
	case m == 0:
	case m < leastMemory:
		v.refuse("limits.memory", "must be %s at least", formatSize(leastMemory))
	case c.need() > m:
		v.refuse("limits.memory", "is too little: the limits that are given need about %s", formatSize((c.need()>>20+1)<<20))
	}
	if n := c.OTLP.MaxBytesInFlight; n < otlp.LeastInFlight {
		v.refuse("otlp.max_bytes_in_flight", "must be %s at least, for one request", formatSize(otlp.LeastInFlight))
	}
	if c.Limits.MaxAge < c.Limits.Lateness {
		v.refuse("limits.max_age", "must not be below limits.lateness (%s)", c.Limits.Lateness)
	}
	c.validateTelemetry(&v)
	c.validateFiles(&v)
	return v
}

func (c *config) validateListeners(v *verdicts) {
	if c.OTLP.GRPC == "" && c.OTLP.HTTP == "" && len(c.Logs)+len(c.Dumps)+len(c.Scrape) == 0 {
		v.refuse("otlp.grpc", "nothing would come in: otlp.grpc and otlp.http are both empty, and there are no logs, dumps or scrape")
	}
	c.address(v, "otlp.grpc", c.OTLP.GRPC)
	c.address(v, "otlp.http", c.OTLP.HTTP)
	for _, addr := range c.Web.Listen {
		c.address(v, "web.listen", addr)
	}
	tls := c.OTLP.TLS
	switch {
	case tls.CertFile == "" && tls.KeyFile != "":
		v.refuse("otlp.tls.cert_file", "is missing: the key is of a certificate")
	case tls.CertFile != "" && tls.KeyFile == "":
		v.refuse("otlp.tls.key_file", "is missing: it must hold the key of the certificate")
	case tls.CertFile == "" && tls.ClientCAFile != "":
		v.refuse("otlp.tls.client_ca_file", "asks clients for certificates, which needs otlp.tls.cert_file and key_file")
	}
}

// address refuses what is no address, and one that others can reach unless it is
// allowed.
func (c *config) address(v *verdicts, key, addr string) {
	if addr == "" {
		return
	}
	host, port, err := net.SplitHostPort(addr)
	if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < 0 || n > 65535 {
		v.refuse(key, "%q is no address: host:port", addr)
		return
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && !c.Public {
		v.refuse(key, "others can reach %s: say so with --public", addr)
	}
}

func (c *config) validateSources(v *verdicts) {
	for i, l := range c.Logs {
		at := "logs[" + strconv.Itoa(i) + "]."
		if len(l.Paths) == 0 {
			v.refuse(at+"paths", "is missing: the files to follow")
		}
		globs(v, at+"paths", l.Paths, filepath.Match)
		globs(v, at+"exclude", l.Exclude, filepath.Match)
	}
	for i, d := range c.Dumps {
		at := "dumps[" + strconv.Itoa(i) + "]."
		if d.Dir == "" {
			v.refuse(at+"dir", "is missing: the folder to watch")
		}
		globs(v, at+"patterns", d.Patterns, path.Match)
	}
	for i, s := range c.Scrape {
		at := "scrape[" + strconv.Itoa(i) + "]."
		if u, err := url.Parse(s.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			v.refuse(at+"url", "%q is no URL of http or https", s.URL)
		}
		if s.Kind == "" {
			v.refuse(at+"kind", "is missing: %s or %s", scrapeGoroutines, scrapePrometheus)
		}
		if (s.CertFile == "") != (s.KeyFile == "") {
			v.refuse(at+"cert_file", "and key_file go together")
		}
		if s.PasswordFile != "" && s.Username == "" {
			v.refuse(at+"username", "is missing: whose password it is")
		}
	}
}

// globs refuses patterns that match nothing whatever there is.
func globs(v *verdicts, key string, patterns []string, match func(pattern, name string) (bool, error)) {
	for _, p := range patterns {
		if _, err := match(p, ""); err != nil || p == "" {
			v.refuse(key, "%q is no pattern of names", p)
		}
	}
}
