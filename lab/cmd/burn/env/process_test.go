package env

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func lab(t *testing.T) *Env {
	t.Helper()
	e, err := New(t.TempDir(), 29000)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func shell(t *testing.T, e *Env, script string) *Process {
	t.Helper()
	p, err := e.Start(Command{Name: "sleeper", Path: "/bin/sh", Args: []string{"-c", script}, Dir: e.Dir, Log: filepath.Join(e.Dir, "log")})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCloseEndsWhatRuns(t *testing.T) {
	e := lab(t)
	one, two := shell(t, e, "sleep 60"), shell(t, e, "sleep 60 & wait")
	if !one.Running() || !two.Running() {
		t.Fatal("not started")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if one.Running() || two.Running() {
		t.Error("still running")
	}
	if err := one.Stop(); err != nil {
		t.Errorf("stopping twice: %v", err)
	}
}

func TestStopSendsTheSignalOfTheCommand(t *testing.T) {
	e := lab(t)
	log := filepath.Join(e.Dir, "log")
	logged := func(text string) func(context.Context) error {
		return func(context.Context) error {
			if data, err := os.ReadFile(log); err != nil || !strings.Contains(string(data), text) {
				return errors.New("not logged: " + text)
			}
			return nil
		}
	}
	p, err := e.Start(Command{
		Name: "server", Path: "/bin/sh", Args: []string{"-c", "trap 'echo politely; exit' INT; echo ready; sleep 60 & wait"},
		Dir: e.Dir, Log: log, Signal: syscall.SIGINT,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(context.Background(), 10*time.Second, logged("ready")); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if err := logged("politely")(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestWaitTellsWhyAProcessIsNotReady(t *testing.T) {
	e := lab(t)
	never := func(context.Context) error { return errors.New("not yet") }
	err := shell(t, e, "echo no memory left; exit 3").Wait(context.Background(), 10*time.Second, never)
	if err == nil || !strings.Contains(err.Error(), "ended while starting") || !strings.Contains(err.Error(), "no memory left") {
		t.Errorf("%v", err)
	}
	err = shell(t, e, "sleep 60").Wait(context.Background(), 150*time.Millisecond, never)
	if err == nil || !strings.Contains(err.Error(), "not yet") {
		t.Errorf("%v", err)
	}
	if err := shell(t, e, "sleep 60").Wait(context.Background(), time.Second, func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestBlocksOfPortsDoNotOverlap(t *testing.T) {
	if a, b := lab(t), lab(t); a.Port(3) != a.Base+3 || b.Base < 29000 {
		t.Errorf("%d, %d", a.Base, b.Base)
	}
}
