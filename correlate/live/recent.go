package live

import (
	"encoding/binary"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// recent holds the latest records. Whole traces are let go, by a hash of their
// ID, when they do not fit: half of those left each time. When half of the room
// is free again the share grows.
type recent struct {
	list          []remembered // in the order in which they came, but for those that came again
	oldest        time.Time    // not after any of them
	bytes         int
	max, maxBytes int
	halved        int                    // the share of traces that is kept is 1 in 2^halved
	fresh         int                    // records since the last report, whether kept or not
	other         map[string]int         // records without a trace that found no room, by source
	dumps         map[dumpName]time.Time // when dumps that are being read began
}

type dumpName struct{ source, id string }

type remembered struct {
	at    time.Time
	bytes int
	rec   *evidence.Record
}

// kept is the share of the traces that is kept.
func (r *recent) kept() float64 { return 1 / float64(uint64(1)<<r.halved) }

// in reports whether a record belongs to the share.
func (r *recent) in(rec *evidence.Record) bool {
	return rec.Span == nil || r.halved == 0 || hash(rec.Span.TraceID)&(1<<r.halved-1) == 0
}

// hash mixes a trace ID, whatever its producer put into it.
func hash(id [16]byte) uint64 {
	h := binary.LittleEndian.Uint64(id[:8])*0x9e3779b97f4a7c15 ^ binary.LittleEndian.Uint64(id[8:])
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}

func (r *recent) add(now time.Time, rec *evidence.Record) {
	r.fresh++
	if !r.in(rec) {
		return
	}
	size := sizeOf(rec)
	if rec.Span == nil && (len(r.list) >= r.max || r.bytes+size > r.maxBytes) {
		// Spans make room below, and so for the next one.
		if r.other == nil {
			r.other = map[string]int{}
		}
		if r.other[rec.Cite.Source] > 0 || len(r.other) < maxSources {
			r.other[rec.Cite.Source]++
		}
	} else {
		if rec.Stack != nil || rec.Dump != nil {
			now = r.dumpTime(now, rec)
		}
		raw := rec.Raw
		rec.Raw = nil
		if len(r.list) == 0 || now.Before(r.oldest) {
			r.oldest = now
		}
		r.list = append(r.list, remembered{now, size, rec.Clone()})
		rec.Raw = raw
		r.bytes += size
	}
	for (len(r.list) > r.max || r.bytes > r.maxBytes) && r.halved < 32 {
		r.halved++
		r.keepOnly(func(x remembered) bool { return r.in(x.rec) })
	}
}

// maxDumps bounds the dumps that are being read at once.
const maxDumps = 1000

// dumpTime is when the dump of a record began to come, so that all of it is let
// go at once.
func (r *recent) dumpTime(now time.Time, rec *evidence.Record) time.Time {
	k := dumpName{source: rec.Cite.Source}
	if rec.Stack != nil {
		k.id = rec.Stack.Dump
	} else {
		k.id = rec.Dump.ID
	}
	began, known := r.dumps[k]
	if rec.Dump != nil {
		if rec.Dump.Closing {
			delete(r.dumps, k)
		} else {
			if r.dumps == nil || len(r.dumps) >= maxDumps {
				r.dumps = map[dumpName]time.Time{}
			}
			r.dumps[k] = now
			return now
		}
	}
	if known {
		return began
	}
	return now
}

// expire lets go what came before a time.
func (r *recent) expire(before time.Time) {
	if len(r.list) > 0 && r.oldest.Before(before) {
		r.keepOnly(func(x remembered) bool { return !x.at.Before(before) })
	}
	// The share of those that come from now on is as large again as there is room.
	if r.halved > 0 && len(r.list) < r.max/4 && r.bytes < r.maxBytes/4 {
		r.halved--
	}
}

func (r *recent) keepOnly(keep func(remembered) bool) {
	n := 0
	r.bytes = 0
	for _, x := range r.list {
		if keep(x) {
			if n == 0 || x.at.Before(r.oldest) {
				r.oldest = x.at
			}
			r.list[n] = x
			r.bytes += x.bytes
			n++
		}
	}
	clear(r.list[n:])
	r.list = r.list[:n]
}

// sizeOf is about what a record takes when it is kept. Names are shared.
func sizeOf(r *evidence.Record) int {
	n := 320
	switch {
	case r.Span != nil:
		n += 420 + len(r.Span.Query)
	case r.Stack != nil:
		n += 200 + 64*len(r.Stack.Frames)
	case r.SQL != nil:
		n += 320 + len(r.SQL.Text)
	default:
		n += 240
	}
	return n
}
