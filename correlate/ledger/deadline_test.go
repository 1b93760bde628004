package ledger

import (
	"slices"
	"testing"
	"time"
)

func TestDeadlines(t *testing.T) {
	got := Deadlines([]DeadlineLayer{
		{Name: "gateway", Timeout: 3 * time.Second, Retries: 2},
		{Name: "order", Timeout: time.Second, Retries: 2, Backoff: 500 * ms},
		{Name: "product", Timeout: 2 * time.Second, Retries: 0},
	})
	want := []Deadline{
		{Name: "gateway", Attempts: 3, Needs: 9 * time.Second, Useful: 3, Factor: 3},
		{Name: "order", Attempts: 3, Needs: 3500 * ms, Left: 3 * time.Second, Over: 500 * ms, Useful: 2, Factor: 9},
		{Name: "product", Attempts: 1, Needs: 2 * time.Second, Left: time.Second, Over: time.Second, Useful: 0, Factor: 9},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	huge := Deadlines([]DeadlineLayer{{Timeout: 1 << 62, Retries: 1 << 40, Backoff: 1 << 62}, {Timeout: -5, Retries: -3}})
	if huge[0].Needs != maxDuration || huge[1].Attempts != 1 {
		t.Errorf("huge %+v", huge)
	}
}

func TestMultiply(t *testing.T) {
	if l := Multiply(1000, 3, 2); l.Out != 6000 || !slices.Equal(l.Factors, []float64{3, 2}) {
		t.Errorf("load %+v", l)
	}
	if l := Multiply(1, 3, 3); l.Out != 9 {
		t.Errorf("load %+v", l)
	}
}
