package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/runbooks"
	"github.com/firebreak-io/firebreak/tui"
)

// screenOptions are the flags of the terminal screen.
type screenOptions struct {
	theme  string
	mouse  bool
	resume bool
}

func (o *screenOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.theme, "theme", "", lang.T("dark, light or contrast (default: by the terminal's background)"))
	f.BoolVar(&o.mouse, "mouse", false, lang.T("let the mouse choose and scroll; the terminal's own selection then needs Shift"))
	_ = cmd.RegisterFlagCompletionFunc("theme", cobra.FixedCompletions(themes, cobra.ShellCompDirectiveNoFileComp))
}

var themes = []string{"dark", "light", "contrast"}

// triageCommand is the default command: the screen, or away from a terminal the
// report.
func (a *app) triageCommand() *cobra.Command {
	var o reportOptions
	var s screenOptions
	cmd := &cobra.Command{
		Use:   "triage PATH...",
		Short: lang.T("Walk the evidence on a screen: verdict, runbook, calls, pools, SQL (the default command)"),
		Long: lang.T(`Opens a screen on the evidence: the verdict with its causal chain, the runbook to
walk, calls, pools, threads, SQL, routes and a timeline; every number opens the
line it came from. Away from a terminal, and with --format or -o, it is report.

Answers, notes and bookmarks are kept when it ends: --resume goes on with them.`),
		Example: `  firebreak triage logs/
  firebreak triage --resume
  firebreak triage scene.tar.zst --theme light --mouse`,
		Args: func(cmd *cobra.Command, args []string) error {
			if s.resume {
				return nil
			}
			return needPaths(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.triage(cmd, args, o, s) },
	}
	o.register(cmd)
	s.register(cmd)
	cmd.Flags().BoolVar(&s.resume, "resume", false, lang.T("go on with the case of these paths, or with the last one if none are given"))
	return cmd
}

// triage opens the screen where there is one.
func (a *app) triage(cmd *cobra.Command, paths []string, o reportOptions, s screenOptions) error {
	if len(paths) == 0 && !a.screen() {
		return usagef("firebreak report PATH", "--resume needs a terminal")
	}
	if !s.resume {
		return a.open(cmd, paths, o, s, func(*tui.Config) {})
	}
	last, err := a.cases().find(paths)
	if err != nil {
		return failed(err, "firebreak triage PATH")
	}
	if len(paths) == 0 {
		paths = last.Paths
	}
	return a.open(cmd, paths, o, s, func(cfg *tui.Config) { cfg.Case = &last.Case })
}

// open opens the screen on some paths; away from a terminal it writes the report.
func (a *app) open(cmd *cobra.Command, paths []string, o reportOptions, s screenOptions, change func(*tui.Config)) error {
	if s.theme != "" && !slices.Contains(themes, s.theme) {
		return usagef(lang.T("--theme dark, light or contrast"), "--theme %q is none of them", s.theme)
	}
	if !a.screen() || o.output != "" || len(o.formats) > 0 {
		return a.report(cmd, paths, o)
	}
	q, err := a.request(cmd, paths, o)
	if err != nil {
		return err
	}
	books, err := runbooks.Load(o.runbooks)
	if err != nil {
		return failed(lang.Errorf("--runbooks %s:\n%w", o.runbooks, err), "docs/runbooks.md says what a runbook may hold")
	}
	q.drafts = true
	source := &fileSource{app: a, q: q, books: books}
	defer source.close()
	cfg := tui.Config{
		Source: source, Zone: q.zone, Theme: s.theme, Mouse: s.mouse, ASCII: o.ascii, Tmux: a.env("TMUX") != "",
		Name: strings.Join(paths, " "), Window: incident.Window{From: q.since, To: q.until},
		Host: tui.Host{
			Export: a.exporter(q, o), Copy: a.cases().copied, Open: a.opener(),
			Save: func(c *tui.Case) error { return a.cases().save(paths, c) },
		},
	}
	change(&cfg)
	return a.show(cfg)
}

// show runs the screen until it is left.
func (a *app) show(cfg tui.Config) error {
	end, err := a.play(tui.New(cfg))
	if err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return err
	}
	if err := end.Failure(); err != nil {
		return err
	}
	if r := end.Report(); r != nil && len(r.Incidents) > 0 {
		in := r.Incidents[0]
		part := ""
		if end.Partial() {
			part = " " + lang.T("(only part of the evidence was read)")
		}
		fmt.Fprintf(a.stdout, "%s (%s): %s%s\n", lang.Word(string(in.Label)), lang.Word(string(in.Certainty)), in.Headline, part)
	}
	return nil
}

