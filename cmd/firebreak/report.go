package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
)

// reportOptions are the flags of every command that makes a report.
type reportOptions struct {
	formats     []string
	output      string
	exitCode    bool
	redact      bool
	zone        string
	since       string
	until       string
	runbooks    string
	access      string
	color       string
	ascii       bool
	quiet       bool
	generatedAt string
}

func (o *reportOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVar(&o.formats, "format", nil, lang.T("forms of the report: text, json, markdown, html; several with -o (default: by the name given to -o, else text)"))
	f.StringVarP(&o.output, "output", "o", "", lang.T("write the report to this file; with several forms, .txt, .json, .md and .html are added"))
	f.BoolVar(&o.exitCode, "exit-code", false, lang.T("exit 10 if an incident was labelled, 11 if the evidence cannot tell, 0 if healthy"))
	f.BoolVar(&o.redact, "redact", false, lang.T("replace addresses, secrets, people and SQL literals by pseudonyms (default: true for markdown and html)"))
	f.StringVar(&o.zone, "tz", "", lang.T("zone of times that state none, and of times shown: Asia/Shanghai, +08:00, Local (default UTC)"))
	f.StringVar(&o.since, "since", "", lang.T("leave out what happened before: a time, or how long ago (\"90m\")"))
	f.StringVar(&o.until, "until", "", lang.T("leave out what happened after"))
	f.StringVar(&o.access, "access-format", "", lang.T("layout of access logs that are not understood by themselves: nginx's log_format or httpd's LogFormat"))
	f.StringVar(&o.runbooks, "runbooks", "", lang.T("folder of your own runbooks, which add to the built-in ones or override them by name"))
	f.StringVar(&o.color, "color", "auto", lang.T("auto, always or never; auto heeds NO_COLOR"))
	f.BoolVar(&o.ascii, "ascii", false, lang.T("draw with ASCII only"))
	f.BoolVarP(&o.quiet, "quiet", "q", false, lang.T("no progress on standard error"))
	f.StringVar(&o.generatedAt, "generated-at", "", lang.T("time to stand in the report (default: now, or SOURCE_DATE_EPOCH)"))
	_ = f.MarkHidden("generated-at")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
}

func (a *app) reportCommand() *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report PATH...",
		Short: lang.T("Write the verdict as text, JSON, Markdown or HTML"),
		Long: lang.T(`Reads the evidence and writes the verdict. Exit codes: 0 analysed; 1 nothing
could be read, or the report not be written; 2 the command line makes no sense.
With --exit-code also 10 when an incident was labelled and 11 when the evidence
cannot tell. Ctrl-C reports what was read until then; once more quits.`),
		Example: lang.T(`  firebreak report logs/ --format json | jq -r '.incidents[].headline'
  firebreak report logs/ --format text,json,markdown -o incident
  firebreak report logs/ -o incident.html
  firebreak report scene.tar.zst --since '2026-03-14 10:00' --tz Asia/Shanghai`),
		Args: needPaths,
		RunE: func(cmd *cobra.Command, args []string) error { return a.report(cmd, args, o) },
	}
	o.register(cmd)
	return cmd
}

func needPaths(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef(cmd.CommandPath()+" logs/    "+lang.T("(or - for standard input)"), "%s needs a file, a folder or an archive", cmd.CommandPath())
	}
	return nil
}

// report reads the evidence and writes the report.
func (a *app) report(cmd *cobra.Command, paths []string, o reportOptions) error {
	plan, err := a.plan(cmd, o)
	if err != nil {
		return err
	}
	q, err := a.request(cmd, paths, o)
	if err != nil {
		return err
	}
	q.exclude = plan.files()
	generated, err := a.generatedAt(o.generatedAt)
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	bar := a.progressBar(o.quiet)
	report, partial, err := a.analyse(ctx, q, bar.tell)
	bar.clear()
	if err != nil {
		return err
	}
	if partial {
		fmt.Fprintln(a.stderr, lang.T("firebreak: interrupted; the report covers what was read until then"))
	}
	report.GeneratedAt = generated
	if err := a.write(report, plan, q.zone); err != nil {
		return err
	}
	if o.exitCode {
		return verdictCode(report)
	}
	return nil
}

