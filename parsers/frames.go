package parsers

import "github.com/firebreak-io/firebreak/evidence"

const (
	maxFrames  = 512     // of one stack; the rest is cut
	maxInterns = 1 << 15 // entries of one interning table, then it starts anew
)

// frameTable gives each distinct frame one shared *evidence.Frame, so that a
// line that stands in ten thousand stacks is parsed once. The key is whatever
// raw text tells frames apart: the line, or function and position joined.
//
// Looking up a key does not allocate. The table is bounded: when it is full it
// is emptied, and frames seen again get a second, equal Frame.
type frameTable struct {
	known map[string]*evidence.Frame
}

// get returns the frame kept for a key, or nil.
func (t *frameTable) get(key []byte) *evidence.Frame { return t.known[string(key)] }

// put keeps a frame for a key and returns the pointer to share.
func (t *frameTable) put(key []byte, f evidence.Frame) *evidence.Frame {
	if t.known == nil || len(t.known) >= maxInterns {
		t.known = make(map[string]*evidence.Frame, 256)
	}
	p := &f
	t.known[string(key)] = p
	return p
}

// stringTable gives each distinct text one string, in bounded memory.
type stringTable struct {
	known map[string]string
}

func (t *stringTable) intern(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	if s, ok := t.known[string(text)]; ok {
		return s
	}
	if t.known == nil || len(t.known) >= maxInterns {
		t.known = make(map[string]string, 256)
	}
	s := string(text)
	t.known[s] = s
	return s
}
