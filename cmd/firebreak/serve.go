package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	collectors "github.com/prometheus/client_golang/prometheus/collectors"
	build "github.com/prometheus/client_golang/prometheus/collectors/version"
	buildinfo "github.com/prometheus/common/version"
	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/collector/otlp"
	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/exporter"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
	"github.com/firebreak-io/firebreak/runbooks"
)

func (a *app) serveCommand() *cobra.Command {
	var file string
	var check bool
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
  firebreak serve --config firebreak.yaml
  firebreak serve --otlp-grpc 0.0.0.0:4317 --otlp-http '' --public
  firebreak attach localhost:9464`),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				file = a.env("FIREBREAK_CONFIG")
			}
			c, err := readConfig(configOrigins{file: file, env: a.env, environ: a.environ, flags: cmd.Flags(), checking: check})
			if err != nil {
				return err
			}
			if check {
				if _, err := ownRunbooks(c.Runbooks); err != nil {
					return err
				}
				_, err := io.WriteString(cmd.OutOrStdout(), c.said())
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			return a.serve(ctx, c, func(served) {})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&file, "config", "", lang.T("the configuration, a YAML file; flags and FIREBREAK_ variables go before it"))
	f.BoolVar(&check, "check", false, lang.T("only read the configuration and say what it comes to"))
	defaultConfig().register(f)
	_ = cmd.RegisterFlagCompletionFunc("log.level", cobra.FixedCompletions(logLevels, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("log.format", cobra.FixedCompletions(logFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// served is a server that runs: where it listens, and its engine.
type served struct {
	web    []string
	engine *live.Engine
}

// serve runs until the context ends; started hears that it takes in spans.
func (a *app) serve(ctx context.Context, c *config, started func(served)) error {
	logger, err := a.logger(c.Log.Level, c.Log.Format)
	if err != nil {
		return err
	}
	books, err := ownRunbooks(c.Runbooks)
	if err != nil {
		return err
	}
	release, err := lockFolders(c)
	if err != nil {
		return err
	}
	defer release()
	told, err := startTelemetry(ctx, c.Telemetry, logger)
	if err != nil {
		return failed(lang.Errorf("telemetry: %w", err), "firebreak serve --check")
	}
	defer func() { _ = told.Close(context.WithoutCancel(ctx)) }() // where the end did not come to it
	incidents, err := startBundles(c, told.tracer, logger, a.now)
	if err != nil {
		return err
	}
	engine := live.New(live.Config{
		Lateness: c.Limits.Lateness, MaxAge: c.Limits.MaxAge, MaxSpans: c.Limits.MaxSpans, MaxEdges: c.Limits.MaxEdges,
		Recent: c.Report.Recent, MaxRecent: c.Report.MaxRecords, MaxRecentBytes: int(c.RecentBytes), MaxRawBytes: int(c.RawBytes),
		Version: version(), Fingerprint: parsers.Fingerprint, Conclude: books.Apply, Observed: incidents.observe, Now: a.now,
		Failed: func(what string, err error) { logger.Error("failed", "what", what, "err", err) },
		Tracer: told.tracer,
	})
	incidents.begin(ctx, engine)
	defer func() { incidents.end() }()
	server := exporter.NewServer(engine, version())
	server.Incidents, server.Stats.Noticed, server.Stats.Bundles = incidents, incidents.counted, incidents.stats()
	buildinfo.Version = version()
	server.Registry.MustRegister(build.NewCollector("firebreak"), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	var taking atomic.Pointer[otlp.Receiver]
	server.Stats.Requests = func() live.RequestStats { return requestStats(taking.Load()) }
	if err := told.send(ctx, server.Registry); err != nil {
		return failed(lang.Errorf("telemetry: %w", err), "firebreak serve --check")
	}
	sources, err := startSources(ctx, c, engine, logger, a.now)
	if err != nil {
		return err
	}
	defer func() { _ = sources.Close(ctx) }() // again, where it was not before
	server.Stats.Sources = sources.stats
	page, err := startWeb(c.Web, server, logger)
	if err != nil {
		return failed(err, elsewhere(err))
	}
	broken := make(chan error, 4)
	receiver, err := startOTLP(ctx, c.OTLP, limitMemory(c.Limits.Memory), engine, told.tracer, logger, broken)
	if err != nil {
		return errors.Join(failed(lang.Errorf("take in traces: %w", err), elsewhere(err)), page.close())
	}
	taking.Store(receiver)
	server.SetReady(true)
	logger.Info("listening", "grpc", receiver.Address(otlp.GRPC), "http", receiver.Address(otlp.HTTP), "web", fmt.Sprint(page.addresses()))
	started(served{page.addresses(), engine})

	err = run(ctx, engine, c.Report.Every, broken, page.failed)
	server.SetReady(false)
	// Shutdown must end even if a sender never does.
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err = errors.Join(err, receiver.Shutdown(leave), sources.Close(leave))
	engine.Flush()
	engine.Publish()
	s := engine.Snapshot()
	logger.Info("stopped", "edges", len(s.Edges), "traces", s.Finalized[live.Shutdown])
	if err := told.Close(leave); err != nil {
		logger.Warn("failed", "what", "telemetry", "err", err)
	}
	server.Leave()
	return errors.Join(err, page.close())
}

// ownRunbooks are the built-in runbooks and those of a folder.
func ownRunbooks(dir string) (*runbooks.Library, error) {
	books, err := runbooks.Load(dir)
	if err != nil {
		return nil, failed(lang.Errorf("--runbooks %s:\n%w", dir, err), lang.T("docs/runbooks.md says what a runbook may hold"))
	}
	return books, nil
}

// elsewhere is what to type next when serve could not begin to listen: where the
// address is taken, any that is free.
func elsewhere(err error) string {
	if errors.Is(err, syscall.EADDRINUSE) {
		return "firebreak serve --otlp-grpc localhost:0 --otlp-http localhost:0 --web.listen-address localhost:0"
	}
	return "firebreak serve --check"
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
