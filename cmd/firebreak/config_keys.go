package main

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/firebreak-io/firebreak/lang"
)

// setting is one key of the configuration: its place in the file, the flag that
// overrides it, and what it means. A key of a list has items instead of a value.
type setting struct {
	key     string // with the sections before it, as in otlp.tls.cert_file
	meaning string
	value   pflag.Value
	flag    string           // if it is not the key with dashes
	item    func() []setting // adds an item to the list and returns its keys
}

// flagName is how a flag spells a key.
func (s *setting) flagName() string {
	if s.flag != "" {
		return s.flag
	}
	return strings.NewReplacer(".", "-", "_", "-").Replace(s.key)
}

// variable is the environment variable of a key.
func (s *setting) variable() string {
	return "FIREBREAK_" + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

// settings are all keys, in the order of the documentation, each bound to its
// place in c.
func (c *config) settings() []setting {
	return []setting{
		{key: "otlp.grpc", value: textValue{&c.OTLP.GRPC}, meaning: lang.T("take in OTLP over gRPC at this address; empty: not")},
		{key: "otlp.http", value: textValue{&c.OTLP.HTTP}, meaning: lang.T("take in OTLP over HTTP at this address; empty: not")},
		{key: "otlp.tls.cert_file", value: textValue{&c.OTLP.TLS.CertFile}, meaning: lang.T("certificate of the OTLP addresses, a PEM file; empty: no TLS")},
		{key: "otlp.tls.key_file", value: textValue{&c.OTLP.TLS.KeyFile}, meaning: lang.T("its key, a PEM file")},
		{key: "otlp.tls.client_ca_file", value: textValue{&c.OTLP.TLS.ClientCAFile}, meaning: lang.T("senders must have a certificate of this authority, a PEM file; empty: none is asked for")},
		{key: "otlp.token_file", value: textValue{&c.OTLP.TokenFile}, meaning: lang.T("senders must send the bearer token that stands in this file, which may change; empty: none is asked for")},
		{key: "otlp.max_bytes_in_flight", value: sizeValue{to: &c.OTLP.MaxBytesInFlight}, meaning: lang.T("bytes of requests that are being read, unpacked; what does not fit is refused and may be sent again")},
		{key: "otlp.max_connections", value: countValue{&c.OTLP.MaxConnections}, meaning: lang.T("connections of senders at once, by each transport; more wait to be accepted")},
		{key: "otlp.idle_timeout", value: durationValue{&c.OTLP.IdleTimeout}, meaning: lang.T("a request must have come whole, and a connection said something, within this time")},

		{key: "web.listen", flag: "web.listen-address", value: texts(&c.Web.Listen), meaning: lang.T("show metrics and reports at these addresses")},
		{key: "web.config_file", flag: "web.config.file", value: textValue{&c.Web.ConfigFile}, meaning: lang.T("TLS and passwords for metrics and reports: a web configuration file of Prometheus' exporters")},
		{key: "public", value: boolValue{&c.Public}, meaning: lang.T("allow addresses that others can reach")},

		{key: "logs", meaning: lang.T("log files to follow"), item: func() []setting {
			c.Logs = append(c.Logs, logsConfig{From: fromEnd})
			return c.Logs[len(c.Logs)-1].settings()
		}},
		{key: "dumps", meaning: lang.T("folders in which thread dumps are dropped"), item: func() []setting {
			c.Dumps = append(c.Dumps, dumpsConfig{})
			return c.Dumps[len(c.Dumps)-1].settings()
		}},
		{key: "scrape", meaning: lang.T("endpoints of the services that are asked now and then"), item: func() []setting {
			c.Scrape = append(c.Scrape, scrapeConfig{Every: 30 * time.Second, Timeout: 10 * time.Second, MaxSize: 64 << 20})
			return c.Scrape[len(c.Scrape)-1].settings()
		}},
		{key: "state_dir", value: textValue{&c.StateDir}, meaning: lang.T("folder that remembers how far files were read; empty: nothing is remembered")},

		{key: "incidents.dir", value: textValue{&c.Incidents.Dir}, meaning: lang.T("folder in which the evidence of incidents is kept; empty: it is not")},
		{key: "incidents.max_count", value: countValue{&c.Incidents.MaxCount}, meaning: lang.T("incidents that are kept at most; the oldest go first")},
		{key: "incidents.max_bytes", value: sizeValue{to: &c.Incidents.MaxBytes}, meaning: lang.T("bytes that they take together at most")},
		{key: "incidents.max_age", value: durationValue{&c.Incidents.MaxAge}, meaning: lang.T("how long they are kept at most")},

		{key: "limits.memory", flag: "memory-limit", value: sizeValue{to: &c.Limits.Memory, optional: true}, meaning: lang.T("memory of the process, from which the limits that are not given follow; 0: no limit")},
		{key: "limits.lateness", flag: "lateness", value: durationValue{&c.Limits.Lateness}, meaning: lang.T("a trace is counted when nothing of it has come for so long")},
		{key: "limits.max_age", flag: "max-age", value: durationValue{&c.Limits.MaxAge}, meaning: lang.T("or when it has gone on for so long")},
		{key: "limits.max_spans", flag: "max-spans", value: countValue{&c.Limits.MaxSpans}, meaning: lang.T("spans that wait for their traces to be done, about 150 bytes each; what does not fit is refused and may be sent again")},
		{key: "limits.max_edges", flag: "max-edges", value: countValue{&c.Limits.MaxEdges}, meaning: lang.T("pairs of caller and callee that are counted by name; the rest is counted together")},

		{key: "report.every", value: durationValue{&c.Report.Every}, meaning: lang.T("how often a report is made, if something came")},
		{key: "report.recent", flag: "recent", value: durationValue{&c.Report.Recent}, meaning: lang.T("how far back reports look")},
		{key: "report.max_records", flag: "max-recent", value: countValue{&c.Report.MaxRecords}, meaning: lang.T("spans and log findings that a report is made of; past it, of a share of the traces")},

		{key: "detect.hold", value: countValue{&c.Detect.Hold}, meaning: lang.T("reports in a row that must tell of an incident before it counts as one")},
		{key: "detect.clear", value: durationValue{&c.Detect.Clear}, meaning: lang.T("quiet time after which an incident is over")},

		{key: "runbooks", value: textValue{&c.Runbooks}, meaning: lang.T("folder of your own runbooks, which add to the built-in ones or override them by name")},

		{key: "telemetry.endpoint", value: textValue{&c.Telemetry.Endpoint}, meaning: lang.T("URL to which what serve tells of itself is sent by OTLP; empty: nowhere")},
		{key: "telemetry.traces", value: boolValue{&c.Telemetry.Traces}, meaning: lang.T("send traces of what it does")},
		{key: "telemetry.metrics", value: boolValue{&c.Telemetry.Metrics}, meaning: lang.T("send its metrics")},

		{key: "log.level", flag: "log.level", value: wordValue{&c.Log.Level, logLevels}, meaning: lang.T("debug, info, warn or error")},
		{key: "log.format", flag: "log.format", value: wordValue{&c.Log.Format, logFormats}, meaning: lang.T("logfmt or json")},
	}
}

var (
	logLevels  = []string{"debug", "info", "warn", "error"}
	logFormats = []string{"logfmt", "json"}
)

func (l *logsConfig) settings() []setting {
	return []setting{
		{key: "paths", value: texts(&l.Paths), meaning: lang.T("the files: names or patterns, also of files that are not there yet")},
		{key: "exclude", value: texts(&l.Exclude), meaning: lang.T("patterns of files to leave out")},
		{key: "service", value: textValue{&l.Service}, meaning: lang.T("the service that writes them, where they do not say so")},
		{key: "format", value: formatValue{&l.Format}, meaning: lang.T("a format of firebreak formats; empty: it is recognised")},
		{key: "access_format", value: accessValue{textValue{&l.AccessFormat}}, meaning: lang.T("the format of access logs, as the server's configuration has it")},
		{key: "from", value: wordValue{&l.From, []string{fromEnd, fromStart}}, meaning: lang.T("where a file begins that was there before serve was: end or start")},
	}
}

func (d *dumpsConfig) settings() []setting {
	return []setting{
		{key: "dir", value: textValue{&d.Dir}, meaning: lang.T("the folder")},
		{key: "patterns", value: texts(&d.Patterns), meaning: lang.T("patterns of names; empty: all files")},
		{key: "service", value: textValue{&d.Service}, meaning: lang.T("the service whose dumps they are, where they do not say so")},
	}
}

func (s *scrapeConfig) settings() []setting {
	return []setting{
		{key: "url", value: textValue{&s.URL}, meaning: lang.T("the URL")},
		{key: "kind", value: wordValue{&s.Kind, []string{scrapeGoroutines, scrapePrometheus}}, meaning: lang.T("goroutines (a pprof endpoint) or prometheus (metrics)")},
		{key: "service", value: textValue{&s.Service}, meaning: lang.T("the service that answers there")},
		{key: "every", value: durationValue{&s.Every}, meaning: lang.T("how often it is asked")},
		{key: "timeout", value: durationValue{&s.Timeout}, meaning: lang.T("how long it is waited for")},
		{key: "max_bytes", value: sizeValue{to: &s.MaxSize}, meaning: lang.T("a larger answer is not read")},
		{key: "token_file", value: textValue{&s.TokenFile}, meaning: lang.T("the bearer token that it asks for stands in this file, which may change")},
		{key: "username", value: textValue{&s.Username}, meaning: lang.T("or the name that it asks for")},
		{key: "password_file", value: textValue{&s.PasswordFile}, meaning: lang.T("and the password, in a file")},
		{key: "ca_file", value: textValue{&s.CAFile}, meaning: lang.T("authority of its certificate, a PEM file; empty: those that this machine trusts")},
		{key: "cert_file", value: textValue{&s.CertFile}, meaning: lang.T("certificate that is shown to it, a PEM file")},
		{key: "key_file", value: textValue{&s.KeyFile}, meaning: lang.T("its key, a PEM file")},
	}
}

// register makes a flag of each key that has one.
func (c *config) register(f *pflag.FlagSet) {
	for _, s := range c.settings() {
		if s.value == nil {
			continue
		}
		flag := f.VarPF(s.value, s.flagName(), "", s.meaning)
		if s.value.Type() == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
}

// configTable is the documentation's table of keys, in Markdown.
func configTable() string {
	var b strings.Builder
	b.WriteString("| Key | Flag | Environment | Default | Meaning |\n|---|---|---|---|---|\n")
	code := func(s string) string {
		if s == "" {
			return "–"
		}
		return "`" + s + "`"
	}
	for _, s := range defaultConfig().settings() {
		if s.item == nil {
			b.WriteString("| " + strings.Join([]string{code(s.key), code("--" + s.flagName()), code(s.variable()), code(s.value.String()), s.meaning}, " | ") + " |\n")
			continue
		}
		b.WriteString("| " + strings.Join([]string{code(s.key), "–", "–", "–", s.meaning + ": a list of"}, " | ") + " |\n")
		for _, k := range s.item() {
			b.WriteString("| " + strings.Join([]string{code(s.key + "[]." + k.key), "–", "–", code(k.value.String()), k.meaning}, " | ") + " |\n")
		}
	}
	return b.String()
}
