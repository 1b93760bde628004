package tui

import (
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/lang"
)

// Guide is one step of a guided first minute: what to press, and why. It is
// done once all that it asks for is so, however the reader came there.
type Guide struct {
	Say string // English: the key of the catalogue
	At  string // screen to be on; empty: any
	Key string // thing to be on, or the beginning of its key; empty: any
	Do  string // ID of a binding to have used since the step before; empty: none
}

// guided notes that something was done, and goes on to the first step that is
// not done.
func (m *Model) guided(id string) {
	if m.guide >= len(m.cfg.Guide) {
		return
	}
	m.guideDone = append(m.guideDone, id)
	m.Frame() // the cursor settles on what the page has
	for m.guide < len(m.cfg.Guide) {
		g := m.cfg.Guide[m.guide]
		at := m.here()
		if g.At != "" && string(at.screen) != g.At || !strings.HasPrefix(at.key, g.Key) || g.Do != "" && !slices.Contains(m.guideDone, g.Do) {
			return
		}
		m.guide++
		m.guideDone = nil
		m.changed()
	}
}

// guideLines are the step of the demonstration that comes next, in one line or
// two.
func (m *Model) guideLines() []text {
	if m.guide >= len(m.cfg.Guide) || m.width < 20 {
		return nil
	}
	g := m.cfg.Guide[m.guide]
	t := text{{strong, lang.T(g.Say)}, {dim, "  " + lang.Sprintf("(%d of %d)", m.guide+1, len(m.cfg.Guide))}}
	lines := t.wrap(m.width-4, "")
	lines = lines[:min(2, len(lines))]
	for i := range lines {
		lead := "   "
		if i == 0 {
			lead = " " + m.glyphs.arrow + " "
		}
		lines[i] = append(text{{accent, lead}}, lines[i]...)
	}
	return lines
}
