package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/internal/golden"
)

// TestReadmeReport holds the report that the README opens with to what the
// program prints for its incident, down to the evidence.
func TestReadmeReport(t *testing.T) {
	const readme = "../../README.md"
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), "```text\n")
	_, after, ok2 := strings.Cut(rest, "```\n")
	if !ok || !ok2 {
		t.Fatal("README.md has no ```text block")
	}
	var out, errs bytes.Buffer
	a := newApp(analyse)
	a.stdout, a.stderr = &out, &errs
	if code := a.run([]string{"report", "--quiet", "--color", "never", "../../testdata/incidents/reference-slow-sql-retries"}); code != exitAnalysed {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	report, _, ok := strings.Cut(out.String(), "EVIDENCE\n")
	if !ok {
		t.Fatal("the report has no evidence")
	}
	golden.Check(t, readme, []byte(before+"```text\n"+report+"…\n```\n"+after))
}
