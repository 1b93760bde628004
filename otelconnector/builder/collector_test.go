// Package builder holds the manifest of a Collector with the firebreak connector,
// and tests of the Collector that was built of it.
package builder

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is the Collector that build.sh made. Without it nothing can be tested.
func program(t *testing.T) string {
	t.Helper()
	p := os.Getenv("FIREBREAK_OTELCOL")
	if p == "" {
		t.Skip("FIREBREAK_OTELCOL names no Collector: build.sh builds one")
	}
	return p
}

const configs = "../../deploy/collector/"

// The configurations that are shipped are valid, if they use nothing else than
// what is built in.
func TestShippedConfigurations(t *testing.T) {
	files, err := filepath.Glob(configs + "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	p := program(t)
	valid := 0
	for _, file := range files {
		out, err := exec.Command(p, "validate", "--config", file).CombinedOutput()
		switch {
		case err == nil:
			valid++
		case bytes.Contains(out, []byte(`unknown type: "tail_sampling"`)):
		default:
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	if valid < 4 {
		t.Errorf("%d of %d were looked at", valid, len(files))
	}
}

// free returns an address that nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// collector is a Collector that runs.
type collector struct {
	name string
	args []string
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{} // closed when it has ended
}

// run starts a Collector with a shipped configuration, changed as other ones say,
// and ends it with the test.
func run(t *testing.T, name, config string, changes ...string) *collector {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{name: name, args: []string{"--config", configs + config}, log: log}
	for _, x := range changes {
		c.args = append(c.args, "--config", "yaml:"+x)
	}
	t.Cleanup(func() {
		c.end(syscall.SIGKILL)
		_ = log.Close()
	})
	c.start(t)
	return c
}

func (c *collector) start(t *testing.T) {
	t.Helper()
	c.cmd, c.done = exec.Command(program(t), c.args...), make(chan struct{})
	c.cmd.Stdout, c.cmd.Stderr = c.log, c.log
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.done)
		_ = c.cmd.Wait()
	}()
}

// end ends it by a signal and waits.
func (c *collector) end(sig syscall.Signal) {
	_ = c.cmd.Process.Signal(sig)
	select {
	case <-c.done:
	case <-time.After(30 * time.Second):
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}

// said is what it logged.
func (c *collector) said() string {
	b, _ := os.ReadFile(c.log.Name())
	return string(b)
}

// usage is the processor time and the most memory that it has used.
func (c *collector) usage(t *testing.T) (cpu time.Duration, peakKB int) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/", c.cmd.Process.Pid)
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		t.Skip("no /proc: ", err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for _, f := range fields[11:13] { // in hundredths of a second
		n, _ := strconv.Atoi(f)
		cpu += time.Duration(n) * 10 * time.Millisecond
	}
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		t.Fatal(err)
	}
	if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
		peakKB, _ = strconv.Atoi(strings.Fields(after)[0])
	}
	return cpu, peakKB
}

// until waits for something to be true.
func until(t *testing.T, what string, limit time.Duration, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %v", what, limit)
		case <-tick.C:
		}
	}
}

// listens reports whether somebody listens at an address.
func listens(addr string) bool {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// web is a client that keeps no connection to what ends.
var web = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
