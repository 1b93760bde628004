package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/live"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/load"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/scenario"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/stack"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/truth"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/verdict"
)

const (
	warm     = 12 * time.Second
	calm     = 40 * time.Second // under full load, before the fault
	burning  = 75 * time.Second
	labelled = 30 * time.Second // after the onset, at most
	alerted  = 55 * time.Second // another report, a scrape and an evaluation later
	exported = 3 * time.Second  // until the services have sent the spans that they have
	counted  = 75 * time.Second // until serve has counted the traces that it has, at most
)

// Ports of what runs beside the shop.
const (
	serveWeb = 150 + iota
	prometheusPort
)

// live burns the reference chain beside a firebreak serve and a Prometheus, and
// holds both to the times that are promised.
func (o options) live(ctx context.Context, out io.Writer) (err error) {
	begin := time.Now()
	s, index, err := scenario.Find("missing-index")
	if err != nil {
		return err
	}
	tool, err := verdict.Build(ctx, o.work)
	if err != nil {
		return err
	}
	e, err := env.New(o.work, o.base)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(e.Dir, "live")); err != nil {
		return err
	}
	shop, err := stack.Start(ctx, e, filepath.Join(o.lab, "java", "target"), filepath.Join(o.lab, "dubbogo", "dubbogo"))
	if err != nil {
		return errors.Join(err, e.Close())
	}
	defer func() { err = errors.Join(err, shop.Close()) }()

	l := &liveRun{
		stack: shop, dose: s.Dose(scenario.Full, seedOf(index, scenario.Full)), out: out, begin: begin,
		labels: map[string]time.Time{}, alerts: map[string]time.Time{},
	}
	err = l.run(ctx, tool, filepath.Join(o.lab, "..", "deploy", "prometheus"))
	return errors.Join(err, shop.Leave())
}

// liveRun is a live run under way, and what it saw.
type liveRun struct {
	stack      *stack.Stack
	dose       scenario.Dose
	serve      *live.Serve
	prometheus *live.Prometheus
	out        io.Writer
	begin      time.Time
	before     map[string]truth.Counters // what services had counted when serve came

	mu     sync.Mutex
	onset  time.Time            // zero before
	labels map[string]time.Time // of reports, with their chain: first seen
	last   string               // of them
	alerts map[string]time.Time // that fired: first seen
	wrong  []string
}

// run starts the shop, lets it get warm, sets firebreak and Prometheus beside it,
// which find a shop that has been running for long, and lights the fire.
func (l *liveRun) run(ctx context.Context, tool, rules string) error {
	e := l.stack.Env
	if err := l.stack.Use(ctx, l.dose.Setup); err != nil {
		return err
	}
	if err := l.stack.Database().EmptyLog(ctx); err != nil {
		return err
	}
	// Few at a time: a cold JVM must not fill the providers' pools already.
	load.Run(ctx, l.url(), load.Plan{Rate: 15, Duration: warm, Mix: l.dose.Load.Mix, Seed: 1, InFlight: 6, First: 800_000})
	if !wait(ctx, exported) {
		return ctx.Err()
	}
	var err error
	if l.before, err = l.stack.Counters(ctx); err != nil {
		return err
	}
	otlp, err := l.stack.HandOver()
	if err != nil {
		return err
	}
	if l.serve, err = live.StartServe(ctx, e, tool, otlp, e.Port(serveWeb), l.logs(), l.dumps()); err != nil {
		return err
	}
	if l.prometheus, err = live.StartPrometheus(ctx, e, e.Port(prometheusPort), rules, l.serve); err != nil {
		return err
	}
	l.say("the shop is up and warm, firebreak serve at http://%s, Prometheus beside it", l.serve.Web)
	return l.burn(ctx)
}

func (l *liveRun) url() string { return "http://" + env.Addr(l.stack.Nginx.Port) }

// logs are what the services, nginx and the database write.
func (l *liveRun) logs() []live.Logs {
	list := []live.Logs{{Path: l.stack.Nginx.AccessLog(), Service: "nginx"}, {Path: l.stack.Database().SlowLog(), Service: "mariadb"}}
	for _, v := range l.dose.Setup.Services {
		list = append(list, live.Logs{Path: filepath.Join(l.stack.Env.Dir, "run", v.Name, "app.log"), Service: v.Role})
	}
	return list
}

// dumps are the folders into which Dubbo drops its own when a pool is full.
func (l *liveRun) dumps() []live.Logs {
	var list []live.Logs
	for _, v := range l.dose.Setup.Services {
		if v.Role == "product" {
			list = append(list, live.Logs{Path: filepath.Join(l.stack.Env.Dir, "run", v.Name), Service: v.Role})
		}
	}
	return list
}

// say tells what happens, and when: after the onset of the fire, if it burns.
func (l *liveRun) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	when := fmt.Sprintf("%6.1f s          ", time.Since(l.begin).Seconds())
	if !l.onset.IsZero() {
		when = fmt.Sprintf("%6.1f s  %+6.1f s", time.Since(l.begin).Seconds(), time.Since(l.onset).Seconds())
	}
	fmt.Fprintf(l.out, "%s  %s\n", when, fmt.Sprintf(format, args...))
}

