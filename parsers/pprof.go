package parsers

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/firebreak-io/firebreak/evidence"
)

// The pprof format: a goroutine profile as protobuf, what
// /debug/pprof/goroutine (debug=0), `go tool pprof -proto` and continuous
// profilers write since Go 1.9, mostly as .pb.gz (the gzip is removed before
// parsing). It has counts and labels like debug=1, and no states. Profiles of
// other things (CPU, heap, mutexes) are recognised and passed by.
func pprofFormat() Format {
	return Format{
		Name:     "goroutine-pprof",
		Doc:      "Go goroutine profiles as pprof protobuf",
		Versions: "Go 1.9 to 1.26",
		Signs:    []string{"protobuf with sample type goroutine/count"},
		Sniff:    sniffPprof,
		Parse:    parsePprof,
	}
}

const maxPprof = 64 << 20 // bytes read of one profile

// sniffPprof knows a profile by its first field, the period type (as Go writes
// it) or the first sample type: a message of two small varints.
func sniffPprof(_ string, head []byte) Match {
	if len(head) > 2 && head[0] == 0x1f && head[1] == 0x8b {
		return No
	}
	n, ok := valueType(head)
	if !ok {
		return No
	}
	if rest := head[n:]; len(rest) > 1 && (rest[0] == 0x60 || rest[0] == 0x0a || rest[0] == 0x12 || rest[0] == 0x1a) {
		return Sure
	}
	return No
}

// valueType returns the length of a field 1 or 11 that holds {1: varint, 2: varint}.
func valueType(b []byte) (int, bool) {
	if len(b) < 6 || b[0] != 0x0a && b[0] != 0x5a || b[1] < 4 || b[1] > 12 || len(b) < 2+int(b[1]) {
		return 0, false
	}
	msg := b[2 : 2+b[1]]
	for _, tag := range []byte{0x08, 0x10} {
		if len(msg) < 2 || msg[0] != tag {
			return 0, false
		}
		i := 1
		for i < len(msg) && msg[i] >= 0x80 {
			i++
		}
		msg = msg[min(len(msg), i+1):]
	}
	return 2 + int(b[1]), len(msg) == 0
}

func parsePprof(in *Input, emit Emit) error {
	data, err := io.ReadAll(io.LimitReader(in.Reader, maxPprof+1))
	if err != nil {
		return err
	}
	if len(data) > maxPprof {
		in.Skip(0, "pprof profile too large")
		return nil
	}
	p, err := profile.ParseUncompressed(data)
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		in.Skip(0, "pprof profile damaged")
		return nil
	}
	at, leak := -1, false
	for i, t := range p.SampleType {
		if strings.HasPrefix(t.Type, "goroutine") {
			at, leak = i, t.Type == "goroutineleak"
		}
	}
	if at < 0 {
		in.Skip(0, "pprof profile of another kind: only goroutine profiles are read")
		return nil
	}
	return emitPprof(in, emit, p, at, leak)
}

// emitPprof gives a profile's samples as stacks.
func emitPprof(in *Input, emit Emit, p *profile.Profile, at int, leak bool) error {
	in.dumps++
	rec := evidence.Record{Place: in.place(), Cite: in.cite(0)}
	if p.TimeNanos > 0 {
		rec.Time, rec.Zoned = time.Unix(0, p.TimeNanos).UTC(), evidence.Yes
	}
	dump := evidence.Dump{
		ID: strconv.Itoa(in.dumps), Runtime: evidence.Go, Format: "pprof", Declared: evidence.None,
		NoState: true, MaxFrames: 128, HeapFull: evidence.None, Partial: leak,
	}
	opening := dump
	rec.Dump = &opening
	if err := emit(&rec); err != nil {
		return err
	}
	rec.Dump = nil
	frames := pprofFrames{}
	var stack evidence.Stack
	for _, s := range p.Sample {
		count := s.Value[at]
		if count <= 0 || count > 1<<31 {
			continue
		}
		stack = evidence.Stack{
			Dump: dump.ID, Runtime: evidence.Go, Frames: stack.Frames[:0], Count: int(count),
			CPU: evidence.None, Elapsed: evidence.None, Waited: evidence.None,
			Cut: len(s.Location) == 32 || len(s.Location) >= 128, Labels: pprofLabels(s),
		}
		app := frames.stack(&stack, s.Location)
		stack.System = !app && len(stack.Frames) > 0
		if leak {
			stack.State, stack.Detail = evidence.StateWaiting, "leaked"
		}
		dump.Threads += int(count)
		rec.Stack = &stack
		if err := emit(&rec); err != nil {
			return err
		}
	}
	dump.Closing = true
	rec.Stack, rec.Dump = nil, &dump
	return emit(&rec)
}

// pprofFrames keeps one frame for each line of a location.
type pprofFrames map[*profile.Location][]*evidence.Frame

// stack appends the frames of locations, innermost first, and reports whether
// one of them is outside the runtime.
func (m pprofFrames) stack(s *evidence.Stack, locations []*profile.Location) (app bool) {
	for _, loc := range locations {
		frames, ok := m[loc]
		if !ok {
			for _, l := range loc.Line {
				if l.Function == nil {
					continue
				}
				frames = append(frames, &evidence.Frame{
					Func: goName(l.Function.Name), File: l.Function.Filename, Line: int(l.Line),
				})
			}
			m[loc] = frames
		}
		for _, f := range frames {
			if len(s.Frames) >= maxGoFrames {
				s.Cut = true
				return app
			}
			app = app || !isGoRuntime(f.Func)
			s.Frames = append(s.Frames, f)
		}
	}
	return app
}

func pprofLabels(s *profile.Sample) map[string]string {
	if len(s.Label) == 0 {
		return nil
	}
	labels := make(map[string]string, len(s.Label))
	for k, v := range s.Label {
		labels[k] = strings.Join(v, ",")
	}
	return labels
}
