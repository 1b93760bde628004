package env

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// grace is what a process gets to end by itself; most need less than a second.
const grace = 8 * time.Second

// Command is what to start.
type Command struct {
	Name string // of the instance, for messages
	Path string
	Args []string
	Dir  string
	Env  []string // added to the driver's
	Log  string   // file that gets both output streams
	Own  string   // log that it writes itself, shown too when it does not start
	Kill bool     // end it at once: it keeps nothing that matters

	Signal syscall.Signal // that ends it politely, SIGTERM if 0
}

// Process is a running process that we started.
type Process struct {
	Name string
	cmd  *exec.Cmd
	logs []string
	kill bool
	term syscall.Signal
	done chan struct{} // closed when it has ended
	err  error         // why; read after done
	once sync.Once
}

// Start starts a command. It is stopped by Stop, or by Close of the Env.
func (e *Env) Start(c Command) (*Process, error) {
	out, err := os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }() // the process has its own handle
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, append(os.Environ(), c.Env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	p := &Process{Name: c.Name, cmd: cmd, logs: []string{c.Log, c.Own}, kill: c.Kill, term: c.Signal, done: make(chan struct{})}
	if p.term == 0 {
		p.term = syscall.SIGTERM
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	e.procs = append(e.procs, p)
	return p, nil
}

// Pid is the process's id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Running reports whether it has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Stop ends the process and all that it started, first politely.
func (p *Process) Stop() error {
	var err error
	p.once.Do(func() { err = p.stop() })
	return err
}

func (p *Process) stop() error {
	group := -p.Pid()
	// A group may outlive its leader; that there is none any more is no error.
	defer func() { _ = syscall.Kill(group, syscall.SIGKILL) }()
	if !p.Running() {
		return nil
	}
	if !p.kill {
		_ = syscall.Kill(group, p.term)
		if p.endsWithin(grace) {
			return nil
		}
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	if p.endsWithin(grace) {
		return nil
	}
	return fmt.Errorf("%s (pid %d) does not end", p.Name, p.Pid())
}

func (p *Process) endsWithin(d time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(d):
		return false
	}
}

// Wait asks every 100 ms until the process is ready. It fails when the process
// ends before, or the time is up, and shows the end of its log.
func (p *Process) Wait(ctx context.Context, limit time.Duration, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended while starting: %w\n%s", p.Name, errors.Join(p.err, err), tail(p.logs))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s: %w\n%s", p.Name, limit, err, tail(p.logs))
		case <-tick.C:
		}
	}
}

// tail gives the last lines of logs.
func tail(names []string) string {
	text := ""
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		if len(lines) > 15 {
			lines = lines[len(lines)-15:]
		}
		text += "  | " + strings.Join(lines, "\n  | ") + "\n"
	}
	return text
}
