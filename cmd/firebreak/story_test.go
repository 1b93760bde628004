package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/firebreak-io/firebreak/tui"
)

// A story is a script whose verb "screen" plays the real program on a terminal
// of the test (ttyin). What is typed there is not raw bytes but words: names of
// keys, "quoted text", size:80x24 to resize, until:conclusion to press Enter up to
// the end of a walk, and frame to print the screen; a ! before it: at once. Each
// is taken when the program has nothing left to do, so that no story waits for
// a time.
func playStory() {
	a := newApp(analyse)
	a.outTerminal, a.columns, a.rows = true, 100, 40
	if w, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil {
		a.columns = w
	}
	if h, err := strconv.Atoi(os.Getenv("LINES")); err == nil {
		a.rows = h
	}
	a.play = func(m *tui.Model) (*tui.Model, error) { return m, a.story(m) }
	os.Exit(a.run(os.Args[1:]))
}

// idle counts what the program still has to do.
type idle struct {
	mu   sync.Mutex
	cond *sync.Cond
	n    int
	over bool
}

func newIdle() *idle {
	i := &idle{}
	i.cond = sync.NewCond(&i.mu)
	return i
}

func (i *idle) add(n int) {
	i.mu.Lock()
	i.n += n
	i.cond.Broadcast()
	i.mu.Unlock()
}

func (i *idle) end() {
	i.mu.Lock()
	i.over = true
	i.cond.Broadcast()
	i.mu.Unlock()
}

// wait returns when nothing is left to do, false when the program has ended.
func (i *idle) wait() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for i.n > 0 && !i.over {
		i.cond.Wait()
	}
	return !i.over
}

// paced is the model with its messages counted.
type paced struct {
	*tui.Model
	idle *idle
}

// counted makes a command count from when it is handed over until its message
// has been taken.
func (p *paced) counted(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	p.idle.add(1)
	return func() tea.Msg {
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = p.counted(batch[i])
			}
			p.idle.add(-1)
			return batch
		}
		if msg == nil {
			p.idle.add(-1)
			return nil
		}
		return takenMsg{msg}
	}
}

// takenMsg is a message that is counted until it is taken.
type takenMsg struct{ tea.Msg }

func (p *paced) Init() tea.Cmd { return p.counted(p.Model.Init()) }

func (p *paced) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	counted := 0
	switch m := msg.(type) {
	case takenMsg:
		counted, msg = 1, m.Msg
		if _, quits := msg.(tea.QuitMsg); quits {
			return p, tea.Quit
		}
		if fmt.Sprintf("%T", msg) == "tea.setClipboardMsg" || fmt.Sprintf("%T", msg) == "tea.RawMsg" {
			p.idle.add(-1)
			return p, func() tea.Msg { return msg }
		}
	case wordMsg:
		m.do()
		p.idle.add(-1)
		return p, nil
	case tea.KeyPressMsg, tea.WindowSizeMsg, tea.PasteMsg:
		if _, ok := msg.(tea.WindowSizeMsg); !ok {
			counted = 1
		}
	}
	_, cmd := p.Model.Update(msg)
	next := p.counted(cmd)
	if counted > 0 {
		p.idle.add(-1)
	}
	return p, next
}

// wordMsg does something between two messages.
type wordMsg struct{ do func() }

var storyKeys = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "backspace": {Code: tea.KeyBackspace}, "tab": {Code: tea.KeyTab},
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"space": {Code: tea.KeySpace, Text: " "}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
	"shift+left": {Code: tea.KeyLeft, Mod: tea.ModShift}, "shift+right": {Code: tea.KeyRight, Mod: tea.ModShift},
}

// story plays what is typed on the terminal.
func (a *app) story(m *tui.Model) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return fmt.Errorf("a story needs ttyin -stdin")
	}
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return err
	}
	p := &paced{m, newIdle()}
	keys, typed := io.Pipe()
	defer func() { _ = typed.Close() }()
	// The frames go to the terminal that nobody looks at; what the story asks for
	// goes to standard output.
	program := tea.NewProgram(p, tea.WithoutSignalHandler(), tea.WithInput(keys), tea.WithOutput(io.Discard), tea.WithWindowSize(a.columns, a.rows))
	p.idle.add(1) // until the size is known
	go func() {
		program.Send(tea.WindowSizeMsg{Width: a.columns, Height: a.rows})
		p.idle.add(-1)
		a.typeWords(program, p)
	}()
	_, err := program.Run()
	p.idle.end()
	return err
}

// typeWords takes one word after the other.
func (a *app) typeWords(program *tea.Program, p *paced) {
	words := bufio.NewScanner(os.Stdin)
	words.Split(storyWords)
	for words.Scan() {
		w := words.Text()
		now := strings.HasPrefix(w, "!") && len(w) > 1 // without waiting
		if now {
			w = w[1:]
		} else if !p.idle.wait() {
			return
		}
		switch {
		case w == "end":
			program.Quit()
			return
		case w == "frame":
			p.idle.add(1)
			program.Send(wordMsg{func() {
				for line := range strings.SplitSeq(ansi.Strip(p.Frame()), "\n") {
					fmt.Fprintln(a.stdout, strings.TrimRight(line, " "))
				}
			}})
		case strings.HasPrefix(w, "size:"):
			var width, height int
			fmt.Sscanf(w, "size:%dx%d", &width, &height)
			program.Send(tea.WindowSizeMsg{Width: width, Height: height})
		case w == "until:conclusion": // Enter until the walk has ended, at most as often as a walk is long
			for range 40 {
				ended := false
				p.idle.add(1)
				program.Send(wordMsg{func() { ended = strings.Contains(ansi.Strip(p.Frame()), "THE WALK ENDS AT") }})
				if !p.idle.wait() || ended {
					break
				}
				p.idle.add(1)
				program.Send(tea.KeyPressMsg{Code: tea.KeyEnter})
				if !p.idle.wait() {
					return
				}
			}
		case strings.HasPrefix(w, `"`):
			for _, r := range strings.Trim(w, `"`) {
				if !p.idle.wait() {
					return
				}
				p.idle.add(1)
				program.Send(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
		default:
			key, ok := storyKeys[w]
			if !ok {
				key = tea.Key{Code: []rune(w)[0], Text: w}
			}
			p.idle.add(1)
			program.Send(tea.KeyPressMsg(key))
		}
	}
}

// storyWords splits at white space outside quotes.
func storyWords(data []byte, atEOF bool) (int, []byte, error) {
	start := 0
	for start < len(data) && (data[start] == ' ' || data[start] == '\n' || data[start] == '\r') {
		start++
	}
	quoted := false
	for i := start; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ' ' || c == '\n' || c == '\r'):
			return i + 1, data[start:i], nil
		}
	}
	if atEOF && start < len(data) {
		return len(data), data[start:], nil
	}
	return start, nil, nil
}
