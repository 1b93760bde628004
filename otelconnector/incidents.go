package otelconnector

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/incident"
)

// events is what the names of events and attributes begin with.
const events = "firebreak.incident."

// incidents hands on one log record for each incident that begins, changes or
// is over. A detector says which, so that reports that come and go make one of it.
type incidents struct {
	engine   interface{ Latest() *live.Published }
	detector *live.Detector
	resource pcommon.Resource
	now      func() time.Time

	mu       sync.Mutex    // one report at a time
	next     consumer.Logs // nil if nobody wants them
	ended    bool
	revision uint64 // of the last report that the detector heard of

	counting     sync.Mutex // of what follows; handing on takes time, and a scrape must not wait for it
	opened, open map[string]int64
}

// noticed counts incidents by label. One that had any stays, at 0.
func (x *incidents) noticed() live.NoticedStats {
	x.counting.Lock()
	defer x.counting.Unlock()
	return live.NoticedStats{Opened: maps.Clone(x.opened), Open: maps.Clone(x.open)}
}

func (x *incidents) count(list []live.Event) {
	x.counting.Lock()
	defer x.counting.Unlock()
	for i := range list {
		if list[i].What == live.Opened {
			x.opened[string(list[i].Episode.Verdict.Label)]++
		}
	}
	for label := range x.open {
		x.open[label] = 0
	}
	for _, e := range x.detector.Open() {
		x.open[string(e.Verdict.Label)]++
	}
}

func newIncidents(e interface{ Latest() *live.Published }, c live.DetectConfig, resource pcommon.Resource, now func() time.Time) *incidents {
	return &incidents{
		engine: e, detector: live.NewDetector(c, nil), resource: resource, now: now,
		opened: map[string]int64{}, open: map[string]int64{},
	}
}

// to says who gets them. All instances hand on to the same pipelines: the first
// one will do.
func (x *incidents) to(next consumer.Logs) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.next == nil {
		x.next = next
	}
}

// flush tells what the last report changes, or the time that has gone by since.
func (x *incidents) flush(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.engine.Latest()
	if x.ended || p == nil {
		return nil
	}
	now := x.now()
	var list []live.Event
	if p.Revision == x.revision {
		list = x.detector.Tick(now)
	} else {
		now = p.At
		list = x.detector.Observe(p.Report, p.At, p.Records)
	}
	x.revision = p.Revision
	x.count(list)
	if len(list) == 0 || x.next == nil {
		return nil
	}
	all := plog.NewLogs()
	rl := all.ResourceLogs().AppendEmpty()
	x.resource.CopyTo(rl.Resource())
	sl := rl.ScopeLogs().AppendEmpty()
	sl.Scope().SetName(scope)
	sl.Scope().SetVersion(version())
	for i := range list {
		x.tell(sl.LogRecords().AppendEmpty(), &list[i], now)
	}
	return x.next.ConsumeLogs(ctx, all)
}

// close hands on what is left to say.
func (x *incidents) close(ctx context.Context) error {
	err := x.flush(ctx)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.next, x.ended = nil, true
	return err
}

// tell writes a record.
func (x *incidents) tell(r plog.LogRecord, e *live.Event, at time.Time) {
	in, ended := &e.Episode.Verdict, e.What == live.Over || e.What == live.Lost
	r.SetEventName(events + string(e.What))
	r.SetTimestamp(pcommon.NewTimestampFromTime(at))
	r.SetObservedTimestamp(pcommon.NewTimestampFromTime(x.now()))
	severity := plog.SeverityNumberWarn
	switch {
	case ended:
		severity = plog.SeverityNumberInfo
	case in.Certainty == incident.High:
		severity = plog.SeverityNumberError
	}
	r.SetSeverityNumber(severity)
	r.SetSeverityText(strings.ToUpper(severity.String()))
	r.Body().SetStr(short(e.What, in))
	put := func(key, value string) {
		if value != "" {
			r.Attributes().PutStr(events+key, value)
		}
	}
	put("id", e.Episode.ID)
	put("label", string(in.Label))
	put("was", string(e.Was))
	put("certainty", string(in.Certainty))
	put("subject", in.Subject)
	put("act_first", string(in.ActFirst))
	put("opened", e.Episode.Opened.UTC().Format(time.RFC3339))
	links := r.Attributes().PutEmptySlice(events + "chain")
	for _, l := range in.Chain {
		m := links.AppendEmpty().SetEmptyMap()
		m.PutStr("role", string(l.Role))
		m.PutStr("label", string(l.Label))
		if l.Subject != "" {
			m.PutStr("subject", l.Subject)
		}
	}
}

// short is what a person reads in a channel: what is wrong, how it hangs
// together, and what to do first.
func short(what live.News, in *incident.Incident) string {
	switch what {
	case live.Over:
		return "over: " + in.Headline
	case live.Lost:
		return "no evidence comes any more: " + in.Headline
	case live.Opened, live.Changed, live.Deeper:
	}
	var b strings.Builder
	b.WriteString(in.Headline)
	for _, l := range in.Chain {
		fmt.Fprintf(&b, "\n%s: %s %s", l.Role, l.Label, l.Subject)
	}
	for i, a := range in.Actions {
		if i == 3 {
			break
		}
		fmt.Fprintf(&b, "\n%d. %s", a.Order, a.What)
		if a.Command != "" {
			b.WriteString("\n   " + strings.ReplaceAll(a.Command, "\n", "\n   "))
		}
	}
	return b.String()
}
