package stack

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
	"github.com/firebreak-io/firebreak/lab/config"
)

// Proxy is how nginx is set for a run.
type Proxy struct {
	NextUpstream string // "off", or when another peer is tried
	Tries        int
	ReadTimeout  string
}

// Nginx stands in front of the gateway.
type Nginx struct {
	Dir  string
	Port int
	conf []byte // as running
	proc *env.Process
}

// use starts nginx with the settings, or restarts it if they changed.
func (n *Nginx) use(ctx context.Context, e *env.Env, p Proxy, gateways []string) error {
	user := ""
	if os.Getuid() == 0 {
		user = "root"
	}
	conf, err := config.Render("nginx.conf", map[string]any{
		"Dir": n.Dir, "User": user, "Gateways": gateways, "Listen": env.Addr(n.Port),
		"NextUpstream": p.NextUpstream, "Tries": p.Tries, "ReadTimeout": p.ReadTimeout,
	})
	if err != nil {
		return err
	}
	if n.proc != nil {
		if n.proc.Running() && bytes.Equal(conf, n.conf) {
			return nil
		}
		if err := n.proc.Stop(); err != nil {
			return err
		}
	}
	tool, err := env.Tool("nginx")
	if err != nil {
		return err
	}
	name := filepath.Join(n.Dir, "nginx.conf")
	if err := os.WriteFile(name, conf, 0o644); err != nil {
		return err
	}
	n.proc, err = e.Start(env.Command{
		Name: "nginx", Path: tool, Args: []string{"-p", n.Dir, "-c", name, "-e", filepath.Join(n.Dir, "error.log")},
		Dir: n.Dir, Log: filepath.Join(n.Dir, "server.log"),
	})
	if err != nil {
		return err
	}
	n.conf = conf
	return n.proc.Wait(ctx, 10*time.Second, listens(n.Port))
}

// listens is ready when a port takes connections.
func listens(port int) func(context.Context) error {
	return func(ctx context.Context) error {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", env.Addr(port))
		if err != nil {
			return err
		}
		return c.Close()
	}
}

// AccessLog is where requests are logged.
func (n *Nginx) AccessLog() string { return filepath.Join(n.Dir, "access.log") }

// ErrorLog is where nginx complains.
func (n *Nginx) ErrorLog() string { return filepath.Join(n.Dir, "error.log") }
