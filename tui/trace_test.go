package tui

import (
	"testing"

	"github.com/firebreak-io/firebreak/incident"
)

// What a provider did after its caller had left is drawn apart, down the tree.
func TestWaterfallDrawsWorkForNobody(t *testing.T) {
	s := newScene(&incident.Report{})
	s.glyphs, s.width = &asciiGlyphs, 80
	tr := &incident.Trace{DurationMS: 100, Spans: []incident.TraceSpan{
		{ID: "1", Name: "call", Kind: "client", DurationMS: 50, Outcome: "timeout", Attempt: 1, Of: 2, Focus: true},
		{ID: "2", Depth: 1, Name: "serve", StartMS: 10, DurationMS: 80, Orphaned: true},
		{ID: "3", Depth: 2, Name: "query", StartMS: 20, DurationMS: 60, Orphaned: true, SQL: "select 1"},
	}}
	v := newWaterfall(s, tr)
	v.bar = 20
	for i, want := range []string{"##########          ", "  ########++++++++  ", "    ######++++++    "} {
		if got := v.drawn(i).plain(); got != want {
			t.Errorf("span %d is drawn as %q, want %q", i, got, want)
		}
	}
}
