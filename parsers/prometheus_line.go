package parsers

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	dto "github.com/prometheus/client_model/go"
)

type promKind int8

const (
	promComment promKind = iota // about a family, or an empty line
	promRemark                  // another comment
	promSample
	promEOF // "# EOF", which ends a scrape of OpenMetrics
)

// promLine tells whether a line can stand in a scrape, and the name that it is
// of: a sample's, or the family's of "# HELP", "# TYPE" and "# UNIT".
func promLine(line []byte) (name []byte, kind promKind, ok bool) {
	line = bytes.TrimRight(line, " \t")
	if len(line) == 0 {
		return nil, promComment, true
	}
	if line[0] == '#' {
		b := bytes.TrimLeft(line[1:], " \t")
		if bytes.Equal(b, []byte("EOF")) {
			return nil, promEOF, true
		}
		for _, word := range []string{"HELP", "TYPE", "UNIT"} {
			if !bytes.HasPrefix(b, []byte(word)) {
				continue
			}
			b = bytes.TrimLeft(b[len(word):], " \t")
			n := promNameLen(b)
			return b[:n], promComment, n > 0 && (n == len(b) || b[n] == ' ' || b[n] == '\t')
		}
		return nil, promRemark, true
	}
	n := promNameLen(line)
	if n == 0 || n == len(line) {
		return nil, promSample, false
	}
	switch line[n] {
	case '{':
		return line[:n], promSample, bytes.IndexByte(line[n:], '}') > 0
	case ' ', '\t':
		return line[:n], promSample, bytes.IndexByte(line[:n], '_') > 0 && promNumber(line[n:])
	}
	return nil, promSample, false
}

func promNameLen(b []byte) int {
	n := 0
	for n < len(b) && (isASCIILetter(b[n]) || b[n] == '_' || b[n] == ':' || n > 0 && b[n] >= '0' && b[n] <= '9') {
		n++
	}
	return n
}

// promNumber reports whether a text begins with a sample's value.
func promNumber(b []byte) bool {
	b = bytes.TrimLeft(b, " \t")
	if i := bytes.IndexAny(b, " \t"); i >= 0 {
		b = b[:i]
	}
	if len(b) == 0 || len(b) > 32 {
		return false
	}
	_, err := strconv.ParseFloat(string(b), 64)
	return err == nil
}

// promSplit cuts a sample into series and rest: value, timestamp, exemplar. The
// name has n bytes. The series is nil if the labels do not end.
func promSplit(line []byte, n int) (series, rest []byte) {
	if line[n] != '{' {
		return line[:n], line[n:]
	}
	quoted := false
	for i := n + 1; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '}' && !quoted:
			return line[:i+1], line[i+1:]
		}
	}
	return nil, nil
}

// promValue returns a sample's value and the time it states. OpenMetrics counts
// seconds, with a fraction, where the older text counts milliseconds; which of
// them it is, the number itself tells. What follows is an exemplar.
func promValue(rest []byte) (value []byte, at time.Time) {
	rest = bytes.TrimLeft(rest, " \t")
	value, rest, _ = bytes.Cut(rest, []byte{' '})
	rest = bytes.TrimSpace(rest)
	if i := bytes.IndexAny(rest, " \t"); i >= 0 {
		rest = rest[:i]
	}
	if len(rest) < 10 || len(rest) > 32 {
		return value, at
	}
	n, err := strconv.ParseFloat(string(rest), 64)
	switch {
	case err != nil:
	case n >= 1e9 && n < 1e11:
		at = time.UnixMilli(int64(math.Round(n * 1000))).UTC()
	case n >= 1e12 && n < 1e14:
		at = time.UnixMilli(int64(n)).UTC()
	}
	return value, at
}

// parse hands the scrape's lines to expfmt. A line that it does not take is
// skipped, and the rest is read.
func (r *promReader) parse() map[string]*dto.MetricFamily {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(r.text))
	if err == nil {
		return families
	}
	families = map[string]*dto.MetricFamily{}
	clear(r.lines)
	for text := range bytes.Lines(r.text) {
		one, err := parser.TextToMetricFamilies(bytes.NewReader(text))
		if err != nil {
			series, _ := promSplit(text, promNameLen(text))
			r.in.Skip(r.series[string(series)], "sample is not of the text format")
			continue
		}
		for name, f := range one {
			series, _ := promSplit(text, len(name))
			r.lines[name] = append(r.lines[name], r.series[string(series)])
			if have := families[name]; have != nil {
				have.Metric = append(have.Metric, f.Metric...)
			} else {
				families[name] = f
			}
		}
	}
	return families
}

// promNum is the value of a metric without a declared type.
func promNum(m *dto.Metric) float64 {
	switch {
	case m.GetUntyped() != nil:
		return m.GetUntyped().GetValue()
	case m.GetGauge() != nil:
		return m.GetGauge().GetValue()
	case m.GetCounter() != nil:
		return m.GetCounter().GetValue()
	}
	return math.NaN()
}
