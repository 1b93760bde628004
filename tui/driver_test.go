package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/internal/golden"
	"github.com/firebreak-io/firebreak/runbooks"
)

// driver presses keys and looks at the screen, as an engineer does. A key press
// returns when every command that it started has answered.
type driver struct {
	t *testing.T
	m *Model
	// what was asked of the host
	copied, exported []string
	reports          []*incident.Report
	saved            *Case
	quit             bool
}

// saved evidence in memory.
type stillSource struct {
	report *incident.Report
	err    error
	reads  []incident.Window
}

func (s *stillSource) Read(_ context.Context, w incident.Window, tell func(Progress)) (Reading, error) {
	s.reads = append(s.reads, w)
	if s.err != nil {
		return Reading{}, s.err
	}
	tell(Progress{Bytes: 1, Total: 2, Current: "app.log"})
	books, err := runbooks.Load("")
	return Reading{Report: s.report, Books: books}, err
}

func (s *stillSource) Excerpt(_ context.Context, c evidence.Citation) (Excerpt, error) {
	if c.Source == "gone.log" {
		return Excerpt{}, errors.New("gone.log: the source is not there any more")
	}
	x := Excerpt{Source: c.Source, First: 1, At: c.Line}
	for i := 1; i <= 300; i++ {
		x.Lines = append(x.Lines, fmt.Sprintf("line %d of %s \x1b[31m", i, c.Source))
	}
	return x, nil
}

// readReport reads one of the reports in testdata.
func readReport(t testing.TB, name string) *incident.Report {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := incident.ReadJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// start opens the screen on a report.
func start(t *testing.T, r *incident.Report, width, height int, change ...func(*Config)) *driver {
	t.Helper()
	d := &driver{t: t}
	cfg := Config{Source: &stillSource{report: r}, Theme: "dark", Name: "logs/", Host: Host{
		Copy: func(s string) (string, error) { d.copied = append(d.copied, s); return "copied.txt", nil },
		Export: func(r *incident.Report, form string) (string, error) {
			d.exported, d.reports = append(d.exported, form), append(d.reports, r)
			return "report." + form, nil
		},
		Save: func(c *Case) error { d.saved = c; return nil },
	}}
	for _, f := range change {
		f(&cfg)
	}
	d.m = New(cfg)
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	d.run(d.m.Init())
	return d
}

func (d *driver) send(msg tea.Msg) {
	d.t.Helper()
	if msg == nil {
		return
	}
	if _, ok := msg.(tea.QuitMsg); ok {
		d.quit = true
		return
	}
	_, cmd := d.m.Update(msg)
	d.run(cmd)
}

// run runs a command, and all that it leads to.
func (d *driver) run(cmd tea.Cmd) {
	d.t.Helper()
	if cmd == nil {
		return
	}
	done := make(chan tea.Msg, 1)
	go func() { done <- cmd() }()
	var msg tea.Msg
	select {
	case msg = <-done:
	case <-time.After(20 * time.Second):
		d.t.Fatal("a command does not answer")
	}
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, c := range batch {
			d.run(c)
		}
		return
	}
	d.send(msg)
}

var keysByName = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "backspace": {Code: tea.KeyBackspace}, "tab": {Code: tea.KeyTab},
	"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft},
	"right": {Code: tea.KeyRight}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp}, "home": {Code: tea.KeyHome},
	"end": {Code: tea.KeyEnd}, "space": {Code: tea.KeySpace, Text: " "}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl},
	"shift+left": {Code: tea.KeyLeft, Mod: tea.ModShift}, "shift+right": {Code: tea.KeyRight, Mod: tea.ModShift}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "delete": {Code: tea.KeyDelete},
}

// do uses bindings by their IDs, so that a key can be changed in one place.
func (d *driver) do(ids ...string) *driver {
	d.t.Helper()
	for _, id := range ids {
		b := d.m.binding(id)
		if b == nil {
			d.t.Fatalf("no binding %q", id)
		}
		d.press(b.keys[0])
	}
	return d
}

// press presses keys by name; single characters are typed.
func (d *driver) press(keys ...string) *driver {
	d.t.Helper()
	for _, k := range keys {
		key, ok := keysByName[k]
		if !ok {
			if len([]rune(k)) != 1 {
				d.t.Fatalf("no key %q", k)
			}
			key = tea.Key{Code: []rune(k)[0], Text: k}
		}
		d.send(tea.KeyPressMsg(key))
	}
	return d
}

// write types text.
func (d *driver) write(text string) *driver {
	d.t.Helper()
	for _, r := range text {
		d.press(string(r))
	}
	return d
}

// screen is what is shown, without colours. It checks that every line has the
// width of the window.
func (d *driver) screen() string {
	d.t.Helper()
	frame := d.m.Frame()
	lines := strings.Split(frame, "\n")
	if d.m.height > 0 && d.m.width > 0 && len(lines) != d.m.height {
		d.t.Errorf("%d lines in a window of %d", len(lines), d.m.height)
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); d.m.width > 0 && w != d.m.width {
			d.t.Errorf("line %d has %d columns of %d: %q", i+1, w, d.m.width, ansi.Strip(line))
		}
	}
	return trimRight(ansi.Strip(frame))
}

func trimRight(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// shows checks that the screen has all of some texts.
func (d *driver) shows(texts ...string) *driver {
	d.t.Helper()
	s := d.screen()
	for _, text := range texts {
		if !strings.Contains(strings.Join(strings.Fields(s), " "), strings.Join(strings.Fields(text), " ")) {
			d.t.Errorf("the screen does not show %q:\n%s", text, s)
		}
	}
	return d
}

func (d *driver) lacks(texts ...string) *driver {
	d.t.Helper()
	s := d.screen()
	for _, text := range texts {
		if strings.Contains(s, text) {
			d.t.Errorf("the screen shows %q:\n%s", text, s)
		}
	}
	return d
}

// golden compares the screen with a file.
func (d *driver) golden(name string) *driver {
	d.t.Helper()
	golden.Check(d.t, filepath.Join("testdata", "screens", name+".txt"), []byte(d.screen()))
	return d
}
