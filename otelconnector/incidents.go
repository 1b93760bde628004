package otelconnector

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/incident"
)

// The names of the events that log records tell.
const (
	opened  = "firebreak.incident.opened"
	changed = "firebreak.incident.changed"
	over    = "firebreak.incident.over"
)

// incidents hands on one log record for each incident that begins, changes or
// is over, as the reports say.
type incidents struct {
	engine   interface{ Latest() *live.Published }
	resource pcommon.Resource
	now      func() time.Time

	mu   sync.Mutex // one report at a time
	next consumer.Logs
	on   []going // what was said to be on, in the order of the last report
}

// going is an incident that is on.
type going struct {
	label   incident.Label
	subject string
	since   time.Time // when it was said first
	last    incident.Incident
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

// flush compares the last report with what was said before.
func (x *incidents) flush(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.engine.Latest()
	if x.next == nil || p == nil {
		return nil
	}
	all := plog.NewLogs()
	rl := all.ResourceLogs().AppendEmpty()
	x.resource.CopyTo(rl.Resource())
	sl := rl.ScopeLogs().AppendEmpty()
	sl.Scope().SetName(scope)
	sl.Scope().SetVersion(version())

	before := x.on
	x.on = nil
	for _, in := range p.Report.Incidents {
		if in.Label == incident.Healthy || in.Label == incident.Inconclusive {
			continue
		}
		g := going{label: in.Label, subject: in.Subject, since: p.At, last: in}
		same := func(o going) bool { return o.label == g.label && o.subject == g.subject }
		if i := slices.IndexFunc(before, same); i < 0 {
			x.tell(sl.LogRecords().AppendEmpty(), opened, p, g)
		} else {
			g.since = before[i].since
			if told(&before[i].last) != told(&in) {
				x.tell(sl.LogRecords().AppendEmpty(), changed, p, g)
			}
			before = slices.Delete(before, i, i+1)
		}
		x.on = append(x.on, g)
	}
	for _, g := range before {
		x.tell(sl.LogRecords().AppendEmpty(), over, p, g)
	}
	if all.LogRecordCount() == 0 {
		return nil
	}
	return x.next.ConsumeLogs(ctx, all)
}

// close hands on what is left to say.
func (x *incidents) close(ctx context.Context) error {
	err := x.flush(ctx)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.next = nil
	return err
}

// told is what of an incident is worth a record when it changes.
func told(in *incident.Incident) string {
	return fmt.Sprintf("%s %s %s", in.Certainty, in.ActFirst, chain(in))
}

func chain(in *incident.Incident) string {
	var links []string
	for _, l := range in.Chain {
		links = append(links, string(l.Role)+":"+string(l.Label))
	}
	return strings.Join(links, " ")
}

// tell writes a record.
func (x *incidents) tell(r plog.LogRecord, event string, p *live.Published, g going) {
	in := &g.last
	r.SetEventName(event)
	r.SetTimestamp(pcommon.NewTimestampFromTime(p.At))
	r.SetObservedTimestamp(pcommon.NewTimestampFromTime(x.now()))
	severity := plog.SeverityNumberWarn
	switch {
	case event == over:
		severity = plog.SeverityNumberInfo
	case in.Certainty == incident.High:
		severity = plog.SeverityNumberError
	}
	r.SetSeverityNumber(severity)
	r.SetSeverityText(strings.ToUpper(severity.String()))
	r.Body().SetStr(short(event, in))
	put := func(key, value string) {
		if value != "" {
			r.Attributes().PutStr(key, value)
		}
	}
	put("firebreak.incident.label", string(in.Label))
	put("firebreak.incident.certainty", string(in.Certainty))
	put("firebreak.incident.subject", in.Subject)
	put("firebreak.incident.act_first", string(in.ActFirst))
	put("firebreak.incident.since", g.since.UTC().Format(time.RFC3339))
	links := r.Attributes().PutEmptySlice("firebreak.incident.chain")
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
func short(event string, in *incident.Incident) string {
	if event == over {
		return "over: " + in.Headline
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
