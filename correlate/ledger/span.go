package ledger

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// span is what is kept of a span: 96 bytes.
type span struct {
	trace      [16]byte
	id, parent uint64
	start, dur int64 // ns; start is 0 if unknown
	ident      uint64
	place      uint32
	op         uint32
	peer       uint32
	query      uint32
	source     uint32
	line       int32
	weight     float32
	ordinal    uint16
	retries    int16
	kind       evidence.SpanKind
	outcome    evidence.Outcome
	class      class
	attempt    evidence.SpanRole
	reason     reason
	flags      uint8
}

// The flags of a span.
const (
	flagShared   = 1 << iota // Zipkin: shares its ID with the client's span
	flagRemote               // its parent is known to be in another process
	flagNumbers              // its instrumentation numbers resends
	flagNegative             // its duration was below zero
	flagUndated              // its time was out of range
	flagBudget               // a retry budget kept it from being sent again
	flagWhole                // it covers a call with all its attempts
)

func (s *span) end() int64 { return s.start + s.dur }

// clientSide reports whether the kind says that the span was made by the caller.
func (s *span) clientSide() bool {
	return s.kind == evidence.KindClient || s.kind == evidence.KindProducer
}

// serverSide reports whether the span says of itself that it is the callee's.
func (s *span) serverSide() bool {
	return s.kind == evidence.KindServer || s.kind == evidence.KindConsumer || s.attempt == evidence.RoleEntry
}

// reason is why an attempt was made.
type reason uint8

// The reasons.
const (
	byInitial reason = iota
	byRetry
	byHedge
	byTransparent
	byProxy
	byRedirect
	byAuth
)

func reasonOf(text string) reason {
	switch {
	case text == "":
		return byInitial
	case strings.Contains(text, "transparent"):
		return byTransparent
	case strings.Contains(text, "hedg"), strings.Contains(text, "fork"):
		return byHedge
	case strings.Contains(text, "redirect"):
		return byRedirect
	case strings.Contains(text, "auth"), strings.Contains(text, "challenge"):
		return byAuth
	}
	return byInitial
}

// AddSpan takes in one span. It copies what it keeps, and leaves alone records
// that are no spans.
func (l *Ledger) AddSpan(r *evidence.Record) {
	if r.Span == nil || l.closed {
		return
	}
	l.seen++
	var s span
	if l.fill(&s, r) {
		l.keep(&s)
	}
}

// fill makes of a record what is kept of it, and reports whether it is kept.
func (l *Ledger) fill(s *span, r *evidence.Record) bool {
	in := r.Span
	if in.TraceID == ([16]byte{}) {
		l.lose(LostNoTrace, 1)
		return false
	}
	if in.ID == ([8]byte{}) {
		l.lose(LostNoID, 1)
		return false
	}
	if !l.admit(in.TraceID) {
		return false
	}
	*s = span{
		trace: in.TraceID, id: binary.BigEndian.Uint64(in.ID[:]), parent: binary.BigEndian.Uint64(in.Parent[:]),
		ident: in.Ident, kind: in.Kind, outcome: in.Outcome, attempt: in.Attempt, reason: reasonOf(in.Reason),
		class: classOf(in), line: int32(max(0, min(r.Cite.Line, math.MaxInt32))), retries: -1,
	}
	if !r.Time.IsZero() {
		s.start = r.Time.UnixNano()
	}
	switch {
	case in.Duration >= 0:
		s.dur = int64(in.Duration)
	default:
		s.flags |= flagNegative // kept, as one that took no time
	}
	if s.start > math.MaxInt64-s.dur || s.start < 0 {
		s.flags |= flagUndated
		s.start = 0
	}
	if in.Retries >= 0 {
		s.retries = int16(min(in.Retries, math.MaxInt16))
	}
	if in.Ordinal > 0 {
		s.ordinal = uint16(min(in.Ordinal, math.MaxUint16))
	}
	if w := in.Weight; w > 0 && !math.IsInf(w, 0) && !math.IsNaN(w) {
		s.weight = float32(min(w, 1e12))
	}
	if in.Shared {
		s.flags |= flagShared
	}
	if in.Remote == evidence.Yes {
		s.flags |= flagRemote
	}
	if in.Numbers {
		s.flags |= flagNumbers
	}
	if in.Whole || in.Attempt == evidence.RoleLogical {
		s.flags |= flagWhole
	}
	if strings.Contains(in.Reason, "budget") || strings.Contains(in.Error, "budget") {
		s.flags |= flagBudget
	}
	s.place = l.places.id(place{r.Place.Service, r.Place.Instance}, keepPlace)
	s.op = l.ops.id(opOf(in), keepOp)
	if in.Peer != "" || in.PeerAddr != "" {
		s.peer = l.peers.id(peer{in.Peer, in.PeerAddr}, keepPeer)
	}
	s.source = l.sources.id(r.Cite.Source, strings.Clone)
	if in.Query != "" {
		s.query = l.query(in.DBSystem, in.Query)
	}
	return true
}

func opOf(in *evidence.Span) op {
	if in.Protocol == "" {
		return op{method: in.Name}
	}
	o := op{protocol: in.Protocol, service: in.Service, method: in.Method}
	if in.DBSystem != "" {
		o.db = in.DBSystem
		if in.DBName != "" {
			o.db += "/" + in.DBName
		}
		if in.Table != "" && !strings.Contains(o.method, in.Table) {
			o.method = strings.TrimSpace(o.method + " " + in.Table)
		}
	}
	if o.method == "" && o.service == "" {
		o.method = in.Name
	}
	return o
}

// maxQuery is how much of a statement is kept.
const maxQuery = 2_000

// maxTexts bounds the texts whose fingerprint is remembered.
const maxTexts = 8_192

// query numbers a statement's text, without its literals if that is configured.
func (l *Ledger) query(system, text string) uint32 {
	if len(text) > maxQuery {
		text = text[:maxQuery]
	}
	if l.cfg.Fingerprint == nil {
		return l.queries.id(text, strings.Clone)
	}
	if id, ok := l.texts[text]; ok {
		return id
	}
	id := l.queries.id(l.cfg.Fingerprint(system, text), strings.Clone)
	if len(l.texts) >= maxTexts {
		clear(l.texts)
	}
	l.texts[strings.Clone(text)] = id
	return id
}

// compareSpans orders the spans of a trace: by time, and in all else so that
// two spans that differ never compare equal.
func compareSpans(a, b *span) int {
	if a.start != b.start {
		return cmp.Compare(a.start, b.start)
	}
	if a.id != b.id {
		return cmp.Compare(a.id, b.id)
	}
	return cmp.Or(
		cmp.Compare(a.flags&flagShared, b.flags&flagShared), cmp.Compare(a.kind, b.kind), cmp.Compare(b.dur, a.dur),
		cmp.Compare(a.place, b.place), cmp.Compare(a.op, b.op), cmp.Compare(a.peer, b.peer), cmp.Compare(a.parent, b.parent),
		cmp.Compare(a.ordinal, b.ordinal), cmp.Compare(a.outcome, b.outcome), cmp.Compare(a.class, b.class), cmp.Compare(a.ident, b.ident),
		cmp.Compare(a.query, b.query), cmp.Compare(a.weight, b.weight), cmp.Compare(a.retries, b.retries), cmp.Compare(a.attempt, b.attempt),
		cmp.Compare(a.reason, b.reason), cmp.Compare(a.flags, b.flags), cmp.Compare(a.source, b.source), cmp.Compare(a.line, b.line))
}

func compareTraces(a, b *span) int { return bytes.Compare(a.trace[:], b.trace[:]) }
