package collector

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
)

// found is one file to be read.
type found struct {
	name     string // as cited
	path     string // on disk; empty for standard input
	hint     string // the part of the path that may name a service
	size     int64  // 0 if unknown
	modified time.Time
	info     fs.FileInfo
}

const stdinName = "stdin"

// find lists the files below the paths, in name order and each once.
func (c *collection) find(paths []string) []found {
	var all []found
	folders := 0
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			folders++
			if root, err := filepath.EvalSymlinks(p); err == nil {
				root, _ = filepath.Abs(root)
				c.roots = append(c.roots, root)
			}
		}
	}
	inside := folders == 1 && len(paths) == 1 // then paths inside it say enough
	for _, p := range paths {
		if p == "-" {
			all = append(all, found{name: stdinName})
			continue
		}
		name := filepath.ToSlash(filepath.Clean(p))
		info, err := os.Stat(p)
		switch {
		case err != nil:
			c.unread(name, "%v", reason(err))
		case info.IsDir():
			prefix := name + "/"
			if inside || name == "." {
				prefix = ""
			}
			before := len(all)
			all = c.walk(all, p, prefix, lastName(p)+"/")
			if len(all) == before {
				c.consequence(name, "no files in it")
			}
		case info.Mode()&(fs.ModeSocket|fs.ModeDevice|fs.ModeCharDevice|fs.ModeIrregular) != 0:
			c.problem(name, "not a regular file: %s", kindOf(info.Mode()))
		default: // a pipe is read too: <(command) is one
			size := info.Size()
			if !info.Mode().IsRegular() {
				size = 0
			}
			hint := lastName(filepath.Dir(p)) + "/" + filepath.Base(p)
			all = append(all, found{name: name, path: p, hint: hint, size: size, modified: info.ModTime(), info: info})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return strings.Compare(a.name, b.name) })
	return c.once(c.without(all))
}

// lastName returns the name of a folder, also of "." and "..".
func lastName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}

// walk appends the files below a folder. Links to files are followed, as those
// that Kubernetes keeps in /var/log/containers; links to folders, which may lead
// around in circles, are not.
func (c *collection) walk(all []found, dir, prefix, hint string) []found {
	if c.stopped() {
		return all
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		name := strings.TrimSuffix(prefix, "/")
		if name == "" {
			name = filepath.ToSlash(filepath.Clean(dir))
		}
		c.unread(name, "%v", reason(err))
	}
	for _, e := range entries {
		name, full := prefix+e.Name(), filepath.Join(dir, e.Name())
		mode := e.Type()
		switch {
		case litter(e.Name()):
		case mode.IsDir() && e.Name() == RawFolder && c.excerpt == nil:
			c.problem(name, rawFolderWhy)
		case mode&fs.ModeSymlink != 0:
			all = c.link(all, found{name: name, path: full, hint: hint + e.Name()})
		case mode.IsDir():
			all = c.walk(all, full, name+"/", hint+e.Name()+"/")
		case !mode.IsRegular():
			c.problem(name, "not a regular file: %s", kindOf(mode))
		default:
			info, err := e.Info()
			if err != nil {
				c.unread(name, "%v", reason(err))
				continue
			}
			all = append(all, found{
				name: name, path: full, hint: hint + e.Name(),
				size: info.Size(), modified: info.ModTime(), info: info,
			})
		}
	}
	return all
}

// link appends the file that a link in a folder leads to.
func (c *collection) link(all []found, f found) []found {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.problem(f.name, "a link to nothing")
	case err != nil:
		c.unread(f.name, "a link: %v", reason(err))
	case info.IsDir() && c.given(f.path):
		// read under its own name
	case info.IsDir():
		c.unread(f.name, "a link to a folder elsewhere: not followed")
	case !info.Mode().IsRegular():
		c.problem(f.name, "a link to what is no file: %s", kindOf(info.Mode()))
	default:
		f.size, f.modified, f.info = info.Size(), info.ModTime(), info
		all = append(all, f)
	}
	return all
}

// given reports whether a link leads into one of the folders that are read.
func (c *collection) given(path string) bool {
	to, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	to, _ = filepath.Abs(to)
	return slices.ContainsFunc(c.roots, func(root string) bool {
		return to == root || strings.HasPrefix(to, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
	})
}

// RawFolder is read where it is asked for by its path.
const RawFolder = evidence.RawFolder

const rawFolderWhy = "lines kept for people: what was read of them stands in the records of the bundle"

// litter says which names are never evidence, in folders and in archives.
func litter(name string) bool {
	return name == ".git" || name == ".DS_Store" || name == "__MACOSX" || strings.HasPrefix(name, "._")
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSocket != 0:
		return lang.T("a socket")
	case mode&fs.ModeNamedPipe != 0:
		return lang.T("a pipe")
	case mode&(fs.ModeDevice|fs.ModeCharDevice) != 0:
		return lang.T("a device")
	}
	return "irregular"
}

// without removes the excluded files.
func (c *collection) without(all []found) []found {
	for _, ex := range c.o.Exclude {
		info, err := os.Stat(ex)
		abs, _ := filepath.Abs(ex)
		all = slices.DeleteFunc(all, func(f found) bool {
			if f.info == nil {
				return false
			}
			own, _ := filepath.Abs(f.path)
			return own == abs || err == nil && os.SameFile(info, f.info)
		})
	}
	return all
}

// once removes files that were given twice, also under another name.
func (c *collection) once(all []found) []found {
	type likeness struct {
		size     int64
		modified int64
	}
	seen := map[likeness][]found{}
	return slices.DeleteFunc(all, func(f found) bool {
		key := likeness{f.size, f.modified.UnixNano()}
		for _, g := range seen[key] {
			if f.info == nil && g.info == nil {
				return true // "-" twice
			}
			if f.info != nil && g.info != nil && os.SameFile(f.info, g.info) {
				if f.name != g.name {
					c.problem(f.name, "the same file as %s, read once", g.name)
				}
				return true
			}
		}
		seen[key] = append(seen[key], f)
		return false
	})
}

// reason shortens an error of the file system: the path is said elsewhere.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
