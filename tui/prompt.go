package tui

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// prompt is a line that is being written at the foot of the screen.
type prompt struct {
	ask    string // before the line
	text   []rune
	at     int                         // of the cursor, in text
	change func(m *Model, text string) // after each key; may be nil
	enter  func(m *Model, text string) tea.Cmd
	leave  func(m *Model)                  // Esc; may be nil
	single map[string]func(*Model) tea.Cmd // keys that answer at once; then nothing is written
}

// maxPrompt bounds what is written, in characters.
const maxPrompt = 4000

func (p *prompt) insert(s string) {
	s = strings.NewReplacer("\n", " ", "\r", "").Replace(s)
	r := []rune(s)
	r = r[:min(len(r), maxPrompt-len(p.text))]
	p.text = append(p.text[:p.at:p.at], append(r, p.text[p.at:]...)...)
	p.at += len(r)
}

// edit changes the line by a key that is not Enter or Esc.
func (p *prompt) edit(msg tea.KeyPressMsg) {
	switch key := msg.String(); key {
	case "backspace", "ctrl+h":
		if p.at > 0 {
			p.text = append(p.text[:p.at-1], p.text[p.at:]...)
			p.at--
		}
	case "delete":
		if p.at < len(p.text) {
			p.text = append(p.text[:p.at], p.text[p.at+1:]...)
		}
	case "left", "ctrl+b":
		p.at = max(0, p.at-1)
	case "right", "ctrl+f":
		p.at = min(len(p.text), p.at+1)
	case "home", "ctrl+a":
		p.at = 0
	case "end", "ctrl+e":
		p.at = len(p.text)
	case "ctrl+u":
		p.text, p.at = p.text[p.at:], 0
	case "ctrl+k":
		p.text = p.text[:p.at]
	case "ctrl+w":
		i := p.at
		for i > 0 && p.text[i-1] == ' ' {
			i--
		}
		for i > 0 && p.text[i-1] != ' ' {
			i--
		}
		p.text, p.at = append(p.text[:i], p.text[p.at:]...), i
	default:
		if msg.Text != "" && utf8.ValidString(msg.Text) {
			p.insert(msg.Text)
		}
	}
}

// line draws the prompt in width columns; the part around the cursor is shown.
func (p *prompt) line(width int, g *glyphs) text {
	before, after := string(p.text[:p.at]), string(p.text[p.at:])
	room := max(1, width-cells(p.ask)-2)
	if w := cells(before); w > room {
		before = ansi.TruncateLeft(before, w-room+1, g.ellipsis)
	}
	under := " "
	if after != "" {
		_, n := utf8.DecodeRuneInString(after)
		under, after = after[:n], after[n:]
	}
	t := text{{accent, p.ask}, {plain, before}}
	if p.single == nil {
		t = t.and(mark, under).and(plain, after)
	}
	return t
}
