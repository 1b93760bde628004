package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// release is set by the release build (-ldflags "-X main.release=v1.2.3").
var release string

// version returns the release, else the version that the Go tool recorded.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: lang.T("Say which build this is"),
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return writeVersion(cmd.OutOrStdout())
		},
	}
}

func writeVersion(w io.Writer) error {
	fmt.Fprintf(w, "firebreak %s\n", version())
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, key := range []string{"vcs.revision", "vcs.time", "vcs.modified"} {
			for _, s := range info.Settings {
				if s.Key == key {
					fmt.Fprintf(w, "  %-12s %s\n", key[len("vcs."):], s.Value)
				}
			}
		}
	}
	fmt.Fprintf(w, "  %-12s %s %s/%s\n", lang.T("built with"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	_, err := fmt.Fprintf(w, "  %-12s %s\n", lang.T("writes"), incident.Schema)
	return err
}
