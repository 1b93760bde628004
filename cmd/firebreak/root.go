package main

import (
	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/lang"
)

// commands lists all commands in the order of the help.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.triageCommand(),
		a.reportCommand(),
		a.simulateCommand(),
		a.serveCommand(),
		a.attachCommand(),
		a.demoCommand(),
		a.formatsCommand(),
		a.explainCommand(),
		a.versionCommand(),
	}
}

func (a *app) rootCommand() *cobra.Command {
	var o reportOptions
	var asked bool
	var screen screenOptions
	root := &cobra.Command{
		Use:   "firebreak PATH...",
		Short: lang.T("Tells why an RPC fleet is burning, from the evidence left behind"),
		Long: lang.T(`firebreak reads what an incident left behind (logs, thread dumps, SQL evidence),
joins attempts to calls, and names the label of the incident with its causal
chain, what to do first, and the line of the file behind every number.

PATH is a file, a folder, an archive, or - for standard input. Files may be in
any order and of any kind; what is not known is passed by and said so.`),
		Example: lang.T(`  firebreak logs/                            the verdict, in the terminal
  firebreak report incident.tar.gz -o report.md
  kubectl logs deploy/order | firebreak -
  firebreak explain slow-sql`),
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asked {
				return writeVersion(cmd.OutOrStdout())
			}
			if len(args) == 0 {
				return cmd.Help()
			}
			return a.triage(cmd, args, o, screen)
		},
	}
	o.register(root)
	screen.register(root)
	root.Flags().BoolVar(&asked, "version", false, lang.T("say which build this is"))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef(cmd.CommandPath()+" --help", "%v", err)
	})
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	root.AddCommand(a.commands()...)
	speak(root)
	return root
}
