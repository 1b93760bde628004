package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// patience is how long a request may take: longer than every timeout behind it.
const patience = 30 * time.Second

// Run applies the plan to a base URL and returns when every request has ended.
// Cancelling stops new requests and cuts those that run.
func Run(ctx context.Context, base string, p Plan) Result {
	r := newRecorder(p.Mix)
	client := &http.Client{
		Timeout:   patience,
		Transport: &http.Transport{MaxIdleConnsPerHost: p.InFlight, DisableCompression: true},
	}
	defer client.CloseIdleConnections()
	room := make(chan struct{}, p.InFlight)
	var running sync.WaitGroup
	begin := time.Now()
	for _, a := range schedule(p) {
		if !sleepUntil(ctx, begin.Add(a.at)) {
			break
		}
		select {
		case room <- struct{}{}:
		default:
			r.drop(a.kind)
			continue
		}
		running.Go(func() {
			defer func() { <-room }()
			from := time.Now()
			status := call(ctx, client, base+a.path)
			r.add(a.kind, status, time.Since(from))
		})
	}
	running.Wait()
	return r.result(time.Since(begin))
}

func sleepUntil(ctx context.Context, at time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Until(at)):
		return true
	}
}

// call gives the status as text, or "error" when there was no answer.
func call(ctx context.Context, client *http.Client, url string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "error"
	}
	resp, err := client.Do(req)
	if err != nil {
		return "error"
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return "error"
	}
	return fmt.Sprint(resp.StatusCode)
}
