package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/tui"
)

// app is the world that the commands run in.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
	environ        func() []string
	now            func() time.Time
	analyse        analyser
	play           func(*tui.Model) (*tui.Model, error) // the screen, until it is left
	outTerminal    bool                                 // standard output is a terminal
	errTerminal    bool
	inTerminal     bool
	columns, rows  int  // of the terminal; 0 if there is none
	realSize       bool // the terminal said so itself
}

// analyser turns evidence into a report. With the end of the context it reports
// what was read until then, and partial is true.
type analyser func(ctx context.Context, q request, tell func(progress)) (report *incident.Report, partial bool, err error)

// request is what to read, and how.
type request struct {
	paths        []string
	stdin        io.Reader
	zone         *time.Location // of times that state none
	since, until time.Time
	access       string   // format of access logs; empty if none was given
	runbooks     string   // a team's own folder of runbooks; empty if none
	exclude      []string // never read: the report being written
	version      string
	drafts       bool // verdicts are wanted while reading goes on
}

// progress says how far reading has come, in bytes as they lie on disk.
type progress struct {
	bytes, total      int64
	files, filesTotal int
	current           string
	draft             *incident.Report // the verdict so far, if there is a new one
}

func newApp(analyse analyser) *app {
	a := &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		env: os.Getenv, environ: os.Environ, now: time.Now, analyse: analyse,
		outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		inTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
	}
	a.play = a.onTerminal
	if a.outTerminal {
		if w, h, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 {
			a.columns, a.rows, a.realSize = w, h, true
		}
	}
	if w, err := strconv.Atoi(a.env("COLUMNS")); err == nil && w > 0 {
		a.columns = w
		if a.rows == 0 {
			a.rows = 24
		}
	}
	if h, err := strconv.Atoi(a.env("LINES")); err == nil && h > 0 && !a.realSize {
		a.rows = h
	}
	return a
}

// run executes the command line and returns the exit code.
func (a *app) run(args []string) int {
	a.chooseLanguage(args)
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.Execute()
	var code exitCode
	switch {
	case err == nil:
		return exitAnalysed
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, syscall.EPIPE): // the reader has seen enough
		return exitAnalysed
	}
	complain(a.stderr, err)
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

// interruptible returns a context that the first Ctrl-C ends. From then on the
// signal has its usual effect, so that a second one quits at once.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
