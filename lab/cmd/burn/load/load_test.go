package load

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

var mix = []Path{{Template: "/stock/SKU{key}", Weight: 3, Keys: 10}, {Template: "/order/O{n}/SKU{key}", Weight: 1}}

func TestScheduleFollowsFromItsSeed(t *testing.T) {
	p := Plan{Rate: 50, Duration: time.Minute, Mix: mix, Seed: 7}
	one, two := schedule(p), schedule(p)
	if !reflect.DeepEqual(one, two) {
		t.Error("the same seed gave another schedule")
	}
	p.Seed = 8
	if reflect.DeepEqual(one, schedule(p)) {
		t.Error("another seed gave the same schedule")
	}
}

func TestScheduleKeepsRateAndMix(t *testing.T) {
	list := schedule(Plan{Rate: 50, Duration: time.Minute, Mix: mix, Seed: 7})
	if n := float64(len(list)); math.Abs(n-3000) > 4*math.Sqrt(3000) {
		t.Errorf("%v requests in a minute at 50/s", n)
	}
	stock := 0
	seen := map[string]bool{}
	for i, a := range list {
		if i > 0 && a.at < list[i-1].at {
			t.Fatal("goes back in time")
		}
		if a.kind == 0 {
			stock++
		} else if seen[a.path] {
			t.Errorf("%s twice: {n} must differ", a.path)
		}
		seen[a.path] = true
		if strings.ContainsAny(a.path, "{}") {
			t.Errorf("%s is not filled in", a.path)
		}
	}
	if share := float64(stock) / float64(len(list)); math.Abs(share-0.75) > 0.04 {
		t.Errorf("share of a path with 3 of 4 weights: %v", share)
	}
}

func TestStepsChangeTheRate(t *testing.T) {
	list := schedule(Plan{
		Rate: 10, Duration: 30 * time.Second, Mix: mix, Uniform: true,
		Steps: []Step{{From: 10 * time.Second, Factor: 4}, {From: 20 * time.Second, Factor: 1}},
	})
	var by [3]int
	for _, a := range list {
		by[int(a.at/(10*time.Second))]++
	}
	if by[0] < 98 || by[0] > 101 || by[1] < 396 || by[1] > 402 || by[2] < 98 || by[2] > 101 {
		t.Errorf("requests in each ten seconds: %v", by)
	}
}

func TestRunCountsAndNeverWaitsForAnswers(t *testing.T) {
	hold := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/order") {
			<-hold
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	p := Plan{Rate: 400, Duration: 200 * time.Millisecond, Mix: mix, Seed: 1, InFlight: 5, Uniform: true}
	time.AfterFunc(400*time.Millisecond, func() { close(hold) })
	r := Run(context.Background(), server.URL, p)

	if r.Sent+r.Dropped != int64(len(schedule(p))) {
		t.Errorf("sent %d, dropped %d of %d", r.Sent, r.Dropped, len(schedule(p)))
	}
	order := r.Paths[1]
	if order.Sent > 5 || order.Statuses["503"] != order.Sent || r.Dropped == 0 {
		t.Errorf("five in flight at most, each answered 503: %+v, dropped %d", order, r.Dropped)
	}
	if stock := r.Paths[0]; stock.Statuses["200"] != stock.Sent {
		t.Errorf("%+v", stock)
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		list []float64
		q    float64
		want float64
	}{{nil, 0.5, 0}, {[]float64{4}, 0.5, 4}, {[]float64{1, 2, 3, 4}, 0.5, 2}, {[]float64{1, 2, 3, 4}, 0.95, 4}, {[]float64{1, 2, 3, 4}, 1, 4}} {
		if got := quantile(c.list, c.q); got != c.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", c.list, c.q, got, c.want)
		}
	}
}
