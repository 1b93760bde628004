package runbooks

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/document"
	"github.com/firebreak-io/firebreak/lang"
)

//go:embed *.yaml
var embedded embed.FS

// maxBook bounds the size of one runbook.
const maxBook = 1 << 20

// Library is a set of runbooks by name.
type Library struct {
	books []*Book
}

// Load returns the built-in runbooks and those of a team's own folder, which add
// to them or override them by name; with no folder the built-in ones. The error
// is a document.Problems with everything wrong in all files.
func Load(folder string) (*Library, error) {
	l := &Library{}
	problems := l.add(embedded, lang.T("built-in")+" ")
	if folder != "" {
		own := &Library{}
		more := own.add(os.DirFS(folder), strings.TrimSuffix(folder, "/")+"/")
		problems = append(problems, more...)
		for _, b := range own.books {
			l.books = slices.DeleteFunc(l.books, func(old *Book) bool { return old.Name == b.Name })
			l.books = append(l.books, b)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return l, nil
}

// add reads the runbooks of a folder in the order of their names.
func (l *Library) add(folder fs.FS, prefix string) document.Problems {
	var problems document.Problems
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return document.Problems{{File: prefix, Text: lang.Sprintf("read the folder: %v", err)}}
	}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
			continue
		}
		b, found := read(folder, name, prefix)
		problems = append(problems, found...)
		if b == nil {
			continue
		}
		if old := l.Book(b.Name); old != nil {
			problems = append(problems, b.file.Problem(b.at, "runbook %q stands in %s already", b.Name, old.file.Name))
			continue
		}
		l.books = append(l.books, b)
	}
	return problems
}

// read returns a runbook without problems, or its problems.
func read(folder fs.FS, name, prefix string) (*Book, document.Problems) {
	shown := prefix + name
	info, err := fs.Stat(folder, name)
	if err == nil && info.Size() > maxBook {
		return nil, document.Problems{{File: shown, Text: lang.T("larger than 1 MiB: not a runbook")}}
	}
	text, err := fs.ReadFile(folder, name)
	if err != nil {
		return nil, document.Problems{{File: shown, Text: err.Error()}}
	}
	b, err := Parse(shown, text)
	if err != nil {
		var ps document.Problems
		if errors.As(err, &ps) {
			return nil, ps
		}
		return nil, document.Problems{{File: shown, Text: err.Error()}}
	}
	if ps := b.Lint(); len(ps) > 0 {
		return nil, ps
	}
	return b, nil
}

// Book returns the runbook of a name, or nil.
func (l *Library) Book(name string) *Book {
	for _, b := range l.books {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// Books returns all runbooks: the default first, then by name.
func (l *Library) Books() []*Book {
	list := slices.Clone(l.books)
	slices.SortFunc(list, func(a, b *Book) int {
		switch {
		case a.Name == b.Name:
			return 0
		case a.Name == DefaultName:
			return -1
		case b.Name == DefaultName:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}
