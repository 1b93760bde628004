package main

import (
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/firebreak-io/firebreak/lang"
)

// opener returns the engineer's own pager or editor on a file, at a line.
func (a *app) opener() func(string, int) (tea.ExecCommand, error) {
	return func(path string, line int) (tea.ExecCommand, error) {
		for _, name := range []string{"PAGER", "VISUAL", "EDITOR"} {
			words := strings.Fields(a.env(name))
			if len(words) == 0 {
				continue
			}
			program, err := exec.LookPath(words[0])
			if err != nil {
				return nil, lang.Errorf("$%s: %w", name, err)
			}
			args := atLine(program, path, line)
			if sh, err := exec.LookPath("sh"); err == nil { // which reads quotes and variables as everywhere else
				return &foreign{exec.Command(sh, append([]string{"-c", a.env(name) + ` "$@"`, words[0]}, args...)...)}, nil
			}
			return &foreign{exec.Command(program, append(words[1:], args...)...)}, nil
		}
		return nil, errors.New(lang.T("neither PAGER nor EDITOR is set"))
	}
}

// foreign is another program that has the terminal for a while.
type foreign struct{ *exec.Cmd }

func (f *foreign) SetStdin(r io.Reader)  { f.Stdin = r }
func (f *foreign) SetStdout(w io.Writer) { f.Stdout = w }
func (f *foreign) SetStderr(w io.Writer) { f.Stderr = w }

// atLine is how a program is told the line to open a file at.
func atLine(program, path string, line int) []string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs // a name that begins with a dash is no flag
	}
	if line < 1 {
		return []string{path}
	}
	switch filepath.Base(program) {
	case "code", "codium":
		return []string{"--goto", path + ":" + strconv.Itoa(line)}
	case "hx", "helix", "subl", "zed":
		return []string{path + ":" + strconv.Itoa(line)}
	case "less", "most", "vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "view":
		return []string{"+" + strconv.Itoa(line), path}
	}
	return []string{path}
}
