package tail

import (
	"os"
	"path/filepath"
	"slices"
)

// Matching returns the files that a pattern of the set finds now.
func (f *Files) Matching(pattern string) []string {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		info, err := os.Stat(path)
		return f.excludes(path) || err != nil || !info.Mode().IsRegular()
	})
}

// Matching returns the names of the dumps that are in the folder now.
func (d *Dumps) Matching() ([]string, error) {
	entries, err := os.ReadDir(d.Dir)
	if err != nil {
		return nil, err
	}
	var names []string
	folder := &dumpFolder{Dumps: d}
	for _, e := range entries {
		if !e.IsDir() && folder.wants(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
