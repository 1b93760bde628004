package tui

import (
	"reflect"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/simulate"
)

// whatIf opens the what-if screen.
func whatIf(t *testing.T, r *incident.Report, width, height int, change ...func(*Config)) *driver {
	t.Helper()
	return start(t, r, width, height, change...).press("9")
}

// on moves the cursor to an input.
func (d *driver) on(id string) *driver {
	d.t.Helper()
	d.do("first")
	for range 20 {
		if d.m.here().key == id {
			return d
		}
		d.do("down")
	}
	d.t.Fatalf("no input %s:\n%s", id, d.screen())
	return d
}

// give types a value for an input.
func (d *driver) give(id, value string) *driver {
	d.t.Helper()
	return d.on(id).do("change").write(value).press("enter")
}

func TestWhatIfStartsFromTheIncident(t *testing.T) {
	d := whatIf(t, readReport(t, "reference"), 120, 60)
	d.shows("calls/s 24.3 [product-provider/app.log:32]", "hold time 3.14 s [product-provider/app.log:32]", "timeout 1 s [order-service/app.log:2]",
		"backoff 0 s assumed", "hold when calm ? not in the evidence", "the pool completed 63.6/s and refused 9.17/s", "as it is: 24.3 calls/s x 3.14 s needs 77 threads",
		"WHAT IF (p tries a change)")
	d.do("open").shows("[product-provider/app.log:32", "line 32 of product-provider/app.log")
}

func TestNoRetriesChangesLoadThreadsAndSentence(t *testing.T) {
	d := whatIf(t, readReport(t, "reference"), 120, 60)
	d.shows("24.3 calls/s ▶ 72.8 attempts/s 3.0x", "229 of 200").give("retries", "0")
	d.shows("24.3 attempts/s 1.0x", "77 of 200", "with retries=0: 24.3 calls/s x 3.14 s needs 77 threads, and there are 200: the pool has room again", "WHAT IF retries 0")
	d.do("reset").lacks("24.3 attempts/s", "with retries=0").shows("as it is")
	d.do("reset").shows("this is the incident's own number")
	d.on("hold").do("change").write("/20").press("enter").shows("WHAT IF hold time 157 ms", "it recovers by itself", "✔ by itself: stable")
}

