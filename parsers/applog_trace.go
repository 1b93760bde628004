package parsers

import "bytes"

// What a program prints past its logger has no headers: stack traces follow each
// other, and each is an event of its own:
//
//	Exception in thread "exec-1" java.sql.SQLException: Cannot get a connection, …
//		at com.acme.shop.Order.find(Order.java:8)
//	[exec-2] java.sql.SQLException: Cannot get a connection, …
//		at com.acme.shop.Order.find(Order.java:8)

// newTrace reports whether a line that has no header begins a stack trace of
// its own: the head of an exception, after the frames of another one.
func (s *logStream) newTrace(line []byte) bool {
	c := byteAt(line, 0)
	if c != '[' && !isASCIILetter(c) || len(s.rec.lines) < 2 {
		return false
	}
	last := s.rec.Text[s.rec.lines[len(s.rec.lines)-1].off:]
	if b := byteAt(last, 0); b != '\t' && b != ' ' {
		return false
	}
	last = bytes.TrimLeft(last, " \t")
	if !bytes.HasPrefix(last, []byte("at ")) && !bytes.HasPrefix(last, []byte("... ")) {
		return false
	}
	return traceHead(line)
}

// traceHead reports whether a line is "com.acme.FooException: why", perhaps
// after the thread that met it.
func traceHead(line []byte) bool {
	if name, ok := bytes.CutPrefix(line, []byte("Exception in thread \"")); ok {
		return bytes.Contains(name, []byte("\" "))
	}
	if byteAt(line, 0) == '[' {
		i := bytes.Index(line, []byte("] "))
		if i < 0 {
			return false
		}
		line = line[i+2:]
	}
	class := upTo(line, ": ")
	return exceptionClass(class) && classLike(class) && (len(class) == len(line) || line[len(class)] == ':')
}
