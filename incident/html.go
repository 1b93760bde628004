package incident

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/firebreak-io/firebreak/lang"
)

// HTMLOptions say how the HTML form is written.
type HTMLOptions struct {
	Zone *time.Location // for times; nil means UTC
}

// WriteHTML writes the report as one page that needs nothing else: no script, no
// file and no address beside it, which its own Content-Security-Policy holds the
// browser to. It is light or dark as the reader's screen is, prints on paper, and
// fits a telephone. The drawings are SVG, with what they say in words beside
// them. Names from the evidence are text and nothing else.
//
// Lists are bounded, and say how much more there is; the JSON form has all. The
// same report gives the same bytes.
func WriteHTML(w io.Writer, r *Report, o HTMLOptions) error {
	h := newHTMLPage(sanitized(r), o)
	var b bytes.Buffer
	if err := htmlTemplates().ExecuteTemplate(&b, "page.tmpl", h.document()); err != nil {
		return lang.Errorf("draw the page: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

//go:embed html
var htmlFiles embed.FS

// htmlTemplates reads the templates when a page is first written: other commands
// do not pay for it.
var htmlTemplates = sync.OnceValue(func() *template.Template {
	words := template.FuncMap{"t": lang.T, "style": htmlStyle}
	return template.Must(template.New("").Funcs(words).ParseFS(htmlFiles, "html/*.tmpl"))
})

// htmlStyle is the style sheet, which is ours and safe.
func htmlStyle() (template.CSS, error) {
	css, err := htmlFiles.ReadFile("html/report.css")
	return template.CSS(css), err
}

// How much of each list a page shows.
const (
	htmlIncidents      = 12
	htmlFindings       = 60 // of one incident, and of those that belong to none
	htmlItems          = 40 // actions, notes, rows of a table
	htmlSteps          = 80
	htmlCites          = 3 // citations in sight
	htmlCitesOfFinding = 5
	htmlCitesOfRow     = 2
	htmlCitesMore      = 40 // and behind a click
	htmlName           = 400
	htmlSentence       = 2000
)

// htmlDocument is what page.tmpl draws.
type htmlDocument struct {
	Lang, Title  string
	Version      string
	Made         string // when the report was made
	Window       string // the time that the evidence covers
	Contents     []htmlEntry
	Unread       []htmlUnread
	UnreadMore   string
	Overview     []htmlVerdict
	Incidents    []htmlIncident
	MoreIncident string
	Also         htmlList[htmlFinding]
	AlsoTitle    string
	Timeline     *htmlTimeline
	Calls        *htmlCalls
	Paths        htmlList[htmlPath]
	Traces       htmlList[htmlTrace]
	Pools        htmlList[htmlPool]
	SQL          htmlTable
	Stacks       htmlList[htmlStack]
	Sources      htmlTable
}

// htmlEntry is a line of the contents.
type htmlEntry struct{ Anchor, Title string }

// htmlUnread is a source of which evidence was not read.
type htmlUnread struct{ Path, Why string }

// htmlList is a list with a word about what is left out of it, empty if that is
// nothing.
type htmlList[T any] struct {
	Items []T
	More  string
}

// listed makes the first of a list ready to be shown.
func listed[T, V any](all []T, limit int, view func(*T) V) htmlList[V] {
	var l htmlList[V]
	for i := range all[:min(limit, len(all))] {
		l.Items = append(l.Items, view(&all[i]))
	}
	l.More = more(len(all) - limit)
	return l
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return lang.Sprintf("and %s more: --format json has all", grouped(n))
}

// htmlPage makes a report ready to be drawn.
type htmlPage struct {
	page
	*index
	anchors map[string]string // of the findings that the page shows
	printed map[string]bool   // findings whose anchor was set
	drawn   int               // drawings so far: their names have numbers
}

func newHTMLPage(r *Report, o HTMLOptions) *htmlPage {
	h := &htmlPage{page: newPage(TextOptions{Zone: o.Zone}), index: newIndex(r), anchors: map[string]string{}, printed: map[string]bool{}}
	h.chooseFindings()
	return h
}

func (h *htmlPage) document() htmlDocument {
	r := h.index.report
	h.setDay(r.Window)
	d := htmlDocument{Lang: htmlLanguage(), Title: h.title(), Version: r.Tool.Version, Window: h.when(r.Window)}
	if !r.GeneratedAt.IsZero() {
		d.Made = r.GeneratedAt.In(h.zone).Format("2006-01-02 15:04:05 -07:00")
	}
	h.unread(&d)
	shown := r.Incidents[:min(htmlIncidents, len(r.Incidents))]
	for i := range shown {
		if len(r.Incidents) > 1 {
			d.Overview = append(d.Overview, h.verdictOf(i, &shown[i]))
		}
		d.Incidents = append(d.Incidents, h.incident(i, &shown[i]))
	}
	d.MoreIncident = more(len(r.Incidents) - htmlIncidents)
	h.setDay(r.Window)
	d.Also = h.otherFindings()
	d.AlsoTitle = lang.T("Also seen")
	if len(h.printed) == len(d.Also.Items) {
		d.AlsoTitle = lang.T("Evidence")
	}
	d.Timeline = h.timeline()
	d.Pools = listed(r.Pools, htmlItems, h.pool)
	d.Calls = h.calls()
	d.Paths = listed(severalRetry(r.Paths), htmlItems, h.path)
	d.Traces = listed(r.Traces, htmlCharts, h.trace)
	d.SQL = h.statements()
	d.Stacks = listed(r.Stacks, htmlItems, h.stack)
	d.Sources = h.sources()
	d.Contents = contents(&d)
	return d
}

// title names the page after what it says.
func (h *htmlPage) title() string {
	var parts facts
	r := h.index.report
	switch len(r.Incidents) {
	case 0:
		parts.add(true, "%s", lang.T("Nothing to judge"))
	case 1:
		parts.add(true, "%s", lang.Word(string(r.Incidents[0].Label)))
		parts.add(r.Incidents[0].Subject != "", "%s", cutMiddle(r.Incidents[0].Subject, 80))
	default:
		parts.add(true, "%s", lang.Sprintf("%d incidents", len(r.Incidents)))
	}
	return parts.String() + " – firebreak"
}

func (h *htmlPage) unread(d *htmlDocument) {
	named, rest := h.index.report.unread()
	for i := range named {
		d.Unread = append(d.Unread, htmlUnread{cutMiddle(named[i].Path, htmlName), named[i].Unread})
	}
	if rest > 0 {
		d.UnreadMore = lang.Sprintf("and %s more", grouped(rest))
	}
}

// contents lists the sections that the page has.
func contents(d *htmlDocument) []htmlEntry {
	var list []htmlEntry
	add := func(has bool, anchor, title string) {
		if has {
			list = append(list, htmlEntry{anchor, title})
		}
	}
	if len(d.Incidents) == 1 {
		in := &d.Incidents[0]
		add(d.Timeline != nil, "timeline", lang.T("Timeline"))
		add(len(in.Evidence.Items) > 0, in.Anchor+"-evidence", lang.T("Evidence"))
		add(len(in.Walks) > 0, in.Anchor+"-runbook", lang.T("Runbook"))
		add(len(in.Actions.Items) > 0, in.Anchor+"-actions", lang.T("What to do"))
	} else {
		for i := range d.Incidents {
			add(true, d.Incidents[i].Anchor, d.Incidents[i].Label)
		}
	}
	add(len(d.Also.Items) > 0, "also", d.AlsoTitle)
	add(d.Timeline != nil && len(d.Incidents) != 1, "timeline", lang.T("Timeline"))
	add(d.Calls != nil, "calls", lang.T("Calls"))
	add(len(d.Paths.Items) > 0, "paths", lang.T("Paths"))
	add(len(d.Traces.Items) > 0, "traces", lang.T("Traces"))
	add(len(d.Pools.Items) > 0, "pools", lang.T("Pools"))
	add(len(d.SQL.Rows) > 0, "sql", lang.T("SQL"))
	add(len(d.Stacks.Items) > 0, "threads", lang.T("Threads"))
	add(len(d.Sources.Rows) > 0, "sources", lang.T("Sources"))
	return list
}

// drawing names the next drawing, so that its parts can be referred to.
func (h *htmlPage) drawing() string {
	h.drawn++
	return "drawing-" + strconv.Itoa(h.drawn)
}

// percent writes a share of one as SVG's lengths are written.
func percent(share float64) string {
	return strconv.FormatFloat(100*min(1, max(0, share)), 'f', 2, 64) + "%"
}

// htmlLanguage names the language of the page's words for browsers.
func htmlLanguage() string {
	if l := lang.Current(); l != lang.Chinese {
		return l
	}
	return "zh-Hans"
}
