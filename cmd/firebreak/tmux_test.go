package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pane is a terminal of tmux in which the program runs as people run it.
type pane struct {
	t      *testing.T
	socket string
}

// tmux returns a pane with a shell in it. These tests run where FIREBREAK_TMUX
// names the program, as in CI.
func newPane(t *testing.T, width, height int, dir string) *pane {
	t.Helper()
	if os.Getenv("FIREBREAK_TMUX") == "" {
		t.Skip("FIREBREAK_TMUX does not name tmux: the screen is not tried on a real terminal")
	}
	p := &pane{t, fmt.Sprintf("firebreak-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))}
	t.Cleanup(func() { _ = p.command("kill-server").Run() })
	p.tmux("-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "-c", dir, "env PS1='$ ' TERM=tmux-256color sh")
	p.tmux("set", "-s", "set-clipboard", "on")
	p.await("$")
	return p
}

func (p *pane) command(args ...string) *exec.Cmd {
	return exec.Command(os.Getenv("FIREBREAK_TMUX"), append([]string{"-L", p.socket}, args...)...)
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p *pane) press(keys ...string) { p.t.Helper(); p.tmux(append([]string{"send-keys"}, keys...)...) }

func (p *pane) line(s string) { p.t.Helper(); p.tmux("send-keys", "-l", s); p.press("Enter") }

func (p *pane) screen() string { p.t.Helper(); return p.tmux("capture-pane", "-p") }

// await looks until the screen shows a text, and returns how long that took.
func (p *pane) await(texts ...string) time.Duration {
	p.t.Helper()
	start := time.Now()
	for {
		s := p.screen()
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(s, text) }) {
			return time.Since(start)
		}
		if time.Since(start) > time.Minute {
			p.t.Fatalf("%q does not come:\n%s", texts, s)
		}
	}
}

// program builds the program once.
func program(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "firebreak")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

func TestTmuxFromTheCommandToTheLabel(t *testing.T) {
	dir, err := filepath.Abs("../../testdata/incidents")
	if err != nil {
		t.Fatal(err)
	}
	p := newPane(t, 100, 40, dir)
	bin := program(t)
	p.line("XDG_STATE_HOME=" + t.TempDir() + " " + bin + " triage reference-slow-sql-retries; echo exit=$?")
	t.Logf("from the command to the label: %s", p.await("SLOW-SQL"))
	p.press("2")
	p.await("question 1 of 10")
	for i := 2; i <= 10; i++ {
		p.press("Enter")
		p.await(fmt.Sprintf("question %d of 10", i))
	}
	p.press("Enter")
	p.await("THE WALK ENDS AT")
	p.tmux("resize-window", "-x", "1", "-y", "1")
	p.tmux("resize-window", "-x", "120", "-y", "30")
	p.await("THE WALK ENDS AT")
	p.press("Y")
	p.await("copied")
	if got := p.tmux("show-buffer"); !strings.HasPrefix(got, "slow-sql (high): ") {
		t.Errorf("tmux was given %q", got)
	}
	p.press("q")
	p.await("exit=0")
	p.line("echo the terminal is $((40+2))")
	p.await("the terminal is 42")
}

func TestTmuxHostileNames(t *testing.T) {
	dir := t.TempDir()
	log, err := os.ReadFile("../../testdata/incidents/reference-slow-sql-retries/product-provider/app.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"\x1b[2J\x1b]0;owned\x07.log", "支付服务支付服务.log", "\u202egol.exe", strings.Repeat("w", 200) + ".log"} {
		if err := os.WriteFile(filepath.Join(dir, name), log, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := newPane(t, 80, 24, dir)
	p.line(program(t) + " triage .; echo exit=$?")
	p.await("ACT FIRST", "MISSING", "certain")
	p.press("8")
	p.await("␛[2J")
	if title := p.tmux("display-message", "-p", "#{pane_title}"); strings.Contains(title, "owned") {
		t.Errorf("the terminal's title became %q", title)
	}
	p.press("Down", "Down", "Enter", "Escape", "q")
	p.await("exit=0")
}

// A large input: keys answer while it is read, Ctrl-C judges what was read.
func TestTmuxLargeInput(t *testing.T) {
	if os.Getenv("FIREBREAK_TMUX") == "" {
		t.Skip("FIREBREAK_TMUX does not name tmux")
	}
	dir := t.TempDir()
	// Lines that are each an error to look at, so that reading takes a while.
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "2026-03-14 10:%02d:%02d.%03d [http-%d] ERROR com.demo.order.OrderService - Invoke remote method timeout. method: getSkuStock, provider: dubbo://10.20.1.21:20880/com.demo.product.api.SkuService?timeout=1000\n", i/60000%60, i/1000%60, i%1000, i%97)
	}
	f, err := os.Create(filepath.Join(dir, "app.log"))
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if _, err := f.WriteString(b.String()); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	p := newPane(t, 100, 30, dir)
	p.line(program(t) + " triage app.log; echo exit=$?")
	p.await("reading")
	var took []time.Duration
	for i := range 12 {
		key, screen := "2", "nothing to walk"
		if i%2 == 1 {
			key, screen = "8", "times are shown"
		}
		if !strings.Contains(p.screen(), "reading") {
			break
		}
		p.press(key)
		took = append(took, p.await(screen, "question", "sources,"))
	}
	if len(took) == 0 {
		t.Log("it was read before a key could be pressed")
	} else {
		slices.Sort(took)
		t.Logf("keys answered while reading: median %s, slowest %s, of %d", took[len(took)/2], took[len(took)-1], len(took))
	}
	p.press("C-c")
	p.await("stopping", "read in part", "reading was stopped", "sources,")
	p.press("q")
	p.await("exit=0")
}
