package parsers

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// OTLP's log records, JSON or protobuf, as the Collector's file exporter and the
// SDKs' exporters write them. There are two sorts. Those of an SDK's appender
// have a level, a logger and attributes beside the message:
//
//	{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"order"}}]},"scopeLogs":[{"scope":{"name":"org.apache.dubbo.rpc.cluster.support.FailoverClusterInvoker"},"logRecords":[{"timeUnixNano":"1773479553120000000","severityNumber":13,"severityText":"WARN","body":{"stringValue":"Although retry the method price …"},"attributes":[{"key":"exception.stacktrace","value":{"stringValue":"org.apache.dubbo.rpc.RpcException: …"}}]}]}]}]}
//
// Those of the Collector's filelog receiver hold a line as it stood in the file,
// with its own header and without a level beside it; a stack trace may be a
// record a line:
//
//	{"observedTimeUnixNano":"1773479553120000000","body":{"stringValue":"2026-03-14 09:12:33.120  WARN [order,,] 1 --- [nio-8080-exec-1] …"},"attributes":[{"key":"log.file.name","value":{"stringValue":"order.log"}}]}
//
// Both become lines of a text that is read as any log is: what wraps a line
// there, a resource and a file's name do here.

// otlpLog is one log record as it was read.
type otlpLog struct {
	time, observed int64 // Unix nanoseconds; 0 if not stated
	severity       int64
	level          []byte
	scope          string
	trace          []byte // hexadecimal, or empty
	body           []byte // its text, or the members of a structured one as JSON
	structured     bool
	extra          []byte // further members as JSON, each with a comma in front
	stack          []byte
	thrown, said   []byte // class and message of an exception
	thread, file   []byte
	key            []byte // scratch
}

func (o *otlpLog) reset() {
	*o = otlpLog{
		body: o.body[:0], extra: o.extra[:0], stack: o.stack[:0], thrown: o.thrown[:0], said: o.said[:0],
		thread: o.thread[:0], file: o.file[:0], key: o.key[:0], level: o.level[:0], trace: o.trace[:0],
	}
}

const (
	maxLogBody  = 512 << 10
	maxLogExtra = 8 << 10
)

// attribute takes one of the record's attributes, a scalar as text.
func (o *otlpLog) attribute(name, value []byte) {
	switch string(name) {
	case "exception.stacktrace", "exception.stack_trace":
		o.stack = append(o.stack[:0], value...)
	case "exception.type":
		o.thrown = append(o.thrown[:0], value...)
	case "exception.message":
		o.said = append(o.said[:0], value...)
	case "thread.name":
		o.thread = append(o.thread[:0], value...)
	case "log.file.path", "log.file.name", "filename", "file_name":
		if len(o.file) == 0 || string(name) == "log.file.path" {
			o.file = append(o.file[:0], value...)
		}
	case "message", "msg", "body", "log", "log.record.original", "thread.id", "log.iostream", "logtag", "log.file.name_resolved", "log.file.path_resolved",
		"time", "timestamp", "level", "severity", "code.namespace", "code.function", "code.function.name", "code.lineno", "code.line.number", "code.filepath", "code.file.path":
		// What the record says itself, and where in the source it was said.
	default:
		o.member(name, value)
	}
}

// member adds a member to what is known beside the message.
func (o *otlpLog) member(name, value []byte) {
	if len(o.extra)+len(name)+len(value) > maxLogExtra {
		return
	}
	o.extra = append(appendJSONText(append(o.extra, ','), name), ':')
	o.extra = appendJSONText(o.extra, value)
}

// level returns a name for a severity number: TRACE is 1 to 4, and so on.
func levelOfSeverity(n int64) string {
	if n < 1 || n > 24 {
		return ""
	}
	return [...]string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}[(n-1)/4]
}

// raw reports whether the body is a line of a file rather than a message: it has
// a header of its own, or nothing beside it says what a header would.
func (o *otlpLog) raw(h *header) bool {
	if o.structured || len(o.body) == 0 {
		return false
	}
	if o.severity == 0 && len(o.level) == 0 && len(o.scope) == 0 && len(o.stack)+len(o.thrown) == 0 {
		return true
	}
	line, _, _ := bytes.Cut(o.body, newline)
	return h.parse(line) && h.timed() && (h.strong() || h.json)
}

