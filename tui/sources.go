package tui

import (
	"fmt"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// sourcesPage says what was read, how much of it was understood, and what was
// lost.
func sourcesPage(s *scene, _ place) *page {
	p := &page{lists: true, none: lang.T("Nothing has been read yet.")}
	var bytes int64
	records, skipped, unread := 0, 0, 0
	for i := range s.report.Sources {
		src := &s.report.Sources[i]
		bytes += src.Bytes
		records += src.Records
		skipped += src.Skipped
		if src.Unread != "" {
			unread++
		}
	}
	p.head = []text{
		text{{strong, lang.Sprintf("%d sources, %s, %s records", len(s.report.Sources), size(bytes), grouped(int64(records)))}}.
			and(toneIf(skipped > 0, warn), lang.Sprintf(", %s skipped", grouped(int64(skipped)))).
			and(toneIf(unread > 0, bad), lang.Sprintf(", %d not read in full", unread)),
		{{dim, lang.Sprintf("times are shown in %s", s.zone.String())}},
		nil,
	}
	name := max(12, s.width-44)
	for i := range s.report.Sources {
		src := &s.report.Sources[i]
		r := row{key: "source " + src.Path, copy: src.Path, alarm: src.Unread != "" || src.Skipped > 0}
		if src.Records > 0 {
			r.cites = []evidence.Citation{{Source: src.Path, Line: 1}}
		}
		r.draw = func() text {
			glyph, tn := s.yes, good
			switch {
			case src.Unread != "":
				glyph, tn = s.no, bad
			case src.Skipped > 0 || len(src.Problems) > 0:
				glyph, tn = s.unsure, warn
			case src.Records == 0:
				glyph, tn = s.notYet, dim
			}
			format := src.Format
			switch {
			case src.Records == 0 && len(src.Problems) > 0:
				format = lang.T("not counted")
			case src.Records == 0:
				format = lang.T("nothing known")
			}
			return text{
				{tn, glyph + " "},
				{plain, pad(middle(src.Path, name, s.ellipsis), name, s.ellipsis) + " "},
				{info, pad(format, 16, s.ellipsis) + " "},
				{dim, padLeft(size(src.Bytes), 8) + " "},
				{dim, padLeft(grouped(int64(src.Records)), 10)},
			}
		}
		p.rows = append(p.rows, r)
	}
	return p
}

// sourcesDetail is one source with its problems.
func sourcesDetail(s *scene, _ place, key string) *page {
	p := &page{}
	w := s.width - 2
	for i := range s.report.Sources {
		src := &s.report.Sources[i]
		if "source "+src.Path != key {
			continue
		}
		first := evidence.Citation{Source: src.Path, Line: 1}
		p.thing(row{key: key, cites: []evidence.Citation{first}, links: []link{toLine(first)}, copy: src.Path}, nil, w, say(strong, src.Path))
		p.gap()
		fact := func(name, value string, tn tone) {
			p.thing(row{}, text{{dim, pad(name, 12, s.ellipsis) + " "}}, w, say(tn, value))
		}
		if src.Format != "" {
			fact(lang.T("format"), src.Format, info)
		}
		fact(lang.T("size"), size(src.Bytes), plain)
		fact(lang.T("records"), grouped(int64(src.Records)), plain)
		fact(lang.T("skipped"), grouped(int64(src.Skipped)), toneIf(src.Skipped > 0, warn))
		if !src.From.IsZero() {
			fact(lang.T("times"), s.between(incident.Window{From: src.From, To: src.To}), plain)
		}
		if src.Unread != "" {
			fact(lang.T("not read"), src.Unread, bad)
		}
		if len(src.Problems) > 0 {
			p.title(lang.T("PROBLEMS"))
		}
		for j, problem := range src.Problems {
			r := row{key: fmt.Sprintf("problem %d", j)}
			var line int
			if _, err := fmt.Sscanf(problem, "line %d:", &line); err == nil {
				c := evidence.Citation{Source: src.Path, Line: line}
				r.cites, r.links = []evidence.Citation{c}, []link{toLine(c)}
			}
			p.thing(r, text{{warn, s.bullet + " "}}, w, say(plain, problem))
		}
	}
	return p
}

func toneIf(is bool, t tone) tone {
	if is {
		return t
	}
	return dim
}

// size writes a number of bytes.
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