// onTerminal plays a model on the terminal and returns it as it was left.
func (a *app) onTerminal(m *tui.Model) (*tui.Model, error) {
	options := []tea.ProgramOption{tea.WithoutSignalHandler()}
	if a.columns > 0 && a.rows > 0 && !a.realSize {
		options = append(options, tea.WithWindowSize(a.columns, a.rows))
	}
	if !a.inTerminal {
		in, _, err := tea.OpenTTY()
		if err != nil {
			return m, failed(lang.Errorf("open the terminal: %w", err), lang.T("firebreak report, which needs none"))
		}
		defer func() { _ = in.Close() }()
		options = append(options, tea.WithInput(in))
	}
	program := tea.NewProgram(m, options...)
	asked, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	done := context.AfterFunc(asked, func() { // the terminal is given back as it was, and the case is kept
		stop()
		program.Send(tui.Leave{})
	})
	defer done()
	if _, err := program.Run(); err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return m, lang.Errorf("the screen: %w", err)
	}
	return m, nil
}

// screen reports whether there is a terminal to draw on.
func (a *app) screen() bool {
	return a.outTerminal && a.env("TERM") != "dumb"
}

// fileSource makes reports of saved evidence.
type fileSource struct {
	app   *app
	q     request
	books *runbooks.Library
	spool *os.File // what came through standard input, to be read again
}

// Read implements tui.Source.
func (f *fileSource) Read(ctx context.Context, w incident.Window, tell func(tui.Progress)) (tui.Reading, error) {
	q := f.q
	q.since, q.until = w.From, w.To
	if slices.Contains(q.paths, "-") {
		r, err := f.standardInput()
		if err != nil {
			return tui.Reading{}, err
		}
		q.stdin = r
	}
	r, partial, err := f.app.analyse(ctx, q, func(p progress) {
		tell(tui.Progress{
			Bytes: p.bytes, Total: p.total, Files: p.files, FilesTotal: p.filesTotal, Current: p.current, Draft: p.draft,
		})
	})
	return tui.Reading{Report: r, Books: f.books, Partial: partial}, err
}

// standardInput returns what comes through standard input: at first as it
// comes, kept beside in a file that is gone with the program; then from there.
func (f *fileSource) standardInput() (io.Reader, error) {
	if f.spool != nil {
		_, err := f.spool.Seek(0, io.SeekStart)
		return f.spool, err
	}
	spool, err := os.CreateTemp("", "firebreak-stdin-")
	if err != nil {
		return nil, failed(lang.Errorf("keep what comes through standard input: %w", err), "TMPDIR=/a/folder/with/room firebreak triage -")
	}
	_ = os.Remove(spool.Name()) // where a file that is open can be removed, nothing is ever left behind
	f.spool = spool
	return io.TeeReader(f.q.stdin, spool), nil
}

func (f *fileSource) close() {
	if f.spool != nil {
		_ = f.spool.Close()
		_ = os.Remove(f.spool.Name())
	}
}

// Lines of an excerpt before and after the one that is cited.
const (
	linesBefore = 400
	linesAfter  = 1600
)

// Excerpt implements tui.Source.
func (f *fileSource) Excerpt(ctx context.Context, c evidence.Citation) (tui.Excerpt, error) {
	o := collector.Options{Zone: f.q.zone}
	if f.spool != nil {
		if _, err := f.spool.Seek(0, io.SeekStart); err == nil {
			o.Stdin = f.spool
		}
	}
	t, err := collector.Excerpt(ctx, f.q.paths, o, c, linesBefore, linesAfter)
	if err != nil {
		return tui.Excerpt{}, err
	}
	return tui.Excerpt{Source: c.Source, First: t.First, At: c.Line, Lines: t.Lines, More: t.More, Path: t.Path}, nil
}

// exporter writes reports into the working folder, each under a name that is
// not taken yet.
func (a *app) exporter(q request, o reportOptions) func(*incident.Report, string) (string, error) {
	return func(r *incident.Report, name string) (string, error) {
		i := slices.IndexFunc(forms, func(f form) bool { return f.name == name })
		if i < 0 {
			return "", lang.Errorf("%s is not written by this build", name)
		}
		copied := *r
		generated, err := a.generatedAt(o.generatedAt)
		if err != nil {
			return "", err
		}
		copied.GeneratedAt = generated
		label := "report"
		if len(r.Incidents) > 0 {
			label = string(r.Incidents[0].Label)
		}
		base := "firebreak-" + generated.In(q.zone).Format("2006-01-02T15-04") + "-" + label
		path := base + forms[i].ext
		for n := 2; ; n++ {
			if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
				break
			}
			path = fmt.Sprintf("%s-%d%s", base, n, forms[i].ext)
		}
		t := target{form: forms[i], path: path, redact: forms[i].private}
		err = a.write(&copied, outputs{targets: []target{t}, text: incident.TextOptions{ASCII: o.ascii, Width: 100}}, q.zone)
		return path, err
	}
}
