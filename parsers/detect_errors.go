package parsers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Errors that no other detector knows:
//
//	2026-03-14 09:12:33.123 ERROR 1 --- [exec-7] c.a.shop.CartController : cart of member 71 not loaded
//	com.acme.shop.PriceTableException: no table for region 14
//		at com.acme.shop.Prices.of(Prices.java:51)
//	{"level":"error","ts":"2026-03-14T09:12:33Z","caller":"cart/cart.go:71","msg":"cannot decode reply","error":"unexpected EOF"}
//
// What they mean is not known, but thousands of them are not nothing. They are
// counted by the class of their exception, or by their message without its
// numbers, in stretches of a few seconds, so that a log that holds nothing else
// costs as many records as it has minutes.
func unknownErrors() detector {
	return detector{name: "errors", doc: "Records of level ERROR that no other detector reads, counted by exception or message", signs: levelSigns, find: func(r *logRecord, o *logOut) error {
		if o.told || o.dubbo || r.Level != "ERROR" && r.Level != "FATAL" {
			return nil
		}
		return o.errors.add(o, r)
	}}
}

// levelSigns stand in records of such a level, as loggers print them.
var levelSigns = func() []string {
	signs := []string{
		" ERROR [", "] ERROR ", ") ERROR ", "- ERROR ", "| ERROR ", "[ERROR] ", "[ERROR][", " ERROR: ", " ERROR - ", " ERROR | ", "Z ERROR ", "Z\tERROR\t", "\"ERROR\"",
		" FATAL [", "] FATAL ", "[FATAL] ", "SEVERE: ", "严重: ", " [error] ", " [crit] ", ":error] ", "level=error", "level=ERROR", "severity=ERROR", "lvl=eror", "level=fatal",
		`"level":"error"`, `"level": "error"`, `"level":"fatal"`, `"severity":"error"`, `"lvl":"error"`, `"@l":"Error"`, `"LogLevel":"Error"`, `"level":50,`, `"log.level":"error"`, `"log.level": "error"`,
	}
	signs = append(signs, "[错误] ", "【错误】", " 错误 ", "[异常] ", "[严重] ", "ERROR -- : ")
	for n := range 100 { // Serilog's [13:20:01 ERR]
		signs = append(signs, fmt.Sprintf("%02d ERR] ", n))
	}
	for d := '0'; d <= '9'; d++ {
		signs = append(signs, string(d)+" [ERR] ")
		signs = append(signs, string(d)+" ERROR ", string(d)+" FATAL ", string(d)+"\tERROR\t", "ERROR "+string(d)+" ", " ERROR "+string(d))
	}
	return slices.DeleteFunc(signs, func(s string) bool { return len(s) < windowSize })
}()

const (
	errorStretch  = 10 * time.Second
	maxErrorKinds = 200 // of one input; what is beyond counts as others
	maxErrorRun   = 500 // of one kind that one record stands for
)

// errorCounts are the errors of one input that are not emitted yet.
type errorCounts struct {
	kinds map[string]*errorRun
	ends  bool // asked for the end of the input
}

// errorRun is errors of one kind that followed each other.
type errorRun struct {
	count int
	first evidence.Record
	text  string
}

// add counts a record, and emits what came before of its kind if that is long ago.
func (c *errorCounts) add(o *logOut, r *logRecord) error {
	if c.kinds == nil {
		c.kinds = map[string]*errorRun{}
	}
	if !c.ends {
		c.ends = true
		o.in.atEnd = append(o.in.atEnd, func() error { return c.flush(o.emit) })
	}
	class := errorKind(r.Text)
	run := c.kinds[string(class)]
	if run == nil {
		if len(c.kinds) >= maxErrorKinds {
			class = []byte("others")
			run = c.kinds[string(class)]
		}
		if run == nil {
			run = &errorRun{}
			c.kinds[string(class)] = run
		}
	}
	if run.count > 0 && (run.count >= maxErrorRun || r.Time.Sub(run.first.Time).Abs() >= errorStretch) {
		if err := run.emit(string(class), o.emit); err != nil {
			return err
		}
	}
	if run.count == 0 {
		ev := o.at(0)
		run.first = *ev
		run.first.Raw = bytes.Clone(ev.Raw[:min(len(ev.Raw), maxText)])
		run.text = snippet(r.first(), maxText)
	}
	run.count++
	return nil
}

func (run *errorRun) emit(class string, emit Emit) error {
	r := run.first
	r.Mark = &evidence.Mark{Kind: evidence.MarkAppError, Subject: class, Text: run.text, Count: run.count}
	run.count = 0
	return emit(&r)
}

