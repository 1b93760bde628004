package incident

import (
	"github.com/firebreak-io/firebreak/lang"
)

// style is a colour or weight as SGR parameters. Nothing is said by colour
// alone: a glyph and a word say the same.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "1;31"
	green  style = "1;32"
	yellow style = "1;33"
	cyan   style = "36"
)

// glyphs are the signs that the text form draws with.
type glyphs struct {
	burning, healthy, unsure string // before a label
	yes, no, unknown         string // before an answer
	high, medium, low        string // beside a certainty
	arrow, bar, rule         string // the chain, and lines
	dash, ellipsis, bullet   string
	spark                    []string // eight heights
}

var unicodeGlyphs = glyphs{
	burning: "✖", healthy: "✔", unsure: "?",
	yes: "✔", no: "✘", unknown: "?",
	high: "●●●", medium: "●●○", low: "●○○",
	arrow: "└▶", bar: "│", rule: "━",
	dash: "–", ellipsis: "…", bullet: "•",
	spark: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
}

var asciiGlyphs = glyphs{
	burning: "X", healthy: "OK", unsure: "?",
	yes: "+", no: "-", unknown: "?",
	high: "***", medium: "**.", low: "*..",
	arrow: "->", bar: "|", rule: "=",
	dash: "-", ellipsis: "...", bullet: "*",
	spark: []string{".", ":", "-", "=", "+", "*", "#", "@"},
}

// verdict returns the glyph and colour of a label.
func (g glyphs) verdict(l Label) (string, style) {
	switch l {
	case Healthy:
		return g.healthy, green
	case Inconclusive, "":
		return g.unsure, yellow
	default:
		return g.burning, red
	}
}

func (g glyphs) answer(a Answer) (string, style) {
	switch a {
	case Yes:
		return g.yes, yellow
	case No:
		return g.no, green
	default:
		return g.unknown, dim
	}
}

func (g glyphs) certainty(c Certainty) string {
	switch c {
	case High:
		return g.high
	case Medium:
		return g.medium
	default:
		return g.low
	}
}

// Means says in words what a certainty promises.
func (c Certainty) Means() string { return lang.T(c.means()) }

func (c Certainty) means() string {
	switch c {
	case High:
		return lang.Mark("right nineteen times in twenty")
	case Medium:
		return lang.Mark("right three times in four")
	default:
		return lang.Mark("a lead, not a verdict: see what is missing")
	}
}

func roleStyle(r Role) style {
	switch r {
	case Trigger:
		return red
	case Amplifier:
		return yellow
	default:
		return cyan
	}
}
