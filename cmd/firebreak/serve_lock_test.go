package main

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestServesDoNotShareFolders(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("locks are not everywhere")
	}
	dir := t.TempDir()
	both := func(state, incidents string) *config {
		c := defaultConfig()
		c.StateDir, c.Incidents.Dir = filepath.Join(dir, state), filepath.Join(dir, incidents)
		return c
	}
	release, err := lockFolders(both("a", "a")) // one folder for both is fine
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*config{both("a", "b"), both("b", "a")} {
		if _, err := lockFolders(c); err == nil || !strings.Contains(err.Error(), "another firebreak serve uses it") {
			t.Errorf("%s, %s: %v", c.StateDir, c.Incidents.Dir, err)
		}
	}
	other, err := lockFolders(both("b", "b")) // the refused ones hold nothing
	if err != nil {
		t.Fatal(err)
	}
	other()
	release()
	release, err = lockFolders(both("a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	release()
}
