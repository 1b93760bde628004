package parsers

import (
	"bytes"
	"strconv"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Thread dumps with virtual threads, written by jcmd Thread.dump_to_file and by
// HotSpotDiagnosticMXBean.dumpThreads since JDK 21. As text (the machine is
// javaDump), 21 to 24 and 25:
//
//	#22 "order-vt-0" virtual
//	      java.base/java.lang.VirtualThread.park(VirtualThread.java:596)
//
//	#28 "order-vt-3" virtual WAITING 2026-11-30T05:17:05.137350878Z
//	    at java.base/java.lang.VirtualThread.park(VirtualThread.java:742)
//	    - parking to wait for <java.util.concurrent.locks.ReentrantLock$NonfairSync@1531bcc6>
//
// And as JSON, where 21 to 24 print no state, all numbers are strings up to 25
// and numbers in format version 2:
//
//	{"threadDump": {"processId": "12954", "time": "2026-11-30T08:41:52.83Z", "runtimeVersion": "25.0.3+9-LTS",
//	"threadContainers": [{"container": "<root>", "threads": [{"tid": "3", "name": "main", "stack": ["java.base\/java.lang…"]}]}]}}

func dumpToFileFormat() Format {
	return Format{
		Name:     "dump-to-file",
		Doc:      "Java thread dump with virtual threads: jcmd Thread.dump_to_file",
		Versions: "JDK 21 to 25 and format version 2; made with 25.0.3",
		Signs:    []string{`a line #N "name" virtual`, `{"threadDump": {… "threadContainers": …}}`},
		Sniff: func(_ string, head []byte) Match {
			if bytes.Contains(head, []byte(`"threadDump"`)) && beginsJSON(head) {
				return Sure
			}
			return No
		},
		Parse: parseJavaJSON,
		Marks: []string{
			`#1 "main"`, `#3 "main"`, `"Reference Handler"`, `" virtual`, `"threadDump"`,
			`" RUNNABLE `, `" WAITING `, `" TIMED_WAITING `, `" BLOCKED `,
		},
		Starts: func(line []byte) bool {
			return javaStart(line).family == familyToFile || startsThreadDump(line)
		},
		Block: func(in *Input, emit Emit) error {
			if !in.Lines.Next() {
				return ErrUnrecognized
			}
			document := startsThreadDump(in.Lines.Bytes())
			in.Lines.Unread()
			if document {
				return javaJSONBlock(in, emit)
			}
			return javaBlock(in, emit, familyToFile)
		},
	}
}

var startsThreadDump = startsJSON(`"threadDump"`)

// toFile reads the object "threadDump".
func (j *javaJSON) toFile() error {
	d := j.d
	declared := 0
	err := j.object(func(key string) (err error) {
		switch key {
		case "processId":
			d.info.PID, err = j.text()
		case "time":
			var s string
			if s, err = j.text(); err == nil {
				if t, bad := time.Parse(time.RFC3339, s); bad == nil {
					d.at, d.zoned = t.UTC(), evidence.Yes
				}
			}
		case "runtimeVersion":
			d.info.Version, err = j.text()
		case "threadContainers":
			return j.list(func() error { return j.container(&declared) })
		default:
			return j.skip()
		}
		return err
	})
	if declared > 0 {
		d.info.Declared = declared
	}
	return err
}

// container reads one group of threads: a pool, a scope, or the root.
func (j *javaJSON) container(declared *int) error {
	name := ""
	return j.object(func(key string) (err error) {
		switch key {
		case "container":
			name, err = j.text()
		case "threadCount":
			var s string
			s, err = j.text()
			if n, bad := strconv.Atoi(s); bad == nil {
				*declared += n
			}
		case "threads":
			return j.list(func() error { return j.toFileThread(name) })
		default:
			return j.skip()
		}
		return err
	})
}

// toFileJSON is one thread. Each depth of monitorsOwned may have null for a
// lock that was optimised away.
type toFileJSON struct {
	ID          loose   `json:"tid"`
	Name        string  `json:"name"`
	State       string  `json:"state"`
	Virtual     bool    `json:"virtual"`
	Stack       []loose `json:"stack"`
	ParkBlocker *struct {
		Object loose `json:"object"`
		Owner  loose `json:"owner"`
	} `json:"parkBlocker"`
	BlockedOn loose `json:"blockedOn"`
	WaitingOn loose `json:"waitingOn"`
	Monitors  []struct {
		Locks []loose `json:"locks"`
	} `json:"monitorsOwned"`
}

func (j *javaJSON) toFileThread(container string) error {
	d := j.d
	s := j.begin()
	var t toFileJSON
	if err := j.dec.Decode(&t); err != nil {
		d.open = false
		return err
	}
	s.Name, s.ID, s.State, s.Virtual = t.Name, string(t.ID), javaState([]byte(t.State)), t.Virtual
	if container != "<root>" {
		s.Container = container
	}
	for _, f := range t.Stack {
		d.addFrame([]byte(f))
	}
	if len(s.Frames) > 0 && !s.Virtual { // 21 to 24 do not say
		s.Virtual = isVirtualRoot(s.Frames[len(s.Frames)-1].Func)
	}
	switch {
	case t.BlockedOn != "":
		s.WaitsOn, d.thread.released = d.identity([]byte(t.BlockedOn)), true
	case t.WaitingOn != "":
		s.WaitsOn, d.thread.released = d.identity([]byte(t.WaitingOn)), true
	case t.ParkBlocker != nil:
		s.WaitsOn = d.identity([]byte(t.ParkBlocker.Object))
		s.WaitsOn.OwnerID = string(t.ParkBlocker.Owner)
	}
	for _, m := range t.Monitors {
		for _, l := range m.Locks {
			if l != "" {
				d.holds(d.identity([]byte(l)))
			}
		}
	}
	return j.finish()
}

// isVirtualRoot tells a virtual thread by its outermost frame.
func isVirtualRoot(fn string) bool {
	return fn == "java.lang.VirtualThread.run" || fn == "java.lang.VirtualThread$VThreadContinuation$1.run" ||
		fn == "jdk.internal.vm.Continuation.enter"
}
