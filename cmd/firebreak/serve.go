package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	collectors "github.com/prometheus/client_golang/prometheus/collectors"
	build "github.com/prometheus/client_golang/prometheus/collectors/version"
	buildinfo "github.com/prometheus/common/version"
	"github.com/prometheus/exporter-toolkit/web"
	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/collector/otlp"
	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/exporter"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
	"github.com/firebreak-io/firebreak/runbooks"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	grpc, http string
	listen     []string
	webConfig  string
	public     bool

	lateness, maxAge    time.Duration
	maxSpans, maxEdges  int
	every, recent       time.Duration
	maxRecent           int
	runbooks            string
	logLevel, logFormat string
}

func (a *app) serveCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: lang.T("Take in traces as they come, count them for Prometheus, and say what burns"),
		Long: lang.T(`Runs beside the fleet: takes in traces and logs as OpenTelemetry sends them,
counts logical calls and attempts exactly in bounded memory, shows the counters at
/metrics and every few seconds a report of the last minutes at /api/v1/report,
which firebreak attach shows on the screen.

It listens on this machine only, unless --public is given with other addresses;
--web.config.file then brings TLS and passwords. Ctrl-C and SIGTERM stop it: what
was taken in is counted first.`),
		Example: lang.T(`  firebreak serve
  firebreak serve --otlp-grpc 0.0.0.0:4317 --otlp-http '' --public
  firebreak attach localhost:9464`),
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := interruptible()
			defer stop()
			return a.serve(ctx, o, func(served) {})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.grpc, "otlp-grpc", "localhost:4317", lang.T("take in OTLP over gRPC at this address; empty: not"))
	f.StringVar(&o.http, "otlp-http", "localhost:4318", lang.T("take in OTLP over HTTP at this address; empty: not"))
	f.StringSliceVar(&o.listen, "web.listen-address", []string{"localhost:9464"}, lang.T("show metrics and reports at these addresses"))
	f.StringVar(&o.webConfig, "web.config.file", "", lang.T("TLS and passwords for metrics and reports: a web configuration file of Prometheus' exporters"))
	f.BoolVar(&o.public, "public", false, lang.T("allow addresses that others can reach"))
	f.DurationVar(&o.lateness, "lateness", 10*time.Second, lang.T("a trace is counted when nothing of it has come for so long"))
	f.DurationVar(&o.maxAge, "max-age", time.Minute, lang.T("or when it has gone on for so long"))
	f.IntVar(&o.maxSpans, "max-spans", 1_000_000, lang.T("spans that wait for their traces to be done, about 150 bytes each; what does not fit is refused and may be sent again"))
	f.IntVar(&o.maxEdges, "max-edges", 2_000, lang.T("pairs of caller and callee that are counted by name; the rest is counted together"))
	f.DurationVar(&o.every, "report-every", 10*time.Second, lang.T("how often a report is made, if something came"))
	f.DurationVar(&o.recent, "recent", 5*time.Minute, lang.T("how far back reports look"))
	f.IntVar(&o.maxRecent, "max-recent", 100_000, lang.T("spans and log findings that a report is made of; past it, of a share of the traces"))
	f.StringVar(&o.runbooks, "runbooks", "", lang.T("folder of your own runbooks, which add to the built-in ones or override them by name"))
	f.StringVar(&o.logLevel, "log.level", "info", lang.T("debug, info, warn or error"))
	f.StringVar(&o.logFormat, "log.format", "logfmt", lang.T("logfmt or json"))
	_ = cmd.RegisterFlagCompletionFunc("log.level", cobra.FixedCompletions([]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("log.format", cobra.FixedCompletions([]string{"logfmt", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// check refuses what makes no sense, and addresses that others can reach.
func (o *serveOptions) check() error {
	if o.grpc == "" && o.http == "" {
		return usagef("firebreak serve", "nothing would come in: --otlp-grpc and --otlp-http are both empty")
	}
	if o.lateness <= 0 || o.maxAge < o.lateness || o.every <= 0 || o.recent <= 0 || o.maxSpans <= 0 || o.maxEdges <= 0 || o.maxRecent <= 0 {
		return usagef("firebreak serve", "times and limits must be above zero, and --max-age not below --lateness")
	}
	for _, addr := range append([]string{o.grpc, o.http}, o.listen...) {
		if addr == "" {
			continue
		}
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return usagef("firebreak serve --web.listen-address localhost:9464", "%q is no address: host:port", addr)
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && !o.public {
			return usagef("firebreak serve --public", "others can reach %s: say so with --public", addr)
		}
	}
	return nil
}

// served is a server that runs: where it listens, and its engine.
type served struct {
	web    []string
	engine *live.Engine
}

// serve runs until the context ends; started hears that it takes in spans.
func (a *app) serve(ctx context.Context, o serveOptions, started func(served)) error {
	if err := o.check(); err != nil {
		return err
	}
	logger, err := a.logger(o.logLevel, o.logFormat)
	if err != nil {
		return err
	}
	books, err := runbooks.Load(o.runbooks)
	if err != nil {
		return failed(lang.Errorf("--runbooks %s:\n%w", o.runbooks, err), lang.T("docs/runbooks.md says what a runbook may hold"))
	}
	engine := live.New(live.Config{
		Lateness: o.lateness, MaxAge: o.maxAge, MaxSpans: o.maxSpans, MaxEdges: o.maxEdges, Recent: o.recent, MaxRecent: o.maxRecent,
		Version: version(), Fingerprint: parsers.Fingerprint, Conclude: books.Apply, Now: a.now,
		Failed: func(what string, err error) { logger.Error("failed", "what", what, "err", err) },
	})
	server := exporter.NewServer(engine, version())
	buildinfo.Version = version()
	server.Registry.MustRegister(build.NewCollector("firebreak"), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	page, err := startWeb(o, server, logger)
	if err != nil {
		return failed(err, "firebreak serve --web.listen-address localhost:0")
	}
	broken := make(chan error, 4)
	receiver, err := otlp.Start(ctx, otlp.Config{
		GRPC: o.grpc, HTTP: o.http, Logger: logger,
		Skipped: func(why string) { logger.Debug("not read", "why", why) },
		Failed: func(err error) {
			select {
			case broken <- err:
			default:
			}
		},
	}, engine)
	if err != nil {
		return errors.Join(failed(lang.Errorf("take in traces: %w", err), "firebreak serve --otlp-grpc localhost:0 --otlp-http ''"), page.close())
	}
	server.SetReady(true)
	logger.Info("listening", "grpc", o.grpc, "http", o.http, "web", fmt.Sprint(page.addresses()))
	started(served{page.addresses(), engine})

	err = run(ctx, engine, o.every, broken, page.failed)
	server.SetReady(false)
	// Shutdown must end even if a sender never does.
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err = errors.Join(err, receiver.Shutdown(leave))
	engine.Flush()
	engine.Publish()
	s := engine.Snapshot()
	logger.Info("stopped", "edges", len(s.Edges), "traces", s.Finalized[live.Shutdown])
	server.Leave()
	return errors.Join(err, page.close())
}

// run counts and reports until the context ends or something breaks.
func run(ctx context.Context, engine *live.Engine, every time.Duration, broken, web <-chan error) error {
	advance := time.NewTicker(time.Second)
	defer advance.Stop()
	// Making a report takes time; spans are counted meanwhile.
	done := make(chan struct{})
	inner, cancel := context.WithCancel(ctx)
	go func() {
		defer close(done)
		publish := time.NewTicker(every)
		defer publish.Stop()
		for {
			select {
			case <-inner.Done():
				return
			case <-publish.C:
				engine.Publish()
			}
		}
	}()
	defer func() { cancel(); <-done }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-broken:
			return lang.Errorf("take in traces: %w", err)
		case err := <-web:
			return lang.Errorf("show metrics and reports: %w", err)
		case <-advance.C:
			engine.Advance()
		}
	}
}

// webPage is what is shown over HTTP.
type webPage struct {
	server    *http.Server
	listeners []net.Listener
	failed    chan error
}

func startWeb(o serveOptions, s *exporter.Server, logger *slog.Logger) (*webPage, error) {
	handler, err := s.Handler()
	if err != nil {
		return nil, err
	}
	p := &webPage{
		// A long poll is answered within half a minute.
		server: &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10},
		failed: make(chan error, 1),
	}
	for _, addr := range o.listen {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return nil, errors.Join(lang.Errorf("show metrics and reports: %w", err), p.close())
		}
		p.listeners = append(p.listeners, l)
	}
	socket := false
	flags := &web.FlagConfig{WebListenAddresses: &o.listen, WebSystemdSocket: &socket, WebConfigFile: &o.webConfig}
	if err := web.Validate(o.webConfig); err != nil {
		return nil, errors.Join(lang.Errorf("--web.config.file: %w", err), p.close())
	}
	go func() {
		if err := web.ServeMultiple(p.listeners, p.server, flags, logger); err != nil && !errors.Is(err, http.ErrServerClosed) {
			p.failed <- err
		}
	}()
	return p, nil
}

func (p *webPage) addresses() []string {
	var list []string
	for _, l := range p.listeners {
		list = append(list, l.Addr().String())
	}
	return list
}

// close ends what is under way, and gives it a moment.
func (p *webPage) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := p.server.Shutdown(ctx)
	for _, l := range p.listeners { // those that were never served from
		_ = l.Close()
	}
	return err
}
