package tui

import (
	"fmt"
	"html"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/firebreak-io/firebreak/internal/golden"
)

// The pictures of the documentation are the frames themselves, as SVG: run with
// -update to draw them anew.
func TestPictures(t *testing.T) {
	for _, theme := range []string{"dark", "light"} {
		for i, sc := range screens()[:numbered] {
			d := start(t, readReport(t, "reference"), 120, 36, func(c *Config) { c.Theme = theme })
			d.press(fmt.Sprint(i + 1))
			if sc.id == onRunbook {
				d.do("enter", "enter")
			}
			picture(t, string(sc.id)+"-"+theme, d.m, theme)
		}
	}
}

// picture draws a frame as SVG in the colours of its theme.
func picture(t *testing.T, name string, m *Model, theme string) {
	t.Helper()
	golden.Check(t, filepath.Join("..", "docs", "screens", name+".svg"), []byte(svg(m.Frame(), m.width, theme)))
}

// Sizes of a cell, and the edge around the screen, in pixels.
const (
	cellWide = 8.4
	cellHigh = 18
	edgeWide = 12
)

func svg(frame string, width int, theme string) string {
	lines := strings.Split(frame, "\n")
	ink := palettes[0].ink
	for _, p := range palettes {
		if p.name == theme {
			ink = p.ink
		}
	}
	var b strings.Builder
	w, h := float64(width)*cellWide+2*edgeWide, len(lines)*cellHigh+2*edgeWide
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" font-family="ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="14">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", grounds[theme])
	for y, line := range lines {
		col := 0
		for _, run := range runs(line) {
			n := ansi.StringWidth(run.text)
			x := edgeWide + float64(col)*cellWide
			top := edgeWide + y*cellHigh
			if run.ground != "" {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, x, top, float64(n)*cellWide, cellHigh, run.ground)
			}
			if strings.TrimSpace(run.text) != "" {
				fill := run.ink
				if fill == "" {
					fill = ink
				}
				weight := ""
				if run.bold {
					weight = ` font-weight="bold"`
				}
				lead := len(run.text) - len(strings.TrimLeft(run.text, " "))
				said := strings.TrimSpace(run.text)
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" fill="%s"%s textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve">%s</text>`,
					x+float64(lead)*cellWide, top+14, fill, weight, float64(ansi.StringWidth(said))*cellWide, html.EscapeString(said))
			}
			col += n
		}
		b.WriteByte('\n')
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// run is text in one look.
type run struct {
	text, ink, ground string
	bold              bool
}

// runs takes a painted line apart.
func runs(line string) []run {
	var list []run
	var look run
	for line != "" {
		i := strings.Index(line, "\x1b[")
		if i < 0 {
			i = len(line)
		}
		if i > 0 {
			r := look
			r.text = line[:i]
			list = append(list, r)
			line = line[i:]
			continue
		}
		end := strings.IndexByte(line, 'm')
		codes := strings.Split(line[2:end], ";")
		line = line[end+1:]
		for j := 0; j < len(codes); j++ {
			switch codes[j] {
			case "", "0":
				look = run{}
			case "1":
				look.bold = true
			case "38", "48":
				color := "#"
				for _, c := range codes[j+2 : j+5] {
					n, _ := strconv.Atoi(c)
					color += fmt.Sprintf("%02x", n)
				}
				if codes[j] == "38" {
					look.ink = color
				} else {
					look.ground = color
				}
				j += 4
			}
		}
	}
	return list
}
