package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// theme is how each tone looks.
type theme struct {
	name   string
	styles [tones]lipgloss.Style
	before [tones]string // escape sequences that begin and end a style, so that
	after  [tones]string // painting a frame costs no layout
}

// palette is the colours of a theme.
type palette struct {
	name                                                  string
	ink, faint, bad, warn, hurt, good, info, cite, accent string
	frame, onChip, chip, onMark, mark, chosen             string
}

// Contrast of every ink against its ground is at least 4.5 (7 in the
// high-contrast theme); a test computes it.
var palettes = []palette{
	{
		name: "dark", ink: "#d8dee9", faint: "#9aa5b5", bad: "#ff7b72", warn: "#f2b84b", hurt: "#b9a5f5", good: "#7fd88f",
		info: "#7cc7ff", cite: "#8fb3c9", accent: "#ffd479", frame: "#7d889a",
		onChip: "#0d1117", chip: "#7cc7ff", onMark: "#0d1117", mark: "#f2e05a", chosen: "#263445",
	},
	{
		name: "light", ink: "#24292f", faint: "#5a6470", bad: "#b3261e", warn: "#7a4d00", hurt: "#5b3cc4", good: "#1a6b32",
		info: "#0a5394", cite: "#3b5f7a", accent: "#7a3e00", frame: "#66707c",
		onChip: "#ffffff", chip: "#0a5394", onMark: "#000000", mark: "#ffe066", chosen: "#dfe8f3",
	},
	{
		name: "contrast", ink: "#ffffff", faint: "#c8c8c8", bad: "#ffb3b3", warn: "#ffd75f", hurt: "#d7b8ff", good: "#87ff9f",
		info: "#9fdcff", cite: "#c8e6ff", accent: "#ffff5f", frame: "#c8c8c8",
		onChip: "#000000", chip: "#ffff5f", onMark: "#000000", mark: "#ffff00", chosen: "#00335c",
	},
}

// ground is what a palette is made to stand on, for the test of its contrast.
var grounds = map[string]string{"dark": "#0d1117", "light": "#ffffff", "contrast": "#000000"}

func newTheme(p palette) *theme {
	fg := func(c string) lipgloss.Style { return lipgloss.NewStyle().Foreground(lipgloss.Color(c)) }
	t := &theme{name: p.name}
	t.styles = [tones]lipgloss.Style{
		plain:   fg(p.ink),
		dim:     fg(p.faint),
		strong:  fg(p.ink).Bold(true),
		heading: fg(p.faint).Bold(true),
		bad:     fg(p.bad).Bold(true),
		warn:    fg(p.warn),
		hurt:    fg(p.hurt),
		good:    fg(p.good),
		info:    fg(p.info),
		cite:    fg(p.cite),
		accent:  fg(p.accent).Bold(true),
		chip:    fg(p.onChip).Background(lipgloss.Color(p.chip)).Bold(true),
		frame:   fg(p.frame),
		mark:    fg(p.onMark).Background(lipgloss.Color(p.mark)).Bold(true),
		chosen:  lipgloss.NewStyle().Background(lipgloss.Color(p.chosen)),
	}
	if p.name == "dark" || p.name == "light" {
		// The terminal's own ink is what its owner can read best.
		t.styles[plain] = lipgloss.NewStyle()
		t.styles[strong] = lipgloss.NewStyle().Bold(true)
	}
	for i, s := range t.styles {
		t.before[i], t.after[i], _ = strings.Cut(s.Render("x"), "x")
	}
	return t
}

// themeNamed returns a theme by name, the dark one if there is none such.
func themeNamed(name string) *theme {
	for _, p := range palettes {
		if p.name == name {
			return newTheme(p)
		}
	}
	return newTheme(palettes[0])
}

// paint turns a line into what the terminal is sent: exactly width columns. A
// chosen line has its ground in another colour.
func (t *theme) paint(b *strings.Builder, line text, width int, chosenLine bool, ellipsis string) {
	line = line.clip(width, ellipsis)
	used := 0
	for _, s := range line {
		if s.text == "" {
			continue
		}
		used += cells(s.text)
		t.piece(b, s, chosenLine)
	}
	if used < width {
		t.piece(b, span{plain, strings.Repeat(" ", width-used)}, chosenLine)
	}
}

func (t *theme) piece(b *strings.Builder, s span, chosenLine bool) {
	before, after := t.before[s.tone], t.after[s.tone]
	if chosenLine && s.tone != mark && s.tone != chip {
		before = t.before[chosen] + before
		if after == "" {
			after = t.after[chosen]
		}
	}
	b.WriteString(before)
	b.WriteString(s.text)
	b.WriteString(after)
}
