package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/firebreak-io/firebreak/lang"
)

// binding is one thing that can be done, with the keys that do it. The table of
// them is the only place that names keys: the help, the palette, the foot of the
// screen and the table in the documentation are made of it.
type binding struct {
	id   string
	keys []string   // as Bubble Tea names them
	does string     // English: what it does, for the help and the palette
	tip  string     // English: a word for the foot of the screen
	on   []screenID // where it works; empty: everywhere
	do   func(*Model) tea.Cmd
}

// bindings lists all that can be done, in the order of the help. Those of one
// screen come before those that work everywhere, so that they may share a key.
func bindings() []binding {
	list := []binding{
		{id: "accept", keys: []string{"enter"}, does: lang.Mark("accept the answer and go to the next question"), tip: lang.Mark("accept"), on: []screenID{onRunbook}, do: (*Model).accept},
		{id: "back-step", keys: []string{"backspace", "left"}, does: lang.Mark("go back one question"), tip: lang.Mark("back"), on: []screenID{onRunbook}, do: (*Model).backStep},
		{id: "override", keys: []string{"x"}, does: lang.Mark("answer a question yourself, with a note"), tip: lang.Mark("answer it yourself"), on: []screenID{onRunbook}, do: (*Model).override},
		{id: "book", keys: []string{"b"}, does: lang.Mark("walk another runbook"), tip: lang.Mark("runbooks"), on: []screenID{onRunbook}, do: (*Model).chooseBook},
	}
	list = append(list, flameBindings()...)
	list = append(list, timelineBindings()...)
	list = append(list, whatIfBindings()...)
	list = append(list, []binding{
		{id: "down", keys: []string{"down", "j"}, does: lang.Mark("move down"), tip: lang.Mark("move"), do: move(1)},
		{id: "up", keys: []string{"up", "k"}, does: lang.Mark("move up"), do: move(-1)},
		{id: "page-down", keys: []string{"pgdown", "ctrl+f", "ctrl+d"}, does: lang.Mark("move a page down"), do: leap(1)},
		{id: "page-up", keys: []string{"pgup", "ctrl+b", "ctrl+u"}, does: lang.Mark("move a page up"), do: leap(-1)},
		{id: "first", keys: []string{"home", "g"}, does: lang.Mark("go to the beginning"), do: edge(-1)},
		{id: "last", keys: []string{"end", "G"}, does: lang.Mark("go to the end"), do: edge(1)},
		{id: "enter", keys: []string{"enter", "right", "l"}, does: lang.Mark("follow the chosen thing: a number, a thread, a statement, a line"), tip: lang.Mark("follow"), do: (*Model).enter},
		{id: "links", keys: []string{"L"}, does: lang.Mark("list everything that the chosen thing leads to"), tip: lang.Mark("leads to"), do: (*Model).links},
		{id: "back", keys: []string{"esc", "backspace", "left", "h"}, does: lang.Mark("go back"), tip: lang.Mark("back"), do: (*Model).back},
		{id: "open", keys: []string{"o"}, does: lang.Mark("open the line that is cited, as it stands in the evidence"), tip: lang.Mark("open the line"), do: (*Model).open},
		{id: "editor", keys: []string{"O"}, does: lang.Mark("open it in $PAGER or $EDITOR, at that line"), do: (*Model).editor},
		{id: "screen", keys: []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, does: lang.Mark("go to the screen of that number"), do: nil},
		{id: "next-screen", keys: []string{"tab"}, does: lang.Mark("go to the next screen"), tip: lang.Mark("screens"), do: turn(1)},
		{id: "previous-screen", keys: []string{"shift+tab"}, does: lang.Mark("go to the previous screen"), do: turn(-1)},
		{id: "next-incident", keys: []string{"]"}, does: lang.Mark("go to the next incident, where there are several"), tip: lang.Mark("next incident"), do: incidentBy(1)},
		{id: "previous-incident", keys: []string{"["}, does: lang.Mark("go to the previous incident"), do: incidentBy(-1)},
		{id: "search", keys: []string{"/"}, does: lang.Mark("search on this screen, counting as you write"), tip: lang.Mark("search"), do: (*Model).search},
		{id: "next", keys: []string{"n"}, does: lang.Mark("next finding; while something is searched for, its next place"), tip: lang.Mark("next"), do: step(1)},
		{id: "previous", keys: []string{"N"}, does: lang.Mark("previous finding, or place of what is searched for"), do: step(-1)},
		{id: "suspicious", keys: []string{"e"}, does: lang.Mark("next suspicious thing"), tip: lang.Mark("suspicious"), do: (*Model).suspicious},
		{id: "only", keys: []string{"f"}, does: lang.Mark("keep only what has a word"), tip: lang.Mark("filter"), do: (*Model).filterIn},
		{id: "without", keys: []string{"F"}, does: lang.Mark("leave out what has a word"), do: (*Model).filterOut},
		{id: "unfilter", keys: []string{"X"}, does: lang.Mark("take the last filter away"), do: (*Model).unfilter},
		{id: "sort", keys: []string{"s"}, does: lang.Mark("sort by the next column"), tip: lang.Mark("sort"), do: (*Model).sort},
		{id: "reverse", keys: []string{"S"}, does: lang.Mark("turn the order around"), do: (*Model).reverseOrder},
		{id: "detail-down", keys: []string{"J", "shift+down"}, does: lang.Mark("scroll what stands beside the list"), do: scrollSide(1)},
		{id: "detail-up", keys: []string{"K", "shift+up"}, does: lang.Mark("scroll it back"), do: scrollSide(-1)},
		{id: "bookmark", keys: []string{"m"}, does: lang.Mark("bookmark the chosen thing: for or against the verdict, with a note that goes into the report"), tip: lang.Mark("note"), do: (*Model).bookmark},
		{id: "remarks", keys: []string{"M"}, does: lang.Mark("list bookmarks and notes"), do: goTo(onRemarks)},
		{id: "copy", keys: []string{"y"}, does: lang.Mark("copy the chosen thing: a command, a statement, a line"), tip: lang.Mark("copy"), do: (*Model).copy},
		{id: "copy-headline", keys: []string{"Y"}, does: lang.Mark("copy the headline for the incident channel"), do: (*Model).copyHeadline},
		{id: "export", keys: []string{"E"}, does: lang.Mark("export the report, with your answers and notes, as Markdown, JSON, HTML or text"), tip: lang.Mark("export"), do: (*Model).export},
		{id: "zoom-out", keys: []string{"Z"}, does: lang.Mark("go back to the whole time, from a window that was selected"), tip: lang.Mark("whole time"), do: (*Model).zoomOut},
		{id: "pause", keys: []string{"space"}, does: lang.Mark("stop live data, or let it go on"), do: (*Model).pause},
		{id: "theme", keys: []string{"T"}, does: lang.Mark("next theme: dark, light, high contrast"), do: (*Model).nextTheme},
		{id: "palette", keys: []string{":"}, does: lang.Mark("list all commands, to be found by a word"), tip: lang.Mark("commands"), do: (*Model).palette},
		{id: "help", keys: []string{"?"}, does: lang.Mark("help: search it by a word or by a key"), tip: lang.Mark("help"), do: goTo(onHelp)},
		{id: "quit", keys: []string{"q"}, does: lang.Mark("quit; the case is kept (triage --resume)"), tip: lang.Mark("quit"), do: (*Model).leave},
		{id: "suspend", keys: []string{"ctrl+z"}, does: lang.Mark("put the program aside; fg in the shell goes on"), do: func(*Model) tea.Cmd { return tea.Suspend }},
		{id: "stop", keys: []string{"ctrl+c"}, does: lang.Mark("stop reading and judge what was read; once more, or when all is read: quit"), do: (*Model).interrupt},
	}...)
	for i := range list {
		if list[i].id == "screen" {
			list[i].do = func(*Model) tea.Cmd { return nil } // see key: it needs to know which
		}
	}
	return list
}

