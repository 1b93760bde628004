package tui

import "github.com/firebreak-io/firebreak/lang"

// Guide is one step of a guided first minute: what to press, and why. It is
// done when the binding named was used often enough, wherever that led.
type Guide struct {
	Say   string // English: the key of the catalogue
	Do    string // ID of a binding
	Times int    // how often; 0 is once
}

// guided notes that something was done.
func (m *Model) guided(id string) {
	if m.guide >= len(m.cfg.Guide) || m.cfg.Guide[m.guide].Do != id {
		return
	}
	if m.guideDone++; m.guideDone >= max(1, m.cfg.Guide[m.guide].Times) {
		m.guide++
		m.guideDone = 0
		m.changed()
	}
}

// guideLine is the step of the demonstration that comes next.
func (m *Model) guideLine() text {
	if m.guide >= len(m.cfg.Guide) {
		return nil
	}
	g := m.cfg.Guide[m.guide]
	return text{
		{accent, " " + m.glyphs.arrow + " "},
		{strong, lang.T(g.Say)},
		{dim, "  " + lang.Sprintf("(%d of %d)", m.guide+1, len(m.cfg.Guide))},
	}
}