// request reads the flags that say what is read, and how.
func (a *app) request(cmd *cobra.Command, paths []string, o reportOptions) (request, error) {
	q := request{paths: paths, stdin: a.stdin, runbooks: o.runbooks, version: version()}
	var err error
	if q.zone, err = parseZone(o.zone); err != nil {
		return q, err
	}
	if o.access != "" {
		if err := parsers.CheckAccessFormat(o.access); err != nil {
			return q, usagef(`--access-format '$remote_addr [$time_local] "$request" $status $request_time'`, "--access-format: %v", err)
		}
		q.access = o.access
	}
	if q.since, err = a.parseTime("since", o.since, q.zone); err != nil {
		return q, err
	}
	if q.until, err = a.parseTime("until", o.until, q.zone); err != nil {
		return q, err
	}
	if !q.since.IsZero() && !q.until.IsZero() && q.until.Before(q.since) {
		return q, usagef(lang.T("exchange them"), "--until %s is before --since %s", o.until, o.since)
	}
	return q, a.checkPaths(cmd, paths, o.runbooks)
}

// verdictCode turns a report into what scripts branch on.
func verdictCode(r *incident.Report) error {
	code := exitAnalysed
	if len(r.Incidents) == 0 {
		code = exitInconclusive
	}
	for _, in := range r.Incidents {
		switch in.Label {
		case incident.Healthy:
		case incident.Inconclusive:
			if code == exitAnalysed {
				code = exitInconclusive
			}
		default:
			code = exitIncident
		}
	}
	if code == exitAnalysed {
		return nil
	}
	return exitCode(code)
}

// parseZone reads a zone's name or its offset.
func parseZone(s string) (*time.Location, error) {
	if s == "" {
		return time.UTC, nil
	}
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(layout, s); err == nil {
			_, offset := t.Zone()
			return time.FixedZone(s, offset), nil
		}
	}
	zone, err := time.LoadLocation(s)
	if err != nil {
		return nil, usagef(lang.T("--tz Asia/Shanghai, --tz +08:00, --tz UTC or --tz Local"), "--tz %s: no such zone", s)
	}
	return zone, nil
}

var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02",
}

// parseTime reads a point in time, or how long ago it was.
func (a *app) parseTime(flag, s string, zone *time.Location) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(s); err == nil && ago >= 0 {
		return a.now().Add(-ago), nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if _, err := time.Parse(layout, s); err == nil {
			return time.Time{}, usagef(lang.Sprintf("--%s 'YYYY-MM-DD %s', with the day of the incident", flag, s), "--%s %s needs its date: the evidence may span several days", flag, s)
		}
	}
	return time.Time{}, usagef(lang.Sprintf("--%s '2026-03-14 10:00' or --%s 90m", flag, flag), "--%s %q is neither a time nor how long ago", flag, s)
}

// generatedAt is the time that stands in the report.
func (a *app) generatedAt(flag string) (time.Time, error) {
	if flag != "" {
		t, err := time.Parse(time.RFC3339, flag)
		if err != nil {
			return t, usagef("--generated-at 2026-03-14T10:12:00Z", "--generated-at %q is not a time", flag)
		}
		return t.UTC(), nil
	}
	if epoch, err := strconv.ParseInt(strings.TrimSpace(a.env("SOURCE_DATE_EPOCH")), 10, 64); err == nil {
		return time.Unix(epoch, 0).UTC(), nil
	}
	return a.now().UTC().Truncate(time.Second), nil
}

// failed wraps an error with what to type next.
func failed(err error, try string) error {
	if err == nil || errors.As(err, new(*hintedError)) {
		return err
	}
	return &hintedError{err, try}
}