// names of keys as people write them.
var keyNames = map[string]string{
	"enter": "Enter", "esc": "Esc", "up": "↑", "down": "↓", "left": "←", "right": "→", "pgdown": "PgDn", "pgup": "PgUp",
	"home": "Home", "end": "End", "tab": "Tab", "shift+tab": "Shift-Tab", "space": "Space", "backspace": "Backspace",
	"shift+left": "Shift-←", "shift+right": "Shift-→", "shift+down": "Shift-↓", "shift+up": "Shift-↑",
}

func keyName(key string) string {
	if n, ok := keyNames[key]; ok {
		return n
	}
	if rest, ok := strings.CutPrefix(key, "ctrl+"); ok {
		return "Ctrl-" + strings.ToUpper(rest)
	}
	return key
}

// shown is the first of a binding's keys.
func (b *binding) shown() string {
	if b.id == "screen" {
		return "1-9"
	}
	return keyName(b.keys[0])
}

// all names every key of a binding.
func (b *binding) all() string {
	if b.id == "screen" {
		return "1 … 9"
	}
	names := make([]string, len(b.keys))
	for i, k := range b.keys {
		names[i] = keyName(k)
	}
	return strings.Join(names, " ")
}

func (b *binding) short() string {
	if b.tip == "" {
		return lang.T(b.does)
	}
	return lang.T(b.tip)
}

// worksOn reports whether a binding is of a screen.
func (b *binding) worksOn(id screenID) bool { return len(b.on) == 0 || slices.Contains(b.on, id) }

func (m *Model) binding(id string) *binding {
	i := slices.IndexFunc(m.keys, func(b binding) bool { return b.id == id })
	if i < 0 {
		return nil
	}
	return &m.keys[i]
}

// keyOf names the key that does something.
func (m *Model) keyOf(id string) string {
	if b := m.binding(id); b != nil {
		return m.inWords(b.shown())
	}
	return ""
}

