package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// checkPaths says at once what cannot be right. A path that is missing beside
// others is only warned of: the others are read.
func (a *app) checkPaths(cmd *cobra.Command, paths []string, runbooks string) error {
	if runbooks != "" {
		if info, err := os.Stat(runbooks); err != nil {
			return failed(fmt.Errorf("--runbooks %s: %w", runbooks, reason(err)), lang.T("a folder with .yaml files"))
		} else if !info.IsDir() {
			return usagef("--runbooks "+incident.Quote(filepath.Dir(runbooks)), "--runbooks %s is not a folder", runbooks)
		}
	}
	var missing []string
	for _, p := range paths {
		if p == "-" {
			continue
		}
		if _, err := os.Stat(p); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	path := missing[0]
	err := failed(lang.Errorf("%s: no such file or folder", path), a.suggest(cmd, path))
	if len(missing) == len(paths) {
		return err
	}
	for _, p := range missing {
		fmt.Fprintln(a.stderr, lang.Sprintf("firebreak: %s: no such file or folder; reading the others", incident.Visible(p)))
	}
	return nil
}

// suggest returns the command line that was probably meant.
func (a *app) suggest(cmd *cobra.Command, path string) string {
	if !cmd.HasParent() && !strings.ContainsAny(path, `/\.`) {
		for _, c := range cmd.Commands() {
			if near(path, c.Name()) {
				return cmd.CommandPath() + " " + c.Name()
			}
		}
	}
	dir, name := filepath.Split(filepath.Clean(path))
	if found := nearest(dir, name); found != "" {
		return cmd.CommandPath() + " " + incident.Quote(dir+found)
	}
	if dir != "" {
		if _, err := os.Stat(dir); err != nil {
			return "ls " + incident.Quote(existing(dir))
		}
	}
	return "ls " + incident.Quote(filepath.Clean(dir+"."))
}

// nearest returns the entry of a folder whose name is most like name.
func nearest(dir, name string) string {
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	best, least := "", len(name)/3+2
	for i, e := range entries {
		if i > 10_000 {
			break
		}
		candidate := e.Name()
		if strings.HasPrefix(candidate, name+".") { // the extension was forgotten
			return candidate
		}
		if d := distance(strings.ToLower(name), strings.ToLower(candidate)); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// existing returns the longest beginning of a path that exists.
func existing(path string) string {
	for {
		up := filepath.Dir(filepath.Clean(path))
		if _, err := os.Stat(up); err == nil || up == path {
			return up
		}
		path = up
	}
}

func near(a, b string) bool { return distance(a, b) <= 2 && len(a) > 2 }

// distance is how many letters must be put in, taken out, replaced or exchanged
// with their neighbour to make b of a.
func distance(a, b string) int {
	if len(a) > 200 || len(b) > 200 {
		return 200
	}
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last = last, row
		row = make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
