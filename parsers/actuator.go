package parsers

import (
	"bytes"
	"strconv"

	"github.com/firebreak-io/firebreak/evidence"
)

// Spring Boot's thread dump in JSON: /actuator/threaddump since 2.0, and the
// bare array of /dump in 1.x; also what others write of ThreadInfo in JSON:
//
//	{"threads":[{"threadName":"http-nio-8080-exec-1","threadId":31,"threadState":"WAITING","lockName":"java.lang.Object@4a574795",
//	"stackTrace":[{"methodName":"wait","fileName":"Object.java","lineNumber":-2,"nativeMethod":true,"className":"java.lang.Object"}],…}]}

func actuatorFormat() Format {
	return Format{
		Name:     "actuator",
		Doc:      "Java thread dump in JSON: Spring Boot's actuator, ThreadInfo written as JSON",
		Versions: "Spring Boot 1.x to 3.x",
		Signs:    []string{`{"threads":[{"threadName":…}]}`, "a bare array of the same", "HTTP headers in front"},
		Sniff: func(_ string, head []byte) Match {
			if bytes.Contains(head, []byte(`"threadName"`)) && beginsJSON(head) &&
				(bytes.Contains(head, []byte(`"threadState"`)) || bytes.Contains(head, []byte(`"stackTrace"`)) || bytes.Contains(head, []byte(`"blockedTime"`))) {
				return Sure
			}
			return No
		},
		Parse:  parseJavaJSON,
		Marks:  []string{`"threadName"`, `"threads" : [`, `"threads": [`},
		Starts: startsJSON(`"threads"`, `"threadName"`),
		Block:  javaJSONBlock,
	}
}

// beginsJSON reports whether an input is JSON, perhaps behind HTTP headers.
func beginsJSON(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if bytes.HasPrefix(head, []byte("HTTP/")) {
		for _, end := range []string{"\n\n", "\n\r\n"} {
			if _, body, ok := bytes.Cut(head, []byte(end)); ok {
				head = bytes.TrimLeft(body, " \t\r\n")
				break
			}
		}
	}
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

// jsonThread is one element of the array.
type jsonThread struct {
	ThreadName          string      `json:"threadName"`
	ThreadID            loose       `json:"threadId"`
	State               string      `json:"threadState"`
	InNative            bool        `json:"inNative"`
	LockName            string      `json:"lockName"`
	LockOwnerID         loose       `json:"lockOwnerId"`
	LockOwnerName       string      `json:"lockOwnerName"`
	LockInfo            *jsonLock   `json:"lockInfo"`
	LockedMonitors      []jsonLock  `json:"lockedMonitors"`
	LockedSynchronizers []jsonLock  `json:"lockedSynchronizers"`
	StackTrace          []jsonFrame `json:"stackTrace"`
}

type jsonLock struct {
	Class string `json:"className"`
	Hash  loose  `json:"identityHashCode"`
}

type jsonFrame struct {
	Class  string `json:"className"`
	Method string `json:"methodName"`
	File   string `json:"fileName"`
	Line   int    `json:"lineNumber"`
	Native bool   `json:"nativeMethod"`
}

// actuatorThread reads and emits one thread.
func (j *javaJSON) actuatorThread() error {
	d := j.d
	s := j.begin()
	var t jsonThread
	if err := j.dec.Decode(&t); err != nil {
		d.open = false
		return err
	}
	if t.ThreadName == "" && t.ThreadID == "" && t.StackTrace == nil {
		d.open = false
		d.info.Ignored++
		return nil
	}
	s.Name, s.ID, s.State = t.ThreadName, string(t.ThreadID), javaState([]byte(t.State))
	if t.InNative {
		s.Detail = "in native"
	}
	for _, f := range t.StackTrace {
		d.addJSONFrame(f)
	}
	switch {
	case t.LockInfo != nil:
		s.WaitsOn = d.jsonLock(*t.LockInfo)
	case t.LockName != "":
		s.WaitsOn = d.identity([]byte(t.LockName))
	}
	if t.LockOwnerName != "" {
		s.WaitsOn.Owner = t.LockOwnerName
		if t.LockOwnerID != "-1" {
			s.WaitsOn.OwnerID = string(t.LockOwnerID)
		}
	}
	d.thread.released = s.WaitsOn.ID != "" && !d.parked()
	for _, l := range t.LockedMonitors {
		d.holds(d.jsonLock(l))
	}
	for _, l := range t.LockedSynchronizers {
		lock := d.jsonLock(l)
		d.thread.worker = d.thread.worker || isWorkerLock(lock.Class)
		d.holds(lock)
	}
	return j.finish()
}

func (d *javaDump) jsonLock(l jsonLock) evidence.Lock {
	if l.Class == "" {
		return evidence.Lock{}
	}
	return evidence.Lock{ID: identityOf(l.Hash), Class: d.class([]byte(l.Class))}
}

// addJSONFrame appends a frame, written as the text formats write it so that it
// is shared with theirs.
func (d *javaDump) addJSONFrame(f jsonFrame) {
	b := append(d.scratch[:0], f.Class...)
	b = append(append(b, '.'), f.Method...)
	b = append(b, '(')
	switch {
	case f.Native || f.Line == -2:
		b = append(b, "Native Method"...)
	case f.File == "":
		b = append(b, "Unknown Source"...)
	default:
		b = append(b, f.File...)
		if f.Line > 0 {
			b = strconv.AppendInt(append(b, ':'), int64(f.Line), 10)
		}
	}
	d.scratch = append(b, ')')
	d.addFrame(d.scratch)
}