// at is when it happened, as far as the record says.
func (o *otlpLog) at() time.Time {
	n := o.time
	if n <= 0 {
		n = o.observed
	}
	if n <= 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// line appends the record as a line of JSON, as loggers write them.
func (o *otlpLog) line(dst []byte) []byte {
	dst = append(dst, `{"level":`...)
	level := string(o.level)
	if levelOf(o.level) == "" {
		if level = levelOfSeverity(o.severity); level == "" {
			level = "INFO"
		}
	}
	dst = strconv.AppendQuote(dst, level)
	if at := o.at(); !at.IsZero() {
		dst = append(dst, `,"@timestamp":"`...)
		dst = append(at.AppendFormat(dst, time.RFC3339Nano), '"')
	}
	text := func(name string, value []byte) {
		if len(value) > 0 {
			dst = appendJSONText(append(append(append(dst, ',', '"'), name...), '"', ':'), value)
		}
	}
	text("logger", []byte(o.scope))
	text("thread", o.thread)
	text("trace_id", o.trace)
	if o.structured {
		dst = append(dst, o.body...)
	} else {
		text("message", o.body)
	}
	switch {
	case len(o.stack) > 0:
		text("stack_trace", o.stack)
	case len(o.thrown) > 0:
		if len(o.said) > 0 {
			o.thrown = append(append(o.thrown, ": "...), o.said...)
		}
		text("stack_trace", o.thrown)
	}
	dst = append(dst, o.extra...)
	return append(dst, '}')
}

// appendJSONText appends a text as JSON has it.
func appendJSONText[T string | []byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c < ' ':
			dst = append(dst, fmt.Sprintf(`\u%04x`, c)...)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// logFeed reads log records as the text that they were. The reader of texts runs
// beside the reader of records, one of them at a time: when it has read what
// there is, it waits for more.
type logFeed struct {
	in     *Input // the text
	file   *Input // whose records they are
	buf    []byte // lines that the text has not read yet, from off
	off    int
	want   func(struct{}) bool
	resume func() (struct{}, bool)
	stop   func()
	ended  bool // no more records
	over   bool // the text has ended
	err    error
	head   header
	plain  []byte
	known  map[string]int
	places []evidence.Place
	numbed bool // its lines have no numbers: records are counted
	count  int
}

const feedSize = 64 << 10

// newLogFeed makes a feed for the records of an input.
func newLogFeed(in *Input, emit Emit, numbered bool) *logFeed {
	f := &logFeed{file: in, known: map[string]int{}, numbed: !numbered}
	if !numbered {
		out := emit
		emit = func(r *evidence.Record) error {
			r.Cite.Part, r.Cite.Line = "log record "+strconv.Itoa(r.Cite.Line), 0
			return out(r)
		}
	}
	text := *in
	f.in = &text
	f.in.Reader, f.in.Lines = f, NewLines(f)
	f.in.Lines.SetUnwrap(f.unwrap)
	f.in.placed = func(source string) (evidence.Place, bool) {
		n, err := strconv.Atoi(source)
		if err != nil || n >= len(f.places) {
			return evidence.Place{}, false
		}
		return f.places[n], true
	}
	if f.in.text == nil {
		f.in.text = func(*Input, Emit, func([]byte) (bool, error)) error { return nil }
	}
	f.in.Tally["app-log"] += 0 // known, whether or not it has anything to say
	f.resume, f.stop = iter.Pull(func(yield func(struct{}) bool) {
		f.want = yield
		f.err = f.in.text(f.in, emit, nil)
	})
	return f
}

// Read gives the text the lines of the records.
func (f *logFeed) Read(p []byte) (int, error) {
	for f.off == len(f.buf) {
		f.buf, f.off = f.buf[:0], 0
		if f.ended || !f.want(struct{}{}) {
			return 0, io.EOF
		}
	}
	n := copy(p, f.buf[f.off:])
	f.off += n
	return n, nil
}

// drain lets the text read what there is. It reports whether that went well.
func (f *logFeed) drain() error {
	if !f.over {
		if _, more := f.resume(); !more {
			f.over = true
		}
	}
	return f.err
}

// close ends the text.
func (f *logFeed) close() error {
	f.ended = true
	for !f.over {
		if err := f.drain(); err != nil {
			break
		}
	}
	f.stop()
	return f.err
}

// put adds a record of a process to the text: its line, its time, whose it is,
// and what it says, in one line.
func (f *logFeed) put(o *otlpLog, place evidence.Place, line int) error {
	f.in.Tally["otlp-logs"]++
	f.count++
	if f.numbed {
		line = f.count
	}
	key := place.Service + "\x00" + place.Instance + "\x00" + string(o.file)
	n, ok := f.known[key]
	if !ok {
		n = len(f.places)
		f.known[key] = n
		f.places = append(f.places, place)
	}
	at := o.at()
	if !at.IsZero() {
		if f.file.From.IsZero() || at.Before(f.file.From) {
			f.file.From = at
		}
		if at.After(f.file.To) {
			f.file.To = at
		}
	}
	f.buf = strconv.AppendInt(f.buf, int64(line), 10)
	f.buf = append(f.buf, ' ')
	if at.IsZero() {
		f.buf = append(f.buf, '0')
	} else {
		f.buf = strconv.AppendInt(f.buf, at.UnixNano(), 10)
	}
	f.buf = append(f.buf, ' ')
	f.buf = append(strconv.AppendInt(f.buf, int64(n), 10), ' ')
	if o.raw(&f.head) {
		for _, c := range bytes.TrimRight(o.body, "\r\n") {
			if c == '\n' {
				c = lineInLine
			}
			f.buf = append(f.buf, c)
		}
	} else {
		f.buf = o.line(f.buf)
	}
	f.buf = append(f.buf, '\n')
	if len(f.buf)-f.off < feedSize {
		return nil
	}
	return f.drain()
}

// lineInLine stands for a line end in a line of the feed.
const lineInLine = 0x1e

// unwrap takes apart what put wrote.
func (f *logFeed) unwrap(line []byte) ([]byte, bool) {
	var head [3]int64
	for k := range head {
		number, rest, ok := bytes.Cut(line, []byte(" "))
		if !ok {
			return nil, true // cut by the limit of a line
		}
		head[k], _ = wholeNumber(number)
		line = rest
	}
	f.in.Lines.num = int(head[0])
	at := time.Time{}
	if head[1] > 0 {
		at = time.Unix(0, head[1]).UTC()
	}
	f.in.Lines.SetOrigin(at, strconv.FormatInt(head[2], 10))
	if bytes.IndexByte(line, lineInLine) >= 0 {
		f.plain = append(f.plain[:0], line...)
		for i, c := range f.plain {
			if c == lineInLine {
				f.plain[i] = '\n'
			}
		}
		line = f.plain
	}
	return line, false
}