// flush emits what is left, in the order in which it was met.
func (c *errorCounts) flush(emit Emit) error {
	var left []string
	for class, run := range c.kinds {
		if run.count > 0 {
			left = append(left, class)
		}
	}
	slices.SortFunc(left, func(a, b string) int { return c.kinds[a].first.Cite.Line - c.kinds[b].first.Cite.Line })
	for _, class := range left {
		if err := c.kinds[class].emit(class, emit); err != nil {
			return err
		}
	}
	return nil
}

// errorKind is the class of the exception in a record, else its message without
// what differs from one to the next.
func errorKind(text []byte) []byte {
	rest := text
	for n := 0; n < 4 && len(rest) > 0; n++ {
		var line []byte
		line, rest, _ = bytes.Cut(rest, newline)
		if class := classIn(line); class != nil {
			return class
		}
	}
	if i := bytes.Index(text, []byte("\nCaused by: ")); i >= 0 {
		if class := classIn(text[i+len("\nCaused by: "):]); class != nil {
			return class
		}
	}
	return maskedMessage(text)
}

// classIn returns the class of an exception that a line names: "a.b.FooException: …",
// "… nested exception is a.b.FooError", `"error_type":"FooException"`.
func classIn(line []byte) []byte {
	line = upTo(line[:min(len(line), 400)], "\n")
	for _, end := range [...]string{"Exception", "Error"} {
		for at := 0; ; {
			i := bytes.Index(line[at:], []byte(end))
			if i < 0 {
				break
			}
			to := at + i + len(end)
			from := at + i
			for from > 0 && (isASCIILetter(line[from-1]) || line[from-1] >= '0' && line[from-1] <= '9' || line[from-1] == '.' || line[from-1] == '_' || line[from-1] == '$') {
				from--
			}
			if class := line[from:to]; bytes.IndexByte(class, '.') > 0 && !isASCIILetter(byteAt(line, to)) && byteAt(line, to) != '.' {
				return class
			}
			at = to
		}
	}
	return nil
}

// maskedMessage is the beginning of a message with its numbers and quoted values
// left out.
func maskedMessage(text []byte) []byte {
	line := upTo(text, "\n")
	out := make([]byte, 0, 64)
	for i := 0; i < len(line) && len(out) < 60; i++ {
		switch c := line[i]; {
		case c >= '0' && c <= '9':
			if len(out) == 0 || out[len(out)-1] != '#' {
				out = append(out, '#')
			}
		case c == '"' || c == '\'':
			if end := bytes.IndexByte(line[i+1:], c); end >= 0 && end < 80 {
				i += end + 1
				out = append(out, '#')
				continue
			}
			out = append(out, c)
		default:
			out = append(out, c)
		}
	}
	return []byte(strings.ToValidUTF8(strings.TrimSpace(string(out)), ""))
}

// enoughAtEnd is how many errors the end of a log must hold to be told of by
// themselves, and mostAtEnd which share of its records they then are.
const (
	enoughAtEnd = 100
	mostAtEnd   = 0.2
)

// levelsAtEnd looks at the levels of a log's last records where no error was
// counted: loggers write levels in more ways than there are signs for, such as
// klog's E0314. What it says holds for these records alone.
func (in *Input) levelsAtEnd(tail []byte, emit Emit) error {
	if in.Tally["app-log"] > 0 || in.Lines.Wrapped() {
		return nil
	}
	lines, number := bytes.Split(bytes.TrimRight(tail, "\n"), newline), in.Lines.Number()
	var h header
	var first evidence.Record
	clock := newClockwork(in)
	records, errors := 0, 0
	for i, line := range lines[min(1, len(lines)-1):] { // the first is cut
		if !h.parse(bytes.TrimRight(line, "\r")) || h.level == "" {
			continue
		}
		records++
		if h.level != "ERROR" && h.level != "FATAL" {
			continue
		}
		if errors++; errors == 1 {
			first = evidence.Record{Place: in.place(), Cite: in.cite(max(1, number-len(lines)+2+i)), Raw: bytes.Clone(line[:min(len(line), maxText)])}
			first.Time, first.Zoned = clock.resolve(&h.stamp)
			first.Mark = &evidence.Mark{Kind: evidence.MarkAppError, Subject: string(maskedMessage(line[min(h.text, len(line)):])), Text: snippet(line, maxText)}
		}
	}
	if errors < enoughAtEnd || float64(errors) < mostAtEnd*float64(records) {
		return nil
	}
	first.Mark.Count = errors
	in.Tally["app-log"]++
	return emit(&first)
}
