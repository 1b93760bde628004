package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// readDubboStartCheck reads a consumer that did not start because nobody
// provides what it wants: a failed start, not a failed call.
func readDubboStartCheck(d *dubboText, off int) (bool, error) {
	if !bytes.Contains(d.message(off), []byte("No provider available for the service ")) {
		return false, nil
	}
	return d.mark(off, evidence.MarkDeploy, d.o.str(interfaceOf(until(after(d.message(off), "status of the service "), " \n"))))
}

// readDubboDestroyed reads a call that met an invoker being shut down.
func readDubboDestroyed(d *dubboText, off int) (bool, error) {
	start := bytes.LastIndexByte(d.text[:off], '\n') + 1
	if !bytes.Contains(d.text[start:off], []byte("invoker for ")) {
		return false, nil
	}
	return d.mark(off, evidence.MarkDeploy, d.o.str(until(bytes.TrimPrefix(after(d.text[start:off], "invoker for "), []byte("interface ")), " \n")))
}

// readDubboShutdown reads a process that begins to stop.
func readDubboShutdown(d *dubboText, off int) (bool, error) {
	line := d.line(off)
	if bytes.HasPrefix(line, []byte("Dubbo Application[")) && !bytes.Contains(line, []byte("is stopping")) && !bytes.Contains(line, []byte("has stopped")) &&
		!bytes.Contains(line, []byte("is ready")) && !bytes.Contains(line, []byte("has started")) && !bytes.Contains(line, []byte("is starting")) {
		return false, nil
	}
	return d.mark(off, evidence.MarkDeploy, d.o.str(between(line[:min(len(line), 160)], "](", ")")))
}

func readDubboDumpFailed(d *dubboText, off int) (bool, error) {
	return d.mark(off, evidence.MarkDumpFailed, "Dubbo_JStack.log")
}
