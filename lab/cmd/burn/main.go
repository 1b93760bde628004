// Command burn makes a small shop of real services burn on purpose, collects the
// evidence as an engineer would, and writes down what really happened beside it.
// lab/README.md says how to use it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

const usage = `burn makes the lab's shop burn, and knows why.

  burn list                                  the scenarios
  burn run SCENARIO... [-dose D] [-seed N]   run some (dose: full, mild or second; default full)
  burn all                                   run every scenario in every dose
  burn smoke                                 the reference chain, judged by firebreak report; under 6 minutes
  burn live                                  the reference chain beside firebreak serve and Prometheus; under 5 minutes
  burn judge [RUN...]                        ask firebreak about runs that were captured before
  burn fixtures [-o DIR] [RUN...]            trim captured runs into testdata/incidents/lab-*

Flags follow the command; burn COMMAND -h lists them.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := command(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "burn:", err)
		os.Exit(1)
	}
}

// options are the flags of all commands.
type options struct {
	lab  string // folder of the lab
	work string
	base int
	dose string
	seed uint64
	out  string // of fixtures
}

func command(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		fmt.Fprint(out, usage)
		return nil
	}
	var o options
	f := flag.NewFlagSet("burn "+args[0], flag.ContinueOnError)
	f.StringVar(&o.lab, "lab", "lab", "folder of the lab, with java/ and dubbogo/")
	f.StringVar(&o.work, "work", "", "work folder (default LAB/.work); the database in it is kept")
	f.IntVar(&o.base, "base-port", 21000, "first of a block of free ports")
	f.StringVar(&o.dose, "dose", "full", "full, mild or second")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the load (default by the dose)")
	f.StringVar(&o.out, "o", filepath.Join("testdata", "incidents"), "fixtures: where the folders lab-* go")
	names, err := parse(f, args[1:])
	if err != nil {
		return err
	}
	if o.lab, err = filepath.Abs(o.lab); err != nil {
		return err
	}
	if o.work == "" {
		o.work = filepath.Join(o.lab, ".work")
	}
	// Programs are started in folders of their own.
	if o.work, err = filepath.Abs(o.work); err != nil {
		return err
	}
	switch args[0] {
	case "list":
		return list(out)
	case "run":
		return o.run(ctx, names, out)
	case "all":
		return o.all(ctx, out)
	case "smoke":
		return o.smoke(ctx, out)
	case "live":
		return o.live(ctx, out)
	case "judge":
		return o.judge(ctx, names, out)
	case "fixtures":
		return o.fixtures(names, out)
	}
	return fmt.Errorf("no command is named %s; burn help lists them", args[0])
}

// parse takes flags and names in any order.
func parse(f *flag.FlagSet, args []string) (names []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		if f.NArg() == 0 {
			return names, nil
		}
		names = append(names, f.Arg(0))
		args = f.Args()[1:]
	}
}
