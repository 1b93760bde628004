package main

import (
	"errors"
	"os"
	"slices"

	"github.com/firebreak-io/firebreak/lang"
)

// errLocked is returned for a folder that another process holds.
var errLocked = errors.New("locked")

// lockFolders sees to it that no other serve writes to the same folders: each would
// overwrite the bundles and the places of the other, unnoticed. What it returns lets
// them go; so does the end of the process, however it comes.
func lockFolders(c *config) (release func(), err error) {
	var held []*os.File
	release = func() {
		for _, f := range held {
			_ = f.Close()
		}
	}
	for _, x := range []struct{ key, dir, flag string }{
		{"state_dir", c.StateDir, "--state-dir"}, {"incidents.dir", c.Incidents.Dir, "--incidents-dir"},
	} {
		if x.dir == "" || os.MkdirAll(x.dir, 0o700) != nil {
			continue // whoever uses it says why
		}
		if slices.ContainsFunc(held, func(f *os.File) bool { return sameFolder(f, x.dir) }) {
			continue
		}
		f, err := lockFolder(x.dir)
		if errors.Is(err, errLocked) {
			release()
			return nil, failed(lang.Errorf("%s %s: another firebreak serve uses it", x.key, x.dir), "firebreak serve "+x.flag+" "+x.dir+"-2")
		}
		if err == nil {
			held = append(held, f)
		} // else it cannot be locked there, as on some network file systems
	}
	return release, nil
}

func sameFolder(f *os.File, dir string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(dir)
	return err == nil && os.SameFile(a, b)
}
