package main

import (
	"io"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/evidence"
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
	kept := keepLines(raw, basis)
	report := *p.Report
	report.GeneratedAt = p.At.UTC()
	files := []bundle.File{
		{Path: bundle.ReportName, Write: func(w io.Writer) error { return incident.WriteJSON(w, &report) }},
		{Path: bundle.MarkdownName, Write: func(w io.Writer) error { return incident.WriteMarkdown(w, &report, incident.MarkdownOptions{}) }},
		{Path: bundle.EvidenceDir + "/records.jsonl.gz", Write: func(w io.Writer) error { return writeRecords(w, p.At, basis, kept) }},
	}
	for _, f := range kept.files {
		files = append(files, bundle.File{
			Path:  bundle.EvidenceDir + "/" + kept.names[f.Path],
			Write: func(w io.Writer) error { _, err := w.Write(f.Data); return err },
		})
	}
	return files
}

// keptLines are the lines for people, and where they stand beside the records.
type keptLines struct {
	files  []live.RawFile
	names  map[string]string        // by path
	byPath map[string]*live.RawFile // whose lines all records of theirs can cite
}

// keepLines names the files. A record whose line is there cites it there, so that
// it can be shown anywhere; but all records of a file or none, as they belong
// together by the source that they name.
func keepLines(raw []live.RawFile, basis *live.Basis) *keptLines {
	k := &keptLines{files: raw[:min(len(raw), maxRawFiles)], names: map[string]string{}, byPath: map[string]*live.RawFile{}}
	taken := map[string]bool{}
	for i := range k.files {
		f := &k.files[i]
		k.names[f.Path] = bundle.RawName(collector.RawFolder, f.Path, taken)
		k.byPath[f.Path] = f
	}
	for r, at := range basis.Records() {
		if f := k.byPath[r.Cite.Source]; f != nil && r.Cite.Line > 0 && f.Line(r.Cite.Line, at) == 0 {
			delete(k.byPath, r.Cite.Source)
		}
	}
	return k
}

// cite makes a record cite the line that is kept.
func (k *keptLines) cite(r *evidence.Record, at time.Time) *evidence.Record {
	f := k.byPath[r.Cite.Source]
	if f == nil {
		return r
	}
	c := *r
	c.Cite.Line = f.Line(r.Cite.Line, at)
	c.Cite.Source = parsers.Beside + k.names[f.Path]
	return &c
}

// writeRecords writes what a report was made of so that it is read back the same.
func writeRecords(w io.Writer, at time.Time, basis *live.Basis, kept *keptLines) error {
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
	for r, came := range basis.Records() {
		if _, err := records.Write(kept.cite(r, came)); err != nil { // one that is too long for a line is left out
			return err
		}
	}
	if err := records.Flush(); err != nil {
		return err
	}
	return z.Close()
}
