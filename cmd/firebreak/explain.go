package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

func (a *app) explainCommand() *cobra.Command {
	var names []string
	for _, l := range incident.Labels() {
		names = append(names, string(l))
	}
	for _, k := range incident.Kinds() {
		names = append(names, string(k.Kind))
	}
	for _, g := range incident.Terms() {
		for _, t := range g.Terms {
			names = append(names, t.Name)
		}
	}
	return &cobra.Command{
		Use:       "explain [WORD]",
		Short:     lang.T("Say what a word of the report means: a label, a role, a kind of finding"),
		ValidArgs: names,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef(cmd.CommandPath()+" "+args[0], "explain takes one word at a time")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			if len(args) == 0 {
				return listWords(w)
			}
			name := strings.ToLower(strings.ReplaceAll(args[0], "_", "-"))
			if e, ok := incident.Explain(incident.Label(name)); ok {
				return explainLabel(w, e)
			}
			for _, k := range incident.Kinds() {
				if string(k.Kind) == name {
					return explainWord(w, name, sentence(k.Doc), k.Kind.Says())
				}
			}
			for _, g := range incident.Terms() {
				for _, t := range g.Terms {
					if t.Name == name {
						return explainWord(w, name, t.Means, t.Says)
					}
				}
			}
			return unknownName(cmd, args[0], names)
		},
	}
}

// unknownName suggests what may have been meant.
func unknownName(cmd *cobra.Command, name string, names []string) error {
	try, least := cmd.CommandPath()+"    "+lang.T("(lists all words)"), len(name)/3+2
	for _, n := range names {
		if d := distance(strings.ToLower(name), n); d < least || strings.HasPrefix(n, strings.ToLower(name)) && len(name) > 1 {
			try, least = cmd.CommandPath()+" "+n, min(d, least)
		}
	}
	return usagef(try, "%q is no word of the report", name)
}

func listWords(w io.Writer) error {
	var b strings.Builder
	b.WriteString(lang.T("Labels") + "\n\n")
	for _, l := range incident.Labels() {
		e, _ := incident.Explain(l)
		b.WriteString(lang.Word(string(l)) + "\n" + paragraph("  ", "  ", e.Means) + "\n")
	}
	group := func(title string, names []string) {
		b.WriteString("\n" + title + "\n\n" + paragraph("  ", "  ", strings.Join(names, " ")) + "\n")
	}
	for _, g := range incident.Terms() {
		var names []string
		for _, t := range g.Terms {
			names = append(names, t.Name)
		}
		group(g.Title, names)
	}
	var kinds []string
	for _, k := range incident.Kinds() {
		kinds = append(kinds, string(k.Kind))
	}
	group(lang.T("Kinds of findings"), kinds)
	b.WriteString("\n" + paragraph("", "", lang.T("firebreak explain WORD explains each of them: of a label, what makes it, what speaks against it, and what to do first.")) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func explainWord(w io.Writer, name, means, says string) error {
	_, err := fmt.Fprintf(w, "%s\n%s\n%s\n", lang.Word(name), paragraph("  ", "  ", means), paragraph("  ", "  ", says))
	return err
}

// sentence makes one of a few words about a kind.
func sentence(s string) string {
	if lang.Current() != lang.English {
		return s + "。"
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

func explainLabel(w io.Writer, e incident.Explanation) error {
	var b strings.Builder
	b.WriteString(lang.Upper(string(e.Label)) + "\n" + paragraph("  ", "  ", e.Means) + "\n")
	section := func(title string, items []string) {
		b.WriteString("\n" + title + "\n")
		for _, item := range items {
			b.WriteString(paragraph("  - ", "    ", item) + "\n")
		}
	}
	section(lang.T("What makes it"), e.Evidence)
	section(lang.T("What speaks against it"), e.Against)
	section(lang.T("What to do first"), e.First)
	var alike []string
	for _, l := range e.LookAlikes {
		alike = append(alike, lang.Word(string(l.Label))+": "+l.Tell)
	}
	section(lang.T("What looks like it"), alike)
	_, err := io.WriteString(w, b.String())
	return err
}

// paragraph breaks a text of ours into lines of 80 columns.
func paragraph(first, rest, text string) string { return incident.Paragraph(first, rest, text, 80) }
