// Package collect saves the scene as an engineer would while it burns: three
// thread dumps five seconds apart, what the database is doing, what the metrics and
// Dubbo's QoS port say; and afterwards the logs of the window. Files are laid out
// by host: evidence/product-1/jstack-1.txt.
package collect

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/stack"
)

// Collector writes one run's evidence.
type Collector struct {
	// Host, if not empty, is the service on whose host the processors are watched.
	// All services share one host, so that is fair only where that service uses them up.
	Host string

	dir   string
	stack *stack.Stack
	clean *Cleaner
	from  map[string]int64 // sizes of shared logs when the window began
}

// Begin starts to collect into a folder, which it empties. Logs that are shared
// between runs are taken from here on.
func Begin(dir string, s *stack.Stack) (*Collector, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	c := &Collector{dir: dir, stack: s, clean: NewCleaner(s), from: map[string]int64{}}
	for _, name := range []string{s.Database().SlowLog(), s.Nginx.AccessLog(), s.Nginx.ErrorLog()} {
		if info, err := os.Stat(name); err == nil {
			c.from[name] = info.Size()
		}
	}
	traces, err := c.place("traces", "otlp.jsonl")
	if err != nil {
		return nil, err
	}
	return c, s.Spans.Record(traces)
}

// place makes the folder of a host and gives the name of a file in it.
func (c *Collector) place(host, name string) (string, error) {
	dir := filepath.Join(c.dir, host)
	return filepath.Join(dir, name), os.MkdirAll(dir, 0o755)
}

// write writes a text to a file of a host, without what tells of this machine.
// An empty text makes no file.
func (c *Collector) write(host, name string, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	file, err := c.place(host, name)
	if err != nil {
		return err
	}
	return os.WriteFile(file, c.clean.Bytes(text), 0o644)
}

// copy takes a log from where the window began.
func (c *Collector) copy(host, name, log string) error {
	f, err := os.Open(log)
	if err != nil {
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(c.from[log], io.SeekStart); err != nil {
		return err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	return c.write(host, name, data)
}

// End takes the logs of everything and ends the recording of spans.
func (c *Collector) End(context.Context) (spans int64, err error) {
	spans, err = c.stack.Spans.Stop()
	if err != nil {
		return spans, fmt.Errorf("spans: %w", err)
	}
	if err := c.cleanFile(filepath.Join(c.dir, "traces", "otlp.jsonl")); err != nil {
		return spans, err
	}
	s := c.stack
	slow := s.Database().SlowLog()
	for _, each := range []struct{ host, name, log string }{
		{"db", filepath.Base(slow), slow},
		{"nginx", "access.log", s.Nginx.AccessLog()},
		{"nginx", "error.log", s.Nginx.ErrorLog()},
	} {
		if err := c.copy(each.host, each.name, each.log); err != nil {
			return spans, err
		}
	}
	for _, v := range s.Services {
		logs := []string{"app.log", "gc.log"}
		if v.Go {
			logs = []string{"app.log", "stdout.log"} // panics
		}
		for _, name := range logs {
			if err := c.copy(v.Name, name, filepath.Join(v.Dir, name)); err != nil {
				return spans, err
			}
		}
		dumps, _ := filepath.Glob(filepath.Join(v.Dir, "Dubbo_JStack.log*"))
		for _, dump := range dumps {
			if err := c.copy(v.Name, filepath.Base(dump), dump); err != nil {
				return spans, err
			}
		}
	}
	return spans, nil
}

func (c *Collector) cleanFile(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, c.clean.Bytes(data), 0o644)
}
