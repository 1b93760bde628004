package main

import (
	"context"
	"errors"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/correlate"
	"github.com/firebreak-io/firebreak/incident"
)

// analyse reads the evidence and concludes. The second result is true if
// reading was interrupted and the report covers what was read until then.
func analyse(ctx context.Context, q request, tell func(progress)) (*incident.Report, bool, error) {
	engine := correlate.New(correlate.Config{Version: q.version})
	sources, err := collector.Collect(ctx, q.paths, collector.Options{
		Stdin: q.stdin, Zone: q.zone, Since: q.since, Until: q.until, Exclude: q.exclude,
		Progress: func(p collector.Progress) {
			tell(progress{bytes: p.Bytes, total: p.Total, files: p.Files, filesTotal: p.FilesTotal, current: p.Current})
		},
	}, engine.Add)
	interrupted := errors.Is(err, context.Canceled)
	if err != nil && !interrupted {
		return nil, false, err
	}
	for _, s := range sources {
		engine.AddSource(incident.Source{
			Path: s.Path, Format: s.Format, Bytes: s.Bytes, Records: s.Records, Skipped: s.Skipped,
			From: s.From, To: s.To, Problems: append([]string{}, s.Problems...),
		})
	}
	return engine.Report(), interrupted, nil
}
