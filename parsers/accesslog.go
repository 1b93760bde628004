package parsers

import (
	"bytes"
	"io"
)

// Access logs, one request a line, of any server and layout:
//
//	10.20.0.9 - - [14/Mar/2026:09:12:33 +0000] "GET /pay?order=1 HTTP/1.1" 200 12 "-" "checkout/2.1"
//	… rt=0.405 urt="0.003, 0.400, 0.003" ua="10.20.0.11:8080, 10.20.0.12:8080, 10.20.0.13:8080" us="503, 504, 200"
//	… 165 0.403 [pay] [] 10.20.0.12:8080, 10.20.0.13:8080 0, 12 0.401, 0.001 504, 200 6045d115bbc0d4c20500f382057af521
//
// nginx prints lists where it tried several servers: ", " stands between the
// tries of one group, " : " where the request was redirected to another
// location. What a layout's columns are is learned from the first lines (see
// learnAccess); lines in between that are none of an access log are read as
// those of any other text.
func accessLogFormat() Format {
	return Format{
		Name:     "access-log",
		Doc:      "Access logs of servers and proxies: each request with its outcome, time and, where a proxy lists them, its tries",
		Versions: "nginx of any log_format, Apache httpd, HAProxy, Envoy and Istio, Traefik, AWS load balancers, Kong, Caddy, Tomcat and Spring Boot, Reactor Netty; made with nginx 1.22, HAProxy 2.6, httpd 2.4, Tomcat 9.0 and 10.1",
		Signs:    []string{`… [14/Mar/2026:09:12:33 +0000] "GET /pay HTTP/1.1" 200 12 …`},
		Sniff: func(_ string, head []byte) Match {
			if isAccessLog(head, 50) {
				return Likely
			}
			return No
		},
		Parse:  accessLog,
		Marks:  []string{` HTTP/1.1" `, ` HTTP/1.0" `, ` HTTP/2.0" `, ` HTTP/2" `},
		Starts: startsAccessLines,
		Block:  readAccessLines,
		lines:  true,
	}
}

const (
	accessWindow   = 1 << 20 // bytes from which layouts are learned
	accessMinority = 10      // percent of the lines from which on a text is read as an access log, too
)

// isAccessLog reports whether at least so many percent of the whole lines in
// head are those of an access log.
func isAccessLog(head []byte, percent int) bool {
	if !hasRequest(head) && !bytes.Contains(head, []byte(" -- ")) { // the latter in HAProxy's tcplog
		return false
	}
	lines := sampleLines(head, len(head) < sniffSize)
	_, covered := learnAccess(lines)
	return covered > 0 && covered*100 >= percent*len(lines)
}

// hasRequest is a quick test for what stands in access logs only.
func hasRequest(head []byte) bool {
	for _, s := range accessSigns {
		if bytes.Contains(head, s) {
			return true
		}
	}
	return false
}

var accessSigns = [][]byte{[]byte(" HTTP/"), []byte("GET"), []byte("POST"), []byte("PUT")}

// sampleLines returns the lines of a text that are not blank. The last one
// counts only if nothing can follow.
func sampleLines(text []byte, all bool) [][]byte {
	var lines [][]byte
	for len(text) > 0 {
		line, rest, whole := bytes.Cut(text, newline)
		if text = rest; !whole && !all && len(lines) > 0 {
			break
		}
		if line = trimCR(line); len(bytes.TrimSpace(line)) > 0 && len(line) <= 32<<10 {
			lines = append(lines, line)
		}
	}
	return lines
}

// accessLog reads a text with access-log lines in it.
func accessLog(in *Input, emit Emit) error {
	return accessLogBy(in, emit, accessBlockSize, accessWorkers())
}

// accessLogBy reads a text in blocks of about so many bytes, with the help of so
// many goroutines.
func accessLogBy(in *Input, emit Emit, size, workers int) error {
	window, all, err := in.ahead(accessWindow)
	if err != nil {
		return err
	}
	layouts, _ := learnAccess(window)
	if given, err := compileAccessFormat(in.Hint.AccessFormat); err == nil {
		if given.fits(window) {
			if len(layouts) > 0 && layouts[0].understandsMore(given, window) {
				layouts[0].withUnits(given)
				layouts = append(layouts, given)
			} else {
				layouts = append([]*accessLayout{given}, layouts...)
			}
		} else if in.Hint.AccessFormat != "" {
			in.Skip(1, "the access format that was given does not fit; columns were recognised from the text")
		}
	}
	r := newAccessReader(in, emit, layouts)
	if in.Lines.follow != nil {
		r.emit = in.counted("access-log", emit)
	}
	if workers > 0 && len(layouts) > 0 && !in.Lines.Wrapped() && in.Lines.follow == nil && (!all || size < accessBlockSize) {
		r.blocks = newAccessBlocks(in, r.parser.layouts, size, workers)
		defer r.blocks.stop()
	}
	defer func() {
		if in.Lines.follow == nil {
			in.tally("access-log", r.sent)
		}
	}()
	return in.text(in, emit, r.line)
}

// ahead returns the first lines of the input without reading them: as many as
// stand in so many bytes, unwrapped; and whether they are all.
func (in *Input) ahead(size int) (lines [][]byte, all bool, err error) {
	head, err := io.ReadAll(io.LimitReader(in.Lines.r, int64(size)))
	if err != nil {
		return nil, false, err
	}
	all = len(head) < size
	for !all && len(head) < longLook && bytes.Count(head, newline) < fewLines {
		more, err := io.ReadAll(io.LimitReader(in.Lines.r, int64(size)))
		if err != nil {
			return nil, false, err
		}
		head = append(head, more...)
		all = len(more) < size
	}
	in.Lines.r = &prefixed{head, in.Lines.r}
	if !in.Lines.Wrapped() {
		return sampleLines(head, all), all, nil
	}
	l := NewLines(bytes.NewReader(head))
	l.width = in.Lines.width
	l.SetUnwrap(in.Lines.unwrap)
	for l.Next() {
		if len(l.Bytes()) > 0 {
			lines = append(lines, bytes.Clone(l.Bytes()))
		}
	}
	return lines, all, nil
}
