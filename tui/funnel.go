package tui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// ends are the candidates at the first and the last stage, without what was
// tried.
func ends(stages []incident.Stage) (first, last int) {
	for i, st := range stages {
		if i == 0 {
			first = st.Count
		}
		if i == 0 || st.Stage != "tried" {
			last = st.Count
		}
	}
	return first, last
}

// took is the stage that took the most candidates away; -1 if none did.
func took(stages []incident.Stage) int {
	most, at := 0, -1
	for i := 1; i < len(stages); i++ {
		if n := stages[i-1].Count - stages[i].Count; n > most {
			most, at = n, i
		}
	}
	return at
}

// steps writes the candidates by stage in brief: "10 > 4 > 2", leaving out the
// stages that changed nothing.
func steps(stages []incident.Stage) string {
	var list []string
	for i, st := range stages {
		if n := strconv.Itoa(st.Count); i == 0 || n != list[len(list)-1] {
			list = append(list, n)
		}
	}
	if len(list) > 4 {
		list = append(list[:2], list[len(list)-2:]...)
	}
	return strings.Join(list, " > ")
}

// funnel draws candidates by stage, and marks the one that took the most away.
// Stages in a row that changed nothing are one line.
func funnel(s *scene, p *page, stages []incident.Stage, w int, r row) {
	most, name := 1, 0
	for _, st := range stages {
		most, name = max(most, st.Count), max(name, cells(st.Stage))
	}
	name = min(name, max(10, w/3))
	culprit := took(stages)
	room := max(4, min(40, w-2-name-1-6-13))
	for i := 0; i < len(stages); i++ {
		st := &stages[i]
		idle := 0
		for i > 0 && i+1+idle < len(stages) && stages[i+idle].Count == stages[i-1].Count && stages[i+idle].Stage != "after-route" && stages[i+idle].Stage != "tried" {
			idle++
		}
		if idle > 1 {
			r.line = text{{dim, "  " + lang.Sprintf("%s %d routers changed nothing", s.ellipsis, idle)}}
			p.rows = append(p.rows, r)
			i += idle - 1
			continue
		}
		tn := info
		glyph := " "
		switch {
		case st.Count == 0:
			tn, glyph = bad, s.burning
		case i == culprit:
			tn, glyph = warn, "!"
		}
		line := text{{tn, glyph + " "}, {plain, pad(middle(st.Stage, name, s.ellipsis), name, s.ellipsis) + " "}}
		line = append(line, s.gauge(float64(st.Count)/float64(most), room, tn)...)
		line = line.and(plain, padLeft(strconv.Itoa(st.Count), 6))
		if i > 0 && stages[i-1].Count > st.Count {
			said := fmt.Sprintf("  -%d", stages[i-1].Count-st.Count)
			if i == culprit {
				said += " " + lang.T("the most")
			}
			line = line.and(tn, said)
		}
		r.line = line
		p.rows = append(p.rows, r)
	}
}

// shares draws what each provider got of an edge's attempts, its failures and
// its time.
func shares(s *scene, p *page, e *incident.Edge, w int, r row) {
	var sum int64
	name, busy, p95 := 8, false, false
	for i := range e.Providers {
		pr := &e.Providers[i]
		sum += pr.Attempts
		name = max(name, cells(pr.Name))
		busy = busy || pr.BusyS != nil
		p95 = p95 || pr.P95MS != nil
	}
	type column struct {
		title string
		width int
		cell  func(*incident.ProviderShare) string
	}
	columns := []column{
		{lang.T("attempts"), 10, func(p *incident.ProviderShare) string { return grouped(p.Attempts) }},
		{lang.T("failed"), 8, func(p *incident.ProviderShare) string { return grouped(p.Failures) }},
	}
	if p95 {
		columns = append(columns, column{"p95", 9, func(p *incident.ProviderShare) string {
			if p.P95MS == nil {
				return ""
			}
			return millis(float64(*p.P95MS))
		}})
	}
	if busy {
		columns = append(columns, column{lang.T("busy"), 10, func(p *incident.ProviderShare) string {
			if p.BusyS == nil {
				return ""
			}
			return seconds(*p.BusyS)
		}})
	}
	const shareWidth = 7
	used := 2 + shareWidth
	for i, c := range columns {
		if used+c.width+16 > w {
			columns = columns[:i]
			break
		}
		used += c.width
	}
	gauge := 0
	if w-used >= 30 {
		gauge = min(24, (w-used)/3)
		used += gauge + 1
	}
	name = max(6, min(name, w-used))
	head := text{{dim, "  " + pad("", name, "")}}
	if gauge > 0 {
		head = head.and(dim, pad("", gauge+1, ""))
	}
	head = head.and(dim, padLeft(lang.T("share"), shareWidth))
	for _, c := range columns {
		head = head.and(dim, padLeft(cut(c.title, c.width-1, ""), c.width))
	}
	p.add(head)
	for i := range e.Providers {
		pr := &e.Providers[i]
		share := float64(pr.Attempts) / float64(max(1, sum))
		glyph, tn := " ", info
		pr0 := r
		pr0.copy = pr.Name
		if uneven(pr.Attempts, sum, len(e.Providers)) {
			glyph, tn = "!", warn
			pr0.alarm = true
		}
		t := text{{tn, glyph + " "}, {plain, pad(middle(pr.Name, name, s.ellipsis), name, s.ellipsis)}}
		if gauge > 0 {
			t = t.and(plain, " ").with(s.gauge(share, gauge, tn))
		}
		t = t.and(tn, padLeft(percent(share), shareWidth))
		for _, c := range columns {
			t = t.and(plain, padLeft(cut(c.cell(pr), c.width-1, s.ellipsis), c.width))
		}
		pr0.key = fmt.Sprintf("%s %d", r.key, i)
		pr0.line = t
		p.rows = append(p.rows, pr0)
	}
}
