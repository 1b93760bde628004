// Package imports holds the packages to the directions of import that the
// architecture allows.
package imports

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/firebreak-io/firebreak/"

// allowed is the column "May import" of the architecture. A package that is
// not in it is refused, so that a new one is thought about.
var allowed = map[string][]string{
	"evidence":      {},
	"parsers":       {"evidence"},
	"collector":     {"evidence", "parsers"},
	"incident":      {"evidence"},
	"correlate":     {"evidence", "incident"},
	"document":      {"incident"},
	"runbooks":      {"document", "incident"},
	"simulate":      {"evidence", "incident"},
	"tui":           {"evidence", "incident", "runbooks", "simulate"},
	"exporter":      {"evidence", "incident", "correlate"},
	"otelconnector": {"evidence", "parsers", "correlate", "incident", "runbooks", "exporter"},
	"capture":       {},
	"cmd": {
		"evidence", "parsers", "collector", "incident", "correlate", "runbooks", "simulate", "tui", "exporter", "capture",
		"document",
	},
	"internal": {},
	"lang":     {},
	"bench":    {},
	"deploy":   {}, // has tests only
}

// everywhere is what every folder may import beyond that: what is said is said
// in the language of whoever reads it.
const everywhere = "lang"

// alsoInTests is what tests may import beyond that: the test helper, and what a
// test of whole incidents needs.
var alsoInTests = map[string][]string{
	"correlate": {"collector", "parsers", "runbooks"},
	"runbooks":  {"collector", "parsers", "correlate", "evidence"},
	"lang":      {"evidence", "collector", "parsers", "correlate", "incident", "runbooks"},
	"tui":       {"evidence", "collector", "parsers", "correlate"},
	"exporter":  {"collector", "parsers"},
	"bench":     {"evidence", "collector", "parsers", "correlate", "exporter"},
	"deploy":    {"exporter"},
	// Spans of known truth come from bench/truth.
	"cmd":           {"bench"},
	"collector":     {"bench"},
	"otelconnector": {"bench"},
}

// denied are packages of others that only some folders may use.
var denied = map[string]struct {
	why string
	but []string // top folders that may
	// inTests says that tests may too.
	inTests bool
}{
	"log":                    {"log/slog, handed in", nil, false},
	"os/exec":                {"only capture runs other programs, and cmd the reader's own pager", []string{"capture", "cmd", "lab", "bench"}, true},
	"flag":                   {"flags are defined in cmd", []string{"cmd", "internal", "lab", "bench"}, false},
	"github.com/spf13/pflag": {"flags are defined in cmd", []string{"cmd"}, false},
	"github.com/spf13/cobra": {"flags are defined in cmd", []string{"cmd"}, false},
	"gopkg.in/yaml.v2":       {"go.yaml.in/yaml/v4", nil, false},
	"gopkg.in/yaml.v3":       {"go.yaml.in/yaml/v4", nil, false},
	"unsafe":                 {"speed comes from not copying", nil, false},
}

func TestImportDirections(t *testing.T) {
	root := "../.."
	files := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			// Fixtures have programs of their own; hidden folders are not ours.
			if base := d.Name(); base == "testdata" || base == "lab" || base != ".." && strings.HasPrefix(base, ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		files++
		check(t, name, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Errorf("only %d files were looked at", files)
	}
}

func check(t *testing.T, name, rel string) {
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), rel, src, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	top, _, inFolder := strings.Cut(rel, "/")
	if !inFolder {
		t.Errorf("%s: the root has no code", rel)
		return
	}
	may, known := allowed[top]
	if !known {
		t.Errorf("%s: folder %s is not in the table of the architecture", rel, top)
		return
	}
	isTest := strings.HasSuffix(rel, "_test.go")
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Error(err)
			continue
		}
		if rule, ok := denied[imported]; ok && !slices.Contains(rule.but, top) && !(isTest && rule.inTests) {
			t.Errorf("%s imports %s: %s", rel, imported, rule.why)
		}
		own, ours := strings.CutPrefix(imported, module)
		if !ours {
			continue
		}
		target, _, _ := strings.Cut(own, "/")
		switch {
		case target == top, target == everywhere, slices.Contains(may, target):
		case isTest && (path.Dir(own) == "internal" || slices.Contains(alsoInTests[top], target)):
		default:
			t.Errorf("%s imports %s: %s may import %v", rel, own, top, may)
		}
	}
}
