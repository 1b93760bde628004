package simulate

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Number is a rate or an amount with three digits: "13.9", "900", "1,240".
func Number(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "?"
	case math.Abs(x) < 1e-4:
		return "0"
	case math.Abs(x) >= 100:
		return Whole(math.Round(x))
	case math.Abs(x) >= 10:
		return trimmed(x, 1)
	case math.Abs(x) >= 0.1:
		return trimmed(x, 2)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

func trimmed(x float64, digits int) string {
	s := strconv.FormatFloat(x, 'f', digits, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Whole is a whole number with its thousands apart.
func Whole(x float64) string {
	s := strconv.FormatFloat(math.Abs(x), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if x <= -0.5 {
		s = "-" + s
	}
	return s
}

// Ratio is an amplification: "3.0".
func Ratio(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// Percent is a share; what is not quite all is not called all.
func Percent(x float64) string {
	switch p := 100 * x; {
	case p > 0 && p < 1:
		return "<1 %"
	case p > 99 && p < 99.9:
		return trimmed(p, 1) + " %"
	case p >= 99.9 && p < 100:
		return ">99.9 %"
	default:
		return strconv.FormatFloat(math.Round(p), 'f', 0, 64) + " %"
	}
}

// Seconds is a time: "50 ms", "3.1 s", "2 min".
func Seconds(x float64) string {
	switch {
	case x < 1e-7:
		return "0 s"
	case x < 1e-3:
		return Number(x*1e6) + " µs"
	case x < 1:
		return Number(x*1e3) + " ms"
	case x < 600:
		return Number(x) + " s"
	case x < 1e6:
		return time.Duration(x * float64(time.Second)).Round(time.Second).String()
	}
	return Number(x) + " s"
}