// What the screen shows is what simulate says of the same numbers.
func TestWhatIfSaysWhatSimulateSays(t *testing.T) {
	r := readReport(t, "reference")
	d := whatIf(t, r, 200, 60).give("retries", "1").give("threads", "400")
	before, _ := simulate.FromReport(r, 0)
	after := before.Retries(1)
	after.Layers[0].Name = before.Layers[0].Name
	after.Threads = 400
	want, err := simulate.Compare(before, after)
	if err != nil {
		t.Fatal(err)
	}
	got := d.m.scene.scenario.came
	if !reflect.DeepEqual(got.Comparison, want) {
		t.Errorf("the screen has %+v\nsimulate says %+v", got.Comparison, want)
	}
	for i, m := range []simulate.Model{before, after} {
		played, err := simulate.Run(simulate.Scenario{Model: m, ForS: playForS, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.played[i], played) {
			t.Errorf("run %d differs from simulate's", i)
		}
	}
	for _, s := range want.Explanation {
		d.shows(s.Say(lang.Sprintf))
	}
}

func TestAValueThatMakesNoSenseChangesNothing(t *testing.T) {
	d := whatIf(t, readReport(t, "reference"), 120, 60)
	was := d.m.scene.scenario.kept()
	for _, x := range []struct{ id, typed, says string }{
		{"hold", "500", "500: which unit? 500ms or 500s"},
		{"hold", "0s", "0s: it must be above 0"},
		{"hold", "soon", "soon: how long is that?"},
		{"hold", "-3s", "-3s: it must be 0 or more"},
		{"timeout", "/0", "/0: how long is that?"},
		{"arrivals", "24,3", "24,3: how many a second is that?"},
		{"arrivals", "NaN", "NaN: how many a second is that?"},
		{"arrivals", "-1", "-1: it must be above 0 and at most 100,000,000 a second"},
		{"retries", "two", "two: how many retries is that?"},
		{"retries", "101", "101: it must be at most 8 layers with 0 to 100 retries each"},
		{"retries", "2,,1", "2,,1: how many retries is that?"},
		{"layers", "0", "0: it must be 1 or more"},
		{"layers", "9", "9: it must be at most 8 layers"},
		{"threads", "1.5", "1.5: how many is that?"},
		{"threads", "0", "0: it must be above 0"},
		{"queue", "-1", "-1: it must be 0 or more"},
		{"queue", "99999999999999999999", "how many is that?"},
		{"threads", "\x1b[31m", "how many is that?"},
	} {
		d.give(x.id, x.typed).shows(x.says)
		if got := d.m.scene.scenario.kept(); !reflect.DeepEqual(got, was) {
			t.Errorf("%s %q: %v", x.id, x.typed, got)
		}
	}
}

func TestValuesAsTheyAreTyped(t *testing.T) {
	base := supposed{Model: simulate.Model{ArrivalsPerS: 10, HoldS: 3, TimeoutS: 1, Threads: 200}.Retries(2)}
	for _, x := range []struct{ id, typed, shown string }{
		{"arrivals", "1,200", "1,200"},
		{"arrivals", "300/s", "300"},
		{"arrivals", "x2", "20"},
		{"arrivals", "*1.5", "15"},
		{"hold", "3.1 s", "3.1 s"},
		{"hold", "20MS", "20 ms"},
		{"hold", "2 min", "120 s"},
		{"hold", "/20", "150 ms"},
		{"hold", "×2", "6 s"},
		{"calm", "50ms", "50 ms"},
		{"timeout", "never", "never"},
		{"timeout", "0s", "never"},
		{"retries", "0", "0"},
		{"retries", "2,1", "2,1"},
		{"layers", "3", "3"},
		{"backoff", "200ms", "200 ms"},
		{"threads", "1,000", "1,000"},
		{"threads", "/3", "67"},
		{"queue", "endless", "endless"},
		{"queue", "100", "100"},
		{"cancels", "Yes", "yes"},
		{"cancels", "off", "no"},
	} {
		m := base
		in := inputOf(x.id)
		if wrong := in.put(&m, x.typed); wrong != "" || in.show(&m) != x.shown {
			t.Errorf("%s %q: %q %s", x.id, x.typed, in.show(&m), wrong)
		}
	}
}

func TestMoreAndLessGoAlongRoundNumbers(t *testing.T) {
	m := supposed{Model: simulate.Model{ArrivalsPerS: 24.3, HoldS: 3.14, TimeoutS: 1, Threads: 200}.Retries(1)}
	walk := func(id string, up bool, n int) string {
		to, in := m, inputOf(id)
		var seen []string
		for range n {
			typed, ok := in.step(&to, up)
			if !ok {
				return strings.Join(append(seen, "end"), " ")
			}
			if wrong := in.put(&to, typed); wrong != "" {
				t.Fatalf("%s: %s", id, wrong)
			}
			seen = append(seen, in.show(&to))
		}
		return strings.Join(seen, " ")
	}
	for _, x := range []struct {
		id   string
		up   bool
		want string
	}{
		{"hold", false, "3 s 2 s 1.5 s 1 s 800 ms 600 ms"},
		{"hold", true, "4 s 5 s 6 s 8 s 10 s 15 s"},
		{"arrivals", true, "30 40 50 60 80 100"},
		{"retries", false, "0 end"},
		{"retries", true, "2 3 4 5 6 7"},
		{"threads", true, "300 400 500 600 800 1,000"},
		{"queue", true, "10 15 20 30 40 50"},
		{"queue", false, "end"},
		{"backoff", true, "100 ms 150 ms 200 ms 300 ms 400 ms 500 ms"},
		{"cancels", true, "yes end"},
		{"layers", false, "end"},
		{"layers", true, "2 3 4 5 6 7"},
	} {
		if got := walk(x.id, x.up, 6); got != x.want {
			t.Errorf("%s %v: %s, want %s", x.id, x.up, got, x.want)
		}
	}
	m.Threads, m.TimeoutS = 3, 0
	if got := walk("threads", false, 6); got != "2 1 end" {
		t.Errorf("threads go down %s", got)
	}
	if got := walk("timeout", false, 2); got != "10 s 8 s" {
		t.Errorf("from never, timeouts go %s", got)
	}
}

func TestPresetsAreTriedInTurn(t *testing.T) {
	d := whatIf(t, readReport(t, "reference"), 120, 60)
	for _, want := range []string{"WHAT IF retries 0", "WHAT IF hold time 157 ms", "WHAT IF threads 400", "WHAT IF timeout 500 ms", "WHAT IF hold time 157 ms, retries 0", "WHAT IF (p tries a change)", "WHAT IF retries 0"} {
		d.do("preset").shows(want) // one layer retries already: that one is passed over
	}
}

// Without what the evidence does not tell nothing is made up.
func TestMissingNumbersAreAskedFor(t *testing.T) {
	r := readReport(t, "reference")
	for i := range r.Pools {
		r.Pools[i].HoldSeconds = nil
	}
	r.SQL = nil
	for i := range r.Findings {
		delete(r.Findings[i].Values, "method.p95_s")
	}
	d := whatIf(t, r, 120, 60)
	d.shows("Not known from the evidence: hold time. Choose the row, Enter, and type it in.", "hold time ? not in the evidence: type it in",
		"WHAT CAN BE SAID WITHOUT", "one call can become up to 3 attempts", "200 threads carry 24.3 calls/s up to a hold time of 8.25 s").lacks("comes back")
	d.on("hold").do("more").shows("hold time is not known yet: Enter takes it")
	d.give("hold", "2s").shows("hold time 2 s typed in", "needs 49 threads", "comes back").lacks("WHAT CAN BE SAID WITHOUT")
	d.give("hold", "50ms").shows("hold time 2 s typed in 50 ms", "WHAT IF hold time 50 ms")
	d.do("reset").lacks("50 ms").do("reset").shows("hold time ? not in the evidence: type it in")
}

func TestWhatIfWithoutAReport(t *testing.T) {
	d := whatIf(t, &incident.Report{}, 80, 24)
	d.shows("Not known from the evidence: calls/s, hold time, threads.", "nothing yet")
	d.give("arrivals", "300").give("hold", "3.1s").shows("300 calls/s x 3.1 s need 930 threads").give("threads", "200").give("retries", "2")
	d.shows("with retries=2: 300 calls/s x 3.1 s needs 930 threads > 200")
}

// With a hold time for calm, trouble comes and goes, and its time is marked.
func TestCalmHoldTimePlaysAPassingTrouble(t *testing.T) {
	d := whatIf(t, readReport(t, "reference"), 120, 60).give("calm", "50ms")
	d.shows("trouble, 20 s", "calm 50 ms typed in")
	d.shows("✔ by itself: well from 3")
	o := d.m.scene.scenario.came
	if o.trouble.AtS != playTrouble.AtS || o.trouble.HoldS < 3.1 || o.played[0].Points[2].GoodPerS == 0 || !o.played[0].Recovered {
		t.Errorf("played %+v, %+v", o.trouble, o.played[0])
	}
}

func TestWhatIsSupposedIsKeptAndGoneOnWith(t *testing.T) {
	d := whatIf(t, readReport(t, "reference"), 120, 60).give("retries", "0").on("arrivals").do("correct").write("40").press("enter")
	d.shows("calls/s 40 typed in")
	if cmd := d.m.scene.asks(); cmd.command() != "firebreak simulate --arrivals=40 --hold=3.143s --timeout=1s --layers=2 --threads=200 --after 'retries=0'" {
		t.Errorf("the command is %s", cmd.command())
	}
	d.do("quit")
	want := map[string]Supposed{readReport(t, "reference").Incidents[0].ID: {AsIs: map[string]string{"arrivals": "40"}, Change: map[string]string{"retries": "0"}}}
	if !reflect.DeepEqual(d.saved.WhatIf, want) {
		t.Fatalf("kept %+v", d.saved.WhatIf)
	}
	again := whatIf(t, readReport(t, "reference"), 120, 60, func(c *Config) { c.Case = d.saved })
	again.shows("calls/s 40 typed in", "WHAT IF retries 0", "with retries=0: 40 calls/s")
	// A case that was spoilt by hand does no harm.
	d.saved.WhatIf[readReport(t, "reference").Incidents[0].ID] = Supposed{Change: map[string]string{"retries": "many", "no such": "1"}}
	whatIf(t, readReport(t, "reference"), 120, 60, func(c *Config) { c.Case = d.saved }).shows("WHAT IF (p tries a change)")
}

func TestToggleAndStepsByKeys(t *testing.T) {
	d := whatIf(t, readReport(t, "reference"), 120, 60).on("cancels").do("change").shows("timeouts cancel no assumed yes", "timeouts that cancel")
	d.do("change").lacks("WHAT IF timeouts").on("retries").do("less").shows("WHAT IF retries 1").do("less", "less").shows("retries goes no further")
	d.do("more", "more").shows("WHAT IF (p tries a change)")
}

// However large the fleet, an answer comes at once: it is played in small.
func BenchmarkAnswer(b *testing.B) {
	m := supposed{Model: simulate.Model{ArrivalsPerS: 20_000, HoldS: 0.2, Spread: 0.3, TimeoutS: 1, Threads: 4_000, Queue: 20_000}.Retries(2)}
	after := m
	after.Model = after.Model.Retries(0)
	for b.Loop() {
		if o := answer(m, after); o.err != nil {
			b.Fatal(o.err)
		}
	}
}
