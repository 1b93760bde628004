package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// A process that starts, stops or runs out of memory:
//
//	Started OrderApplication in 12.345 seconds (JVM running for 13.2)
//	Shutting down ExecutorService 'applicationTaskExecutor'
//	java.lang.OutOfMemoryError: Java heap space
//	Memory cgroup out of memory: Killed process 4711 (java) total-vm:…
func lifecycle() detector {
	return messages("lifecycle", "Starts and stops of applications, OutOfMemoryError and the kernel's OOM killer", []rule{
		{sign: "java.lang.OutOfMemoryError", find: outOfMemory},
		{sign: "fatal error: runtime: out of memory", find: outOfMemory},
		{sign: "ut of memory: Killed process ", find: outOfMemory},
		{sign: "ut of memory: Kill process ", find: outOfMemory},
		{sign: " seconds (JVM running for ", find: started},
		{sign: " seconds (process running for ", find: started},
		{sign: "(powered by Quarkus ", find: started},
		{sign: "Server startup in ", find: started},
		{sign: "WFLYSRV0025: ", find: started},
		{sign: "WFLYSRV0050: ", find: stopped},
		{sign: "Stopping service [", find: stopped},
		{sign: "Shutting down ExecutorService", find: stopped},
		{sign: "Commencing graceful shutdown", find: stopped},
		{sign: "(SIGTERM) received from ", find: stopped},
		{sign: "got SIGTERM", find: stopped},
	})
}

func outOfMemory(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	reason := line
	if i := bytes.Index(line, []byte("OutOfMemoryError")); i >= 0 {
		reason = bytes.TrimLeft(line[i+len("OutOfMemoryError"):], ": ")
	}
	return o.mark(at, evidence.Mark{Kind: evidence.MarkOOM, Subject: snippet(upTo(reason, ";"), 80), Text: snippet(line, maxText)})
}

func started(o *logOut, text []byte, at int) (bool, error) {
	from, to := lineOf(text, at)
	line := text[from:to]
	subject := past(line, "Started ")
	if i := bytes.Index(subject, []byte(" in ")); i >= 0 {
		subject = subject[:i]
	}
	return o.mark(at, evidence.Mark{Kind: evidence.MarkDeploy, Subject: snippet(subject, 80), Text: "started"})
}

func stopped(o *logOut, text []byte, at int) (bool, error) {
	return o.mark(at, evidence.Mark{Kind: evidence.MarkDeploy, Text: "stopping: " + snippet(upTo(rest(text, at), "\n"), 80)})
}