func (l *liveRun) miss(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.say("wrong: %s", text)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, head(text))
}

// burn applies the load, lights the fire in the middle of it, and watches.
func (l *liveRun) burn(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var watching sync.WaitGroup
	watching.Go(func() {
		if err := l.serve.Reports(ctx, l.report); err != nil {
			l.miss("%v", err)
		}
	})
	watching.Go(func() { l.watchAlerts(ctx) })
	plan := l.dose.Load
	plan.Duration = calm + burning
	var result load.Result
	var loading sync.WaitGroup
	loading.Go(func() { result = load.Run(ctx, l.url(), plan) })

	fire := &running{stack: l.stack, dose: l.dose, truth: &truth.Truth{}}
	defer func() {
		if err := fire.undo(context.WithoutCancel(ctx)); err != nil {
			l.say("%v", err)
		}
	}()
	if !wait(ctx, calm) {
		return ctx.Err()
	}
	l.mu.Lock()
	for label := range l.labels {
		if !strings.HasPrefix(label, string(incident.Healthy)) && !strings.HasPrefix(label, string(incident.Inconclusive)) {
			l.wrong = append(l.wrong, "before it burnt a report said "+label)
		}
	}
	for alert := range l.alerts {
		l.wrong = append(l.wrong, "before it burnt fired "+alert)
	}
	l.onset, l.last = time.Now(), ""
	l.labels = map[string]time.Time{}
	l.mu.Unlock()
	l.say("ONSET: the stock table loses its index")
	for _, f := range l.dose.Faults {
		if err := fire.apply(ctx, f); err != nil {
			return err
		}
	}
	// Until it is labelled and the alert fires; then the rest is looked at while it burns.
	until := l.onset.Add(burning - 20*time.Second)
	for time.Now().Before(until) && !(l.labelledIn() > 0 && l.alertedIn() > 0) {
		if !wait(ctx, 200*time.Millisecond) {
			return ctx.Err()
		}
	}
	l.look(ctx)
	if !wait(ctx, time.Until(l.onset.Add(burning-2*time.Second))) {
		return ctx.Err()
	}
	l.alertsNow(ctx)
	loading.Wait()
	l.say("load: %d requests, %d dropped", result.Sent, result.Dropped)
	after, err := fire.settle(ctx)
	if err != nil {
		return err
	}
	l.count(ctx, after)
	cancel()
	watching.Wait()
	l.stop(context.WithoutCancel(ctx))
	return l.judge()
}

// report notes what a report says, where it is another thing than the last.
func (l *liveRun) report(_ time.Time, r *incident.Report) {
	said := string(incident.Healthy)
	if len(r.Incidents) > 0 {
		in := r.Incidents[0]
		var chain []string
		for _, link := range in.Chain {
			chain = append(chain, string(link.Role)+" "+string(link.Label))
		}
		said = fmt.Sprintf("%s (%s) [%s]", in.Label, in.Certainty, strings.Join(chain, ", "))
	}
	l.mu.Lock()
	again := said == l.last
	l.last = said
	if _, seen := l.labels[said]; !seen {
		l.labels[said] = time.Now()
	}
	l.mu.Unlock()
	if !again {
		l.say("report: %s", said)
	}
}

// labelledIn is how long after the onset the first report told the label, 0 if none
// did.
func (l *liveRun) labelledIn() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var first time.Duration
	for said, at := range l.labels {
		if d := at.Sub(l.onset); strings.HasPrefix(said, l.dose.Expect.Label+" ") && (first == 0 || d < first) {
			first = d
		}
	}
	return first
}

func (l *liveRun) alertedIn() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.alerts["FirebreakIncident "+l.dose.Expect.Label]; ok {
		return at.Sub(l.onset)
	}
	return 0
}

// watchAlerts notes which alerts fire, as Prometheus has them.
func (l *liveRun) watchAlerts(ctx context.Context) {
	for wait(ctx, time.Second) {
		alerts, err := l.prometheus.Alerts(ctx)
		if err != nil {
			if ctx.Err() == nil {
				l.miss("%v", err)
			}
			return
		}
		for _, a := range alerts {
			if a.State != "firing" {
				continue
			}
			l.mu.Lock()
			_, seen := l.alerts[a.Name()]
			if !seen {
				l.alerts[a.Name()] = time.Now()
			}
			l.mu.Unlock()
			if !seen {
				l.say("alert: %s fires", a.Name())
			}
		}
	}
}

