package main

import (
	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/lang"
)

// triageCommand is the default command. It prints the report; away from a
// terminal it always will.
func (a *app) triageCommand() *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "triage PATH...",
		Short: lang.T("Show the verdict over files, folders, archives or - (the default command)"),
		Args:  needPaths,
		RunE:  func(cmd *cobra.Command, args []string) error { return a.report(cmd, args, o) },
	}
	o.register(cmd)
	return cmd
}
