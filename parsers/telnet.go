package parsers

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// The dubbo-qos format: what people paste from a session with a Dubbo process,
// by telnet, nc or curl, on the service port (since 2.0) or the QoS port 22222
// (since 2.5.8), with or without the prompt and the command.
//
//	dubbo>invoke com.acme.order.OrderService.placeOrder({"sku":"A-1"})
//	Use default service com.acme.order.OrderService.
//	result: {"id":4711}
//	elapsed: 3120 ms.
//	dubbo>status -l
//	| threadpool | WARN   | Pool status:WARN, max:200, core:200, largest:200, active:200, task:845213, service port: 20880 |
//
// Each command is a block of its own; output of commands that say nothing here
// is left to others.
func dubboQosFormat() Format {
	return Format{
		Name:     "dubbo-qos",
		Doc:      "Dubbo telnet and QoS sessions: invoke, count, status, ls, getAddress, router snapshots",
		Versions: "Dubbo 2.5 to 3.3",
		Signs:    []string{"dubbo>", "elapsed: 12 ms.", "As Consumer side:", "Pool status:OK, max:200"},
		Marks: []string{
			"dubbo>", "elapsed: ", "Pool status:", "As Provider side:", "As Consumer side:",
			"[ All Invokers:", "ConsumerModel: ", " - Router snapshot service ", " - No provider available after route ",
			"| method ",
		},
		Starts: func(line []byte) bool { return qosKind(line) != qosNone },
		Block: func(in *Input, emit Emit) error {
			if !in.Lines.Next() {
				return in.Lines.Err()
			}
			s := qosSession{in: in, emit: emit}
			return s.read()
		},
	}
}

type qosLine int8

const (
	qosNone qosLine = iota
	qosPrompt
	qosElapsed
	qosPools
	qosProviders
	qosConsumers
	qosCounts
	qosInvokers
	qosAddress
	qosRecent
)

// qosKind tells what a line begins, if anything.
func qosKind(line []byte) qosLine {
	line = bytes.TrimSpace(line)
	switch {
	case bytes.HasPrefix(line, []byte("dubbo>")):
		return qosPrompt
	case bytes.HasPrefix(line, []byte("elapsed: ")):
		if _, ok := qosElapsedTime(line); ok {
			return qosElapsed
		}
	case bytes.HasPrefix(line, []byte("Pool status:")), bytes.HasPrefix(line, []byte("|")) && bytes.Contains(line, []byte("| Pool status:")):
		return qosPools
	case bytes.Equal(line, []byte("As Provider side:")):
		return qosProviders
	case bytes.Equal(line, []byte("As Consumer side:")):
		return qosConsumers
	case bytes.HasPrefix(line, []byte("[ All Invokers:")):
		return qosInvokers
	case bytes.HasPrefix(line, []byte("ConsumerModel: ")):
		return qosAddress
	case bytes.HasPrefix(line, []byte("| method ")):
		if c := tableCells(line); len(c) == 6 && c[1] == "total" && c[2] == "failed" && c[3] == "active" {
			return qosCounts
		}
	case len(line) > 16 && allDigits(line[:13]) && bytes.HasPrefix(line[13:], []byte(" - ")):
		if bytes.Contains(line, []byte("outer snapshot ")) {
			return qosRecent
		}
	}
	return qosNone
}

// qosSession reads one command's output.
type qosSession struct {
	in      *Input
	emit    Emit
	rec     evidence.Record
	service string // the command named it
	method  string
}

func (s *qosSession) read() error {
	line := s.in.Lines.Bytes()
	switch qosKind(line) {
	case qosPrompt:
		return s.command(string(bytes.TrimSpace(line)))
	case qosElapsed:
		s.lookBack()
		return s.elapsed(line)
	case qosPools:
		return s.pools(line)
	case qosProviders, qosConsumers:
		return s.list(qosKind(line) == qosConsumers)
	case qosCounts:
		s.lookBack()
		return s.counts()
	case qosInvokers:
		return s.invokers(line)
	case qosAddress:
		return s.addresses(line)
	case qosRecent:
		return s.recent(line)
	default:
		return ErrUnrecognized
	}
}

// record prepares a record at the current line.
func (s *qosSession) record() *evidence.Record {
	s.rec = evidence.Record{Place: s.in.place(), Cite: s.in.cite(s.in.Lines.Number())}
	return &s.rec
}

