package tui

import (
	"context"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/runbooks"
)

// Config says what to show and how.
type Config struct {
	Source Source
	Zone   *time.Location  // of times shown; nil means UTC
	Window incident.Window // to begin with; zero: all
	Theme  string          // "dark", "light", "contrast"; empty: by the terminal's background
	ASCII  bool
	Mouse  bool
	Tmux   bool    // copies are wrapped for tmux as well
	Case   *Case   // to go on with; nil for a new one
	Guide  []Guide // first steps, of a demonstration; empty otherwise
	Name   string  // of what is read, for the title
	Host   Host    // what the program may ask of its surroundings
}

// Host does for the screen what it must not do itself. Each method is called
// from a command; a nil function means that it cannot be done here.
type Host struct {
	Save   func(c *Case) error                                   // keeps the case
	Export func(r *incident.Report, form string) (string, error) // writes a report and returns its path
	Copy   func(text string) (string, error)                     // keeps a copy in a file and returns its path
	Open   func(path string, line int) (tea.ExecCommand, error)  // the engineer's editor or pager
}

// Case is where an engineer stands: kept at the end, gone on with later.
type Case struct {
	Notebook Notebook              `json:"notebook"`
	Window   incident.Window       `json:"window,omitzero"`
	Incident int                   `json:"incident"`
	Book     string                `json:"book,omitempty"`
	Screen   string                `json:"screen,omitempty"`
	Filters  map[screenID][]filter `json:"filters,omitempty"` // by numbered screen

	WhatIf map[string]Supposed `json:"what_if,omitempty"` // by incident
}

// filter keeps or leaves out rows with a text.
type filter struct {
	Text string `json:"text"`
	Out  bool   `json:"out,omitempty"`
}

// Model is the one model of the program.
type Model struct {
	cfg   Config
	table []screen
	keys  []binding

	width, height int
	theme         *theme
	glyphs        *glyphs

	reading  Reading
	scene    *scene // of the report that is shown; never nil
	loading  bool
	stopping bool // reading was asked to end
	progress Progress
	failure  error
	cancel   context.CancelFunc
	events   chan tea.Msg // of the reading that goes on
	reads    int          // readings begun; messages of older ones are dropped

	paused bool
	newest *Reading // of a Follower, while paused
	behind int      // reports that came while paused

	stack     []place // where the engineer came from; the last is where they are
	side      int     // first row shown of the detail beside a list
	prompt    *prompt
	filters   map[screenID][]filter // by numbered screen
	note      string                // of what was just done
	excerpt   map[string]*excerptState
	book      string
	guideDone []string // bindings used since the last step of it
	guide     int      // step of the demonstration; len(cfg.Guide) at its end
	quit      bool
	unkept    bool // quitting goes on though the case could not be kept

	pages map[pageKey]*page // made since the last change
}

// New returns the program's model. It shows that reading goes on until the
// first report arrives.
func New(cfg Config) *Model {
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	m := &Model{
		cfg: cfg, table: screens(), keys: bindings(), glyphs: &unicodeGlyphs, theme: themeNamed(cfg.Theme),
		book: runbooks.DefaultName, excerpt: map[string]*excerptState{}, filters: map[screenID][]filter{}, stack: []place{{screen: onVerdict}},
	}
	if cfg.ASCII {
		m.glyphs = &asciiGlyphs
	}
	m.scene = newScene(&incident.Report{})
	m.scene.notes = &Notebook{}
	m.scene.window = cfg.Window
	m.scene.scenario = newScenario(cfg.Case)
	if c := cfg.Case; c != nil {
		notes := c.Notebook
		m.scene.notes, m.scene.nth = &notes, c.Incident
		maps.Copy(m.filters, c.Filters)
		if !c.Window.IsZero() {
			m.scene.window = c.Window
		}
		if c.Book != "" {
			m.book = c.Book
		}
		if i := slices.IndexFunc(m.table[:numbered], func(s screen) bool { return string(s.id) == c.Screen }); i >= 0 {
			m.stack[0].screen = m.table[i].id
		}
	}
	m.changed()
	return m
}

// here is the place that is shown.
func (m *Model) here() *place { return &m.stack[len(m.stack)-1] }

// screen returns the screen of an ID.
func (m *Model) screen(id screenID) *screen {
	i := slices.IndexFunc(m.table, func(s screen) bool { return s.id == id })
	return &m.table[max(0, i)]
}

// show makes a report the one that is looked at. The reader's place is kept.
func (m *Model) show(r Reading) {
	report := *r.Report
	incident.Sanitize(&report)
	if r.Books == nil {
		r.Books = m.reading.Books
	}
	m.reading = r
	m.reading.Report = &report
	next := newScene(&report)
	next.notes, next.nth, next.window, next.scenario = m.scene.notes, m.scene.nth, m.scene.window, m.scene.scenario
	next.axis = m.scene.axis
	m.scene = next
	m.changed()
}

// changed drops what was made from what is no longer so, and brings the scene up
// to date.
func (m *Model) changed() {
	m.pages = map[pageKey]*page{}
	s := m.scene
	s.glyphs, s.zone, s.book, s.books = m.glyphs, m.cfg.Zone, m.book, m.reading.Books
	s.loading, s.partial, s.progress, s.failure = m.loading, m.reading.Partial, m.progress, m.failure
	s.keyName = m.keyOf
	s.nth = max(0, min(s.nth, len(s.report.Incidents)-1))
	s.now = nil
	if len(s.report.Incidents) > 0 {
		s.now = &s.report.Incidents[s.nth]
	}
}

// kept is the case as it stands.
func (m *Model) kept() *Case {
	c := &Case{
		Notebook: *m.scene.notes, Window: m.scene.window, Incident: m.scene.nth, Book: m.book, Filters: m.filters,
		WhatIf: m.scene.scenario.kept(),
	}
	for _, p := range m.stack {
		if slices.ContainsFunc(m.table[:numbered], func(s screen) bool { return s.id == p.screen }) {
			c.Screen = string(p.screen)
		}
	}
	return c
}

// Failure returns why no report could be made, nil if one was.
func (m *Model) Failure() error { return m.failure }

// Partial reports whether the report covers only part of the evidence.
func (m *Model) Partial() bool { return m.reading.Partial || m.loading }

// Report returns the report as it was last shown, with what the engineer said in
// it; nil if there is none.
func (m *Model) Report() *incident.Report {
	if m.reading.Report == nil {
		return nil
	}
	if m.reading.Books == nil {
		return m.reading.Report
	}
	return m.scene.notes.Into(m.reading.Report, m.reading.Books)
}
