package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/incident"
)

// told makes a report of words: "slow-sql/high@order,t_stock" is an incident by
// label, certainty and what it is about, "+" joins several, "ok" is none. A "*"
// behind the certainty makes the chain longer.
func told(text string) *incident.Report {
	r := &incident.Report{}
	for i, one := range strings.Split(text, "+") {
		in := incident.Incident{Label: incident.Healthy, Certainty: incident.Medium}
		if one != "ok" {
			verdict, about, _ := strings.Cut(one, "@")
			label, certainty, _ := strings.Cut(verdict, "/")
			in.Label, in.Certainty = incident.Label(label), incident.Certainty(strings.TrimRight(certainty, "*"))
			link := incident.Link{Role: incident.Trigger, Label: in.Label}
			if about != "" {
				for j, name := range strings.Split(about, ",") {
					f := incident.Finding{ID: fmt.Sprintf("f%d-%d", i, j), Names: map[string]string{"service": name}}
					r.Findings = append(r.Findings, f)
					link.Findings = append(link.Findings, f.ID)
				}
			}
			in.Chain = append(in.Chain, link)
			for range strings.Count(certainty, "*") {
				in.Chain = append(in.Chain, incident.Link{Role: incident.Victim, Label: incident.PoolStarvation})
			}
			in.ID = string(in.Label)
		}
		r.Incidents = append(r.Incidents, in)
	}
	return r
}

