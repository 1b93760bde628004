package parsers

import (
	"bytes"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// formatOf names the kind of dump by its first header.
func formatOf(h *javaHeader) string {
	switch {
	case h.toFile:
		return "dump-to-file"
	case h.debugger:
		return "debugger"
	case h.at:
		return "jmx"
	case h.idEq, h.internal:
		return "threadinfo"
	}
	return "hotspot"
}

// debuggerName splits "main@1": debuggers add their own number to a name.
func debuggerName(name []byte) (rest, id []byte) {
	if at := bytes.LastIndexByte(name, '@'); at >= 0 && isNumber(name[at+1:]) {
		return name[:at], name[at+1:]
	}
	return name, nil
}

// settle draws from the lines of a thread what only all of them tell.
func (d *javaDump) settle() {
	t, s := &d.thread, &d.stack
	if s.State == evidence.StateUnknown {
		s.State = stateOfStatus(t.status)
	}
	if !t.hasState && len(s.Frames) > 0 && (s.State == evidence.StateUnknown || s.State == evidence.StateWaiting) {
		if s.State == evidence.StateUnknown {
			d.info.NoState = d.info.NoState || !s.Virtual && !s.Carrier
		}
		s.State = inferState(s.Frames, s.State)
	}
	if d.family == familyJavacore && s.State == evidence.StateWaiting {
		s.State = inferState(s.Frames, s.State) // it does not tell timed waits apart
	}
	if t.classInit {
		s.State, s.Detail = evidence.StateBlocked, "class init"
	}
	if s.State == evidence.StateBlocked && s.WaitsOn == (evidence.Lock{}) && t.first.ID != "" {
		s.WaitsOn, t.released = t.first, true // several monitors at the top: the first is the wanted one
	}
	if (t.released || s.Detail == "on object monitor") && s.WaitsOn.ID != "" {
		s.Holds = slices.DeleteFunc(s.Holds, func(l evidence.Lock) bool { return l.ID == s.WaitsOn.ID })
	}
	if s.WaitsOn.Class == "java.lang.VirtualThread" { // how JMX shows what a carrier is doing
		s.Carrier, d.info.Virtual = true, true
		s.WaitsOn = evidence.Lock{}
	}
	switch {
	case t.worker:
		s.Working = evidence.Yes
	case (t.syncs || d.printsSyncs && !s.Partial) && d.poolWorker():
		s.Working = evidence.No
	}
	if isSystemThread(s.Name) || t.vmNative && !t.hasState && len(s.Frames) == 0 {
		s.System = true
		if isVirtualHelper(s.Name) && d.family == familyHotSpot {
			d.info.Virtual = true
		}
	}
	t.uncounted = t.uncounted || t.vmNative && !t.hasState && len(s.Frames) == 0
	if len(s.Frames) > 0 && s.Frames[0].Func == "jdk.internal.vm.Continuation.run" {
		s.Carrier = true
	}
}

// poolWorker reports whether the thread is seen to be a ThreadPoolExecutor's.
func (d *javaDump) poolWorker() bool {
	for _, f := range slices.Backward(d.stack.Frames) {
		if d.workers[f] {
			return true
		}
	}
	return false
}

// stateOfStatus reads the VM's own word for a thread, for dumps without states.
func stateOfStatus(status string) evidence.State {
	switch {
	case status == "":
		return evidence.StateUnknown
	case status == "runnable", status == "running":
		return evidence.StateRunnable
	case strings.HasPrefix(status, "waiting for monitor entry"), status == "blocked":
		return evidence.StateBlocked
	case strings.HasPrefix(status, "sleeping"):
		return evidence.StateTimedWaiting
	case strings.HasPrefix(status, "in Object.wait"), strings.HasPrefix(status, "waiting"):
		return evidence.StateWaiting
	}
	return evidence.StateUnknown
}

// inferState tells from the innermost frames what a thread does, where nothing
// else says so.
func inferState(frames []*evidence.Frame, known evidence.State) evidence.State {
	if len(frames) == 0 {
		return known
	}
	timed := false
	for _, f := range frames[:min(4, len(frames))] {
		m := f.Func[strings.LastIndexByte(f.Func, '.')+1:]
		timed = timed || m == "parkNanos" || m == "parkUntil" || m == "awaitNanos" || m == "timedJoin" || strings.HasPrefix(m, "sleep")
	}
	top := frames[0].Func
	waits := strings.HasSuffix(top, "Unsafe.park") || strings.HasPrefix(top, "java.lang.VirtualThread.park") ||
		strings.HasPrefix(top, "java.lang.VirtualThread.yieldContinuation") || strings.HasPrefix(top, "java.lang.VirtualThread.sleep") ||
		strings.HasPrefix(top, "java.lang.Object.wait") || strings.HasPrefix(top, "java.lang.Thread.sleep") ||
		strings.HasPrefix(top, "jdk.internal.vm.Continuation.yield")
	switch {
	case waits && timed:
		return evidence.StateTimedWaiting
	case waits:
		return evidence.StateWaiting
	case known != evidence.StateUnknown:
		return known
	}
	return evidence.StateRunnable
}

// isSystemThread tells the VM's own threads by their names.
func isSystemThread(name string) bool {
	if name == "" {
		return false
	}
	switch name[0] {
	case 'A':
		return name == "Attach Listener"
	case 'C':
		return name == "Common-Cleaner" || strings.HasPrefix(name, "C1 CompilerThread") || strings.HasPrefix(name, "C2 CompilerThread") ||
			strings.HasPrefix(name, "CompilerThread") || strings.HasPrefix(name, "Concurrent Mark-Sweep GC")
	case 'D':
		return name == "DestroyJavaVM"
	case 'F':
		return name == "Finalizer" || strings.HasPrefix(name, "ForkJoinPool-") && strings.HasSuffix(name, "-delayScheduler")
	case 'G':
		return strings.HasPrefix(name, "GC Thread#") || strings.HasPrefix(name, "GC task thread#") || strings.HasPrefix(name, "G1 ") ||
			strings.HasPrefix(name, "Gang worker#") || name == "GC Daemon"
	case 'J':
		return strings.HasPrefix(name, "JVMCI")
	case 'L':
		return name == "Low Memory Detector"
	case 'M':
		return name == "Monitor Deflation Thread" || name == "MasterPoller"
	case 'N':
		return name == "Notification Thread"
	case 'R':
		return name == "Reference Handler" || strings.HasPrefix(name, "Read-Poller")
	case 'S':
		return name == "Signal Dispatcher" || name == "Service Thread" || name == "Sweeper thread" || name == "Secondary finalizer" ||
			strings.HasPrefix(name, "Surrogate Locker Thread") || strings.HasPrefix(name, "SubPoller-") || strings.HasPrefix(name, "Shenandoah ")
	case 'V':
		return name == "VM Thread" || name == "VM Periodic Task Thread" || name == "VirtualThread-unblocker"
	case 'W':
		return strings.HasPrefix(name, "Write-Poller")
	case 'Z':
		return strings.HasPrefix(name, "ZWorker") || strings.HasPrefix(name, "ZDriver") || strings.HasPrefix(name, "ZDirector") || strings.HasPrefix(name, "ZStat")
	}
	return false
}

// isVirtualHelper tells threads that only a runtime with virtual threads has.
func isVirtualHelper(name string) bool {
	return name == "VirtualThread-unblocker" || name == "MasterPoller" || strings.HasPrefix(name, "SubPoller-") ||
		strings.HasPrefix(name, "Read-Poller") || strings.HasPrefix(name, "Write-Poller")
}
