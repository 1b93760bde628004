package incident

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestUnsaid(t *testing.T) {
	open := OpenIncident{
		ID: "2026-03-14T10-02Z-slow-sql", Label: SlowSQL, Subject: "SkuService", Opened: at("10:02:31"), Said: at("10:04:31"),
		Bundle: "http://localhost:9464/api/v1/incidents/2026-03-14T10-02Z-slow-sql/bundle",
	}
	said := func(change func(*OpenIncident)) OpenIncident { o := open; change(&o); return o }
	for _, tt := range []struct {
		name      string
		incidents []Incident
		open      OpenIncident
		want      string
	}{
		{"nothing", nil, open, "since 10:02, last said 10:04"},
		{"inconclusive", []Incident{{Label: Inconclusive}}, open, "since 10:02, last said 10:04"},
		{"the same", []Incident{{Label: SlowSQL}}, open, ""},
		{"the same of another", []Incident{{Label: Deadlock}, {Label: SlowSQL, Subject: "OrderService"}}, open, "since 10:02, last said 10:04"},
		{"the same of the same", []Incident{{Label: Deadlock}, {Label: SlowSQL, Subject: "SkuService"}}, open, ""},
		{"said with another subject", []Incident{{Label: SlowSQL, Subject: "t_sku"}}, said(func(o *OpenIncident) { o.Said, o.Now = at("10:10:00"), SlowSQL }), ""},
		{"called otherwise", []Incident{{Label: RetryAmplification}}, said(func(o *OpenIncident) { o.Now = RetryAmplification }), "since 10:02, at 10:04 said to be retry-amplification"},
		{"of yesterday", nil, said(func(o *OpenIncident) { o.Opened = o.Opened.AddDate(0, 0, -1) }), "since 2026-03-13 10:02, last said 10:04"},
		{"never said", nil, said(func(o *OpenIncident) { o.Said = time.Time{} }), "since 10:02"},
	} {
		r := &Report{GeneratedAt: at("10:10:00"), Incidents: tt.incidents, OpenIncidents: []OpenIncident{tt.open}}
		got := ""
		named, _ := r.Unsaid()
		for i := range named {
			got += named[i].When(r.GeneratedAt, time.UTC)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		var b, m bytes.Buffer
		if err := WriteText(&b, r, TextOptions{Width: 200}); err != nil {
			t.Fatal(err)
		}
		line := "! open: slow-sql (SkuService) " + tt.want + "; bundle: http://localhost:9464/api/v1/incidents/2026-03-14T10-02Z-slow-sql/bundle\n"
		if strings.Contains(b.String(), line) != (tt.want != "") {
			t.Errorf("%s: the text has no %q, or has it:\n%s", tt.name, line, b.String())
		}
		if err := WriteMarkdown(&m, r, MarkdownOptions{}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(m.String(), "open: slow-sql") != (tt.want != "") {
			t.Errorf("%s:\n%s", tt.name, m.String())
		}
	}
}

func TestManyThatAreOpen(t *testing.T) {
	r := &Report{Incidents: []Incident{{Label: Healthy}}, OpenIncidents: make([]OpenIncident, 5)}
	for i := range r.OpenIncidents {
		r.OpenIncidents[i] = OpenIncident{Label: SlowSQL, Opened: at("10:02:31")}
	}
	if named, more := r.Unsaid(); len(named) != 2 || more != 3 {
		t.Errorf("%d and %d more", len(named), more)
	}
	var b bytes.Buffer
	if err := WriteText(&b, r, TextOptions{}); err != nil || !strings.Contains(b.String(), "and 3 more that are open") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
