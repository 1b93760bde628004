package ledger

import (
	"bytes"
	"encoding/binary"

	"github.com/firebreak-io/firebreak/evidence"
)

// Mark is the span at which the largest of some values was seen.
type Mark struct {
	Trace [16]byte
	Span  [8]byte
	Value int64 // nanoseconds, or attempts
}

// Is reports whether there is one.
func (m *Mark) Is() bool { return m.Trace != [16]byte{} }

// Worst are the worst calls and attempts of an edge.
type Worst struct {
	Attempt   Mark                      // the longest
	Gap       Mark                      // the longest time before a retry; the span is the retry
	Retried   Mark                      // the call of the most attempts, if they were several: Value of them
	Failed    Mark                      // the longest call that failed
	ByOutcome map[evidence.Outcome]Mark // the longest of the attempts that failed
}

// marks are Worst on its way.
type marks struct {
	attempt, gap, retried, failed Mark
	outcomes                      *[evidence.Challenged + 1]Mark // nil if no attempt failed
}

// see takes a value that may be larger. Of equal ones the order of the trace
// IDs decides, so that it does not matter which came first.
func (m *Mark) see(value int64, s *span) {
	if value < m.Value || value == m.Value && m.Is() && !m.after(s) {
		return
	}
	m.Trace, m.Value = s.trace, value
	binary.BigEndian.PutUint64(m.Span[:], s.id)
}

// after reports whether the span noted comes after s.
func (m *Mark) after(s *span) bool {
	if c := bytes.Compare(m.Trace[:], s.trace[:]); c != 0 {
		return c > 0
	}
	return binary.BigEndian.Uint64(m.Span[:]) > s.id
}

// seeCall notes a call, named by its head, with its attempts.
func (m *marks) seeCall(head *span, attempts int, took int64, f fate) {
	if attempts > 1 {
		m.retried.see(int64(attempts), head)
	}
	if f.failed() {
		m.failed.see(took, head)
	}
}

// failed reports whether the call failed after all its attempts.
func (f fate) failed() bool { return f != fateAtOnce && f != fateAfterRetry && f != fateUnknown }

// seeTry notes an attempt, named by its span.
func (m *marks) seeTry(s *span, took int64, o evidence.Outcome) {
	m.attempt.see(took, s)
	switch o {
	case evidence.OutcomeUnknown, evidence.OK, evidence.Redirected, evidence.Challenged:
		return
	}
	if m.outcomes == nil {
		m.outcomes = new([evidence.Challenged + 1]Mark)
	}
	if int(o) < len(m.outcomes) {
		m.outcomes[o].see(took, s)
	}
}

func (m *marks) book() Worst {
	w := Worst{Attempt: m.attempt, Gap: m.gap, Retried: m.retried, Failed: m.failed}
	if m.outcomes == nil {
		return w
	}
	w.ByOutcome = map[evidence.Outcome]Mark{}
	for o := range m.outcomes {
		if x := &m.outcomes[o]; x.Is() {
			w.ByOutcome[evidence.Outcome(o)] = *x
		}
	}
	return w
}
