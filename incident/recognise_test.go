package incident

import (
	"bytes"
	"testing"
)

// TestIsReport feeds every form of every example back, and what only resembles
// a report.
func TestIsReport(t *testing.T) {
	all := examples()
	all["nothing"] = &Report{}
	for name, r := range all {
		for _, width := range []int{40, 80, 130} {
			for _, o := range []TextOptions{{Width: width}, {Width: width, Color: true}, {Width: width, ASCII: true}} {
				if text := textOf(t, r, o); !IsReport([]byte(text)) {
					t.Errorf("%s, %+v: not recognised:\n%.200s", name, o, text)
				}
			}
		}
		var js, md bytes.Buffer
		if err := WriteJSON(&js, r); err != nil || !IsReport(js.Bytes()) {
			t.Errorf("%s: the JSON form is not recognised (%v)", name, err)
		}
		if err := WriteMarkdown(&md, r, MarkdownOptions{}); err != nil || !IsReport(md.Bytes()) {
			t.Errorf("%s: the Markdown form is not recognised (%v):\n%.200s", name, err, md.String())
		}
	}
	for _, s := range []string{
		"", "{", `{"schema": "acme.report/v1"}`, `{"level":"info","msg":"schema firebreak.report/v1"}`,
		"2026-03-14 10:02:11 INFO wrote a firebreak report of high certainty (right nineteen times in twenty)",
		"slow-sql of low certainty", "## Nothing to judge here",
	} {
		if IsReport([]byte(s)) {
			t.Errorf("taken for a report: %q", s)
		}
	}
}
