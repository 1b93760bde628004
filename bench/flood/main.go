// Command flood sends traffic of known truth to an OTLP receiver, and prints
// the truth and what became of what it sent, as JSON.
//
//	go run ./bench/flood -calls 100000 -grpc localhost:4317 -http localhost:4318
//	go run ./bench/flood -calls 100000 -grpc localhost:4317 -check localhost:9464
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/firebreak-io/firebreak/bench/sender"
	"github.com/firebreak-io/firebreak/bench/truth"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "flood:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var c truth.Config
	var s sender.Config
	calls := flag.Int("calls", 10_000, "checkouts, of about 15 spans each")
	corpus := flag.Int("corpus", 3_000, "checkouts that are encoded once; they are sent again and again under other trace IDs")
	flag.Uint64Var(&c.Seed, "seed", 1, "of the traffic")
	flag.IntVar(&c.Families, "families", 4, "shops, each of seven services")
	flag.IntVar(&c.Batch, "batch", 512, "spans in a request of an SDK")
	flag.IntVar(&c.Merge, "merge", 0, "merge requests until they hold so many spans, as a Collector does (8192)")
	flag.StringVar(&s.GRPC, "grpc", "", "address for OTLP over gRPC")
	flag.StringVar(&s.HTTP, "http", "", "address for OTLP over HTTP")
	flag.IntVar(&s.Connections, "connections", 4, "in all; with both addresses they take turns")
	flag.BoolVar(&s.JSON, "json", false, "send JSON, over HTTP")
	flag.BoolVar(&s.Gzip, "gzip", false, "compress requests")
	flag.Float64Var(&s.Rate, "rate", 0, "spans a second; 0: as fast as they are taken")
	flag.BoolVar(&s.GiveUp, "give-up", false, "do not send again what was refused")
	flag.StringVar(&s.Token, "token", "", "bearer token")
	lap := flag.Uint64("lap", 0, "number of the first lap: another one makes other traces")
	duration := flag.Duration("for", 0, "stop after this time; the truth is then of the whole load")
	check := flag.String("check", "", "address of firebreak's metrics: wait until all is counted, and say where it is not the truth")
	wait := flag.Duration("wait", 2*time.Minute, "how long to wait for that")
	flag.Parse()

	load, err := encode(c, *calls, *corpus, s.JSON)
	if err != nil {
		return err
	}
	load.FirstLap = *lap
	if *duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *duration)
		defer cancel()
	}
	result, err := sender.Send(ctx, s, load)
	if err != nil {
		return err
	}
	out := report{Truth: load.Truth(), Sent: result}
	if *check != "" {
		out.Differences, err = differences(ctx, out.Truth, *check, *wait)
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	if err := errors.Join(err, enc.Encode(out)); err != nil {
		return err
	}
	if len(out.Differences) > 0 {
		return fmt.Errorf("%d counters are not the truth", len(out.Differences))
	}
	return nil
}

// report is what is printed.
type report struct {
	Truth       *truth.Truth  `json:"truth"`
	Sent        sender.Result `json:"sent"`
	Differences []string      `json:"differences,omitempty"`
}

// encode makes the load: whole laps of a corpus, and a rest.
func encode(c truth.Config, calls, corpus int, asJSON bool) (*sender.Load, error) {
	corpus = min(corpus, calls)
	if corpus <= 0 {
		return nil, errors.New("-calls and -corpus must be above zero")
	}
	l := &sender.Load{Laps: calls / corpus, Step: time.Duration(corpus) * time.Millisecond}
	c.Calls = corpus
	var err error
	if l.Corpus, err = truth.Encode(c, asJSON); err != nil {
		return nil, err
	}
	if rest := calls % corpus; rest > 0 {
		c.Calls, c.Seed = rest, c.Seed+1<<32
		l.Rest, err = truth.Encode(c, asJSON)
	}
	return l, err
}

// differences waits until as many spans are counted as were made, and compares.
func differences(ctx context.Context, t *truth.Truth, addr string, wait time.Duration) ([]string, error) {
	deadline := time.Now().Add(wait)
	client := &http.Client{Timeout: 30 * time.Second}
	for {
		c := truth.Counted{}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/metrics", nil)
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		err = errors.Join(c.Add(resp.Body), resp.Body.Close())
		if err != nil {
			return nil, err
		}
		list := t.Differences(c)
		if len(list) == 0 || c.Total("firebreak_spans_held") == 0 || time.Now().After(deadline) {
			return list, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}
