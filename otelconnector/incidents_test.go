package otelconnector

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/incident"
)

// latest is an engine with a report.
type latest struct{ p *live.Published }

func (l *latest) Latest() *live.Published { return l.p }

func TestTellsOfIncidents(t *testing.T) {
	at := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
	e, sink := &latest{}, new(consumertest.LogsSink)
	x := newIncidents(e, live.DetectConfig{Hold: 1, Clear: 30 * time.Second, Silence: time.Minute}, resourceOf(newSettings()), func() time.Time { return at })
	x.to(sink)
	x.to(consumertest.NewErr(context.Canceled)) // the first will do
	burning := func(label incident.Label, c incident.Certainty, chain ...incident.Label) incident.Incident {
		in := incident.Incident{
			ID: string(label), Label: label, Certainty: c, Headline: "it burns: " + string(label), ActFirst: label,
			Actions: []incident.Action{{Order: 1, What: "Save the scene", Command: "jstack 1\njstack 2"}},
		}
		for _, l := range chain {
			in.Chain = append(in.Chain, incident.Link{Role: incident.Trigger, Label: l, Subject: "order"})
		}
		return in
	}
	for i, step := range []struct {
		report  []incident.Incident // nil: no other report
		records int
		want    []string
		open    int64
	}{
		{nil, 0, nil, 0},
		{[]incident.Incident{{Label: incident.Healthy}}, 9, nil, 0},
		{[]incident.Incident{burning(incident.SlowSQL, incident.Medium, incident.SlowSQL)}, 9, []string{"WARN firebreak.incident.opened slow-sql"}, 1},
		{[]incident.Incident{burning(incident.SlowSQL, incident.Medium, incident.SlowSQL)}, 9, nil, 1},
		{[]incident.Incident{burning(incident.SlowSQL, incident.High, incident.SlowSQL, incident.PoolStarvation)}, 9, []string{"ERROR firebreak.incident.deeper slow-sql"}, 1},
		{nil, 0, nil, 1},
		{[]incident.Incident{}, 9, nil, 1},
		{[]incident.Incident{}, 9, nil, 1},
		{[]incident.Incident{}, 9, nil, 1},
		{[]incident.Incident{}, 9, []string{"INFO firebreak.incident.over slow-sql"}, 0},
	} {
		at = at.Add(10 * time.Second)
		if step.report != nil {
			e.p = &live.Published{Report: &incident.Report{Incidents: step.report}, At: at, Revision: uint64(i), Records: step.records}
		}
		sink.Reset()
		if err := x.flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range records(sink) {
			label, _ := r.Attributes().Get("firebreak.incident.label")
			got = append(got, r.SeverityText()+" "+r.EventName()+" "+label.AsString())
			if r.Timestamp().AsTime() != at {
				t.Errorf("step %d is of %v", i, r.Timestamp())
			}
			if id, _ := r.Attributes().Get("firebreak.incident.id"); id.AsString() == "" {
				t.Error("it has no ID")
			}
			t.Log(r.Body().AsString())
			if strings.HasSuffix(r.EventName(), "opened") && r.Body().AsString() != "it burns: slow-sql\ntrigger: slow-sql order\n1. Save the scene\n   jstack 1\n   jstack 2" {
				t.Errorf("it says %q", r.Body().AsString())
			}
		}
		if n := x.noticed(); n.Open["slow-sql"] != step.open {
			t.Errorf("step %d: %v", i, n)
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("step %d told %q, want %q", i, got, step.want)
		}
	}
	if n := x.noticed().Opened["slow-sql"]; n != 1 {
		t.Errorf("%d were opened", n)
	}
	// After the end nothing is told any more.
	if err := x.close(context.Background()); err != nil {
		t.Error(err)
	}
	e.p = &live.Published{Report: &incident.Report{Incidents: []incident.Incident{burning(incident.GCPause, incident.High)}}, At: at, Revision: 99, Records: 9}
	sink.Reset()
	if err := x.flush(context.Background()); err != nil || sink.LogRecordCount() != 0 {
		t.Error("told after the end", err)
	}
}

func records(sink *consumertest.LogsSink) (list []plog.LogRecord) {
	for _, all := range sink.AllLogs() {
		for _, rl := range all.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, r := range sl.LogRecords().All() {
					list = append(list, r)
				}
			}
		}
	}
	return list
}