var arrowWords = strings.NewReplacer("↑", "Up", "↓", "Down", "←", "Left", "→", "Right")

// inWords writes arrows as words where only ASCII may be shown.
func (m *Model) inWords(keys string) string {
	if m.cfg.ASCII {
		return arrowWords.Replace(keys)
	}
	return keys
}

// key does what a key stands for.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	if msg.Mod.Contains(tea.ModAlt) && msg.Code < 0x80 { // Esc and a key right after it look alike to a terminal
		first := m.key(tea.KeyPressMsg{Code: tea.KeyEscape})
		key := tea.Key{Code: msg.Code, Mod: msg.Mod &^ tea.ModAlt}
		if key.Mod&^tea.ModShift == 0 {
			key.Text = string(msg.Code)
			if key.Mod.Contains(tea.ModShift) {
				key.Text = strings.ToUpper(key.Text)
			}
		}
		return tea.Batch(first, m.key(tea.KeyPressMsg(key)))
	}
	if m.prompt != nil && name != "ctrl+c" {
		return m.write(msg)
	}
	m.note = ""
	if m.here().screen == onPalette {
		if cmd, ok := m.paletteKey(msg); ok {
			return cmd
		}
	}
	if len(name) == 1 && name >= "1" && name <= "9" {
		cmd := m.number(int(name[0] - '1'))
		m.guided("screen")
		return cmd
	}
	for i := range m.keys {
		b := &m.keys[i]
		if slices.Contains(b.keys, name) && b.worksOn(m.here().screen) {
			cmd := b.do(m)
			m.guided(b.id)
			return cmd
		}
	}
	if name != "" && len(msg.Text) > 0 {
		m.note = lang.Sprintf("%s does nothing here; %s lists what there is", keyName(name), m.keyOf("help"))
	}
	return nil
}

// write hands a key to the prompt.
func (m *Model) write(msg tea.KeyPressMsg) tea.Cmd {
	p := m.prompt
	if p.single != nil {
		if do := p.single[msg.String()]; do != nil {
			m.prompt = nil
			return do(m)
		}
		if msg.String() == "esc" {
			m.prompt = nil
		}
		return nil
	}
	switch msg.String() {
	case "esc":
		m.prompt = nil
		if p.leave != nil {
			p.leave(m)
		}
	case "enter":
		m.prompt = nil
		if p.enter != nil {
			return p.enter(m, strings.TrimSpace(string(p.text)))
		}
	default:
		p.edit(msg)
		m.prompted()
	}
	return nil
}

// prompted tells whoever asked that the line has changed.
func (m *Model) prompted() {
	if p := m.prompt; p != nil && p.change != nil {
		p.change(m, string(p.text))
	}
}

// number opens the nth of the numbered screens.
func (m *Model) number(i int) tea.Cmd {
	m.stack = []place{{screen: m.table[i].id}}
	m.side = 0
	return nil
}

// hints are the bindings that the foot of the screen names, the most useful
// first.
func (m *Model) hints() []string {
	switch here := m.here().screen; here {
	case onRunbook:
		return []string{"accept", "override", "back-step", "book", "open", "copy", "export", "help", "quit"}
	case onVerdict:
		list := []string{"enter", "down", "open", "copy", "next-screen", "export", "search", "help", "quit"}
		if len(m.scene.report.Incidents) > 1 {
			list = append([]string{"next-incident"}, list...)
		}
		return list
	case onPools, onFlame:
		return []string{"enter", "flame", "open", "search", "only", "links", "bookmark", "copy", "back", "help", "quit"}
	case onTimeline:
		return []string{"later", "select", "zoom", "zoom-out", "down", "open", "help", "quit"}
	case onWhatIf:
		return []string{"preset", "change", "more", "less", "reset", "correct", "open", "help", "quit"}
	case onExcerpt:
		return []string{"back", "down", "search", "editor", "copy", "bookmark", "help", "quit"}
	case onHelp:
		return []string{"search", "back", "down", "quit"}
	case onPalette:
		return []string{"enter", "back"}
	default:
		list := []string{"enter", "open", "search", "only"}
		if len(m.screen(here).sorts) > 0 && m.here().arg == "" {
			list = append(list, "sort")
		}
		return append(list, "links", "bookmark", "copy", "back", "help", "quit")
	}
}

// KeyTable returns the table of keys in Markdown, for the documentation.
func KeyTable() string {
	var b strings.Builder
	b.WriteString("| keys | does |\n|---|---|\n")
	list := bindings()
	for i := range list {
		k := &list[i]
		where := ""
		if len(k.on) > 0 {
			var names []string
			for _, id := range k.on {
				names = append(names, string(id))
			}
			where = " (" + strings.Join(names, ", ") + ")"
		}
		keys := strings.ReplaceAll(k.all(), " ", "` `")
		fmt.Fprintf(&b, "| `%s` | %s%s |\n", keys, k.does, where)
	}
	return b.String()
}
