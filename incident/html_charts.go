package incident

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/firebreak-io/firebreak/lang"
)

// htmlBars is a small chart of horizontal bars with their numbers.
type htmlBars struct {
	Name, Title string
	Caption     string
	Note        string
	Height      int
	Bars        []htmlBar
	Cites       htmlCitations
}

type htmlBar struct {
	Label, Value string
	Y, TextY     int
	Width, After string // of the bar, and where its number stands
	Class        string
}

// Measures of a chart of bars: words to the left, bars from barsFrom on, at most
// barsRoom long, so that the longest leaves room for its number.
const (
	barHeight = 24
	barsFrom  = 0.30
	barsRoom  = 0.50
	barsMost  = 10
)

// bars draws named counts; the longest bar is that of the largest.
func (h *htmlPage) bars(title string, labels []string, counts []int64) htmlBars {
	b := htmlBars{Name: h.drawing(), Title: title}
	top := int64(1)
	for _, n := range counts {
		top = max(top, n)
	}
	for i, label := range labels {
		share := barsRoom * float64(max(0, counts[i])) / float64(top)
		b.Bars = append(b.Bars, htmlBar{
			Label: shorten(label, 18, "…"), Value: grouped(counts[i]), Y: i*barHeight + 4, TextY: i*barHeight + 16,
			Width: percent(max(0.003, share)), After: percent(barsFrom + share + 0.015),
		})
	}
	b.Height = len(b.Bars)*barHeight + 2
	return b
}

// attempts is the histogram of an edge's calls by how many attempts they made;
// false where that is not known, or says nothing.
func (h *htmlPage) attempts(e *Edge) (htmlBars, bool) {
	type column struct {
		attempts int
		calls    int64
	}
	var columns []column
	for k, n := range e.ByAttempts {
		if i, err := strconv.Atoi(k); err == nil && i > 0 && n > 0 {
			columns = append(columns, column{i, n})
		}
	}
	slices.SortFunc(columns, func(a, b column) int { return cmp.Compare(a.attempts, b.attempts) })
	if len(columns) == 0 || columns[len(columns)-1].attempts < 2 {
		return htmlBars{}, false
	}
	var labels []string
	var calls []int64
	for i, c := range columns {
		if i >= barsMost-1 && i < len(columns)-1 { // the rest together
			for _, c := range columns[i+1:] {
				columns[i].calls += c.calls
			}
			labels = append(labels, lang.Sprintf("%d or more", c.attempts))
			calls = append(calls, columns[i].calls)
			break
		}
		labels = append(labels, plural(c.attempts, "attempt", "attempts"))
		calls = append(calls, c.calls)
	}
	b := h.bars(lang.Sprintf("Calls of %s by their attempts", e.Name()), labels, calls)
	for i := range b.Bars {
		b.Bars[i].Class = "amplifier"
		if i == 0 && columns[0].attempts == 1 {
			b.Bars[i].Class = "quiet"
		}
	}
	b.Caption = cutMiddle(e.Name(), htmlName)
	var note facts
	if e.Amplification != nil {
		note.add(true, "%.1fx", *e.Amplification)
	}
	if e.Ceiling != nil {
		note.add(true, "ceiling %d", *e.Ceiling)
	}
	note.add(e.Scope == "failed-calls", "failed calls only")
	note.add(e.Basis != "", "from %s", e.Basis)
	b.Note = note.String()
	b.Cites = htmlCitedUpTo(htmlCitesOfRow, h.about(e.Citations, e.Name()))
	return b, true
}

// candidates draws how many providers were left after each stage of routing.
// Stages that took nobody out are drawn as one.
func (h *htmlPage) candidates(e *Edge) (htmlBars, bool) {
	if !e.narrows() {
		return htmlBars{}, false
	}
	var labels []string
	var left []int64
	run := 0
	for i, s := range e.Candidates {
		if i > 0 && s.Count == e.Candidates[i-1].Count && i < len(e.Candidates)-1 && len(labels) > 1 {
			run++
			labels[len(labels)-1] = lang.Sprintf("%d stages", run+1)
			continue
		}
		if len(labels) == barsMost {
			break
		}
		run = 0
		labels = append(labels, s.Stage)
		left = append(left, int64(s.Count))
	}
	b := h.bars(lang.Sprintf("Candidates of %s by stage of routing", e.Name()), labels, left)
	for i := range b.Bars {
		b.Bars[i].Class = "victim"
	}
	b.Caption = cutMiddle(e.Name(), htmlName)
	b.Cites = htmlCitedUpTo(htmlCitesOfRow, h.about(e.Citations, e.Name()))
	return b, true
}

// htmlStacked is one bar parted by what it is made of.
type htmlStacked struct {
	Name, Title string
	Parts       []htmlPart
}

type htmlPart struct {
	Label, Count string
	Class        string
	X, Width     string
	Middle       string
	Named        bool // there is room for its name
}

// waits parts a pool's threads by what they wait for.
func (h *htmlPage) waits(p *Pool) *htmlStacked {
	total := 0
	for _, n := range p.ByWaitKind {
		total += max(0, n)
	}
	if total == 0 {
		return nil
	}
	kinds := slices.SortedFunc(maps.Keys(p.ByWaitKind), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.ByWaitKind[b], p.ByWaitKind[a]), cmp.Compare(a, b))
	})
	s := &htmlStacked{Name: h.drawing(), Title: lang.Sprintf("What the threads of %s wait for", cutMiddle(p.Name, htmlName))}
	x := 0.0
	for i, kind := range kinds {
		n := p.ByWaitKind[kind]
		if n <= 0 {
			continue
		}
		if i == barsMost-1 && len(kinds) > barsMost {
			kind, n = "other", total-int(x*float64(total)+0.5)
		}
		share := float64(n) / float64(total)
		part := htmlPart{
			Label: shorten(lang.Word(kind), 16, "…"), Count: grouped(n), Class: waitClass(kind), X: percent(x), Width: percent(share),
			Middle: percent(x + share/2), Named: share*320 > float64(cells(lang.Word(kind)))*letterWidth+8,
		}
		s.Parts = append(s.Parts, part)
		x += share
		if i == barsMost-1 {
			break
		}
	}
	return s
}

// waitClass is the colour family of a wait kind; its name always stands beside.
func waitClass(kind string) string {
	switch WaitKind(kind) {
	case WaitDBRead, WaitDBPool:
		return "w-db"
	case WaitRedis, WaitHTTP, WaitRPC, WaitMQ, WaitDNS:
		return "w-far"
	case WaitLock, WaitCondition, WaitClassInit:
		return "w-lock"
	case WaitCPU, WaitGC:
		return "w-run"
	case WaitDisk, WaitLogging:
		return "w-disk"
	case WaitIdle:
		return "w-idle"
	}
	return "w-other"
}

// htmlGauge is how full a pool is.
type htmlGauge struct {
	Name, Title string
	Said        string
	Width       string
	Class       string
}

func (h *htmlPage) gauge(p *Pool) *htmlGauge {
	if p.Active == nil || p.Max == nil || *p.Max <= 0 {
		return nil
	}
	share := float64(*p.Active) / float64(*p.Max)
	g := &htmlGauge{
		Name: h.drawing(), Title: lang.Sprintf("%s of %s active", grouped(*p.Active), grouped(*p.Max)),
		Said: grouped(*p.Active) + "/" + grouped(*p.Max), Width: percent(share), Class: "quiet",
	}
	switch {
	case share >= 0.98:
		g.Class = "trigger"
	case share >= 0.8:
		g.Class = "amplifier"
	}
	return g
}
