package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/exporter"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/runbooks"
	"github.com/firebreak-io/firebreak/tui"
)

// attachOptions are the flags of attach, besides those of the screen.
type attachOptions struct {
	zone, runbooks string
	ascii          bool
}

func (a *app) attachCommand() *cobra.Command {
	var o attachOptions
	var s screenOptions
	cmd := &cobra.Command{
		Use:   "attach URL",
		Short: lang.T("Show on the screen what a running firebreak serve sees"),
		Long: lang.T(`Opens the screen on a firebreak serve that runs elsewhere and follows it: a new
report takes the place of the old one, Space holds the screen still and lets it go
on. A lost connection is tried again. Away from a terminal it writes the last
report once. Passwords may stand in the URL.`),
		Example: lang.T(`  firebreak attach localhost:9464
  kubectl port-forward deploy/firebreak 9464 & firebreak attach localhost:9464
  firebreak attach https://reader:secret@firebreak.example`),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("firebreak attach localhost:9464", "attach takes one URL")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.attach(cmd, args[0], o, s) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.zone, "tz", "", lang.T("zone of times that state none, and of times shown: Asia/Shanghai, +08:00, Local (default UTC)"))
	f.StringVar(&o.runbooks, "runbooks", "", lang.T("folder of your own runbooks, which add to the built-in ones or override them by name"))
	f.BoolVar(&o.ascii, "ascii", false, lang.T("draw with ASCII only"))
	s.register(cmd)
	return cmd
}

func (a *app) attach(cmd *cobra.Command, address string, o attachOptions, s screenOptions) error {
	if s.theme != "" && !slices.Contains(themes, s.theme) {
		return usagef("--theme dark, light or contrast", "--theme %q is none of them", s.theme)
	}
	books, err := ownRunbooks(o.runbooks)
	if err != nil {
		return err
	}
	source, err := newRemote(address, books)
	if err != nil {
		return err
	}
	q, err := a.request(cmd, nil, reportOptions{zone: o.zone})
	if err != nil {
		return err
	}
	if !a.screen() {
		ctx, stop := interruptible()
		defer stop()
		r, err := source.Next(ctx, 0)
		var foreign *foreignError
		switch {
		case errors.As(err, &foreign):
			return failed(err, "firebreak attach localhost:9464")
		case err != nil:
			return failed(err, "firebreak serve")
		}
		return incident.WriteText(a.stdout, r.Report, incident.TextOptions{ASCII: o.ascii, Width: 100, Zone: q.zone})
	}
	return a.show(tui.Config{
		Source: source, Zone: q.zone, Theme: s.theme, Mouse: s.mouse, ASCII: o.ascii, Tmux: a.env("TMUX") != "", Name: source.name(),
		Host: tui.Host{Export: a.exporter(q, reportOptions{ascii: o.ascii}), Copy: a.cases().copied, Open: a.opener()},
	})
}

// remote is a firebreak serve somewhere else.
type remote struct {
	base   *url.URL
	client *http.Client
	books  *runbooks.Library
}

// maxReport bounds what a server may send.
const maxReport = 64 << 20

func newRemote(address string, books *runbooks.Library) (*remote, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, usagef("firebreak attach localhost:9464", "%q is no address of a firebreak serve", address)
	}
	// The server answers a request for the next report within 25 s.
	return &remote{base: base, client: &http.Client{Timeout: time.Minute}, books: books}, nil
}

// name is the address without a password.
func (r *remote) name() string { return r.base.Redacted() }

// Next implements tui.Follower.
func (r *remote) Next(ctx context.Context, after uint64) (tui.Reading, error) {
	for {
		reading, some, err := r.ask(ctx, after)
		var foreign *foreignError
		switch {
		case errors.As(err, &foreign):
			return tui.Reading{}, err
		case err != nil:
			return tui.Reading{}, lang.Errorf("%s does not answer: %w", r.name(), err)
		}
		if some {
			return reading, nil
		}
	}
}

// at is the URL of a path at the server, without what it is asked with.
func (r *remote) at(path string) string {
	at := r.base.JoinPath(path)
	at.User, at.RawQuery, at.Fragment = nil, "", ""
	return at.String()
}

// ask asks once; false if there was no news.
func (r *remote) ask(ctx context.Context, after uint64) (tui.Reading, bool, error) {
	at := r.base.JoinPath(exporter.ReportPath)
	at.RawQuery = url.Values{"after": {strconv.FormatUint(after, 10)}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return tui.Reading{}, false, err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) { // it repeats the address
			err = wrapped.Err
		}
		return tui.Reading{}, false, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusNoContent:
		return tui.Reading{}, false, nil
	case http.StatusOK:
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusBadRequest:
		return tui.Reading{}, false, r.foreign(resp.StatusCode)
	default:
		return tui.Reading{}, false, fmt.Errorf("HTTP %s", resp.Status)
	}
	revision, err := strconv.ParseUint(resp.Header.Get(exporter.RevisionHeader), 10, 64)
	if err != nil {
		return tui.Reading{}, false, r.foreign(resp.StatusCode)
	}
	report, err := incident.ReadJSON(io.LimitReader(resp.Body, maxReport))
	if err != nil {
		return tui.Reading{}, false, err
	}
	for i := range report.OpenIncidents {
		if o := &report.OpenIncidents[i]; strings.HasPrefix(o.Bundle, "/") {
			o.Bundle = r.at(o.Bundle)
		}
	}
	return tui.Reading{Report: report, Books: r.books, Revision: revision}, true, nil
}

// foreignError is that somebody else answers at the address.
type foreignError struct{ error }

func (r *remote) foreign(status int) error {
	return &foreignError{lang.Errorf("%s is no firebreak serve: it answers HTTP %d; is this firebreak's web address, by default :9464?", r.name(), status)}
}

// Read implements tui.Source: the last report, whatever the window.
func (r *remote) Read(ctx context.Context, _ incident.Window, _ func(tui.Progress)) (tui.Reading, error) {
	return r.Next(ctx, 0)
}

// Excerpt implements tui.Source: what was sent is not kept as it was.
func (r *remote) Excerpt(context.Context, evidence.Citation) (tui.Excerpt, error) {
	return tui.Excerpt{}, errors.New(lang.T("it was sent to firebreak serve, which keeps no originals: look for the trace where your traces are kept"))
}