// command reads a prompt with the command typed at it. Only the output of
// invoke has to be followed from here: all other outputs are known by their own
// first line, and what they need of the command they look up.
func (s *qosSession) command(line string) error {
	for {
		rest, ok := strings.CutPrefix(line, "dubbo>")
		if !ok {
			break
		}
		line = strings.TrimSpace(rest)
	}
	if kind := qosKind([]byte(line)); kind == qosPools {
		return s.pools([]byte(line))
	}
	if verb, _, _ := strings.Cut(line, " "); verb != "invoke" {
		return nil
	}
	s.service, s.method = invoked(line)
	at := s.in.Lines.Number()
	var depth bracketDepth
	for n := 0; n < 100_000 && s.in.Lines.Next(); n++ {
		out := s.in.Lines.Bytes()
		if _, ok := qosElapsedTime(bytes.TrimSpace(out)); ok {
			return s.elapsed(out)
		}
		text := string(bytes.TrimSpace(out))
		name, isDefault := strings.CutPrefix(text, "Use default service ")
		switch {
		case depth.open():
			depth.add(out)
		case isDefault:
			if s.service == "" {
				s.service = strings.TrimSuffix(name, ".")
			}
		case strings.HasPrefix(text, "Failed to invoke method "):
			_, cause, _ := strings.Cut(text, "cause: ")
			return s.attempt(at, evidence.None, evidence.Failed, clip(cause, 200))
		case strings.HasPrefix(text, "No such "), strings.HasPrefix(text, "Invalid "), strings.HasPrefix(text, "Please "):
			return nil
		case n < 4 && isResult(text):
			depth.add(bytes.TrimPrefix(bytes.TrimSpace(out), []byte("result:")))
		case text == "" && n < 4:
		default:
			s.in.Lines.Unread()
			return nil
		}
	}
	return nil
}

// isResult reports whether a line can begin an invocation's result.
func isResult(text string) bool {
	if strings.HasPrefix(text, "result:") {
		return true
	}
	if text == "" {
		return false
	}
	c := text[0]
	if c == '[' && strings.HasPrefix(text, "[ ") {
		return false
	}
	return c == '{' || c == '[' || c == '"' || text == "null" || text == "true" || text == "false" || isJSONNumber(text)
}

func isJSONNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// bracketDepth follows brackets over the lines of a JSON text.
type bracketDepth struct {
	depth  int
	inText bool
}

func (d *bracketDepth) open() bool { return d.depth > 0 }

func (d *bracketDepth) add(line []byte) {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case d.inText && c == '\\':
			i++
		case c == '"':
			d.inText = !d.inText
		case d.inText:
		case c == '{' || c == '[':
			d.depth++
		case c == '}' || c == ']':
			d.depth--
		}
	}
	d.inText = false // a string does not go over a line's end
}

// invoked reads "invoke com.acme.order.OrderService.placeOrder({…})".
func invoked(command string) (service, method string) {
	i := strings.Index(command, "invoke ")
	if i < 0 {
		return "", ""
	}
	name, _, ok := strings.Cut(command[i+len("invoke "):], "(")
	name = strings.TrimSpace(name)
	if !ok || strings.ContainsAny(name, " \t\"'") {
		return "", ""
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		return name[:dot], name[dot+1:]
	}
	return "", name
}

// lookBack finds the command that a result without a prompt belongs to: a line
// with "invoke Service.method(…)" or "count Service", typed at a prompt or
// given to nc, just before it.
func (s *qosSession) lookBack() {
	before := s.in.Lines.Before()
	before = before[max(0, len(before)-(16<<10)):]
	for range 200 {
		before = bytes.TrimRight(before, "\r\n")
		if len(before) == 0 {
			return
		}
		at := bytes.LastIndexByte(before, '\n') + 1
		line := string(bytes.TrimSpace(before[at:]))
		before = before[:at]
		if name, ok := strings.CutPrefix(line, "Use default service "); ok {
			s.service = strings.TrimSuffix(name, ".")
			continue
		}
		if service, method := invoked(line); method != "" && !strings.HasPrefix(line, "Failed ") {
			if s.method = method; service != "" {
				s.service = service
			}
			return
		}
		if i := strings.Index(line, "count "); i >= 0 && (i == 0 || strings.ContainsAny(line[i-1:i], "> \"'")) {
			if f := strings.Fields(strings.Trim(line[i+len("count "):], "\"' ")); len(f) > 0 && strings.Contains(f[0], ".") {
				s.service = strings.Trim(f[0], "\"'")
			}
			return
		}
		if strings.HasPrefix(line, "elapsed: ") || strings.HasPrefix(line, "dubbo>") && len(line) > len("dubbo>") {
			return
		}
	}
}

// qosElapsedTime reads the whole line "elapsed: 3120 ms.".
func qosElapsedTime(line []byte) (time.Duration, bool) {
	n, ok := bytes.CutPrefix(line, []byte("elapsed: "))
	if !ok {
		return 0, false
	}
	if n, ok = bytes.CutSuffix(n, []byte(" ms.")); !ok || len(n) > 10 || !allDigits(n) {
		return 0, false
	}
	ms, _ := strconv.ParseInt(string(n), 10, 64)
	return time.Duration(ms) * time.Millisecond, true
}

func (s *qosSession) elapsed(line []byte) error {
	d, _ := qosElapsedTime(bytes.TrimSpace(line))
	return s.attempt(s.in.Lines.Number(), d, evidence.OK, "")
}

func (s *qosSession) attempt(line int, d time.Duration, outcome evidence.Outcome, why string) error {
	r := s.record()
	r.Cite.Line = line
	r.Attempt = &evidence.Attempt{
		Side: evidence.Probe, Service: s.service, Method: s.method, Duration: d,
		Timeout: evidence.None, Outcome: outcome, Error: why,
	}
	return s.emit(r)
}
