package env

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
)

// Run runs a command to its end and gives what it printed on standard output.
// A command that fails is described with what it printed on standard error.
func Run(ctx context.Context, stdin, name string, args ...string) ([]byte, error) {
	return RunAs(ctx, nil, stdin, name, args...)
}

// RunAs is Run as another user.
func RunAs(ctx context.Context, as *syscall.Credential, stdin, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: as}
	if as != nil {
		cmd.Dir = "/"
	}
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(errs.String()))
	}
	return out.Bytes(), nil
}
