package tui

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
)

// gauge draws a share, from 0 to 1, as a bar of width columns.
func (g *glyphs) gauge(share float64, width int, tn tone) text {
	share = max(0, min(1, share))
	n := int(math.Round(share * float64(width)))
	if share > 0 && n == 0 {
		n = 1
	}
	return text{{tn, strings.Repeat(g.full, n)}, {frame, strings.Repeat(g.light, width-n)}}
}

// sparkline draws values in as many columns as there are. NaN is a gap; the
// highest is as high as top.
func (g *glyphs) sparkline(values []float64, top float64) string {
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			b.WriteByte(' ')
		case top <= 0 || v <= 0:
			b.WriteString(g.spark[0])
		default:
			i := int(math.Ceil(v/top*float64(len(g.spark)))) - 1
			b.WriteString(g.spark[max(0, min(len(g.spark)-1, i))])
		}
	}
	return b.String()
}

// part is one part of a stacked bar.
type part struct {
	n    int
	tone tone
	name string
}

// stacked draws parts of a whole in width columns, each in a fill of its own;
// every part that is not empty has at least one column.
func (g *glyphs) stacked(parts []part, whole, width int) text {
	var t text
	left := width
	for i, p := range parts {
		if p.n <= 0 || whole <= 0 || left <= 0 {
			continue
		}
		n := int(math.Round(float64(p.n) / float64(whole) * float64(width)))
		n = max(1, min(n, left))
		t = t.and(p.tone, strings.Repeat(g.kinds[i%len(g.kinds)], n))
		left -= n
	}
	return t.and(frame, strings.Repeat(g.empty, max(0, left)))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// number writes a number with three digits that matter, or whole.
func number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return grouped(int64(f))
	}
	if math.Abs(f) >= 100 {
		return grouped(int64(math.Round(f)))
	}
	digits := 2
	if math.Abs(f) < 0.1 {
		digits = 4
	}
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(f, 'f', digits, 64), "0"), ".")
}

// grouped writes a whole number with commas.
func grouped(n int64) string { return incident.Grouped(n) }

// seconds writes a duration given in seconds.
func seconds(s float64) string {
	switch {
	case s == 0:
		return "0 s"
	case s < 0.001:
		return strconv.FormatFloat(s*1e6, 'f', 0, 64) + " µs"
	case s < 1:
		return number(math.Round(s*1e4)/10) + " ms"
	}
	return number(math.Round(s*100)/100) + " s"
}
