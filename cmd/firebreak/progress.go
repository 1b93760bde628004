package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// progressBar draws one line about the reading on a terminal, at most ten times
// a second, and takes it away at the end. Elsewhere it draws nothing.
type progressBar struct {
	w           io.Writer
	now         func() time.Time
	width       int
	start, last time.Time
	drawn       bool
}

const redraw = 100 * time.Millisecond

func (a *app) progressBar(quiet bool) *progressBar {
	if quiet || !a.errTerminal || a.env("TERM") == "dumb" {
		return &progressBar{}
	}
	width := a.columns
	if width == 0 {
		width = 80
	}
	return &progressBar{w: a.stderr, now: a.now, width: width, start: a.now()}
}

func (b *progressBar) tell(p progress) {
	if b.w == nil {
		return
	}
	now := b.now()
	if now.Sub(b.last) < redraw || now.Sub(b.start) < 3*redraw { // nothing flashes for a small input
		return
	}
	b.last, b.drawn = now, true
	fmt.Fprint(b.w, "\r"+p.line(now.Sub(b.start), b.width-1)+"\x1b[K")
}

func (b *progressBar) clear() {
	if b.drawn {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}

// line says how far it is, how fast and how long still, in at most width columns.
func (p progress) line(elapsed time.Duration, width int) string {
	var parts []string
	rate := 0.0
	if elapsed > 0 {
		rate = float64(p.bytes) / elapsed.Seconds()
	}
	if p.total > 0 {
		share := min(1, float64(p.bytes)/float64(p.total))
		const cells = 16
		done := int(share * cells)
		parts = append(parts, "["+strings.Repeat("#", done)+strings.Repeat(".", cells-done)+"]", fmt.Sprintf("%.0f %%", share*100))
		parts = append(parts, lang.Sprintf("%s of %s", size(p.bytes), size(p.total)))
	} else {
		parts = append(parts, size(p.bytes))
	}
	parts = append(parts, size(int64(rate))+"/s")
	if p.filesTotal > 1 {
		parts = append(parts, lang.Sprintf("file %d of %d", min(p.files+1, p.filesTotal), p.filesTotal))
	}
	if left := float64(p.total - p.bytes); left > 0 && rate > 0 {
		parts = append(parts, lang.Sprintf("%s left", time.Duration(left/rate)*time.Second))
	}
	line := strings.Join(parts, "  ")
	if incident.Cells(line) > width {
		return incident.Shorten(line, width)
	}
	// Names may be wide; two columns a character is the most there can be.
	if name := []rune(incident.Visible(p.current)); len(name) > 0 && incident.Cells(line)+2+2*len(name) <= width {
		line += "  " + string(name)
	}
	return line
}

func size(n int64) string {
	for _, u := range []struct {
		of   int64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if n >= u.of {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.of), u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
