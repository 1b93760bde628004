package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// form is one form of the report.
type form struct {
	name, ext string
	private   bool // made to be passed on, so redacted unless told otherwise
}

var forms = []form{
	{"text", ".txt", false},
	{"json", ".json", false},
	{"markdown", ".md", true},
	{"html", ".html", true},
}

func formatNames() []string {
	var names []string
	for _, f := range forms {
		names = append(names, f.name)
	}
	return names
}

// target is one form and where it goes; an empty path is standard output.
type target struct {
	form
	path   string
	redact bool
}

// outputs is where the report goes, in which forms.
type outputs struct {
	targets []target
	text    incident.TextOptions
}

func (o outputs) files() []string {
	var files []string
	for _, t := range o.targets {
		if t.path != "" {
			files = append(files, t.path)
		}
	}
	return files
}

// plan reads the flags that say what is written, before anything is read.
func (a *app) plan(cmd *cobra.Command, o reportOptions) (outputs, error) {
	var chosen []form
	for _, name := range o.formats {
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "md" {
			name = "markdown"
		}
		i := slices.IndexFunc(forms, func(f form) bool { return f.name == name })
		if i < 0 {
			return outputs{}, usagef("--format "+strings.Join(formatNames(), ","), "--format %q is not a form of the report", name)
		}
		if !slices.Contains(chosen, forms[i]) {
			chosen = append(chosen, forms[i])
		}
	}
	if len(chosen) == 0 {
		chosen = []form{a.formOf(o.output)}
	}
	if len(chosen) > 1 && o.output == "" {
		return outputs{}, usagef(cmd.CommandPath()+" ... --format "+strings.Join(o.formats, ",")+" -o report", "several forms do not fit on standard output")
	}
	if info, err := os.Stat(o.output); o.output != "" && err == nil && info.IsDir() {
		return outputs{}, usagef("-o "+filepath.Join(o.output, "report"+chosen[0].ext), "-o %s is a folder", o.output)
	}
	var plan outputs
	base := o.output
	if ext := filepath.Ext(base); slices.ContainsFunc(forms, func(f form) bool { return f.ext == ext }) {
		base = strings.TrimSuffix(base, ext)
	}
	for _, f := range chosen {
		t := target{form: f, path: o.output, redact: f.private}
		if len(chosen) > 1 {
			t.path = base + f.ext
		}
		if cmd.Flags().Changed("redact") {
			t.redact = o.redact
		}
		plan.targets = append(plan.targets, t)
	}
	color, err := a.wantsColor(o)
	if err != nil {
		return outputs{}, err
	}
	plan.text = incident.TextOptions{ASCII: o.ascii, Color: color, Width: 80}
	if o.output == "" && a.columns > 0 {
		plan.text.Width = min(a.columns, 140)
	}
	return plan, nil
}

// formOf tells the form by the name given to -o: text if there is none, and text
// with a word about it if its ending is of no form.
func (a *app) formOf(output string) form {
	ext := filepath.Ext(output)
	if i := slices.IndexFunc(forms, func(f form) bool { return strings.EqualFold(f.ext, ext) }); i >= 0 {
		return forms[i]
	}
	if info, err := os.Stat(output); ext != "" && (err != nil || info.Mode().IsRegular()) {
		var known []string
		for _, f := range forms {
			known = append(known, lang.Sprintf("%s is %s", f.ext, f.name))
		}
		fmt.Fprintln(a.stderr, lang.Sprintf("firebreak: %s is written as text: %s; --format chooses another", incident.Visible(output), lang.Join(known)))
	}
	return forms[0]
}

func (a *app) wantsColor(o reportOptions) (bool, error) {
	switch o.color {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto", "":
		return o.output == "" && a.outTerminal && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb", nil
	}
	return false, usagef(lang.T("--color auto, always or never"), "--color %q", o.color)
}

// write makes each form and puts it where it goes.
func (a *app) write(report *incident.Report, plan outputs, zone *time.Location) error {
	for _, t := range plan.targets {
		var b bytes.Buffer
		shown := report
		if t.redact {
			shown = incident.Redact(report)
		}
		var err error
		switch t.name {
		case "json":
			err = incident.WriteJSON(&b, shown)
		case "markdown":
			err = incident.WriteMarkdown(&b, shown, incident.MarkdownOptions{Zone: zone})
		case "html":
			err = incident.WriteHTML(&b, shown, incident.HTMLOptions{Zone: zone})
		default:
			plan.text.Zone = zone
			err = incident.WriteText(&b, shown, plan.text)
		}
		if err != nil {
			return lang.Errorf("make the %s report: %w", t.name, err)
		}
		if t.path == "" {
			if _, err := a.stdout.Write(b.Bytes()); err != nil {
				return failed(lang.Errorf("write to standard output: %w", reason(err)), "-o report"+t.ext)
			}
			continue
		}
		if err := writeFile(t.path, b.Bytes()); err != nil {
			return failed(lang.Errorf("write %s: %w", t.path, reason(err)), lang.T("-o with a path on a disk that is writable and has room"))
		}
	}
	return nil
}

// writeFile writes a file whole or not at all: beside its place, then renamed.
// Devices and pipes are written to as they are.
func writeFile(path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	}
	aside := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.tmp", filepath.Base(path), os.Getpid()))
	f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(aside, path)
	}
	if err != nil {
		_ = os.Remove(aside)
	}
	return err
}

// reason takes the path, which the message has already, out of an error.
func reason(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.Is(err, syscall.EPIPE):
		return err
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
