package tui

import (
	"math"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/incident"
)

func at(s string) time.Time {
	t, err := time.Parse("15:04:05", s)
	if err != nil {
		panic(err)
	}
	return time.Date(2026, 3, 14, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

func TestSelectingAWindowReadsItAnew(t *testing.T) {
	source := &stillSource{report: readReport(t, "reference")}
	d := start(t, nil, 120, 40, func(c *Config) { c.Source = source })
	d.press("7").shows("10:02:00", "rises 10:02:11", "WHAT BEGAN WHEN")
	d.do("zoom") // without a selection Enter follows what is chosen
	d.do("back", "later", "later", "select", "much-later", "much-later").shows("Enter reads this window anew").do("zoom")
	if len(source.reads) != 2 {
		t.Fatalf("read %d times", len(source.reads))
	}
	w := source.reads[1]
	if !w.From.After(at("10:01:59")) || !w.To.After(w.From) || !w.To.Before(at("10:02:31")) {
		t.Errorf("read %s to %s", w.From, w.To)
	}
	d.shows(d.m.scene.between(w)) // the window is said at the head of every screen
	d.press("1").shows(d.m.scene.between(w))
	d.press("7").do("zoom-out")
	if len(source.reads) != 3 || !source.reads[2].IsZero() {
		t.Errorf("the whole time was not read again: %v", source.reads)
	}
	d.do("zoom-out").shows("this is the whole time")
	d.do("select", "zoom").shows("the selection is empty")
}

func TestResampleKeepsTheHighest(t *testing.T) {
	points := []incident.Point{{At: at("10:00:00"), Value: 1}, {At: at("10:00:10"), Value: 9}, {At: at("10:00:30"), Value: 2}}
	values, top := resample(points, scale{at("10:00:00"), at("10:00:40"), 4})
	if top != 9 || values[0] != 1 || values[1] != 9 || !math.IsNaN(values[2]) || values[3] != 2 {
		t.Errorf("%v, at most %v", values, top)
	}
	// Many points in one column: the highest of them, wherever it stands.
	values, _ = resample(points, scale{at("10:00:00"), at("10:00:40"), 1})
	if values[0] != 9 {
		t.Errorf("%v", values)
	}
}

func TestScaleIsItsOwnInverse(t *testing.T) {
	sc := scale{at("10:00:00"), at("10:10:00"), 97}
	for c := range sc.columns {
		got, ok := sc.column(sc.time(c).Add(time.Millisecond))
		if !ok || got != c {
			t.Errorf("column %d begins in column %d", c, got)
		}
	}
	for _, outside := range []time.Time{{}, at("09:59:59"), at("10:10:01")} {
		if _, ok := sc.column(outside); ok {
			t.Errorf("%s is on the axis", outside)
		}
	}
}
