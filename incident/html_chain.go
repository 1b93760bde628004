package incident

import (
	"strings"

	"github.com/firebreak-io/firebreak/lang"
)

// htmlChain is the chain drawn twice, side by side for a screen and one below
// the other for a telephone, for a drawing's words do not flow; and in words.
type htmlChain struct {
	Wide, Narrow htmlChainDrawing
	Links        []htmlLink
	More         string
}

// htmlLink is a link of the chain in words.
type htmlLink struct {
	Role, RoleName, Glyph, Label string
	Since, Doubt                 string
	Text                         string
	Refs                         []htmlRef
	Cites                        htmlCitations
}

type htmlChainDrawing struct {
	Name, Title   string
	Width, Height int
	Boxes         []htmlChainBox
	Arrows        []htmlArrow
}

type htmlChainBox struct {
	Role, Glyph, RoleName string
	Since, Label          string
	X, Y, Width, Height   int
	SinceX, SinceY        int
	SinceAnchor           string
	LabelY                int
	Doubts                []htmlLine
	Lines                 []htmlLine
	Names                 []htmlChainRef // of findings
}

type htmlLine struct {
	Y    int
	Text string
}

type htmlChainRef struct {
	htmlRef
	X, Y int
}

// htmlArrow leads from one box to the next.
type htmlArrow struct {
	X1, Y1, X2, Y2 int
	Dashed         bool // the order is assumed
}

// Measures of the drawing. Its letters are as wide as those of a wide font of
// the system; what is wider yet is cut off at its box.
const (
	chainWide    = 1040
	chainNarrow  = 358
	chainGap     = 44
	chainPad     = 18
	chainAbreast = 3 // boxes side by side
	chainLinks   = 8
	chainLines   = 6
	chainRefs    = 6
	letterWidth  = 7.1 // of a letter of 13 px
	lineHeight   = 19
)

// chain makes the chain ready to be drawn, nil if there is none.
func (h *htmlPage) chain(in *Incident) *htmlChain {
	if len(in.Chain) == 0 {
		return nil
	}
	c := &htmlChain{More: more(len(in.Chain) - chainLinks)}
	for i := range in.Chain[:min(chainLinks, len(in.Chain))] {
		c.Links = append(c.Links, h.link(&in.Chain[i], i == len(in.Chain)-1))
	}
	title := lang.T("The chain of causes: ")
	for i, l := range c.Links {
		if i > 0 {
			title += ", "
		}
		title += l.RoleName + " " + l.Label
	}
	c.Wide = drawChain(c.Links, chainWide, len(c.Links) <= chainAbreast)
	c.Narrow = drawChain(c.Links, chainNarrow, false)
	c.Wide.Name, c.Narrow.Name = h.drawing(), h.drawing()
	c.Wide.Title, c.Narrow.Title = title, title
	return c
}

func (h *htmlPage) link(l *Link, last bool) htmlLink {
	v := htmlLink{Role: roleClass(l.Role), RoleName: lang.Word(string(l.Role)), Glyph: roleGlyph(l.Role), Label: lang.Word(string(l.Label)), Refs: h.refs(l.Findings), Cites: htmlCited(h.seenIn(l.Findings))}
	if !l.Since.IsZero() {
		v.Since = lang.Sprintf("since %s", h.clock(l.Since))
	}
	if l.Assumed && !last {
		v.Doubt = l.doubt()
	}
	v.Text = cutMiddle(l.Subject, htmlSentence)
	if found := h.findings(l.Findings); len(found) > 0 && len(strings.Fields(l.Subject)) < 4 {
		v.Text = cutMiddle(l.Subject+": "+found[0].Text, htmlSentence)
	}
	return v
}

// roleClass is the colour of a role; its glyph and word always stand beside.
func roleClass(r Role) string {
	if r == Trigger || r == Amplifier {
		return string(r)
	}
	return string(Victim)
}

func roleGlyph(r Role) string {
	switch r {
	case Trigger:
		return "◆"
	case Amplifier:
		return "▲"
	default:
		return "■"
	}
}

