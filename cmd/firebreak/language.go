package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/lang"
)

// languageFlag chooses the language of all that is said.
const languageFlag = "lang"

// chooseLanguage sets the language before anything is said, the help of the
// flags among it: by --lang, else by the environment. What --lang says wrongly is
// told of when the flags are read.
func (a *app) chooseLanguage(args []string) {
	tag := lang.FromEnv(a.env("LC_ALL"), a.env("LC_MESSAGES"), a.env("LANG"))
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if value, ok := strings.CutPrefix(arg, "--"+languageFlag+"="); ok {
			tag = value
		} else if arg == "--"+languageFlag && i+1 < len(args) {
			tag = args[i+1]
		}
	}
	if lang.Use(tag) != nil {
		_ = lang.Use(lang.English)
	}
}

// speak gives all commands the flag, and what the command library says of them
// the language in use.
func speak(root *cobra.Command) {
	var tag string
	root.PersistentFlags().StringVar(&tag, languageFlag, "", lang.T("language of all texts: en or zh (default: by LC_ALL, LC_MESSAGES, LANG)"))
	_ = root.RegisterFlagCompletionFunc(languageFlag, cobra.FixedCompletions(lang.Supported(), cobra.ShellCompDirectiveNoFileComp))
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if tag != "" && lang.Use(tag) != nil {
			return usagef("--lang "+strings.Join(lang.Supported(), ", --lang "), "--lang %s: no such language", tag)
		}
		return nil
	}
	if lang.Current() == lang.English {
		return
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	translate(root)
	template := root.UsageTemplate()
	for _, text := range []string{
		lang.Mark("Usage:"), lang.Mark("Examples:"), lang.Mark("Available Commands:"), lang.Mark("Flags:"), lang.Mark("Global Flags:"),
		lang.Mark("for more information about a command."),
	} {
		template = strings.ReplaceAll(template, text, lang.T(text))
	}
	root.SetUsageTemplate(strings.ReplaceAll(template, "Use \"", lang.T("Use")+" \""))
}

// translate says in the language in use what the command library adds: its own
// commands and the flag of the help.
func translate(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		c.Short, c.Long = lang.T(c.Short), lang.T(c.Long)
		translate(c)
	}
	cmd.InitDefaultHelpFlag()
	if help := cmd.Flags().Lookup("help"); help != nil {
		help.Usage = lang.T("say how it is used")
	}
}
