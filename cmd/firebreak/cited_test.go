package main

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/internal/wellformed"
)

var (
	cited    = regexp.MustCompile(`\[[^][]*[^][ ]\]`)
	harmless = regexp.MustCompile(`(?m)\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|UTC[+-]\d+(:\d\d)?|\bf\d+\b|^\s*\d+\. |\bstep \d+ of \d+\b`)
)

// TestEveryNumberOfARealReportIsCited reads the reports of all incidents in the
// repository: a paragraph, which is a line and those indented more deeply after
// it, with a number outside citations, times, IDs and commands has a citation. The
// pages of the same reports are well formed.
func TestEveryNumberOfARealReportIsCited(t *testing.T) {
	if testing.Short() {
		t.Skip("it concludes for each incident")
	}
	folders, err := filepath.Glob("../../testdata/incidents/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no incidents: %v", err)
	}
	for _, folder := range folders {
		r, _, err := analyse(context.Background(), request{paths: []string{folder}, zone: time.UTC, version: "test"}, func(progress) {})
		if err != nil {
			t.Errorf("%s: %v", folder, err)
			continue
		}
		var b bytes.Buffer
		if err := incident.WriteText(&b, r, incident.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := incident.WriteHTML(&page, r, incident.HTMLOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := wellformed.HTML(page.Bytes()); err != nil {
			t.Errorf("%s: the page: %v", filepath.Base(folder), err)
		}
		for _, p := range paragraphs(b.String(), commandLines(r)) {
			if bare := harmless.ReplaceAllString(cited.ReplaceAllString(p, ""), ""); strings.ContainsAny(bare, "0123456789") && !cited.MatchString(p) {
				t.Errorf("%s: a number without a citation:\n%s", filepath.Base(folder), p)
			}
		}
	}
}

func commandLines(r *incident.Report) map[string]bool {
	lines := map[string]bool{}
	add := func(command string) {
		for line := range strings.SplitSeq(command, "\n") {
			lines[strings.TrimSpace(incident.Visible(line))] = true
		}
	}
	for _, in := range r.Incidents {
		for _, a := range in.Actions {
			add(a.Command)
		}
		for _, m := range in.Missing {
			add(m.Command)
		}
	}
	return lines
}

func paragraphs(report string, commands map[string]bool) []string {
	var list []string
	depth := 0
	for line := range strings.Lines(report) {
		text := strings.TrimSpace(line)
		if commands[text] && text != "" || strings.HasPrefix(line, "firebreak ") {
			continue // a command, or the footer
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if len(list) == 0 || text == "" || indent <= depth && indent > 0 {
			list = append(list, "")
			depth = indent
		}
		list[len(list)-1] += line
	}
	return list
}