// drawChain lays the boxes out side by side, or one below the other.
func drawChain(links []htmlLink, width int, abreast bool) htmlChainDrawing {
	d := htmlChainDrawing{Width: width}
	n := len(links)
	box := width
	if abreast {
		box = (width - chainGap*(n-1)) / n
	}
	box = min(box, 760)
	tallest := 0
	for i := range links {
		b := fillBox(&links[i], box)
		d.Boxes = append(d.Boxes, b)
		tallest = max(tallest, b.Height)
	}
	x, y := 0, 0
	for i := range d.Boxes {
		b := &d.Boxes[i]
		b.X, b.Y = x, y
		arrow := htmlArrow{Dashed: links[i].Doubt != ""}
		if abreast {
			b.Height = tallest
			x += box + chainGap
			arrow.X1, arrow.X2 = b.X+box+5, x-7
			arrow.Y1, arrow.Y2 = tallest/2, tallest/2
			d.Height = tallest
		} else {
			d.Height = y + b.Height
			y = d.Height + chainGap
			arrow.X1, arrow.X2 = 28, 28
			arrow.Y1, arrow.Y2 = d.Height+5, y-7
		}
		if i < n-1 {
			d.Arrows = append(d.Arrows, arrow)
		}
	}
	for i := range d.Boxes {
		b := &d.Boxes[i]
		at := b.Height - 16 // findings stand at the foot of the box
		for k := range b.Names {
			b.Names[k].Y = at
		}
	}
	return d
}

// fillBox puts what is said of a link into a box of a width, and gives it its
// height.
func fillBox(l *htmlLink, width int) htmlChainBox {
	b := htmlChainBox{Role: l.Role, Glyph: l.Glyph, RoleName: l.RoleName, Since: l.Since, Label: shorten(l.Label, (width-2*chainPad)/10, "…"), Width: width, SinceX: width - chainPad, SinceY: 27, SinceAnchor: "end", LabelY: 51}
	room := float64(width-2*chainPad) / letterWidth
	if float64(cells(l.RoleName+l.Since)+4)*1.1 > room { // the two do not fit on one line
		b.SinceX, b.SinceY, b.SinceAnchor = chainPad, 46, "start"
		b.LabelY = 70
	}
	y := b.LabelY + 3
	for _, line := range wrap(l.Doubt, int(room*1.05), 2) {
		y += 17
		b.Doubts = append(b.Doubts, htmlLine{y, line})
	}
	y += 4
	for _, line := range wrap(l.Text, int(room), chainLines) {
		y += lineHeight
		b.Lines = append(b.Lines, htmlLine{y, line})
	}
	x := chainPad
	for i, r := range l.Refs {
		r.ID = shorten(r.ID, 12, "…")
		wide := int(float64(cells(r.ID)+1) * 8.2)
		if i == chainRefs || x+wide > width-chainPad-12 {
			b.Names = append(b.Names, htmlChainRef{htmlRef{ID: "…"}, x, 0})
			break
		}
		b.Names = append(b.Names, htmlChainRef{r, x, 0})
		x += wide
	}
	if len(b.Names) > 0 {
		y += lineHeight + 9
	}
	b.Height = y + 15
	return b
}

// wrap breaks a text into lines of at most so many columns, the last of which
// says if there would be more.
func wrap(s string, columns, limit int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(s) {
		for line != "" && cells(line)+1+cells(w) > columns || line == "" && cells(w) > columns {
			if line == "" && !hasWide(w) {
				w = shorten(w, columns, "…")
				break
			}
			if line != "" && hasWide(w) { // no spaces between its words: it may break anywhere
				if head := headCells(w, columns-cells(line)-1); head != "" {
					line += " " + head
					w = w[len(head):]
				}
			}
			if line == "" {
				line = headCells(w, columns)
				w = w[len(line):]
			}
			lines = append(lines, line)
			line = ""
		}
		if line != "" && w != "" {
			line += " "
		}
		line += w
	}
	if line != "" {
		lines = append(lines, line)
	}
	if len(lines) > limit {
		lines = lines[:limit]
		lines[limit-1] = headCells(lines[limit-1], columns-2) + " …"
	}
	return lines
}
