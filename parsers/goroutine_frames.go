package parsers

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// goFrames keeps one Frame for each place in the code, so that the frames of
// 100,000 goroutines cost as much memory as those of ten. Looking one up does
// not allocate.
type goFrames struct {
	byPlace map[string]*goFrame // by "file:line"
}

// goFrame is one frame and the others at the same place: functions that were
// inlined into each other within a line.
type goFrame struct {
	evidence.Frame
	raw  string // the name as printed
	next *goFrame
}

const maxFramePlaces = 200_000

// intern returns the frame of a function, named as printed, at "file:line".
func (t *goFrames) intern(fn, place []byte) *goFrame {
	head := t.byPlace[string(place)]
	for f := head; f != nil; f = f.next {
		if f.raw == string(fn) {
			return f
		}
	}
	if t.byPlace == nil || len(t.byPlace) >= maxFramePlaces {
		t.byPlace, head = map[string]*goFrame{}, nil
	}
	f := &goFrame{raw: string(fn), next: head}
	f.Func = goName(f.raw)
	if colon := bytes.LastIndexByte(place, ':'); colon > 0 {
		f.File = string(place[:colon])
		f.Line, _ = strconv.Atoi(string(place[colon+1:]))
	}
	f.Native = f.raw == "non-Go function" || isCSymbol(fn)
	if depth(head) < 64 {
		t.byPlace[string(place)] = f
	}
	return f
}

func depth(f *goFrame) int {
	n := 0
	for ; f != nil; f = f.next {
		n++
	}
	return n
}

// goName makes a function's name the same whoever printed it. It undoes the
// linker's escapes in the last element of an import path, "lumberjack%2ev2", and
// writes type arguments, "(*Cache[go.shape.string]).Get", as tracebacks do: "[...]".
func goName(name string) string {
	if open := strings.IndexByte(name, '['); open >= 0 && !strings.HasPrefix(name[open:], "[...]") {
		if end := strings.LastIndexByte(name, ']'); end > open {
			name = name[:open] + "[...]" + name[end+1:]
		}
	}
	if !strings.Contains(name, "%") {
		return name
	}
	out := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		if name[i] == '%' && i+2 < len(name) {
			if v, err := strconv.ParseUint(name[i+1:i+3], 16, 8); err == nil && v >= ' ' && v < 0x7f {
				out = append(out, byte(v))
				i += 2
				continue
			}
		}
		out = append(out, name[i])
	}
	return string(out)
}

// isGoRuntime reports a function of the scheduler, the collector and the like.
func isGoRuntime(fn string) bool {
	return strings.HasPrefix(fn, "runtime.") || strings.HasPrefix(fn, "internal/runtime/")
}
