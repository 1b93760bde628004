package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/correlate"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/incident/bundle"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
	"github.com/firebreak-io/firebreak/runbooks"
)

// analyse reads the evidence and concludes. The second result is true if
// reading was interrupted and the report covers what was read until then.
func analyse(ctx context.Context, q request, tell func(progress)) (*incident.Report, bool, error) {
	books, err := runbooks.Load(q.runbooks)
	if err != nil {
		return nil, false, failed(fmt.Errorf("--runbooks %s:\n%w", q.runbooks, err), lang.T("docs/runbooks.md says what a runbook may hold"))
	}
	engine := correlate.New(correlate.Config{Version: q.version, Fingerprint: parsers.Fingerprint})
	sink := engine.Add
	var early *drafts
	if q.drafts {
		early = newDrafts(q, books)
		sink = early.beside(engine.Add)
	}
	sources, err := collector.Collect(ctx, q.paths, collector.Options{
		Stdin: q.stdin, Zone: q.zone, Since: q.since, Until: q.until, Exclude: q.exclude, Foreign: notEvidence,
		AccessFormat: q.access,
		Progress: func(p collector.Progress) {
			tell(progress{p.Bytes, p.Total, p.Files, p.FilesTotal, p.Current, early.due(p.Total)})
		},
	}, sink)
	partial := err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err())
	switch {
	case partial:
	case errors.Is(err, collector.ErrNothingRead):
		return nil, false, failed(err, "firebreak formats    "+lang.T("(what is read, and how it is recognised)"))
	case err != nil:
		return nil, false, err
	}
	for _, s := range sources {
		engine.Exclude(s.OutOfWindow)
		engine.AddSource(sourceOf(s))
	}
	report := engine.Report()
	return report, partial, books.Apply(report)
}

// notEvidence says why an input that begins so is passed over: it is a report
// of ours, whose sentences would be read as the log of an incident.
func notEvidence(head []byte) string {
	if incident.IsReport(head) {
		return lang.T("this is a firebreak report, not evidence")
	}
	if bundle.IsOwn(head) {
		return lang.T("it says what this bundle of an incident is, and is no evidence")
	}
	return ""
}

// sourceOf says in the report what became of an input.
func sourceOf(s collector.Source) incident.Source {
	problems := s.Problems
	if s.OutOfWindow > 0 {
		problems = append(problems, lang.Sprintf("%d records lie outside --since and --until", s.OutOfWindow))
	}
	return incident.Source{
		Path: s.Path, Format: s.Format, Bytes: s.Bytes, Records: s.Records, Skipped: s.Skipped,
		From: s.From, To: s.To, Problems: problems, Unread: s.Unread,
	}
}
