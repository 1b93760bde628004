package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firebreak-io/firebreak/incident"
)

// TestMain makes the program a command of the scripts: "firebreak" as it is
// shipped, and "replay", which is the same but for the engine: it shows reports
// that were written as JSON, so that stories about the command line do not
// depend on what the engine concludes.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"firebreak": main,
		"screen":    playStory,
		"replay":    func() { os.Exit(newApp(replay).run(os.Args[1:])) },
	})
}

// replay takes the first path for a report. A file called interrupted.json
// stands for reading that Ctrl-C ended.
func replay(_ context.Context, q request, tell func(progress)) (*incident.Report, bool, error) {
	in := q.stdin
	if path := q.paths[0]; path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, false, err
		}
		defer f.Close()
		in = f
	}
	tell(progress{bytes: 1, total: 2, current: q.paths[0]})
	r, err := incident.ReadJSON(in)
	if err != nil {
		return nil, false, errors.Join(errors.New("nothing could be read"), err)
	}
	return r, filepath.Base(q.paths[0]) == "interrupted.json", nil
}

func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../incident/testdata")
	if err != nil {
		t.Fatal(err)
	}
	incidents, err := filepath.Abs("../../testdata/incidents")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", examples)
			e.Setenv("INCIDENTS", incidents)
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			e.Setenv("SOURCE_DATE_EPOCH", "1773483120") // 2026-03-14T10:12:00Z
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"noesc":   noEscapes,
			"require": requireFile,
		},
	})
}

// exits CODE COMMAND...: the command must end with that code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if code != args[0] {
		ts.Fatalf("%s ended with %s, not %s", strings.Join(args[1:], " "), code, args[0])
	}
}

// noesc FILE...: the files must have no escape sequences.
func noEscapes(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		if has := strings.ContainsRune(ts.ReadFile(name), '\x1b'); has != neg {
			ts.Fatalf("%s: escape sequences: %v", name, has)
		}
	}
}

// require FILE...: the files must exist and not be empty.
func requireFile(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		info, err := os.Stat(ts.MkAbs(name))
		if have := err == nil && info.Size() > 0; have == neg {
			ts.Fatalf("%s: %v", name, err)
		}
	}
}
