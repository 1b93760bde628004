package parsers

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// pgInterval reads an interval as PostgreSQL prints it ("00:00:01.24107",
// "1 day 02:03:04", "2 hours 3 mins", "@ 1.5 secs ago"), or a plain number,
// which is taken in the unit given.
func pgInterval(s string, unit time.Duration) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 64 {
		return 0, false
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return pgScaled(f, unit)
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "@ "), " ago")
	var total time.Duration
	seen := false
	words := strings.Fields(s)
	for i := 0; i < len(words); i++ {
		w := words[i]
		if strings.Contains(w, ":") {
			d, ok := pgClock(w)
			if !ok {
				return 0, false
			}
			total += d
			seen = true
			continue
		}
		f, err := strconv.ParseFloat(w, 64)
		if err != nil || i+1 == len(words) {
			return 0, false
		}
		i++
		u := time.Duration(0)
		switch strings.TrimSuffix(words[i], "s") {
		case "year":
			u = 365 * 24 * time.Hour
		case "mon", "month":
			u = 30 * 24 * time.Hour
		case "week":
			u = 7 * 24 * time.Hour
		case "day":
			u = 24 * time.Hour
		case "hour":
			u = time.Hour
		case "min", "minute":
			u = time.Minute
		case "sec", "second", "":
			u = time.Second
		case "msec", "millisecond", "m":
			u = time.Millisecond
		default:
			return 0, false
		}
		d, ok := pgScaled(f, u)
		if !ok {
			return 0, false
		}
		total += d
		seen = true
	}
	return total, seen
}

// pgClock reads "02:03:04.5", "-00:00:00.1" or "03:04".
func pgClock(w string) (time.Duration, bool) {
	negative := strings.HasPrefix(w, "-")
	parts := strings.Split(strings.TrimLeft(w, "+-"), ":")
	if len(parts) != 3 && len(parts) != 2 {
		return 0, false
	}
	var d time.Duration
	units := []time.Duration{time.Hour, time.Minute, time.Second}
	for i, p := range parts {
		f, err := strconv.ParseFloat(p, 64)
		if err != nil {
			return 0, false
		}
		part, ok := pgScaled(f, units[i])
		if !ok {
			return 0, false
		}
		d += part
	}
	if negative {
		d = -d
	}
	return d, true
}

func pgScaled(f float64, unit time.Duration) (time.Duration, bool) {
	f = math.Round(f*float64(unit)/1000) * 1000 // PostgreSQL counts microseconds
	if f != f || f > 1e18 || f < -1e18 {
		return 0, false
	}
	return time.Duration(f), true
}
