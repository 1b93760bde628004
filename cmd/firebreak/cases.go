package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/tui"
)

// savedCase is a case as it lies on disk: what the engineer said, and of which
// evidence. The evidence itself stays where it is and is read again.
type savedCase struct {
	Schema string    `json:"schema"`
	Paths  []string  `json:"paths"` // absolute
	Saved  time.Time `json:"saved"`
	tui.Case
}

const caseSchema = "firebreak.case/v1"

// cases is the folder that cases are kept in.
type cases struct {
	dir string
	now func() time.Time
}

// cases returns the folder by the XDG rules: state that should outlive a
// restart, and need not be carried elsewhere.
func (a *app) cases() cases {
	dir := a.env("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		dir = ""
		if home := a.env("HOME"); home != "" {
			dir = filepath.Join(home, ".local", "state")
		} else if config, err := os.UserConfigDir(); err == nil {
			dir = config
		}
	}
	if dir == "" {
		dir = os.TempDir()
	}
	return cases{filepath.Join(dir, "firebreak"), a.now}
}

func absolute(paths []string) []string {
	list := make([]string, len(paths))
	for i, p := range paths {
		list[i] = p
		if abs, err := filepath.Abs(p); p != "-" && err == nil {
			list[i] = abs
		}
	}
	return list
}

// file is where the case of some paths is kept.
func (c cases) file(paths []string) string {
	sum := sha256.Sum256([]byte(strings.Join(absolute(paths), "\x00")))
	return filepath.Join(c.dir, "cases", hex.EncodeToString(sum[:8])+".json")
}

// save keeps a case.
func (c cases) save(paths []string, k *tui.Case) error {
	data, err := json.MarshalIndent(savedCase{caseSchema, absolute(paths), c.now().UTC().Truncate(time.Second), *k}, "", "  ")
	if err != nil {
		return err
	}
	path := c.file(paths)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return lang.Errorf("keep the case: %w", err)
	}
	if err := writeFile(path, append(data, '\n')); err != nil {
		return lang.Errorf("keep the case in %s: %w", path, reason(err))
	}
	return nil
}

// find reads the case of some paths, or the newest if there are none.
func (c cases) find(paths []string) (*savedCase, error) {
	if len(paths) > 0 {
		k, err := readCase(c.file(paths))
		if errors.Is(err, os.ErrNotExist) {
			return nil, lang.Errorf("no case of %s is kept", strings.Join(paths, " "))
		}
		return k, err
	}
	files, _ := filepath.Glob(filepath.Join(c.dir, "cases", "*.json"))
	var all []*savedCase
	for _, f := range files {
		k, err := readCase(f)
		if err == nil && !slices.Contains(k.Paths, "-") {
			all = append(all, k)
		}
	}
	if len(all) == 0 {
		return nil, errors.New(lang.T("no case is kept"))
	}
	return slices.MaxFunc(all, func(a, b *savedCase) int { return a.Saved.Compare(b.Saved) }), nil
}

func readCase(path string) (*savedCase, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	k := &savedCase{}
	if err := json.Unmarshal(data, k); err != nil {
		return nil, lang.Errorf("%s is damaged: %w", path, err)
	}
	if k.Schema != caseSchema || len(k.Paths) == 0 {
		return nil, lang.Errorf("%s is not a case of this version", path)
	}
	return k, nil
}

// copied keeps what was copied last in a file, for terminals whose clipboard
// cannot be reached.
func (c cases) copied(text string) (string, error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return "", lang.Errorf("keep what was copied: %w", err)
	}
	path := filepath.Join(c.dir, "copied.txt")
	return path, writeFile(path, []byte(text+"\n"))
}
