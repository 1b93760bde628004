package live

import (
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// What a file of months or hours ago says is not blamed for what burns now.
func TestOldEvidenceIsSetAside(t *testing.T) {
	const log = "/var/log/shop/order.log"
	tests := map[string]struct {
		age    func(i int) time.Duration // of the lines of the log when they come
		spans  time.Duration             // how old the spans are
		source string
		old    int
	}{
		"lines of now":                     {age: func(i int) time.Duration { return time.Duration(i) * time.Second }},
		"a file of months ago":             {age: func(i int) time.Duration { return 6000*time.Hour + time.Duration(i)*time.Second }, old: 20},
		"hours of yesterday, read at once": {age: func(i int) time.Duration { return 20*time.Hour + time.Duration(i)*7*time.Minute }, old: 20},
		"the clock of another zone":        {age: func(i int) time.Duration { return 8*time.Hour + time.Duration(i)*time.Second }},
		"a zone that is ahead":             {age: func(i int) time.Duration { return -8*time.Hour + time.Duration(i)*time.Second }},
		"a clock of the next century":      {age: func(i int) time.Duration { return -600000 * time.Hour }, old: 20},
		"a recording, all of it old":       {age: func(i int) time.Duration { return 6000 * time.Hour }, spans: 6000 * time.Hour},
		"OTLP knows its zone":              {age: func(i int) time.Duration { return 8 * time.Hour }, source: Source, old: 20},
		"late, but not by much":            {age: func(i int) time.Duration { return 20 * time.Minute }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			e := New(Config{Now: c.now})
			source := log
			if tt.source != "" {
				source = tt.source
			}
			for i := range 20 {
				e.Add(refused(source, i+1, c.now().Add(-tt.age(i))))
			}
			for _, r := range call(1, 2, "order", "stock") {
				r.Time = c.now().Add(-tt.spans)
				e.Add(r)
			}
			e.Publish()
			p := e.Latest()
			if want := 25 - tt.old; p.Records != want {
				t.Errorf("made of %d records, want %d", p.Records, want)
			}
			said := strings.Contains(strings.Join(sourceOf(t, p.Report, source).Problems, "\n"), "20 observations are of another time")
			if said != (tt.old > 0) {
				t.Errorf("said %v, want %v", said, tt.old > 0)
			}
		})
	}
}

// The threads of a dump have no time of their own.
func TestOldDumpsAreSetAsideWhole(t *testing.T) {
	c := newClock()
	at := c.now()
	dump := func(when time.Time, id string) []remembered {
		var list []remembered
		cite := evidence.Citation{Source: "/var/dumps/a.jstack"}
		for _, r := range []*evidence.Record{
			{Time: when, Cite: cite, Dump: &evidence.Dump{ID: id}},
			{Cite: cite, Stack: &evidence.Stack{Dump: id}},
			{Time: when, Cite: cite, Dump: &evidence.Dump{ID: id, Closing: true}},
		} {
			list = append(list, remembered{at: at, rec: r})
		}
		return list
	}
	list := append(dump(at.Add(-7777*time.Minute), "1"), dump(at.Add(-time.Minute), "2")...)
	kept, old := setAside(list, at, 5*time.Minute)
	if len(kept) != 3 || kept[0].rec.Dump.ID != "2" || old["/var/dumps/a.jstack"] != 3 {
		t.Errorf("kept %d, set aside %v", len(kept), old)
	}
	if list[0].rec.Dump.ID != "1" {
		t.Error("the list that was given was written to")
	}
}

// Names of services are what anybody sends: they are shown in terminals and pages.
func TestLabelsShowWhatHides(t *testing.T) {
	for sent, want := range map[string]string{
		"order": "order", "库存": "库存", "\x1b[31mred": "␛[31mred", "\u202egnp.evil": `\u202egnp.evil`, "a\nb\x00": "a␊b␀", "\xff\xfe": "�",
	} {
		if got := label(sent); got != want {
			t.Errorf("%q is shown as %q, want %q", sent, got, want)
		}
	}
}
