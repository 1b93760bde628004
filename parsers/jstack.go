package parsers

import (
	"bytes"
)

// HotSpot thread dumps, as printed by jstack, jcmd Thread.print, kill -3 and
// jhsdb since JDK 5, and what imitates them (VisualVM, JConsole, the actuator's
// text form, IDEs, web analysers):
//
//	Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6-LTS mixed mode, sharing):
//
//	"http-nio-8080-exec-4" #31 daemon prio=5 os_prio=0 cpu=12.34ms elapsed=81.02s tid=0x00007f1d nid=0x503 runnable  [0x00007f1c]
//	   java.lang.Thread.State: RUNNABLE
//		at java.net.SocketInputStream.socketRead0(Native Method)
//
// The machine that reads them is in javadump.go, headers in javaheader.go, locks
// in javalock.go, what follows the threads in javaend.go.

func jstackFormat() Format {
	return Format{
		Name:     "jstack",
		Doc:      "Java thread dump as text: jstack, jcmd Thread.print, kill -3, jhsdb, VisualVM, IDEs",
		Versions: "JDK 5 to 25; made with 17.0.15 and 25.0.3",
		Signs:    []string{`"Full thread dump …"`, `a line "name" … tid=0x… nid=…`, `"name" - Thread t@N`},
		Marks: append([]string{
			"Full thread dump", " - Thread t@", ": (state = ", " - threadId:0x",
			"Attaching to process ID",
		}, hexMarks(" tid=0x")...),
		Starts: func(line []byte) bool { return javaStart(line).family == familyHotSpot },
		Block:  func(in *Input, emit Emit) error { return javaBlock(in, emit, familyHotSpot) },
	}
}

// hexMarks returns marks for a short literal that a hexadecimal digit follows.
func hexMarks(literal string) []string {
	var marks []string
	for _, digit := range "0123456789abcdefABCDEF" {
		marks = append(marks, literal+string(digit))
	}
	return marks
}

// family is a set of header shapes that may stand in one dump.
type family int8

const (
	familyNone family = iota
	familyHotSpot
	familyThreadInfo
	familyToFile
	familyJSON
	familyJavacore
)

// start is how the first line of a dump was understood.
type start struct {
	family family
	prefix []byte // what stands in front of every line
	banner []byte // from "Full thread dump" on; nil if the dump begins with a thread
}

var fullThreadDump = []byte("Full thread dump")

// javaStart tells whether a line begins a Java thread dump, or a part of one.
func javaStart(line []byte) start {
	if i := bytes.Index(line, fullThreadDump); i >= 0 && isPrefix(line[:i]) && isBanner(line[i:]) {
		return start{familyHotSpot, javaPrefix(line[:i]), line[i:]}
	}
	if i := bytes.Index(line, []byte("Attaching to process ID")); i >= 0 && isPrefix(line[:i]) {
		return start{familyHotSpot, javaPrefix(line[:i]), line[i:]}
	}
	if i := bytes.Index(line, []byte("Thread ")); i >= 0 && isPrefix(line[:i]) {
		if _, ok := oldHeader(line[i:]); ok {
			return start{family: familyHotSpot, prefix: javaPrefix(line[:i])}
		}
	}
	quote := headerStart(line)
	if quote < 0 {
		if _, ok := analyserHeader(line); ok {
			return start{family: familyHotSpot}
		}
		return start{}
	}
	prefix := line[:quote]
	if !isPrefix(prefix) {
		return start{}
	}
	var h javaHeader
	if !h.parse(line[quote:]) {
		return start{}
	}
	if h.toFile { // the # is part of the header
		return start{family: familyToFile, prefix: javaPrefix(prefix)}
	}
	return start{family: h.family(), prefix: javaPrefix(prefix)}
}

// headerStart returns where a header begins: at its opening quote, or at the #
// in front of it.
func headerStart(line []byte) int {
	quote := bytes.IndexByte(line, '"')
	if escaped := bytes.Index(line, htmlQuote); escaped >= 0 && (quote < 0 || escaped < quote) {
		return escaped
	}
	if quote < 2 || line[quote-1] != ' ' {
		return quote
	}
	i := quote - 1
	for i > 0 && isDigit(line[i-1]) {
		i--
	}
	if i > 0 && i < quote-1 && line[i-1] == '#' {
		return i - 1
	}
	return quote
}

// isBanner tells a dump's first line from prose about dumps.
func isBanner(text []byte) bool {
	rest := bytes.TrimSpace(text[len(fullThreadDump):])
	return len(rest) == 0 || rest[0] == ':' || bytes.HasSuffix(rest, []byte("):")) || bytes.HasSuffix(rest, []byte(")")) && bytes.Contains(rest, []byte("mode"))
}

// isPrefix reports whether text may be what a log, a container or a person put
// in front of a dump's line.
func isPrefix(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	if len(text) > 200 || text[0] == '{' {
		return false
	}
	switch text[len(text)-1] {
	case ' ', '\t', '>', ']', '|', '`', ':':
		return true
	}
	return false
}

// javaPrefix returns a prefix worth removing: blanks alone are only indentation.
func javaPrefix(text []byte) []byte {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	return bytes.Clone(text)
}

// unprefix removes from a line what has the shape of prefix: digits stand for
// any number, everything else for itself. A line without it is returned whole.
func unprefix(line, prefix []byte) []byte {
	i, j := 0, 0
	for j < len(prefix) {
		if isDigit(prefix[j]) {
			if i >= len(line) || !isDigit(line[i]) {
				return line
			}
			for j < len(prefix) && isDigit(prefix[j]) {
				j++
			}
			for i < len(line) && isDigit(line[i]) {
				i++
			}
			continue
		}
		if i == len(line) && len(bytes.TrimSpace(prefix[j:])) == 0 { // blank line, trimmed
			return nil
		}
		if i >= len(line) || line[i] != prefix[j] {
			return line
		}
		i++
		j++
	}
	return line[i:]
}

// isNumber reports whether text is one or more decimal digits.
func isNumber(text []byte) bool {
	for _, c := range text {
		if !isDigit(c) {
			return false
		}
	}
	return len(text) > 0
}
