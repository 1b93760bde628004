package parsers

import "bytes"

// dubboDetector reads what Apache Dubbo (2.5.0 to 3.3, also under its com.alibaba
// names) and dubbo-go (1.0 to 3.3) write about calls, pools and providers, or
// put into the exceptions that an application logs.
//
// A record tells one story, however often its message is repeated in the
// exception's line and in its causes: the readers are asked in order, the first
// that recognises its own grammar has the record.
func dubboDetector() detector {
	d := detector{
		name: "dubbo",
		doc:  "Dubbo's failed and retried calls, exhausted pools, timeouts, late responses, empty routes and profiler reports",
		find: findDubbo,
	}
	for _, r := range dubboReaders {
		d.signs = append(d.signs, r.sign)
	}
	return d
}

// dubboReader reads one kind of message, whose words stand at off in the text.
// It reports whether the message was really there.
type dubboReader struct {
	sign string
	read func(d *dubboText, off int) (bool, error)
}

// dubboReaders in the order in which they are asked: what encloses others first.
var dubboReaders = []dubboReader{
	{"this invocation almost (maybe already) timeout", readDubboProfiler},
	{"Although retry the method ", readDubboRetried},
	{"Failed to invoke the method ", readDubboFailed},
	{"[Cluster][Failover] ", readDubboGoFailover},
	{"Failfast invoke providers ", readDubboFailfast},
	{"Failed to forking invoke provider ", readDubboForking},
	{"Failsafe ignore exception: ", readDubboFailsafe},
	{"Failback to invoke method ", readDubboFailback},
	{"Attempt to retry to invoke method ", readDubboFailbackRetry},
	{"Failed retry to invoke method ", readDubboFailbackFailed},
	{"Failed retry times exceed threshold", readDubboFailbackGivenUp},
	{"Failed to check the status of the service ", readDubboStartCheck},
	{"No provider available", readDubboNoProvider},
	{"No provider is available because can't connect", readDubboNoProvider},
	{"Forbid consumer ", readDubboForbidden},
	{"Router snapshot service ", readDubboSnapshot},
	{"oute result is empty and force execute", readDubboConditionEmpty},
	{"The current consumer in the service bl", readDubboConditionEmpty},
	{"[Router][Condition] route returned empty set", readDubboGoRouteEmpty},
	{"pool is exhausted", readDubboRelayed},
	{"Thread pool is EXHAUSTED!", readDubboExhausted},
	{"invoke timed out. method: ", readDubboProviderTimeout},
	{"invoke time out. method: ", readDubboProviderTimeout},
	{"The timeout response finally returned at ", readDubboLate},
	{"Send result to consumer failed, channel is ", readDubboUnsent},
	{"The service using threads greater than ", readDubboLimit},
	{"Waiting concurrent invoke timeout in client-side", readDubboLimit},
	{"The invocation was rejected due to over the ", readDubboGoLimit},
	{"Invoke remote method timeout. method: ", readDubboAttempt},
	{"Failed to invoke remote method: ", readDubboAttempt},
	{"Fail to invoke remote method: ", readDubboAttempt},
	{"Waiting server-side response timeout", readDubboAttempt},
	{"Sending request timeout in client-side", readDubboAttempt},
	{"UNAVAILABLE : upstream ", readDubboAttempt},
	{"message can not send, because channel is closed", readDubboAttempt},
	{"maybe the client read timeout or fail to decode tcp stream", readDubboAttempt},
	{") failed to connect to server ", readDubboConnect},
	{"is now destroyed! Can not invoke any more", readDubboDestroyed},
	{"Run shutdown hook now", readDubboShutdown},
	{"DubboBootstrap is about to shutdown", readDubboShutdown},
	{"Dubbo Application[", readDubboShutdown},
	{"dump jstack error", readDubboDumpFailed},
	{"dump jStack error", readDubboDumpFailed},
}

func findDubbo(r *logRecord, o *logOut) error {
	if quotesLogs(r) {
		return nil
	}
	d := &dubboText{r: r, o: o, text: r.Text}
	d.envelope()
	from, err := d.refusal()
	if err != nil {
		return err
	}
	for i := range dubboReaders {
		off := o.offset(dubboReaders[i].sign)
		if off >= 0 && off < from { // told already: look behind it
			if off = bytes.Index(d.text[from:], []byte(dubboReaders[i].sign)); off >= 0 {
				off += from
			}
		}
		if off < 0 || isComment(d.text[bytes.LastIndexByte(d.text[:off], '\n')+1:off]) {
			continue
		}
		if done, err := dubboReaders[i].read(d, off); done || err != nil {
			o.dubbo = done
			return err
		}
	}
	return nil
}

// refusal reads a refusal that is the record's own message, and returns where
// the rest of the record begins. Dubbo prints that line without a stack trace:
// an exception under it, in a paste or a log without times, is another story.
func (d *dubboText) refusal() (int, error) {
	line := d.r.first()
	off := bytes.Index(line, []byte("[DUBBO] "+exhausted))
	if off < 0 || len(line) == len(d.text) {
		return 0, nil
	}
	whole := d.text
	d.text = d.text[:len(line)]
	done, err := readDubboExhausted(d, off+len("[DUBBO] "))
	d.text = whole
	if !done {
		return 0, err
	}
	d.o.dubbo = true
	return len(line), err
}

// quotesLogs reports whether a record is not one, but a comment, a command or
// a document that quotes log messages.
func quotesLogs(r *logRecord) bool {
	if !r.Time.IsZero() || r.Level != "" {
		return false
	}
	line := bytes.TrimLeft(r.first(), " \t")
	for _, start := range []string{"#", "//", "/*", "* ", "<!--", "-- ", ";", "> ", "$ ", "| ", "grep ", "- ", "assert", "expr:", "\"\"\"", "logger.", "log."} {
		if bytes.HasPrefix(line, []byte(start)) {
			return true
		}
	}
	return false
}

// isComment reports whether a line that begins so is a comment or a document's.
func isComment(b []byte) bool {
	b = bytes.TrimLeft(b, " \t")
	return bytes.HasPrefix(b, []byte("#")) || bytes.HasPrefix(b, []byte("//")) || bytes.HasPrefix(b, []byte("* ")) || bytes.HasPrefix(b, []byte("<!--"))
}
