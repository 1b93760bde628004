package main

import (
	"archive/zip"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/tui"
)

// demoFiles are the evidence of the built-in incidents, each a zip of a folder
// of testdata/incidents. A test holds them to those folders, and -update makes
// them anew.
//
//go:embed demos/*.zip
var demoFiles embed.FS

// demo is a built-in incident to learn on.
type demo struct {
	name  string
	from  string // folder of testdata/incidents
	about string // English: the key of the catalogue
	guide []tui.Guide
}

// demos lists the built-in incidents in the order in which they teach.
func demos() []demo {
	last := tui.Guide{Say: lang.Mark("? lists what there is more. q quits."), Do: "help"}
	return []demo{
		{
			"slow-sql", "reference-slow-sql-retries",
			lang.Mark("a statement without an index, three attempts for each call, a full pool: find the statement"),
			[]tui.Guide{
				{Say: lang.Mark("The chain: what began it, what made it worse, what broke. 2 opens the runbook."), At: "runbook"},
				{Say: lang.Mark("Each question is answered from the evidence. Enter accepts; go on to the label."), At: "runbook", Key: "conclusion"},
				{Say: lang.Mark("Now find the statement that burns: 5 opens the SQL."), At: "sql"},
				{Say: lang.Mark("Every number has its line: o opens it, Esc comes back."), Do: "open"},
				{Say: lang.Mark("Tell the others: E writes the report, Y copies the headline."), Do: "export"},
				last,
			},
		},
		{
			"two-layers", "traces-layers-of-retries",
			lang.Mark("retries at the gateway and below it multiply: find the edge to cut"),
			[]tui.Guide{
				{Say: lang.Mark("Two layers retry, so nine attempts arrive for one request. 3 opens the calls."), At: "calls"},
				{Say: lang.Mark("s sorts: by attempts, by work done for nobody. Which edge is worst?"), Do: "sort"},
				{Say: lang.Mark("Enter goes into the edge: how its calls ended, and traces of them."), At: "calls", Do: "enter"},
				{Say: lang.Mark("7 shows what happened when, and v selects a window of it."), At: "timeline"},
				last,
			},
		},
		{
			"unsure", "traces-callee-slow-itself",
			lang.Mark("evidence that cannot tell: firebreak says so, and you know more than it does"),
			[]tui.Guide{
				{Say: lang.Mark("It says inconclusive, and what to collect. You have looked: 2 opens the runbook."), At: "runbook"},
				{Say: lang.Mark("Enter goes on. The third question asks whether it is seen what the workers wait for."), At: "runbook", Key: "step workers-wait"},
				{Say: lang.Mark("You took a profile: it computes. x, then y, then say so, then Enter."), Do: "override"},
				{Say: lang.Mark("Enter goes on to the question about processors."), At: "runbook", Key: "step cpu"},
				{Say: lang.Mark("x, then y again: this is what you saw."), Do: "override"},
				{Say: lang.Mark("Enter twice: the walk has a label now, beside firebreak's own."), At: "runbook", Key: "conclusion"},
				{Say: lang.Mark("E writes the report with your answer and your note in it."), Do: "export"},
				last,
			},
		},
	}
}

func (a *app) demoCommand() *cobra.Command {
	var o reportOptions
	var s screenOptions
	cmd := &cobra.Command{
		Use:   "demo [NAME]",
		Short: lang.T("Learn on a built-in incident"),
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !a.screen() {
				return a.listDemos()
			}
			return a.demo(cmd, args, o, s)
		},
	}
	var names []string
	about := lang.T("Opens one of three built-in incidents, with a guided first minute; without a\nname, the first. Away from a terminal it lists them, or reports the one named.") + "\n"
	for _, d := range demos() {
		about += fmt.Sprintf("\n  %-11s %s", d.name, lang.T(d.about))
		names = append(names, d.name)
	}
	cmd.Long, cmd.ValidArgs = about, names
	o.register(cmd)
	s.register(cmd)
	return cmd
}

func (a *app) listDemos() error {
	for _, d := range demos() {
		if _, err := fmt.Fprintf(a.stdout, "firebreak demo %-11s %s\n", d.name, lang.T(d.about)); err != nil {
			return err
		}
	}
	return nil
}

// demo lays the evidence of a built-in incident out in a folder of its own,
// which is gone with the program, and opens the screen on it.
func (a *app) demo(cmd *cobra.Command, args []string, o reportOptions, s screenOptions) error {
	d := demos()[0]
	if len(args) > 0 {
		found := false
		var names []string
		for _, c := range demos() {
			names = append(names, c.name)
			if c.name == args[0] {
				d, found = c, true
			}
		}
		if !found {
			return usagef("firebreak demo "+names[0], "there is no demo %q, but %s", args[0], strings.Join(names, ", "))
		}
	}
	dir, err := os.MkdirTemp("", "firebreak-demo-")
	if err != nil {
		return failed(lang.Errorf("lay out the demo: %w", err), lang.T("TMPDIR=/a/folder/with/room firebreak demo"))
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := d.layOut(dir); err != nil {
		return lang.Errorf("lay out the demo: %w", err)
	}
	return a.open(cmd, []string{dir}, o, s, func(cfg *tui.Config) {
		cfg.Name, cfg.Guide = "demo "+d.name, d.guide
		cfg.Host.Save = nil // what is about to be removed cannot be gone on with
	})
}

// layOut writes the files of the demo below a folder.
func (d demo) layOut(dir string) error {
	data, err := demoFiles.ReadFile("demos/" + d.name + ".zip")
	if err != nil {
		return err
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	for _, f := range z.File {
		if err := unzip(f, dir); err != nil {
			return err
		}
	}
	return nil
}

func unzip(f *zip.File, dir string) error {
	if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
		return lang.Errorf("%s leads out of the folder", f.Name)
	}
	path := filepath.Join(dir, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in) // our own archive: its size is known
	return errors.Join(err, in.Close(), out.Close())
}
