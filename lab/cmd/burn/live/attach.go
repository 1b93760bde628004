package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
)

// Attach is what firebreak attach writes away from a terminal: the report.
func (s *Serve) Attach(ctx context.Context) (string, error) {
	out, err := env.Run(ctx, "", s.Tool, "attach", s.Web)
	return string(out), err
}

// Screen is what firebreak attach shows on a terminal, once it shows the text.
func (s *Serve) Screen(ctx context.Context, e *env.Env, text string) (screen string, err error) {
	tmux, err := env.Tool("tmux")
	if err != nil {
		return "", err
	}
	// A server of its own: it ends with its one session. The path of a socket must
	// be short.
	dir, err := os.MkdirTemp("", "burn")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	socket := filepath.Join(dir, "tmux")
	run := func(ctx context.Context, args ...string) (string, error) {
		out, err := env.Run(ctx, "", tmux, append([]string{"-f", "/dev/null", "-S", socket}, args...)...)
		return string(out), err
	}
	if _, err := run(ctx, "new-session", "-d", "-x", "120", "-y", "40", s.Tool+" attach "+s.Web); err != nil {
		return "", err
	}
	defer func() {
		_, _ = run(context.WithoutCancel(ctx), "kill-server")
	}()
	limit := time.Now().Add(15 * time.Second)
	for {
		screen, err = run(ctx, "capture-pane", "-p")
		if err != nil {
			return screen, err
		}
		if strings.Contains(strings.ToLower(screen), text) {
			return screen, nil
		}
		if time.Now().After(limit) {
			return screen, fmt.Errorf("the screen does not show %q", text)
		}
		select {
		case <-ctx.Done():
			return screen, ctx.Err()
		case <-time.After(300 * time.Millisecond):
		}
	}
}
