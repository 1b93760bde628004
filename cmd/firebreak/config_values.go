package main

import (
	"encoding/csv"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/spf13/pflag"

	"github.com/firebreak-io/firebreak/document"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
)

// The kinds of values. Each is read the same way from a flag, a variable and the
// file, and says itself as it is read.

// textValue is any text.
type textValue struct{ to *string }

func (v textValue) Set(s string) error { *v.to = s; return nil }
func (v textValue) String() string     { return *v.to }
func (v textValue) Type() string       { return "string" }

// wordValue is one of a few words.
type wordValue struct {
	to    *string
	words []string
}

func (v wordValue) Set(s string) error {
	if !slices.Contains(v.words, s) {
		return lang.Errorf("%q is none of %s", s, strings.Join(v.words, ", "))
	}
	*v.to = s
	return nil
}
func (v wordValue) String() string { return *v.to }
func (v wordValue) Type() string   { return "string" }

// formatValue is the name of a format, "text" for none of them, or empty.
type formatValue struct{ to *string }

func (v formatValue) Set(s string) error {
	names := []string{"text"}
	for _, f := range parsers.Formats() {
		names = append(names, f.Name)
	}
	if s != "" && !slices.Contains(names, s) {
		return lang.Errorf("there is no format %q%s: firebreak formats lists them, and left out it is recognised", s, likely(s, names))
	}
	*v.to = s
	return nil
}
func (v formatValue) String() string { return *v.to }
func (v formatValue) Type() string   { return "string" }

// likely is a hint at the formats that were meant: those with the word in their
// name, or what is spelt most alike.
func likely(word string, names []string) string {
	word = strings.ToLower(word)
	if near := document.Nearest(word, names); near != "" {
		return near
	}
	var parts []string
	for _, n := range names {
		parts = append(parts, strings.Split(n, "-")...)
	}
	if part := document.Closest(word, parts); part != "" {
		word = part
	}
	var with []string
	for _, n := range names {
		if len(word) > 2 && strings.Contains(n, word) {
			with = append(with, strconv.Quote(n))
		}
	}
	if len(with) == 0 || len(with) > 4 {
		return ""
	}
	return lang.Sprintf(" (did you mean %s?)", strings.Join(with, ", "))
}

// accessValue is a layout of access logs, or empty.
type accessValue struct{ textValue }

func (v accessValue) Set(s string) error {
	if s != "" {
		if err := parsers.CheckAccessFormat(s); err != nil {
			return err
		}
	}
	return v.textValue.Set(s)
}

// boolValue is true or false.
type boolValue struct{ to *bool }

func (v boolValue) Set(s string) error {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return lang.Errorf("%q is neither true nor false", s)
	}
	*v.to = b
	return nil
}
func (v boolValue) String() string { return strconv.FormatBool(*v.to) }
func (v boolValue) Type() string   { return "bool" }

// countValue is a whole number above zero.
type countValue struct{ to *int }

func (v countValue) Set(s string) error {
	n, err := strconv.Atoi(strings.ReplaceAll(s, "_", ""))
	if err != nil || n <= 0 {
		return lang.Errorf("%q is no whole number above zero", s)
	}
	*v.to = n
	return nil
}
func (v countValue) String() string { return strconv.Itoa(*v.to) }
func (v countValue) Type() string   { return "int" }

// durationValue is a time above zero.
type durationValue struct{ to *time.Duration }

func (v durationValue) Set(s string) error {
	d, err := parseDuration(s)
	if err != nil {
		return err
	}
	*v.to = d
	return nil
}
func (v durationValue) String() string { return spanOfTime(*v.to) }
func (v durationValue) Type() string   { return "duration" }

// parseDuration reads what Go writes (1m30s) and what Prometheus does (30d).
func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		var days model.Duration
		days, err = model.ParseDuration(s)
		d = time.Duration(days)
	}
	switch _, number := strconv.ParseFloat(s, 64); {
	case err != nil && number == nil:
		return 0, lang.Errorf("%q has no unit: write %ss or %sms", s, s, s)
	case err != nil:
		return 0, lang.Errorf("%q is no time: write 10s, 5m, 1h30m or 30d", s)
	case d <= 0:
		return 0, lang.Errorf("%q is not above zero", s)
	}
	return d, nil
}

// spanOfTime is a duration without the zeros at its end: 5m, not 5m0s.
func spanOfTime(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// sizeValue is a number of bytes. Zero, which is for none, is refused unless it
// is optional.
type sizeValue struct {
	to       *int64
	optional bool
}

func (v sizeValue) Set(s string) error {
	n, err := parseSize(s)
	switch {
	case err != nil:
		return err
	case n == 0 && !v.optional:
		return lang.Errorf("%q is not above zero", s)
	}
	*v.to = n
	return nil
}
func (v sizeValue) String() string { return formatSize(*v.to) }
func (v sizeValue) Type() string   { return "size" }

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"Ti", 1 << 40}, {"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}, {"B", 1}}

var errNoSize = errors.New("no size")

// parseSize reads 64MiB, 1.5GiB, 500MB or plain bytes.
func parseSize(s string) (int64, error) {
	number, unit := strings.TrimSpace(s), int64(1)
	for _, u := range sizeUnits {
		if stem, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(stem), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err == nil && (n < 0 || math.IsNaN(n) || n*float64(unit) >= math.MaxInt64/2) {
		err = errNoSize
	}
	if err != nil {
		return 0, lang.Errorf("%q is no size: write 64MiB, 1GiB or a number of bytes", s)
	}
	return int64(n * float64(unit)), nil
}

// formatSize says a size in the largest unit that leaves nothing over.
func formatSize(n int64) string {
	for _, u := range sizeUnits[:4] {
		if n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// textsValue is a list of texts, with commas between them. As a flag it may be
// given several times.
type textsValue struct {
	to    *[]string
	given *bool // a flag was given, and so the default is gone
}

func texts(to *[]string) textsValue { return textsValue{to, new(bool)} }

func (v textsValue) Set(s string) error {
	var list []string
	if s != "" {
		fields, err := csv.NewReader(strings.NewReader(s)).Read()
		if err != nil {
			return lang.Errorf("%q is no list with commas", s)
		}
		list = fields
	}
	if *v.given {
		list = append(*v.to, list...)
	}
	*v.to, *v.given = list, true
	return nil
}

func (v textsValue) String() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(*v.to)
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
func (v textsValue) Type() string { return "strings" }

var _ = []pflag.Value{textValue{}, wordValue{}, formatValue{}, accessValue{}, boolValue{}, countValue{}, durationValue{}, sizeValue{}, textsValue{}}