// alertsNow says what fires and what waits at the end.
func (l *liveRun) alertsNow(ctx context.Context) {
	alerts, err := l.prometheus.Alerts(ctx)
	if err != nil {
		l.miss("%v", err)
		return
	}
	byState := map[string][]string{}
	for _, a := range alerts {
		byState[a.State] = append(byState[a.State], a.Name())
	}
	for _, state := range slices.Sorted(maps.Keys(byState)) {
		slices.Sort(byState[state])
		l.say("%s: %s", state, strings.Join(slices.Compact(byState[state]), ", "))
	}
}

// look does what an engineer does when the alert comes.
func (l *liveRun) look(ctx context.Context) {
	label := l.dose.Expect.Label
	text, err := l.serve.Attach(ctx)
	switch {
	case err != nil:
		l.miss("attach: %v", err)
	case !strings.Contains(strings.ToLower(text), label):
		l.miss("attach away from a terminal does not say %s:\n%s", label, head(text))
	default:
		l.say("attach, away from a terminal: %s", head(text))
	}
	screen, err := l.serve.Screen(ctx, l.stack.Env, label)
	if err != nil {
		l.miss("attach on a terminal: %v\n%s", err, screen)
	} else {
		l.say("attach, on a terminal:\n\n%s\n", strings.TrimRight(screen, "\n "))
	}
	page, err := l.serve.Metrics(ctx)
	if err == nil {
		err = live.Lint(ctx, page)
	}
	if err != nil {
		l.miss("metrics: %v", err)
		return
	}
	l.say("promtool check metrics: clean, %d bytes", len(page))
}

// count holds serve's counters against those of the services, once serve expects no
// more of any trace.
func (l *liveRun) count(ctx context.Context, after map[string]truth.Counters) {
	page, err := l.serve.Metrics(ctx)
	for limit := time.Now().Add(counted); err == nil && time.Now().Before(limit) && !bytes.Contains(page, []byte("\nfirebreak_traces_open 0\n")); {
		if !wait(ctx, time.Second) {
			return
		}
		page, err = l.serve.Metrics(ctx)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(l.stack.Env.Dir, "live", "metrics.txt"), page, 0o644)
	}
	if err != nil {
		l.miss("metrics: %v", err)
		return
	}
	since := map[string]truth.Counters{}
	for name, c := range after {
		since[name] = c.Since(l.before[name])
	}
	for _, t := range truth.Derive(since) {
		edge := map[string][]string{"method": {"com.acme.shop." + t.Edge}}
		calls, err := live.Sum(page, "firebreak_logical_calls_total", edge)
		edge["reason"] = []string{"initial", "retry", "proxy"}
		attempts, more := live.Sum(page, "firebreak_attempts_total", edge)
		if err = errors.Join(err, more); err != nil {
			l.miss("%v", err)
			return
		}
		text := fmt.Sprintf("%s: %.0f calls and %.0f attempts, the services counted %d and %d", t.Edge, calls, attempts, t.Calls, t.Attempts)
		if int64(calls) != t.Calls || int64(attempts) != t.Attempts {
			l.miss("%s", text)
		} else {
			l.say("counted: %s", text)
		}
	}
}

// head is the first line of a text that says something.
func head(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return "nothing"
}

// stop ends serve, and sees what it kept: evidence from which anybody concludes the
// same anywhere.
func (l *liveRun) stop(ctx context.Context) {
	if err := l.serve.Stop(); err != nil {
		l.miss("serve: %v", err)
	}
	kept, _ := filepath.Glob(filepath.Join(l.serve.Incidents, "*", "report.json"))
	found := false
	for _, file := range kept {
		dir := filepath.Dir(file)
		r, err := verdict.Ask(ctx, l.serve.Tool, dir, filepath.Join(l.stack.Env.Dir, "live", filepath.Base(dir)+".json"))
		if err != nil || len(r.Incidents) == 0 {
			l.miss("firebreak report %s: no incident, %v", filepath.Base(dir), err)
			continue
		}
		l.say("kept: %s, of which firebreak report says %s", filepath.Base(dir), r.Incidents[0].Label)
		found = found || string(r.Incidents[0].Label) == l.dose.Expect.Label
	}
	if !found {
		l.miss("no bundle of %d says %s", len(kept), l.dose.Expect.Label)
	}
}

// judge says whether the times were kept.
func (l *liveRun) judge() error {
	want := l.dose.Expect
	label, alert := l.labelledIn(), l.alertedIn()
	switch {
	case label == 0:
		l.miss("no report said %s", want.Label)
	case label > labelled:
		l.miss("labelled after %.1f s, want %s", label.Seconds(), labelled)
	}
	switch {
	case alert == 0:
		l.miss("FirebreakIncident never fired for %s", want.Label)
	case alert > alerted:
		l.miss("the alert fired after %.1f s, want %s", alert.Seconds(), alerted)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "\nlive: %s %.1f s after the onset, the alert fires after %.1f s\n", want.Label, label.Seconds(), alert.Seconds())
	if len(l.wrong) > 0 {
		return fmt.Errorf("%d things are wrong: %s", len(l.wrong), strings.Join(l.wrong, "; "))
	}
	return nil
}

// wait is false when the context ended first.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
