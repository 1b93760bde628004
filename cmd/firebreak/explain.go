package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/incident"
)

func (a *app) explainCommand() *cobra.Command {
	var names []string
	for _, l := range incident.Labels() {
		names = append(names, string(l))
	}
	for _, k := range incident.Kinds() {
		names = append(names, string(k.Kind))
	}
	return &cobra.Command{
		Use:       "explain [LABEL|KIND]",
		Short:     "Say what a label, or a kind of finding, means and what to do first",
		ValidArgs: names,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef(cmd.CommandPath()+" "+args[0], "explain takes one label at a time")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			if len(args) == 0 {
				return listLabels(w)
			}
			name := strings.ToLower(strings.ReplaceAll(args[0], "_", "-"))
			if e, ok := incident.Explain(incident.Label(name)); ok {
				return explainLabel(w, e)
			}
			for _, k := range incident.Kinds() {
				if string(k.Kind) == name {
					_, err := fmt.Fprintf(w, "%s\n%s\n", k.Kind, paragraph("  ", "  ", k.Doc))
					return err
				}
			}
			return unknownName(cmd, args[0], names)
		},
	}
}

// unknownName suggests what may have been meant.
func unknownName(cmd *cobra.Command, name string, names []string) error {
	try, least := cmd.CommandPath()+"    (lists all labels)", len(name)/3+2
	for _, n := range names {
		if d := distance(strings.ToLower(name), n); d < least || strings.HasPrefix(n, strings.ToLower(name)) && len(name) > 1 {
			try, least = cmd.CommandPath()+" "+n, min(d, least)
		}
	}
	return usagef(try, "%q is neither a label nor a kind of finding", name)
}

func listLabels(w io.Writer) error {
	var b strings.Builder
	for _, l := range incident.Labels() {
		e, _ := incident.Explain(l)
		b.WriteString(string(l) + "\n" + paragraph("  ", "  ", e.Means) + "\n")
	}
	b.WriteString("\nfirebreak explain LABEL says what makes a label, what speaks against it, and what\nto do first. The kinds of findings can be explained too:\n\n")
	var kinds []string
	for _, k := range incident.Kinds() {
		kinds = append(kinds, string(k.Kind))
	}
	b.WriteString(paragraph("  ", "  ", strings.Join(kinds, " ")) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func explainLabel(w io.Writer, e incident.Explanation) error {
	var b strings.Builder
	b.WriteString(strings.ToUpper(string(e.Label)) + "\n" + paragraph("  ", "  ", e.Means) + "\n")
	section := func(title string, items []string) {
		b.WriteString("\n" + title + "\n")
		for _, item := range items {
			b.WriteString(paragraph("  - ", "    ", item) + "\n")
		}
	}
	section("What makes it", e.Evidence)
	section("What speaks against it", e.Against)
	section("What to do first", e.First)
	var alike []string
	for _, l := range e.LookAlikes {
		alike = append(alike, string(l.Label)+": "+l.Tell)
	}
	section("What looks like it", alike)
	_, err := io.WriteString(w, b.String())
	return err
}

// paragraph breaks a text of ours, which is ASCII or nearly so, into lines of 80.
func paragraph(first, rest, text string) string {
	var b strings.Builder
	line := first
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			line += word
		case len(line)+1+len(word) > 80:
			b.WriteString(line + "\n")
			line = rest + word
		default:
			line += " " + word
		}
	}
	return b.String() + line
}
