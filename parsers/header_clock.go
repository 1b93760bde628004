package parsers

import (
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// clockwork turns stamps into times: it knows the zone of a file and finds the
// dates and years that its headers leave out.
type clockwork struct {
	zone     *time.Location
	modified time.Time
	date     time.Time // midnight, from the file's name; moved on when the clock goes back
	last     time.Time // last time that was made without a printed date
}

func newClockwork(in *Input) *clockwork {
	c := &clockwork{zone: in.Hint.Zone, modified: in.Hint.Modified}
	if c.zone == nil {
		c.zone = time.UTC
	}
	c.date = dateInName(in.Name, c.zone)
	return c
}

// resolve returns the time in UTC, zero if it cannot be known.
func (c *clockwork) resolve(s *stamp) (time.Time, evidence.Tri) {
	if s.shape == shapeNone {
		return time.Time{}, evidence.Unknown
	}
	if s.shape == shapeEpoch {
		return s.unix, evidence.Yes
	}
	zone, zoned := c.zone, evidence.No
	if s.zoned {
		zone, zoned = time.UTC, evidence.Yes
	}
	make := func(y, m, d int) time.Time {
		t := time.Date(y, time.Month(m), d, s.hour, s.minute, s.sec, s.nan, zone)
		if s.zoned {
			t = t.Add(-time.Duration(s.offset) * time.Second)
		}
		return t
	}
	switch {
	case s.year > 0:
		t := make(s.year, s.month, s.day)
		if s.slashes && s.day <= 12 && !c.modified.IsZero() {
			// 03/04/2026: the reading nearer to the file's last change.
			if o := make(s.year, s.day, s.month); c.distance(o) < c.distance(t) {
				t = o
			}
		}
		return t.UTC(), zoned
	case s.month > 0: // no year: the last one that is not after the file's last change
		ref := c.modified
		if ref.IsZero() {
			ref = c.date
		}
		if ref.IsZero() {
			return time.Time{}, evidence.Unknown
		}
		t := make(ref.Year(), s.month, s.day)
		if t.After(ref.Add(36 * time.Hour)) {
			t = make(ref.Year()-1, s.month, s.day)
		}
		return t.UTC(), zoned
	}
	if !c.date.IsZero() {
		t := make(c.date.Year(), int(c.date.Month()), c.date.Day())
		if !c.last.IsZero() && t.Before(c.last.Add(-12*time.Hour)) {
			c.date = c.date.AddDate(0, 0, 1)
			t = t.AddDate(0, 0, 1)
		}
		c.last = t
		return t.UTC(), zoned
	}
	if c.modified.IsZero() {
		return time.Time{}, evidence.Unknown
	}
	m := c.modified.In(zone)
	t := make(m.Year(), int(m.Month()), m.Day())
	if t.After(c.modified.Add(time.Minute)) {
		t = t.AddDate(0, 0, -1)
	}
	return t.UTC(), zoned
}

func (c *clockwork) distance(t time.Time) time.Duration { return t.Sub(c.modified).Abs() }

// dateInName finds 2026-03-14, 2026_03_14 or 20260314 in a path's last elements.
func dateInName(name string, zone *time.Location) time.Time {
	b := []byte(name)
	for i := len(b) - 8; i >= 0; i-- {
		if i > 0 && b[i-1] >= '0' && b[i-1] <= '9' {
			continue
		}
		year := digitsAt(b, i, 4)
		if year < 2000 || year > 2099 {
			continue
		}
		month, day := digitsAt(b, i+4, 2), digitsAt(b, i+6, 2)
		if sep := byteAt(b, i+4); sep == '-' || sep == '_' || sep == '.' {
			month, day = digitsAt(b, i+5, 2), digitsAt(b, i+8, 2)
			if byteAt(b, i+7) != sep {
				continue
			}
		} else if digitRun(b, i) != 8 {
			continue
		}
		if month >= 1 && month <= 12 && day >= 1 && day <= 31 {
			return time.Date(year, time.Month(month), day, 0, 0, 0, 0, zone)
		}
	}
	return time.Time{}
}
