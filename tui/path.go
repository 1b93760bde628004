package tui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// retries reports whether a layer of a path retries.
func retries(l *incident.Layer) bool { return l.Amplification >= 1.05 }

// multiplied appends the paths on which more than one layer retries.
func multiplied(s *scene, p *page, l *callLayout) {
	for i := range s.report.Paths {
		path := &s.report.Paths[i]
		var factors, names []string
		for j := range path.Layers {
			if layer := &path.Layers[j]; retries(layer) {
				factors = append(factors, strings.TrimSuffix(times(layer.Amplification), "x"))
				names = append(names, layer.Edge)
			}
		}
		if len(factors) < 2 {
			continue
		}
		if len(p.rows) == 0 {
			p.title(lang.T("RETRIES MULTIPLY ALONG A PATH"))
		}
		rate := ""
		if path.InPerS != nil && path.OutPerS != nil {
			rate = lang.Sprintf("%s/s in, %s/s at the end", number(*path.InPerS), number(*path.OutPerS))
		}
		product := "= " + strings.Join(factors, " x ")
		r := row{key: pathKey(i), cites: path.Citations, alarm: true, copy: times(path.Amplification) + " " + product + "  " + strings.Join(names, ", ")}
		r.line = text{{bad, s.burning + " " + padLeft(times(path.Amplification), timesWidth)}, {plain, " "}, {strong, product}, {plain, "  "}}
		room := s.width - 2 - r.line.cells()
		for j, name := range names { // the methods tell the layers apart
			if _, after, ok := strings.Cut(name, " -> "); ok && j > 0 {
				names[j] = after
			}
		}
		way := strings.Join(names, ", ")
		if w := cells(way) + 2 + cells(rate); rate == "" || w <= room {
			r.line = r.line.and(plain, middle(way, max(8, room), s.ellipsis)).and(dim, "  "+rate)
			p.rows = append(p.rows, r)
			continue
		}
		p.rows = append(p.rows, r)
		p.rows[len(p.rows)-1].line = r.line.and(dim, rate)
		for _, line := range say(plain, way).wrap(max(8, s.width-4-timesWidth), "") {
			r.line = append(text{{plain, strings.Repeat(" ", timesWidth+3)}}, line...)
			r.alarm = false
			p.rows = append(p.rows, r)
		}
	}
	if len(p.rows) > 0 {
		p.title(lang.T("CALLS"))
	}
}

// pathKeys begins the keys of paths.
const pathKeys = "path "

func pathKey(i int) string { return pathKeys + strconv.Itoa(i) }

// pathPage shows the layers of a path: what came in, what each layer made of it.
func pathPage(s *scene, path *incident.Path) *page {
	p := &page{}
	w := s.width - 2
	r := row{key: "path", cites: path.Citations, alarm: true}
	p.thing(r, nil, w, text{{bad, s.burning + " " + times(path.Amplification)}, {strong, "  " + lang.T("retries of several layers multiply")}, {plain, " "}}.with(s.seen(path.Citations, 2)))
	if path.InPerS != nil && path.OutPerS != nil {
		p.thing(r, nil, w, say(plain, lang.Sprintf("%s/s came in, %s/s reached the last layer", number(*path.InPerS), number(*path.OutPerS))))
	}
	if path.Load > 1.05*path.Amplification {
		p.thing(r, nil, w, say(plain, lang.Sprintf("%s attempts at the last layer for each request, its fan-out included", number(path.Load))))
	}
	p.title(lang.T("LAYER BY LAYER"))
	product := 1.0
	for j := range path.Layers {
		l := &path.Layers[j]
		product *= l.Amplification
		lr := row{key: fmt.Sprintf("layer %d", j), cites: path.Citations, copy: l.Edge}
		if to, ok := s.toCall(l.Edge); ok {
			lr.links = []link{to}
		}
		tn := plain
		if retries(l) {
			tn = bad
			lr.alarm = true
		}
		p.thing(lr, text{{tn, padLeft(times(l.Amplification), timesWidth) + " "}}, w, say(plain, l.Edge))
		lr.alarm = false
		about := lang.Sprintf("%s attempts for %s calls", grouped(l.Attempts), grouped(l.Calls))
		if l.FanOut > 1.05 {
			about += ", " + lang.Sprintf("%s calls for each attempt above", number(l.FanOut))
		}
		lr.line = text{{plain, strings.Repeat(" ", timesWidth+1)}}.with(s.gauge(product/max(1, path.Amplification), max(4, min(30, w/3)), tn)).and(tn, " "+times(product)).and(dim, "  "+about)
		p.rows = append(p.rows, lr)
	}
	p.gap()
	p.para(nil, w, say(dim, lang.T("Let one layer retry, the one nearest to the failure or the outermost; then the product is one factor.")))
	seenIn(p, path.Citations)
	return p
}
