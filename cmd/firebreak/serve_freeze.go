package main

import (
	"io"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/incident/bundle"
	"github.com/firebreak-io/firebreak/parsers"
)

// maxRawFiles bounds the files whose lines a bundle holds.
const maxRawFiles = 200

// manifestOf describes an incident, with the verdict that the report in its
// bundle has.
func manifestOf(e *live.Episode, version string) bundle.Manifest {
	v := &e.Last
	return bundle.Manifest{
		ID: bundle.Name(e.ID), Tool: incident.Tool{Version: version}, Label: v.Label, Certainty: v.Certainty, ActFirst: v.ActFirst,
		Subject: v.Subject, Headline: v.Headline, Incident: v.ID, Opened: e.Opened, Updated: e.Updated, Said: e.Said, Changes: e.Changes, About: e.About,
	}
}

// frozen are the files of a bundle: the report, what it was made of, and the
// lines that came lately. They are written while the basis is lent.
func frozen(p *live.Published, basis *live.Basis, raw []live.RawFile) []bundle.File {
	report := *p.Report
	report.GeneratedAt = p.At.UTC()
	files := []bundle.File{
		{Path: bundle.ReportName, Write: func(w io.Writer) error { return incident.WriteJSON(w, &report) }},
		{Path: bundle.MarkdownName, Write: func(w io.Writer) error { return incident.WriteMarkdown(w, &report, incident.MarkdownOptions{}) }},
		{Path: bundle.EvidenceDir + "/records.jsonl.gz", Write: func(w io.Writer) error { return writeRecords(w, p.At, basis) }},
	}
	taken := map[string]bool{}
	for i, f := range raw {
		if i == maxRawFiles {
			break
		}
		files = append(files, bundle.File{
			Path:  bundle.RawName(bundle.EvidenceDir+"/"+collector.RawFolder, f.Path, taken),
			Write: func(w io.Writer) error { _, err := w.Write(f.Data); return err },
		})
	}
	return files
}

// writeRecords writes what a report was made of so that it is read back the same.
func writeRecords(w io.Writer, at time.Time, basis *live.Basis) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	z.ModTime = at
	var origins []parsers.Origin
	for _, s := range basis.Sources {
		origins = append(origins, parsers.Origin{
			Path: s.Path, Format: s.Format, Bytes: s.Bytes, Records: s.Records, Skipped: s.Skipped, From: s.From, To: s.To, Problems: s.Problems, Unread: s.Unread,
		})
	}
	records, err := parsers.NewRecordWriter(z, origins)
	if err != nil {
		return err
	}
	for r := range basis.Records() {
		if _, err := records.Write(r); err != nil { // one that is too long for a line is left out
			return err
		}
	}
	if err := records.Flush(); err != nil {
		return err
	}
	return z.Close()
}
