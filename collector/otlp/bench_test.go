package otlp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/parsers"
)

// cpu is what the process has spent, sender and receiver together.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTransports measures what a span costs from socket to record, by CPU
// time of the whole process: the sender's part of it is small over HTTP, where it
// sends the same bytes again and again.
func BenchmarkTransports(b *testing.B) {
	const n = 1000
	c := Config{GRPC: "127.0.0.1:24317", HTTP: "127.0.0.1:24318"}
	r, err := Start(context.Background(), c, &sieve{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := r.Shutdown(context.Background()); err != nil {
			b.Error(err)
		}
	}()
	req := spans(n)
	run := func(name string, send func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			at := cpu(b)
			for b.Loop() {
				if err := send(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpu(b)-at)/float64(b.N)/n, "cpu-ns/span")
		})
	}
	proto, err := req.MarshalProto()
	if err != nil {
		b.Fatal(err)
	}
	doc, err := req.MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	for kind, body := range map[string][]byte{"application/x-protobuf": proto, "application/json": doc} {
		run("http "+kind[12:], func() error {
			resp, err := http.Post("http://"+c.HTTP+"/v1/traces", kind, bytes.NewReader(body))
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			return err
		})
	}
	conn, err := grpc.NewClient(c.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	client := ptraceotlp.NewGRPCClient(conn)
	run("grpc", func() error {
		_, err := client.Export(context.Background(), req)
		return err
	})
}

// BenchmarkReceived measures what a span costs from unpacked request to record.
func BenchmarkReceived(b *testing.B) {
	body, err := spans(1000).MarshalProto()
	if err != nil {
		b.Fatal(err)
	}
	r := newReceiver(Config{}, sieve{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.take(GRPC, traces, false, body); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/span")
}

// BenchmarkCounted measures what looking at all of a request first takes of that.
func BenchmarkCounted(b *testing.B) {
	body, err := spans(1000).MarshalProto()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if n, err := parsers.CountSpans(body); n != 1000 || err != nil {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/span")
}

// sieve keeps nothing.
type sieve struct{}

func (sieve) Admit(string, int) bool { return true }
func (sieve) Done(int)               {}
func (sieve) Add(*evidence.Record)   {}
func (sieve) AddLogs(int)            {}
