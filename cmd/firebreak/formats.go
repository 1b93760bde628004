package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
)

// readable is one thing that firebreak reads.
type readable struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"` // "file", "block" or "messages"
	Doc      string   `json:"doc"`
	Versions string   `json:"versions,omitempty"`
	Signs    []string `json:"signs"`
}

func (a *app) formatsCommand() *cobra.Command {
	var format string
	var markdown bool
	cmd := &cobra.Command{
		Use:   "formats",
		Short: lang.T("List what is read and how it is recognised"),
		Long: lang.T(`Lists what is read. A file is recognised by its first bytes; a block (a thread
dump, a slow log) wherever it starts in a text, between other lines; messages
inside application logs of any layout. Names of files do not matter.`),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case markdown:
				return formatsMarkdown(cmd.OutOrStdout(), allReadable())
			case format == "json":
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(allReadable())
			case format == "text":
				return formatsText(cmd.OutOrStdout(), allReadable())
			}
			return usagef("firebreak formats --format json", "--format %q is neither text nor json", format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", lang.T("text or json"))
	cmd.Flags().BoolVar(&markdown, "markdown", false, lang.T("print the table of docs/formats.md"))
	return cmd
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef(cmd.CommandPath(), "%s takes no arguments, but was given %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// allReadable lists formats first, then the messages read inside logs.
func allReadable() []readable {
	list := []readable{}
	for _, f := range parsers.Formats() {
		kind := "file"
		if f.Block != nil {
			kind = "block"
		}
		list = append(list, readable{f.Name, kind, f.Doc, f.Versions, orEmpty(f.Signs)})
	}
	for _, f := range parsers.Families() {
		list = append(list, readable{f.Name, "messages", f.Doc, "", orEmpty(f.Signs)})
	}
	return list
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func formatsText(w io.Writer, list []readable) error {
	var b strings.Builder
	for _, r := range list {
		fmt.Fprintf(&b, "%s (%s)\n%s\n", r.Name, lang.Word(r.Kind), paragraph("  ", "  ", lang.T(r.Doc)))
		if r.Versions != "" {
			b.WriteString(paragraph("  "+lang.T("checked with:")+" ", "    ", r.Versions) + "\n")
		}
		if len(r.Signs) > 0 {
			b.WriteString(paragraph("  "+lang.T("known by:")+" ", "    ", signs(r.Signs, strings.TrimSpace)) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func formatsMarkdown(w io.Writer, list []readable) error {
	var b strings.Builder
	b.WriteString("| Name | Read as | What it is | Checked with | Known by |\n|---|---|---|---|---|\n")
	cell := func(s string) string { return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`) }
	code := func(s string) string { return "`" + cell(strings.ReplaceAll(s, "`", "'")) + "`" }
	for _, r := range list {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(r.Name), r.Kind, cell(r.Doc), cell(r.Versions), signs(r.Signs, code))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// signs joins a few signs; a family may have dozens.
func signs(list []string, show func(string) string) string {
	var shown []string
	for _, s := range list {
		if strings.TrimSpace(s) == "" {
			continue
		}
		if len(shown) == 6 {
			shown = append(shown, "…")
			break
		}
		shown = append(shown, show(s))
	}
	return strings.Join(shown, "; ")
}
