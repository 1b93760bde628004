package deploy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/exporter"
)

// known are the series that a query may ask for, and the labels they have.
type known map[string][]string

// exported are the series of firebreak's own table, and what else stands on its
// page or is made by a scrape.
func exported() known {
	k := known{
		"up": nil, "ALERTS": {"alertname", "alertstate", "severity"},
		"firebreak_build_info":          {"version", "revision", "goversion"},
		"process_resident_memory_bytes": nil,
		"process_cpu_seconds_total":     nil,
		"go_goroutines":                 nil,
	}
	for _, m := range exporter.Metrics() {
		k[m.Name] = m.Labels
		if m.Type == "histogram" {
			k[m.Name+"_bucket"] = append(slices.Clone(m.Labels), "le")
			k[m.Name+"_sum"], k[m.Name+"_count"] = m.Labels, m.Labels
		}
	}
	for name, labels := range k {
		k[name] = append(slices.Clone(labels), "job", "instance")
	}
	return k
}

// check says what of a query is not known. Labels that a series is selected by must
// be its own; those of by, without, on and ignoring must be of some series of the
// query. It returns the labels of all its series.
func (k known) check(query string) (labels []string, problems []string) {
	var grouped []string
	words := tokens(query)
	for i := 0; i < len(words); i++ {
		word := words[i]
		next := func(n int) string {
			if i+n < len(words) {
				return words[i+n]
			}
			return ""
		}
		switch {
		case !isName(word):
		case grouping[word]:
			if next(1) == "(" {
				for i += 2; i < len(words) && words[i] != ")"; i++ {
					if words[i] != "," {
						grouped = append(grouped, words[i])
					}
				}
			}
		case operators[word], next(1) == "(", next(1) == "by", next(1) == "without": // a function or an operator
		default:
			own, ok := k[word]
			if !ok {
				problems = append(problems, fmt.Sprintf("no metric %s", word))
			}
			labels = append(labels, own...)
			if next(1) != "{" {
				continue
			}
			for i += 2; i < len(words) && words[i] != "}"; i++ {
				if ok && isName(words[i]) && !slices.Contains(own, words[i]) {
					problems = append(problems, fmt.Sprintf("%s has no label %s", word, words[i]))
				}
			}
		}
	}
	for _, label := range grouped {
		if !slices.Contains(labels, label) {
			problems = append(problems, fmt.Sprintf("no series here has the label %s", label))
		}
	}
	return labels, problems
}

var (
	grouping  = map[string]bool{"by": true, "without": true, "on": true, "ignoring": true, "group_left": true, "group_right": true}
	operators = map[string]bool{"and": true, "or": true, "unless": true, "offset": true, "bool": true, "inf": true, "nan": true}
)

func isName(word string) bool {
	return word != "" && (word[0] == '_' || word[0] == ':' || word[0] >= 'a' && word[0] <= 'z' || word[0] >= 'A' && word[0] <= 'Z')
}

// tokens cuts a query into names and signs. Strings, numbers, ranges and comments
// are left out.
func tokens(query string) []string {
	var list []string
	for i := 0; i < len(query); {
		c := query[i]
		rest := query[i:]
		skip := 1
		switch {
		case c == '#':
			skip = endOf(rest, "\n")
		case c == '"' || c == '\'' || c == '`':
			for skip = 1; skip < len(rest) && rest[skip] != c; skip++ {
				if rest[skip] == '\\' && c != '`' {
					skip++
				}
			}
			skip++
		case c == '[':
			skip = endOf(rest, "]")
		case c >= '0' && c <= '9': // with its unit: 2h
			skip = len(rest) - len(strings.TrimLeft(rest, "0123456789.abcdefghijklmnopqrstuvwxyz"))
		case isName(rest):
			skip = len(rest) - len(strings.TrimLeft(rest, "0123456789_:abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
			list = append(list, rest[:skip])
		case c > ' ':
			list = append(list, string(c))
		}
		i += skip
	}
	return list
}

func endOf(text, end string) int {
	if at := strings.Index(text, end); at >= 0 {
		return at + len(end)
	}
	return len(text)
}

// The checker itself must see what is wrong.
func TestCheckOfQueries(t *testing.T) {
	k := known{"a_total": {"caller"}, "b": {"pool"}, "up": {"job"}}
	for _, c := range []struct{ query, want string }{
		{`sum by (caller) (rate(a_total{caller=~"x|y{}"}[5m])) / on (caller) group_left sum(a_total) > 0.2`, ""},
		{`max_over_time(b{pool="it's"}[2h] offset 30m) # not_a_metric`, ""},
		{`absent(up{job="x"}) or time() - b > 1e3`, ""},
		{`rate(c_total[5m])`, "no metric c_total"},
		{`a_total{pool="x"}`, "a_total has no label pool"},
		{`sum by (pool) (rate(a_total[5m]))`, "no series here has the label pool"},
		{`sum(rate(a_total[5m])) by (calleR)`, "no series here has the label calleR"},
		{`b and on (nobody) a_total`, "no series here has the label nobody"},
	} {
		if _, problems := k.check(c.query); strings.Join(problems, "; ") != c.want {
			t.Errorf("%s: %q, want %q", c.query, problems, c.want)
		}
	}
}
