package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// serving is the real program that runs beside the test.
type serving struct {
	t    *testing.T
	cmd  *exec.Cmd
	addr string
	seen string // the revision of the report that was seen last
}

// startServing runs serve by a configuration until it listens.
func startServing(t *testing.T, file, addr string) *serving {
	t.Helper()
	p := &serving{t: t, cmd: exec.Command("firebreak", "serve", "--config", file), addr: addr}
	out, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "msg=listening") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return p
		}
	}
	t.Fatalf("it does not listen:\n%s", said.String())
	return nil
}

// kill ends it as SIGKILL does.
func (p *serving) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// get returns a page.
func (p *serving) get(path string) (string, http.Header) {
	p.t.Helper()
	resp, err := http.Get("http://" + p.addr + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(body), resp.Header
}

// report waits for a report that says all of some texts.
func (p *serving) report(texts ...string) {
	p.t.Helper()
	var body string
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		next, head := p.get("/api/v1/report?after=" + p.seen)
		if next == "" {
			continue
		}
		body, p.seen = next, head.Get("Firebreak-Revision")
		missing := false
		for _, text := range texts {
			missing = missing || !strings.Contains(body, text)
		}
		if !missing {
			return
		}
	}
	p.t.Fatalf("no report says %q; the last one is\n%s\n", texts, body)
}

func exhausted(host int) string {
	return time.Now().UTC().Format("2006-01-02 15:04:05.000Z07:00") + fmt.Sprintf(" WARN [main] o.a.d.c.t.s.AbortPolicyWithReport -  [DUBBO] Thread pool is EXHAUSTED! Thread Name: DubboServerHandler-10.20.3.%d:20880, Pool Size: 200 (active: 200, core: 200, max: 200, largest: 200), Task: 5120 (completed: 4920), Executor status:(isShutdown:false, isTerminated:false, isTerminating:false), in dubbo://10.20.3.%d:20880!, dubbo version: 3.2.9\n", host, host)
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// TestFollowedFilesOverRotationAndKill follows a log of the real program.
func TestFollowedFilesOverRotationAndKill(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files that are open cannot be renamed")
	}
	dir := t.TempDir()
	addr := freeAddress(t)
	config := filepath.Join(dir, "firebreak.yaml")
	text := fmt.Sprintf(`otlp: {grpc: "", http: ""}
web: {listen: [%q]}
logs:
  - {paths: [%q], service: order, from: start}
state_dir: %q
report: {every: 1s}
`, addr, filepath.Join(dir, "*.log"), filepath.Join(dir, "state"))
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "app.log")
	appendTo(t, log, exhausted(1))
	p := startServing(t, config, addr)
	p.report("DubboServerHandler-10.20.3.1:20880", log)

	appendTo(t, log, exhausted(2))
	if err := os.Rename(log, log+".1"); err != nil {
		t.Fatal(err)
	}
	appendTo(t, log+".1", exhausted(3))
	appendTo(t, log, exhausted(4))
	p.report("-10.20.3.2:", "-10.20.3.3:", "-10.20.3.4:")
	if page, _ := p.get("/metrics"); !strings.Contains(page, `firebreak_records_total{format="app-log"} 4`) || !strings.Contains(page, `firebreak_source_up{kind="file",source="`+filepath.Join(dir, "*.log")+`"} 1`) {
		t.Errorf("metrics:\n%s", grep(page, "firebreak_records", "firebreak_source"))
	}
	p.kill()

	appendTo(t, log, exhausted(5))
	if err := os.Rename(log, log+".2"); err != nil {
		t.Fatal(err)
	}
	appendTo(t, log+".2", exhausted(6))
	appendTo(t, log, exhausted(7))
	p = startServing(t, config, addr)
	// What was read before the kill is in the report again.
	p.report("-10.20.3.4:", "-10.20.3.5:", "-10.20.3.6:", "-10.20.3.7:")
}

func grep(page string, words ...string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		for _, w := range words {
			if strings.Contains(line, w) && line[0] != '#' {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}
