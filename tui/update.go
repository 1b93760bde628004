package tui

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// The messages that commands send.
type (
	progressMsg struct {
		read int
		Progress
	}
	readingMsg struct {
		read int
		Reading
		err error
	}
	followMsg struct {
		Reading
		err error
	}
	excerptMsg struct {
		arg string
		Excerpt
		err error
	}
	doneMsg struct { // something asked of the host
		said string
		err  error
	}
	retryMsg struct{}
)

// Init begins to read.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.read()}
	if m.cfg.Theme == "" {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// read begins to read the evidence of the window that is chosen.
func (m *Model) read() tea.Cmd {
	if m.cancel != nil {
		m.cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.reads++
	m.cancel, m.loading, m.stopping, m.progress, m.failure = cancel, true, false, Progress{}, nil
	events, n, w := make(chan tea.Msg, 1), m.reads, m.scene.window
	m.events = events
	m.changed()
	begin := func() tea.Msg {
		r, err := m.cfg.Source.Read(ctx, w, func(p Progress) {
			msg := progressMsg{n, p}
			select { // the newest word is the one that counts, but no draft is lost
			case old := <-events:
				if o, ok := old.(progressMsg); ok && msg.Draft == nil {
					msg.Draft = o.Draft
				}
			default:
			}
			select {
			case events <- msg:
			default:
			}
		})
		cancel()
		close(events)
		return readingMsg{n, r, err}
	}
	return tea.Batch(begin, listen(events))
}

// listen waits for the next word of a reading.
func listen(events <-chan tea.Msg) tea.Cmd {
	return func() tea.Msg {
		msg, ok := <-events
		if !ok {
			return nil
		}
		return msg
	}
}

// follow waits for the next report of a source that goes on.
func (m *Model) follow() tea.Cmd {
	f, ok := m.cfg.Source.(Follower)
	if !ok {
		return nil
	}
	after := m.reading.Revision
	if m.newest != nil {
		after = m.newest.Revision
	}
	return func() tea.Msg {
		r, err := f.Next(context.Background(), after)
		return followMsg{r, err}
	}
}

// Update changes the state by one message. It does no I/O.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := m.update(msg)
	return m, tea.Batch(cmd, m.reckon())
}

func (m *Model) update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.changed()
	case tea.BackgroundColorMsg:
		if m.cfg.Theme == "" {
			name := "light"
			if msg.IsDark() {
				name = "dark"
			}
			m.theme = themeNamed(name)
		}
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		if m.prompt != nil {
			m.prompt.insert(incident.Visible(msg.Content))
			m.prompted()
		}
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case tea.MouseClickMsg:
		return m, m.click(msg)
	case progressMsg:
		return m, m.progressed(msg)
	case readingMsg:
		return m, m.readDone(msg)
	case followMsg:
		return m, m.followed(msg)
	case retryMsg:
		return m, m.follow()
	case excerptMsg:
		m.excerptCame(msg)
	case outcomeMsg:
		m.outcomeCame(msg)
	case doneMsg:
		m.note = msg.said
		if msg.err != nil {
			m.note = m.glyphs.no + " " + incident.Visible(msg.err.Error())
		}
		if m.quit && msg.err != nil && !m.unkept {
			m.quit, m.unkept = false, true
			m.note = lang.Sprintf("%s; %s once more quits", m.note, keyName("q"))
			return m, nil
		}
		if m.quit {
			return m, tea.Quit
		}
	case Leave:
		m.unkept = true
		return m, m.leave()
	}
	return m, nil
}

func (m *Model) progressed(msg progressMsg) tea.Cmd {
	if msg.read != m.reads || !m.loading {
		return nil
	}
	m.progress = msg.Progress
	m.progress.Draft = nil
	if msg.Draft != nil {
		m.show(Reading{Report: msg.Draft, Partial: true})
	}
	m.changed()
	return listen(m.events)
}

func (m *Model) readDone(msg readingMsg) tea.Cmd {
	if msg.read != m.reads {
		return nil
	}
	m.loading = false
	if msg.err != nil {
		m.failure = msg.err
		if m.stopping && errors.Is(msg.err, context.Canceled) {
			m.failure = nil
		}
		m.changed()
		return nil
	}
	m.show(msg.Reading)
	m.note = ""
	if msg.Partial {
		m.note = lang.T("reading was stopped: the verdict covers what was read until then")
	}
	return m.follow()
}

func (m *Model) followed(msg followMsg) tea.Cmd {
	if msg.err != nil {
		m.failure = msg.err
		m.changed()
		return again()
	}
	m.failure = nil
	if m.paused {
		m.newest = &msg.Reading
		m.behind++
		m.changed()
		return m.follow()
	}
	m.show(msg.Reading)
	return m.follow()
}

// again waits before a Follower is asked once more.
func again() tea.Cmd {
	return tea.Tick(2*time.Second, func(time.Time) tea.Msg { return retryMsg{} })
}

// pause stops the screen from changing, or lets it go on with what came.
func (m *Model) pause() tea.Cmd {
	if _, ok := m.cfg.Source.(Follower); !ok {
		m.note = lang.T("saved evidence stands still: there is nothing to pause")
		return nil
	}
	m.paused = !m.paused
	if !m.paused && m.newest != nil {
		m.show(*m.newest)
		m.newest, m.behind = nil, 0
	}
	m.changed()
	return nil
}
