package parsers

import (
	"bytes"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

const (
	maxRecordLines = 5000
	maxRecordSize  = 1 << 20
	maxBack        = 48 << 10 // bytes looked back for a record's header
	maxStreams     = 64
)

// logReader joins application-log lines to records. In a plain text it is
// called at lines of interest only and looks back for the header; in a wrapped
// one (see Lines.SetUnwrap) it is shown every line, because lines of several
// streams may alternate, and joins each stream by itself.
type logReader struct {
	in      *Input
	clock   *clockwork
	out     logOut
	style   headerStyle
	head    header
	probe   header
	plain   logStream
	scratch []byte
	back    []byte
	learned bool
	done    int // the last line that belongs to something already read
	streams map[string]*logStream
	ticks   int // lines of streams so far
}

func newLogReader(in *Input, emit Emit) *logReader {
	names := &interner{}
	return &logReader{
		in: in, clock: newClockwork(in),
		out: logOut{in: in, emit: emit, names: names},
	}
}

// headerStyle is what the headers of a file have been seen to look like. A line
// of a message may begin with something like a header; once real ones are
// known, lesser ones do not count.
type headerStyle struct {
	shapes uint32 // shapes of times that stood with a level
	timed  bool   // some had a time
}

func (s *headerStyle) learn(h *header) {
	if h.timed() {
		s.timed = true
		if h.level != "" && !h.json {
			s.shapes |= 1 << h.stamp.shape
		}
	}
}

func (s *headerStyle) fits(h *header) bool {
	switch {
	case h.strong() || h.json:
		return true
	case h.timed():
		return s.shapes == 0 || s.shapes&(1<<h.stamp.shape) != 0
	}
	return !s.timed
}

// isHeader reports whether a record begins with this line, and learns from it.
func (l *logReader) isHeader(line []byte, h *header) bool {
	if !h.parse(line) || !l.style.fits(h) {
		return false
	}
	l.style.learn(h)
	return true
}

// logStream is a record being joined.
type logStream struct {
	rec    logRecord
	source string
	open   bool // it has at least one line
	headed bool // it began with a header
	single bool // nothing can follow (a JSON line)
	late   bool // its level stands in the second line (java.util.logging)
	dubbo  bool // a [DUBBO] message whose end has not been seen
	hit    bool // it holds a sign
	over   int  // lines beyond the limit
	used   int  // when it was last added to
}

// begin starts a record at a header, or at a line that has none if h is nil.
func (l *logReader) begin(s *logStream, line []byte, num int, h *header, origin time.Time) {
	r := &s.rec
	*r = logRecord{Text: r.Text[:0], lines: r.lines[:0]}
	*s = logStream{rec: *r, source: s.source, used: s.used, open: true}
	r = &s.rec
	if s.source != "" {
		r.Instance, r.App = l.in.ownerOf(s.source)
	}
	if h == nil {
		r.Time, r.Zoned = originTime(origin)
		l.add(s, line, num)
		return
	}
	s.headed = true
	names := l.out.names
	r.Time, r.Zoned = l.clock.resolve(&h.stamp)
	if shape := h.stamp.shape; !origin.IsZero() && (r.Time.IsZero() || h.stamp.year == 0 && shape != shapeEpoch) {
		r.Time, r.Zoned = originTime(origin)
	}
	r.Level = h.level
	r.Logger = names.of(h.logger)
	r.Thread = names.of(h.thread)
	r.Trace = string(h.trace)
	if len(h.app) > 0 {
		r.App = names.of(h.app)
	}
	if h.json {
		s.single = true
		if len(h.doc.instance) > 0 {
			r.Instance = names.of(h.doc.instance)
		}
		r.Text = h.doc.text(r.Text)
		r.lines = append(r.lines, recordLine{0, num})
		return
	}
	s.late = h.level == "" && h.timed()
	text := line[min(h.text, len(line)):]
	if h.text == 0 && bytes.IndexByte(text, '\\') >= 0 { // logfmt: the line is its own text, escaped
		l.scratch = appendUnescaped(l.scratch[:0], text, bytes.IndexByte(text, '\\'))
		text = l.scratch
	}
	l.add(s, text, num)
}

// add appends a line to a record.
func (l *logReader) add(s *logStream, line []byte, num int) {
	r := &s.rec
	if len(r.lines) >= maxRecordLines || len(r.Text)+len(line) > maxRecordSize {
		if s.over == 0 {
			l.in.Skip(num, "log record too long")
		}
		s.over++
		return
	}
	if len(r.lines) == 0 {
		s.dubbo = bytes.Contains(line, dubboTag)
	} else {
		r.Text = append(r.Text, '\n')
	}
	r.lines = append(r.lines, recordLine{len(r.Text), num})
	r.Text = append(r.Text, line...)
	if s.dubbo && bytes.Contains(line, dubboEnd) {
		s.dubbo = false
	}
}

var (
	dubboTag = []byte("[DUBBO] ")
	dubboEnd = []byte(", dubbo version: ")
)

// follows reports whether a line that is not a header goes on with the record.
func (s *logStream) follows(line []byte) bool {
	switch {
	case s.single, s.over > 10*maxRecordLines:
		return false
	case s.headed, s.dubbo && len(s.rec.lines) < 1200:
		return !s.newTrace(line)
	}
	return continuation(line)
}

// completes reports whether the line is the second half of a header of two
// lines, and takes its level:
//
//	Mar 14, 2026 9:12:33 AM com.acme.shop.Client send
//	WARNING: msg
func (s *logStream) completes(line []byte) bool {
	if !s.late || len(s.rec.lines) != 1 {
		return false
	}
	level, n := levelWord(line)
	if level == "" || byteAt(line, n) != ':' {
		return false
	}
	s.rec.Level, s.late = level, false
	return true
}

// continuation reports whether a line looks like the inside of a record.
func continuation(line []byte) bool {
	if len(line) == 0 || line[0] == ' ' || line[0] == '\t' {
		return true
	}
	for _, start := range continuations {
		if bytes.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

var continuations = [][]byte{
	[]byte("Caused by:"), []byte("at "), []byte("... "), []byte("Suppressed:"), []byte("Wrapped by:"), []byte("}"), []byte("+-["), []byte("invocation context:"), []byte("thread info:"),
}

func originTime(t time.Time) (time.Time, evidence.Tri) {
	if t.IsZero() {
		return t, evidence.Unknown
	}
	return t.UTC(), evidence.Yes
}

// record reads the record that the current line belongs to and offers it to
// the detectors. It leaves the first line of the next record unread.
func (l *logReader) record() error {
	lines := l.in.Lines
	s := &l.plain
	num := lines.Number()
	line := lines.Bytes()
	if l.isHeader(line, &l.head) && (l.head.timed() || (num-1 <= l.done || !l.wantsLevel(l.before()))) {
		l.begin(s, line, num, &l.head, time.Time{})
	} else {
		l.walkBack(s, num)
		s.completes(line)
		l.add(s, line, num)
	}
	l.done = num
	for lines.Next() {
		line := lines.Bytes()
		if !s.completes(line) && (l.isHeader(line, &l.probe) || !s.follows(line) || startsBlock(line)) {
			lines.Unread()
			break
		}
		l.done = lines.Number()
		l.add(s, line, l.done)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return l.offer(&s.rec)
}

// before returns the lines before the current one. Those up to l.done are not
// its record's.
func (l *logReader) before() []byte {
	text := l.in.Lines.Before()
	if len(text) > maxBack {
		text = text[len(text)-maxBack:]
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return text
}

// wantsLevel reports whether text ends in a header that still wants its level,
// as java.util.logging prints it.
func (l *logReader) wantsLevel(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	at := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	line := bytes.TrimRight(text[at:], "\r\n")
	return l.probe.parse(line) && l.probe.timed() && l.probe.level == ""
}

// clean removes what Lines removes of a line.
func (l *logReader) clean(line []byte) []byte {
	line = bytes.TrimRight(line, "\r")
	if bytes.IndexByte(line, 0x1b) >= 0 {
		l.back = stripEscapes(l.back[:0], line)
		line = l.back
	}
	return line
}

// learn looks at what headers there are before the first record that is read,
// so that it is not the lines of a message that tell.
func (l *logReader) learn(text []byte) {
	if l.learned {
		return
	}
	l.learned = true
	for n := 0; len(text) > 0 && n < 500; n++ {
		var line []byte
		line, text, _ = bytes.Cut(text, newline)
		if l.probe.parse(l.clean(line)) && l.probe.strong() {
			l.style.learn(&l.probe)
		}
	}
}

// walkBack begins the record whose header stands before the current line. If
// there is none, the record begins at the nearest line that is no continuation.
func (l *logReader) walkBack(s *logStream, num int) {
	text := l.before()
	l.learn(text)
	first := len(text) // where the record begins if there is no header
	open := continuation(l.in.Lines.Bytes())
	count, firstCount := 0, 0
	for at := len(text); at > 0 && num-count-1 > l.done && count < maxRecordLines; {
		end := at - 1
		at = bytes.LastIndexByte(text[:end], '\n') + 1
		count++
		line := l.clean(text[at:end])
		if l.isHeader(line, &l.head) {
			if !l.head.timed() && num-count-1 > l.done && l.wantsLevel(text[:at]) {
				continue
			}
			l.begin(s, line, num-count, &l.head, time.Time{})
			if !s.single {
				l.addAll(s, text[end+1:], num-count+1)
				return
			}
			// A JSON line has no continuation: what follows it has no header.
			break
		}
		if open {
			first, firstCount = at, count
			open = continuation(line)
		}
	}
	*s = logStream{rec: s.rec, source: s.source}
	s.rec = logRecord{Text: s.rec.Text[:0], lines: s.rec.lines[:0]}
	s.open = true
	l.addAll(s, text[first:], num-firstCount)
}

func (l *logReader) addAll(s *logStream, text []byte, num int) {
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n')
		if n < 0 {
			n = len(text) - 1
		}
		line := l.clean(text[:n])
		s.completes(line)
		l.add(s, line, num)
		text = text[n+1:]
		num++
	}
}

// line takes the current line of a wrapped input; hit says that it holds a sign.
func (l *logReader) line(hit bool) error {
	lines := l.in.Lines
	origin, source := lines.Origin()
	s, err := l.stream(source)
	if err != nil {
		return err
	}
	l.ticks++
	s.used = l.ticks
	line := lines.Bytes()
	switch {
	case s.open && s.completes(line):
		l.add(s, line, lines.Number())
	case l.isHeader(line, &l.head):
		if err := l.flush(s); err != nil {
			return err
		}
		l.begin(s, line, lines.Number(), &l.head, origin)
	case s.open && s.follows(line):
		l.add(s, line, lines.Number())
	default:
		if err := l.flush(s); err != nil {
			return err
		}
		l.begin(s, line, lines.Number(), nil, origin)
	}
	s.hit = s.hit || hit
	return nil
}

// stream returns the record being joined for a source.
func (l *logReader) stream(source string) (*logStream, error) {
	if s := l.streams[source]; s != nil {
		return s, nil
	}
	if l.streams == nil {
		l.streams = map[string]*logStream{}
	}
	if len(l.streams) >= maxStreams {
		var oldest *logStream
		for _, s := range l.streams {
			if oldest == nil || s.used < oldest.used {
				oldest = s
			}
		}
		delete(l.streams, oldest.source)
		if err := l.flush(oldest); err != nil {
			return nil, err
		}
	}
	s := &logStream{source: strings.Clone(source)}
	l.streams[s.source] = s
	return s, nil
}

// flush offers a stream's record.
func (l *logReader) flush(s *logStream) error {
	wanted := s.open && s.hit
	s.open, s.hit = false, false
	if !wanted {
		return nil
	}
	return l.offer(&s.rec)
}

// close offers what is left at the end of a wrapped input.
func (l *logReader) close() error {
	for len(l.streams) > 0 {
		var first *logStream
		for _, s := range l.streams {
			if first == nil || s.used < first.used {
				first = s
			}
		}
		delete(l.streams, first.source)
		if err := l.flush(first); err != nil {
			return err
		}
	}
	return nil
}

// ownerOf returns what a wrapper's source says of whose a line is.
func (in *Input) ownerOf(source string) (instance, service string) {
	if in.placed != nil {
		p, _ := in.placed(source)
		return p.Instance, p.Service
	}
	return podOf(source)
}

// podOf takes apart what a wrapper says about a stream's origin:
// "order-provider-7f9c8d6b5-x2x4z", "pod/order-0/app", "order-1", "stdout".
func podOf(source string) (instance, service string) {
	source = strings.TrimPrefix(source, "pod/")
	source, _, _ = strings.Cut(source, "/")
	source, _, _ = strings.Cut(source, " ")
	switch source {
	case "", "stdout", "stderr":
		return "", ""
	}
	return source, workloadOf(source)
}

// workloadOf removes from a pod's name what its controller added.
func workloadOf(pod string) string {
	parts := strings.Split(pod, "-")
	n := len(parts)
	last := parts[n-1]
	switch {
	case n > 2 && len(last) == 5 && generated(last) && len(parts[n-2]) >= 6 && len(parts[n-2]) <= 10 && generated(parts[n-2]): // Deployment
		n -= 2
	case n > 1 && len(last) <= 3 && strings.Trim(last, "0123456789") == "": // StatefulSet, compose
		n--
	case n > 1 && len(last) == 5 && generated(last) && strings.ContainsAny(last, "0123456789"): // DaemonSet
		n--
	}
	return strings.Join(parts[:n], "-")
}

// generated reports whether s has only letters and digits that Kubernetes uses
// in generated names, which have no vowels.
func generated(s string) bool {
	return strings.Trim(s, "bcdfghjklmnpqrstvwxz0123456789") == "" && s != "" || strings.ContainsAny(s, "0123456789") && strings.Trim(s, "abcdef0123456789") == ""
}
