package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// TestServeStaysUnderItsMemory runs the program with 256 MiB and sends more than
// fits: spans without a pause, and among them requests that unpack to 20 MiB.
// What the kernel says it took at most is less.
func TestServeStaysUnderItsMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("sends half a million spans and gigabytes")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("there is no /proc that says what a process takes")
	}
	const limit = 256
	grpc, web := freeAddress(t), freeAddress(t)
	httpAddr := freeAddress(t)
	cmd := exec.Command("firebreak", "serve", "--otlp-grpc", grpc, "--otlp-http", httpAddr, "--web.listen-address", web, fmt.Sprintf("--memory-limit=%dMiB", limit), "--report-every=2s")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	ready := false
	for range 600 {
		resp, err := http.Get("http://" + web + "/-/ready")
		if err == nil {
			resp.Body.Close()
			if ready = resp.StatusCode == http.StatusOK; ready {
				break
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	if !ready {
		t.Fatalf("it does not run: %s", said.String())
	}

	td, _, _, _ := burst(0, 1)
	td.Traces().ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().PutStr("padding", strings.Repeat("x", 19<<20))
	plain, err := td.MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var taken, refused, bombs, bombsRefused atomic.Int64
	var wg sync.WaitGroup
	for sender := range 4 {
		client := grpcClient(t, grpc)
		wg.Go(func() {
			for i := range 100 {
				caller, callee, _, n := burst((sender*100+i+1)*500, 500)
				both := caller.Traces()
				callee.Traces().ResourceSpans().MoveAndAppendTo(both.ResourceSpans())
				if _, err := client.Export(t.Context(), ptraceotlp.NewExportRequestFromTraces(both)); err != nil {
					refused.Add(int64(n))
				} else {
					taken.Add(int64(n))
				}
			}
		})
	}
	for range 16 {
		wg.Go(func() {
			for range 10 {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+httpAddr+"/v1/traces", bytes.NewReader(bomb.Bytes()))
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Content-Type", "application/x-protobuf")
				req.Header.Set("Content-Encoding", "gzip")
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				switch resp.StatusCode {
				case http.StatusOK:
					bombs.Add(1)
				case http.StatusServiceUnavailable:
					bombsRefused.Add(1)
				default:
					t.Errorf("a large request: %s", resp.Status)
				}
			}
		})
	}
	wg.Wait()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var kib int64
	if _, after, ok := strings.Cut(string(status), "VmHWM:"); !ok {
		t.Skip("the kernel does not say what a process took at most")
	} else if _, err := fmt.Sscan(after, &kib); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d spans taken, %d refused; %d large requests taken, %d refused; %d MiB at most", taken.Load(), refused.Load(), bombs.Load(), bombsRefused.Load(), kib>>10)
	if kib > limit<<10 {
		t.Errorf("it took %d MiB", kib>>10)
	}
	if taken.Load() == 0 || bombs.Load() == 0 {
		t.Error("it took in nothing")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, said.String())
	}
}
