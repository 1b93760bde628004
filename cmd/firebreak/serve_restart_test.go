package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// busyThreads is a dump of a pool whose threads all wait for a database.
func busyThreads() string {
	var b strings.Builder
	b.WriteString(time.Now().Format("2006-01-02 15:04:05") + "\nFull thread dump OpenJDK 64-Bit Server VM (17.0.15+6-LTS mixed mode, sharing):\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, `"DubboServerHandler-10.20.3.1:20880-thread-%d" #%d daemon prio=5 os_prio=0 cpu=89.37ms elapsed=61.67s tid=0x00007f1c0000%04x nid=0x%x runnable  [0x00007f1cea001000]
   java.lang.Thread.State: RUNNABLE
	at sun.nio.ch.SocketDispatcher.read0(java.base@17.0.15/Native Method)
	at java.net.Socket$SocketInputStream.read(java.base@17.0.15/Socket.java:966)
	at com.mysql.cj.protocol.ReadAheadInputStream.fill(ReadAheadInputStream.java:107)
	at com.mysql.cj.jdbc.ClientPreparedStatement.executeQuery(ClientPreparedStatement.java:972)
	at com.acme.shop.SkuMapper.select(SkuMapper.java:7)
	at com.acme.shop.SkuServiceImpl.find(SkuServiceImpl.java:17)

`, i, 100+i, i, 0x4e21+i)
	}
	return b.String()
}

// TestRestartLosesAndRepeatsNothing ends the real program by SIGTERM and SIGKILL:
// the next process begins its counters at zero, and its report is that of the one
// before.
func TestRestartLosesAndRepeatsNothing(t *testing.T) {
	dir := t.TempDir()
	addr := freeAddress(t)
	config := filepath.Join(dir, "firebreak.yaml")
	state := filepath.Join(dir, "state")
	dumps := filepath.Join(dir, "dumps")
	text := fmt.Sprintf(`otlp: {grpc: "", http: ""}
web: {listen: [%q]}
logs:
  - {paths: [%q], service: sku, from: start}
dumps:
  - {dir: %q, service: sku}
state_dir: %q
report: {every: 1s}
`, addr, filepath.Join(dir, "*.log"), dumps, state)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "app.log")
	for range 30 {
		appendTo(t, log, exhausted(1)+exhausted(2))
	}
	if err := os.Mkdir(dumps, 0o755); err != nil {
		t.Fatal(err)
	}
	dump := filepath.Join(dumps, "sku.jstack")
	if err := os.WriteFile(dump, []byte(busyThreads()), 0o644); err != nil {
		t.Fatal(err)
	}
	size, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	saved := fmt.Sprintf(`"offset":%d,`, size.Size())

	p := startServing(t, config, addr)
	before := p.settled(60)
	if page, _ := p.get("/metrics"); !strings.Contains(page, `firebreak_records_total{format="app-log"} 60`) || !strings.Contains(page, "firebreak_pool_rejections_total{") {
		t.Errorf("metrics:\n%s", grep(page, "firebreak_records", "firebreak_pool"))
	}
	for _, end := range []string{"kill", "term", "kill"} {
		for until := time.Now().Add(time.Minute); ; {
			data, _ := os.ReadFile(filepath.Join(state, "tail.json"))
			if strings.Contains(string(data), saved) && strings.Contains(string(data), `"name":"sku.jstack"`) {
				break
			}
			if time.Now().After(until) {
				t.Fatalf("not saved: %s", data)
			}
			p.get("/api/v1/report?after=0") // takes its time
		}
		if end == "term" && runtime.GOOS != "windows" {
			if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := p.cmd.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		p.kill()
		p = startServing(t, config, addr)
		if after := p.settled(60); after != before {
			t.Errorf("after %s the report is\n%s\nit was\n%s", end, after, before)
		}
		page, _ := p.get("/metrics")
		for line := range strings.Lines(grep(page, "firebreak_records_total", "firebreak_skipped_total", "firebreak_pool_rejections_total", "firebreak_log_records_received_total")) {
			if !strings.HasSuffix(line, " 0\n") {
				t.Errorf("after %s: %s", end, line)
			}
		}
	}
}

// settled waits for a report of so many records of a log and of a dump, and returns
// what it says.
func (p *serving) settled(records int) string {
	p.t.Helper()
	var body string
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		next, head := p.get("/api/v1/report?after=" + p.seen)
		if next == "" {
			continue
		}
		body, p.seen = next, head.Get("Firebreak-Revision")
		var report struct {
			Incidents json.RawMessage
			Sources   []struct {
				Path    string
				Records int
			}
		}
		if err := json.Unmarshal([]byte(body), &report); err != nil {
			p.t.Fatal(err)
		}
		of := map[string]int{}
		for _, s := range report.Sources {
			of[filepath.Ext(s.Path)] += s.Records
		}
		if of[".log"] == records && of[".jstack"] == 42 {
			list, err := json.Marshal(report)
			if err != nil {
				p.t.Fatal(err)
			}
			return string(list)
		}
	}
	p.t.Fatalf("the last report is\n%s\n", body)
	return ""
}
