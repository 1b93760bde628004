package incident

import (
	"bytes"
	"strings"
	"testing"
)

func TestEveryFormSaysWhatTheEngineerSays(t *testing.T) {
	r := slowSQLReport()
	note := "saw the session that held it"
	in := &r.Incidents[0]
	last := len(in.Walk) - 1
	for i := range in.Walk {
		in.Walk[i].Concludes = ""
	}
	in.Walk[last].OverriddenBy, in.Walk[last].Concludes = &note, LockContention
	forms := map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return WriteText(b, r, TextOptions{Width: 200}) },
		"markdown": func(b *bytes.Buffer) error { return WriteMarkdown(b, r, MarkdownOptions{}) },
		"html":     func(b *bytes.Buffer) error { return WriteHTML(b, r, HTMLOptions{}) },
	}
	for name, write := range forms {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		said := strings.Index(b.String(), "the engineer says lock")
		headline := strings.Index(b.String(), "retry")
		if said < 0 || headline < 0 || said > 3000 && name != "html" {
			t.Errorf("%s does not say at its head what the engineer says (at %d)", name, said)
		}
	}
}
