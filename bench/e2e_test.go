package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/bench/sender"
	"github.com/firebreak-io/firebreak/bench/truth"
)

// The stories below run the whole program, kill it, and take minutes:
//
//	FIREBREAK_FLOOD=2000000 go test ./bench -run Flood -v -timeout 20m
//
// The number is how many spans are sent. FIREBREAK_BIN is the program, if it is
// built already.

const memoryLimit = 512 << 20

// program is a firebreak serve that runs.
type program struct {
	t               *testing.T
	bin, dir        string
	grpc, http, web string
	cmd             *exec.Cmd
	most            int64 // memory, bytes
}

// flooded says how many spans to send, and skips the test if none.
func flooded(t *testing.T) int64 {
	n, err := strconv.ParseInt(os.Getenv("FIREBREAK_FLOOD"), 10, 64)
	if err != nil || n <= 0 {
		t.Skip("FIREBREAK_FLOOD does not say how many spans to send")
	}
	return n
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// newProgram writes the configuration; more is appended to it.
func newProgram(t *testing.T, more string) *program {
	p := &program{t: t, bin: os.Getenv("FIREBREAK_BIN"), dir: t.TempDir(), grpc: freeAddress(t), http: freeAddress(t), web: freeAddress(t)}
	if p.bin == "" {
		p.bin = filepath.Join(p.dir, "firebreak")
		if out, err := exec.Command("go", "build", "-o", p.bin, "../cmd/firebreak").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if err := os.Mkdir(filepath.Join(p.dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("otlp: {grpc: %q, http: %q}\nweb: {listen: [%q]}\nstate_dir: %s/state\nincidents: {dir: %s/incidents}\nlogs: [{paths: [%q], service: order, from: start}]\n%s",
		p.grpc, p.http, p.web, p.dir, p.dir, p.dir+"/logs/*", more)
	if err := os.WriteFile(filepath.Join(p.dir, "firebreak.yaml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	return p
}

func (p *program) start() {
	p.t.Helper()
	p.cmd = exec.Command(p.bin, "serve", "--config", filepath.Join(p.dir, "firebreak.yaml"))
	log, err := os.OpenFile(filepath.Join(p.dir, "serve.out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.until("it is ready", time.Minute, func() bool {
		resp, err := http.Get("http://" + p.web + "/-/ready")
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
}

// kill ends it as kill -9 does.
func (p *program) kill() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}

// until waits for something, and looks at the memory meanwhile.
func (p *program) until(what string, limit time.Duration, done func() bool) {
	p.t.Helper()
	for began := time.Now(); !done(); time.Sleep(200 * time.Millisecond) {
		p.memory()
		if time.Since(began) > limit {
			c := p.counted()
			p.t.Logf("%v spans held, %v refusals by pools", c.Total("firebreak_spans_held"), c.Total(refusals))
			out, _ := os.ReadFile(filepath.Join(p.dir, "serve.out"))
			p.t.Fatalf("waited %v until %s; it said:\n%.4000s", limit, what, out)
		}
	}
}

// memory remembers the most that the program took.
func (p *program) memory() {
	if p.cmd == nil {
		return
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	if fields := strings.Fields(rest); len(fields) > 0 {
		kb, _ := strconv.ParseInt(fields[0], 10, 64)
		p.most = max(p.most, kb<<10)
	}
}

// counted is what its page of metrics says.
func (p *program) counted() truth.Counted {
	c := truth.Counted{}
	resp, err := http.Get("http://" + p.web + "/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := c.Add(resp.Body); err != nil {
		p.t.Fatal(err)
	}
	return c
}

// load is traffic of about so many spans; the first lap is given so that loads
// do not repeat each other's traces.
func load(t *testing.T, spans int64, first uint64) *sender.Load {
	c, err := truth.Encode(truth.Config{Seed: 7, Calls: 2_000, Families: 3}, false)
	if err != nil {
		t.Fatal(err)
	}
	return &sender.Load{Corpus: c, Laps: int((spans + c.Truth.Spans - 1) / c.Truth.Spans), FirstLap: first, Step: 2 * time.Second}
}

func (p *program) send(c sender.Config, l *sender.Load) sender.Result {
	c.GRPC, c.HTTP = p.grpc, p.http
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(200 * time.Millisecond); ; {
			select {
			case <-done:
				return
			case <-tick.C:
				p.memory()
			}
		}
	}()
	r, err := sender.Send(context.Background(), c, l)
	done <- struct{}{}
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

const exhausted = "2026-03-14 09:30:%02d.%03d  WARN 7 --- [NettyServerWorker-5-1] o.a.d.c.t.support.AbortPolicyWithReport  :  [DUBBO] Thread pool is EXHAUSTED! Thread Name: DubboServerHandler-10.20.3.17:20880, Pool Size: 200 (active: 200, core: 200, max: 200, largest: 200), Task: 5120 (completed: 4920), Executor status:(isShutdown:false, isTerminated:false, isTerminating:false), in dubbo://10.20.3.17:20880!, dubbo version: 3.2.9\n"

// write appends refusals of a pool to a log, which is rotated every 700 lines.
func (p *program) write(from, to int) {
	p.t.Helper()
	name := filepath.Join(p.dir, "logs", "order.log")
	for i := from; i < to; i++ {
		if i%700 == 699 {
			if err := os.Rename(name, fmt.Sprintf("%s.%d", name, i)); err != nil {
				p.t.Error(err)
			}
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			p.t.Error(err)
			return
		}
		fmt.Fprintf(f, exhausted, i/1000%60, i%1000)
		if err := f.Close(); err != nil {
			p.t.Error(err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

const refusals = "firebreak_pool_rejections_total"

// TestFloodIsCountedExactly sends spans over gRPC and HTTP while a log is
// written and rotated, then kills the program in the middle of more.
func TestFloodIsCountedExactly(t *testing.T) {
	spans := flooded(t)
	p := newProgram(t, fmt.Sprintf("limits: {memory: %d}\n", memoryLimit))
	p.start()
	const lines = 2_000
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		p.write(0, lines)
	}()
	all := load(t, spans, 0)
	r := p.send(sender.Config{Rate: 25_000}, all)
	<-wrote
	want := all.Truth()
	if r.Accepted != want.Spans || r.Failed+r.Rejected != 0 {
		t.Errorf("sent %d: %+v", want.Spans, r)
	}
	var differences []string
	p.until("all is counted", 2*time.Minute, func() bool {
		c := p.counted()
		differences = want.Differences(c)
		return c.Total("firebreak_spans_held") == 0 && c.Total(refusals) >= lines
	})
	for _, d := range differences {
		t.Error(d)
	}
	if n := p.counted().Total(refusals); n != lines {
		t.Errorf("%v refusals are counted of %d lines", n, lines)
	}
	if p.most > memoryLimit {
		t.Errorf("it took %d MB", p.most>>20)
	}
	t.Logf("%d spans, %d MB at most, %v", want.Spans, p.most>>20, r.Took)

	// Killed while spans come and while more lines are written; started again.
	more := load(t, spans/4, 1<<20)
	back := make(chan struct{})
	go func() {
		defer close(back)
		p.until("a part of them came", time.Minute, func() bool {
			return p.counted().Total("firebreak_spans_received_total") > float64(want.Spans+more.Truth().Spans/3)
		})
		p.kill()
		p.write(lines, lines+300)
		p.start()
	}()
	r = p.send(sender.Config{Rate: 25_000}, more)
	<-back
	if r.Accepted != more.Truth().Spans || r.Refused == 0 {
		t.Errorf("sent %d: %+v", more.Truth().Spans, r)
	}
	p.until("the lines are read", time.Minute, func() bool { return p.counted().Total(refusals) >= 300 })
	c := p.counted()
	if n := c.Total("firebreak_spans_received_total"); n <= 0 || n >= float64(more.Truth().Spans) {
		t.Errorf("after the restart %v spans came of %d", n, more.Truth().Spans)
	}
	if n := c.Total(refusals); n >= lines {
		t.Errorf("%v lines were read again", n)
	}
	folders, err := filepath.Glob(filepath.Join(p.dir, "incidents", "2*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if _, err := os.Stat(filepath.Join(f, "report.json")); err != nil {
			t.Errorf("half a bundle: %v", err)
		}
	}
	t.Logf("after the restart %v refusals, %d bundles", c.Total(refusals), len(folders))
}

// TestFloodOfTooMuch sends three times what is taken in at most, for a minute,
// and does not send again what was refused. Then as much is taken in as before.
func TestFloodOfTooMuch(t *testing.T) {
	lasts := 60 * time.Second
	if flooded(t) < 2_000_000 {
		lasts = 15 * time.Second
	}
	p := newProgram(t, fmt.Sprintf("limits: {memory: %d, max_spans: 20000, lateness: 3s}\n", memoryLimit))
	p.start()
	var all sender.Result
	lap := uint64(0)
	flood := func(spans int64, c sender.Config) sender.Result {
		t.Helper()
		c.Connections, c.GiveUp = 16, true
		l := load(t, spans, lap)
		lap += uint64(l.Laps)
		r := p.send(c, l)
		if sent := l.Truth().Spans; r.Accepted+r.Refused != sent || r.Failed != 0 {
			t.Errorf("sent %d: %+v", sent, r)
		}
		all.Accepted += r.Accepted
		all.Refused += r.Refused
		t.Logf("%d sent in %v, %.0f/s taken in", l.Truth().Spans, r.Took.Round(time.Second/10), float64(r.Accepted)/r.Took.Seconds())
		return r
	}
	// As much as goes in: more is offered until a good part of it is refused.
	capacity := func() (perSecond float64) {
		t.Helper()
		for rate := 10_000; ; rate *= 2 {
			r := flood(int64(rate)*10, sender.Config{Rate: float64(rate)})
			if perSecond = float64(r.Accepted) / r.Took.Seconds(); r.Refused > r.Accepted/4 {
				return perSecond
			}
			if rate > 1_000_000 {
				t.Fatal("nothing is refused")
			}
		}
	}
	before := capacity()
	r := flood(int64(3*before*lasts.Seconds()), sender.Config{Rate: 3 * before})
	if r.Refused == 0 {
		t.Error("nothing is refused of three times what goes in")
	}
	p.until("there is room again", time.Minute, func() bool { return p.counted().Total("firebreak_spans_held") < 5_000 })
	if after := capacity(); after < 0.8*before {
		t.Errorf("%.0f spans/s are taken in, and were %.0f/s before", after, before)
	}
	if n := p.counted().Total("firebreak_spans_received_total"); n != float64(all.Accepted) {
		t.Errorf("%v spans were received, %d acknowledged", n, all.Accepted)
	}
	if p.most > memoryLimit {
		t.Errorf("it took %d MB", p.most>>20)
	}
	t.Logf("%d accepted, %d refused, %d MB at most", all.Accepted, all.Refused, p.most>>20)
}
