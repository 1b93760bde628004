package tui

import (
	"context"
	"encoding/base64"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// open shows the line that the chosen thing cites, as it stands in the evidence.
func (m *Model) open() tea.Cmd {
	c, ok := m.cited()
	if !ok {
		m.note = lang.T("nothing is cited here")
		return nil
	}
	return m.openAt(c)
}

// cited returns the first citation of the chosen thing.
func (m *Model) cited() (evidence.Citation, bool) {
	for _, r := range m.chosen() {
		if len(r.cites) > 0 {
			return r.cites[0], true
		}
		for _, l := range r.links {
			if l.at != nil {
				return *l.at, true
			}
		}
	}
	return evidence.Citation{}, false
}

// excerptState is what is known of the text around a citation.
type excerptState struct {
	cite evidence.Citation
	Excerpt
	came bool
	err  error
}

func (m *Model) openAt(c evidence.Citation) tea.Cmd {
	arg := c.String()
	m.push(place{screen: onExcerpt, arg: arg})
	if m.excerpt[arg] != nil {
		return nil
	}
	m.excerpt[arg] = &excerptState{cite: c}
	source := m.cfg.Source
	return func() tea.Msg {
		x, err := source.Excerpt(context.Background(), c)
		return excerptMsg{arg, x, err}
	}
}

func (m *Model) excerptCame(msg excerptMsg) {
	x := m.excerpt[msg.arg]
	if x == nil {
		return
	}
	x.Excerpt, x.err, x.came = msg.Excerpt, msg.err, true
	for i, line := range x.Lines {
		x.Lines[i] = incident.Visible(line)
	}
	m.changed()
	if at := m.here(); at.screen == onExcerpt && at.arg == msg.arg {
		at.key = ""
	}
}

// editor opens the cited line in the engineer's own program.
func (m *Model) editor() tea.Cmd {
	if m.here().screen != onExcerpt {
		if cmd := m.open(); m.here().screen != onExcerpt || cmd != nil {
			return cmd
		}
	}
	x := m.excerpt[m.here().arg]
	switch {
	case x == nil || !x.came || x.err != nil:
		return nil
	case x.Path == "" || m.cfg.Host.Open == nil:
		m.note = lang.T("it lies inside an archive or came through a pipe: no other program can open it")
		return nil
	}
	c, err := m.cfg.Host.Open(x.Path, x.At)
	if err != nil {
		m.note = incident.Visible(err.Error())
		return nil
	}
	return tea.Exec(c, func(err error) tea.Msg { return doneMsg{err: err} })
}

// copy copies what the chosen thing is worth copying for.
func (m *Model) copy() tea.Cmd {
	rows := m.chosen()
	if len(rows) == 0 {
		return nil
	}
	var lines []string
	for i := range rows {
		if rows[i].copy != "" {
			return m.copied(rows[i].copy)
		}
		lines = append(lines, strings.TrimSpace(rows[i].text().plain()))
	}
	return m.copied(strings.TrimSpace(strings.Join(lines, " ")))
}

func (m *Model) copyHeadline() tea.Cmd {
	if m.scene.now == nil {
		m.note = lang.T("there is no verdict yet")
		return nil
	}
	return m.copied(m.headline())
}

// copied puts text on the terminal's clipboard, and into a file for terminals
// that take none.
func (m *Model) copied(s string) tea.Cmd {
	cmds := []tea.Cmd{tea.SetClipboard(s)}
	if m.cfg.Tmux {
		cmds = append(cmds, tea.Raw(throughTmux(s)))
	}
	keep := m.cfg.Host.Copy
	cmds = append(cmds, func() tea.Msg {
		what, _, _ := strings.Cut(s, "\n")
		said := lang.Sprintf("copied: %s", cut(incident.Visible(what), 40, "…"))
		if keep == nil {
			return doneMsg{said: said}
		}
		path, err := keep(s)
		if err == nil {
			said += "   " + lang.Sprintf("also in %s", incident.Visible(path))
		}
		return doneMsg{said: said, err: err}
	})
	return tea.Batch(cmds...)
}

// throughTmux is the clipboard sequence (OSC 52), wrapped so that tmux hands it on.
func throughTmux(s string) string {
	osc := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(s)) + "\x07"
	return "\x1bPtmux;" + strings.ReplaceAll(osc, "\x1b", "\x1b\x1b") + "\x1b\\"
}

// export asks for the form and writes the report with the engineer's words.
func (m *Model) export() tea.Cmd {
	if m.Report() == nil || m.cfg.Host.Export == nil {
		m.note = lang.T("there is no report to export yet")
		return nil
	}
	as := func(form string) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			r, export := m.Report(), m.cfg.Host.Export
			return func() tea.Msg {
				path, err := export(r, form)
				return doneMsg{lang.Sprintf("written to %s", incident.Visible(path)), err}
			}
		}
	}
	m.prompt = &prompt{
		ask:    lang.T("export as: m Markdown   j JSON   h HTML   t text   Esc"),
		single: map[string]func(*Model) tea.Cmd{"m": as("markdown"), "j": as("json"), "h": as("html"), "t": as("text")},
	}
	return nil
}

// bookmark notes something on the chosen thing: for or against, and why.
func (m *Model) bookmark() tea.Cmd {
	rows := m.chosen()
	in := m.scene.now
	if len(rows) == 0 || in == nil {
		m.note = lang.T("nothing is chosen that could be noted")
		return nil
	}
	p, _ := m.current()
	r := Remark{
		Incident: in.ID, Screen: string(m.here().screen) + " " + m.here().arg, Key: rows[0].key,
		About: strings.Join(strings.Fields(p.said(p.index(rows[0].key))), " "),
	}
	for i := range rows {
		if f := rows[i].find; f != "" {
			r.Findings = append(r.Findings, f)
		}
		if len(r.Cites) == 0 {
			r.Cites = rows[i].cites[:min(3, len(rows[i].cites))]
		}
	}
	as := func(stance string) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			m.prompt = &prompt{ask: lang.Sprintf("note (%s): ", stanceWord(stance)), enter: func(m *Model, words string) tea.Cmd {
				r.Stance, r.Note = stance, words
				m.scene.notes.put(r)
				m.changed()
				m.note = lang.Sprintf("noted; %s lists the notes, %s exports them", m.keyOf("remarks"), m.keyOf("export"))
				return nil
			}}
			return nil
		}
	}
	single := map[string]func(*Model) tea.Cmd{"f": as(incident.For), "a": as(incident.Against), "n": as(""), "d": func(m *Model) tea.Cmd {
		m.scene.notes.drop(r.Incident, r.Screen, r.Key)
		m.changed()
		return nil
	}}
	m.prompt = &prompt{ask: lang.T("this speaks: f for the verdict   a against it   n neither   d delete the note   Esc"), single: single}
	return nil
}
