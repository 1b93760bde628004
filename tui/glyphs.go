package tui

import "github.com/firebreak-io/firebreak/incident"

// glyphs are the signs that screens draw with; a second set is ASCII only.
type glyphs struct {
	burning, healthy, unsure string // before a label
	yes, no, unknown, notYet string // before an answer
	high, medium, low        string // beside a certainty
	bullet, ellipsis, dash   string
	arrow, down, right       string // of a chain, an open and a closed row
	bar, tee, corner         string // of a tree
	topLeft, topRight        string // of a box
	bottomLeft, bottomRight  string
	across                   string
	full, half, light, empty string // of a gauge
	cursor                   string // before the row that is chosen
	bookmark                 string
	onset                    string
	spark                    []string // eight heights
	kinds                    []string // fills that tell the parts of a stacked bar apart
}

var unicodeGlyphs = glyphs{
	burning: "✖", healthy: "✔", unsure: "?",
	yes: "✔", no: "✘", unknown: "?", notYet: "·",
	high: "●●●", medium: "●●○", low: "●○○",
	bullet: "•", ellipsis: "…", dash: "–",
	arrow: "▶", down: "▾", right: "▸",
	bar: "│", tee: "├", corner: "└",
	topLeft: "╭", topRight: "╮", bottomLeft: "╰", bottomRight: "╯", across: "─",
	full: "█", half: "▌", light: "░", empty: "·",
	cursor: "▌", bookmark: "★", onset: "▲",
	spark: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	kinds: []string{"█", "▓", "▒", "░", "▞", "▚", "▤", "▥"},
}

var asciiGlyphs = glyphs{
	burning: "X", healthy: "OK", unsure: "?",
	yes: "+", no: "-", unknown: "?", notYet: ".",
	high: "***", medium: "**.", low: "*..",
	bullet: "*", ellipsis: "..", dash: "-",
	arrow: ">", down: "v", right: ">",
	bar: "|", tee: "|", corner: "`",
	topLeft: "+", topRight: "+", bottomLeft: "+", bottomRight: "+", across: "-",
	full: "#", half: "=", light: ".", empty: ".",
	cursor: ">", bookmark: "!", onset: "^",
	spark: []string{".", ":", "-", "=", "+", "*", "#", "@"},
	kinds: []string{"#", "=", "+", "o", "x", "%", "~", ":"},
}

// verdict returns the glyph and tone of a label.
func (g *glyphs) verdict(l incident.Label) (string, tone) {
	switch l {
	case incident.Healthy:
		return g.healthy, good
	case incident.Inconclusive, "":
		return g.unsure, warn
	}
	return g.burning, bad
}

// answer returns the glyph and tone of an answer.
func (g *glyphs) answer(a incident.Answer) (string, tone) {
	switch a {
	case incident.Yes:
		return g.yes, warn
	case incident.No:
		return g.no, good
	}
	return g.unknown, dim
}

func (g *glyphs) certainty(c incident.Certainty) string {
	switch c {
	case incident.High:
		return g.high
	case incident.Medium:
		return g.medium
	}
	return g.low
}

func roleTone(r incident.Role) tone {
	switch r {
	case incident.Trigger:
		return bad
	case incident.Amplifier:
		return warn
	}
	return hurt
}
