package incident

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestManySources holds that a report for people stays readable over a folder
// of many files, and shows those that matter.
func TestManySources(t *testing.T) {
	r := &Report{}
	for i := range 5000 {
		s := Source{Path: fmt.Sprintf("f%04d.log", i), Bytes: 10}
		switch i {
		case 4000:
			s.Records = 1
		case 4001:
			s.Problems = []string{"permission denied"}
		}
		r.Sources = append(r.Sources, s)
	}
	var text, md bytes.Buffer
	if err := WriteText(&text, r, TextOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	if err := WriteMarkdown(&md, r, MarkdownOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{text.String(), md.String()} {
		if n := strings.Count(s, "\n"); n > 100 {
			t.Errorf("%d lines", n)
		}
		for _, want := range []string{"f4000.log", "f4001.log", "f0000.log", "and 4,940 more, 49.4 kB"} {
			if !strings.Contains(s, want) {
				t.Errorf("no %q in it:\n%.3000s", want, s)
			}
		}
	}
}