func TestDetect(t *testing.T) {
	times := func(n int, s string) []string { return slices.Repeat([]string{s}, n) }
	const sql, fault, longer = "slow-sql/high@order", "slow-sql/medium@order", "slow-sql/high*@order"
	for _, c := range []struct {
		name    string
		reports []string // every ten seconds; "-" is no report, "none" one of no records
		want    string   // events, as second:what:label
	}{
		{"nothing", times(50, "ok"), ""},
		{"inconclusive is nothing", times(50, "inconclusive/low"), ""},
		{"one report is not enough", []string{sql, "ok", sql, "ok", "ok", sql}, ""},
		{"two in a row are", []string{"ok", sql, sql, sql, sql}, "20:opened:slow-sql"},
		{"two with silence between are", []string{sql, "-", "-", sql}, "30:opened:slow-sql"},
		{"low takes twice as many", times(5, "gc-pause/low@order"), "30:opened:gc-pause"},
		{"low and then surer", []string{"gc-pause/low@order", "gc-pause/low@order", "gc-pause/medium@order"}, "20:opened:gc-pause"},
		{
			"open through gaps, over once",
			slices.Concat([]string{sql, sql, "ok", sql, "inconclusive/low", "inconclusive/low", sql}, times(20, "ok"), []string{sql}, times(40, "ok")),
			"10:opened:slow-sql 580:over:slow-sql",
		},
		{
			"quiet long enough, then again: another one",
			slices.Concat(times(2, sql), times(31, "ok"), times(2, sql)),
			"10:opened:slow-sql 320:over:slow-sql 340:opened:slow-sql",
		},
		{"certainty falls and rises: nothing", []string{sql, sql, fault, "slow-sql/low@order", fault, sql, fault}, "10:opened:slow-sql"},
		{"surer", []string{fault, fault, sql, fault, sql, sql, sql}, "10:opened:slow-sql 50:deeper:slow-sql"},
		{"a longer chain", []string{sql, sql, longer, sql, longer, longer, sql, longer, longer}, "10:opened:slow-sql 50:deeper:slow-sql"},
		{
			"another label of the same service is the same incident",
			slices.Concat(times(2, "retry-amplification/medium@order"), times(3, "slow-sql/high@order,t_stock")),
			"10:opened:retry-amplification 30:changed:slow-sql",
		},
		{
			"a label that is less sure does not take over",
			slices.Concat(times(2, sql), times(30, "downstream-wait/medium@order")),
			"10:opened:slow-sql",
		},
		{
			"two labels in turns do not flap",
			slices.Repeat([]string{sql, "lock-contention/high@order"}, 40),
			"10:opened:lock-contention",
		},
		{
			"two labels in turns of two change ever more rarely",
			slices.Repeat([]string{sql, sql, "lock-contention/high@order", "lock-contention/high@order"}, 40),
			"10:opened:slow-sql 30:changed:lock-contention",
		},
		{
			"two services are two incidents",
			times(3, "slow-sql/high@order+gc-pause/high@payment"),
			"10:opened:slow-sql 10:opened:gc-pause",
		},
		{
			"one of two ends",
			slices.Concat(times(3, "slow-sql/high@order+gc-pause/high@payment"), times(40, "gc-pause/high@payment")),
			"10:opened:slow-sql 10:opened:gc-pause 330:over:slow-sql",
		},
		{
			"two become one: neither ends, none is new",
			slices.Concat(times(3, "slow-sql/high@order+pool-starvation/high@stock"), times(40, "slow-sql/high@order,stock")),
			"10:opened:slow-sql 10:opened:pool-starvation",
		},
		{
			"another service while one is open",
			slices.Concat(times(2, sql), times(3, "slow-sql/high@payment")),
			"10:opened:slow-sql 30:opened:slow-sql",
		},
		{"without a subject the only one is meant", slices.Concat(times(2, sql), times(5, "slow-sql/high")), "10:opened:slow-sql"},
		{
			"silence is no sign of health",
			slices.Concat(times(2, sql), times(60, "none"), times(29, "-"), times(2, sql)),
			"10:opened:slow-sql",
		},
		{"an hour of silence is given up", slices.Concat(times(2, sql), times(400, "none")), "10:opened:slow-sql 3610:lost:slow-sql"},
		{"a report of nothing does not break a row", []string{sql, "none", sql}, "20:opened:slow-sql"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := NewDetector(DetectConfig{}, nil)
			began := time.Date(2026, 3, 14, 10, 2, 0, 0, time.UTC)
			var got []string
			for i, text := range c.reports {
				at := began.Add(time.Duration(i) * 10 * time.Second)
				var events []Event
				switch text {
				case "-":
					events = d.Tick(at)
				case "none":
					events = d.Observe(&incident.Report{}, at, 0)
				default:
					events = d.Observe(told(text), at, 100)
				}
				for _, e := range events {
					got = append(got, fmt.Sprintf("%d:%s:%s", i*10, e.What, e.Episode.Verdict.Label))
				}
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

func TestDetectorGoesOnAfterARestart(t *testing.T) {
	began := time.Date(2026, 3, 14, 10, 2, 0, 0, time.UTC)
	one := NewDetector(DetectConfig{}, nil)
	for i := range 2 {
		one.Observe(told("slow-sql/high@order"), began.Add(time.Duration(i)*10*time.Second), 9)
	}
	open := one.Open()
	if len(open) != 1 || open[0].ID == "" || !slices.Equal(open[0].About, []string{"order"}) {
		t.Fatalf("%+v", open)
	}
	two := NewDetector(DetectConfig{}, open)
	two.Taken("2026-03-14T10-05Z-gc-pause")
	at := began.Add(3 * time.Minute)
	for range 3 {
		at = at.Add(10 * time.Second)
		events := two.Observe(told("slow-sql/high@order+gc-pause/high@payment"), at, 9)
		for _, e := range events {
			if e.Episode.Verdict.Label == incident.SlowSQL {
				t.Errorf("%s: the incident that was open is told of again", e.What)
			} else if e.Episode.ID != "2026-03-14T10-05Z-gc-pause-2" {
				t.Errorf("the ID %s was in use", e.Episode.ID)
			}
		}
	}
	if n := len(two.Open()); n != 2 {
		t.Errorf("%d are open", n)
	}
}

func TestDetectorIsBounded(t *testing.T) {
	d := NewDetector(DetectConfig{}, nil)
	began := time.Date(2026, 3, 14, 10, 2, 0, 0, time.UTC)
	for i := range 2000 {
		text := make([]string, 50)
		for j := range text {
			text[j] = fmt.Sprintf("slow-sql/high@s%d", i/3*50+j)
		}
		d.Observe(told(strings.Join(text, "+")), began.Add(time.Duration(i)*time.Minute), 9)
		if len(d.open) > 20 || len(d.pending) > 20 || len(d.taken) > maxTaken {
			t.Fatalf("%d open, %d pending, %d taken", len(d.open), len(d.pending), len(d.taken))
		}
	}
}

// TestAnOldFireOpensNothing: what is over for an hour, by its evidence, is told by the
// report and is no incident of now; one that is open goes on.
func TestAnOldFireOpensNothing(t *testing.T) {
	now := time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)
	ended := func(ago time.Duration) *incident.Report {
		r := told("slow-sql/high@order")
		r.Incidents[0].Window.From, r.Incidents[0].Window.To = now.Add(-ago-time.Minute), now.Add(-ago)
		return r
	}
	for ago, want := range map[time.Duration]int{time.Minute: 1, 30 * time.Minute: 1, time.Hour: 0, 5000 * time.Hour: 0} {
		d := NewDetector(DetectConfig{}, nil)
		for i := range 5 {
			d.Observe(ended(ago), now.Add(time.Duration(i)*10*time.Second), 10)
		}
		if got := len(d.Open()); got != want {
			t.Errorf("ended %v ago: %d are open, want %d", ago, got, want)
		}
	}
	d := NewDetector(DetectConfig{}, nil)
	for _, ago := range []time.Duration{time.Minute, time.Minute, time.Hour} {
		d.Observe(ended(ago), now, 10)
	}
	if len(d.Open()) != 1 || !d.Open()[0].Said.Equal(now) {
		t.Errorf("what is open does not go on: %+v", d.Open())
	}
}
