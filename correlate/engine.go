// Package correlate joins what was observed: attempts to logical calls, threads
// to pools, statements to the methods that run them, refusals to whoever holds
// the workers; and concludes with labelled incidents.
//
// The engine copies what it keeps and does no I/O. The order in which evidence
// arrives does not change the report: every store is a set, a sum or an
// extreme, and what must be listed is sorted at the end. Every store has a cap;
// what a cap makes it forget is counted and said in the report's sources.
package correlate

import (
	"time"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// Config holds what an engine may be told. The zero value is a good one.
type Config struct {
	Version string // stands in the report as the tool's version
	// Fingerprint removes the literals of a statement that a span recorded; dialect
	// is the database's name. Nil leaves statements as they are.
	Fingerprint func(dialect, sql string) string
}

// Engine gathers evidence and concludes. It is not safe for concurrent use.
type Engine struct {
	cfg   Config
	span  span
	zoned map[string]evidence.Tri // by source: whether its times state an offset

	zonedIn string // what was told of zoned last
	zonedAs evidence.Tri

	pools  map[string]*pool
	dumps  map[string]*dump
	shapes *shapes
	edges  map[edgeKey]*edge
	sql    map[string]*statement
	plans  []plan
	shards []shardSet // tables that are told of as one
	trx    map[string]*lockWait
	routes map[string]*route
	idle   idleSession
	marks  map[markKey]*mark
	probes map[string]*probe
	policy map[string]*policy

	counters map[counterKey]*counter // calls and attempts as processes counted them

	ledger  *ledger.Ledger    // attempts by spans and access logs; nil before the first
	book    *ledger.Book      // what it concluded, once asked; nil without spans and access logs
	texts   map[string]string // fingerprints of statements that spans recorded
	spanRec evidence.Record   // lent to addSQL for one span at a time
	spanSQL evidence.Statement

	sources []incident.Source
	kept    []*evidence.Record // what was told, to be told apart later
	pending []*evidence.Record // those of kept that tell of calls and are not counted yet
	nested  bool               // this engine is a scope of another

	records  int
	timed    int // of them with a time
	excluded int // records that the user's window left out
	lost     int // observations dropped because a store was full
}

// New returns an empty engine.
func New(cfg Config) *Engine {
	return &Engine{
		cfg:    cfg,
		zoned:  map[string]evidence.Tri{},
		pools:  map[string]*pool{},
		dumps:  map[string]*dump{},
		shapes: newShapes(),
		edges:  map[edgeKey]*edge{},
		sql:    map[string]*statement{},
		trx:    map[string]*lockWait{},
		routes: map[string]*route{},
		marks:  map[markKey]*mark{},
		probes: map[string]*probe{},
		policy: map[string]*policy{},
	}
}

// maxKeys bounds each store that is keyed by names from the evidence.
const maxKeys = 50_000

// Add takes one record. It keeps nothing of r that is lent.
func (e *Engine) Add(r *evidence.Record) error {
	e.records++
	kept := e.keep(r)
	if !r.Time.IsZero() {
		e.timed++
		e.span.add(r.Time)
		if r.Zoned != evidence.Unknown && (r.Zoned != e.zonedAs || r.Cite.Source != e.zonedIn) {
			if e.zoned[r.Cite.Source] != evidence.Yes {
				e.zoned[r.Cite.Source] = r.Zoned
			}
			e.zonedIn, e.zonedAs = r.Cite.Source, r.Zoned
		}
	}
	if kept && (r.Tries != nil || r.Attempt != nil || r.Route != nil && r.Route.Empty) {
		e.pending = append(e.pending, e.kept[len(e.kept)-1])
		return nil // counted by settle, once
	}
	e.store(r)
	return nil
}

// store puts a record where it belongs.
func (e *Engine) store(r *evidence.Record) {
	switch {
	case r.Stack != nil:
		e.addStack(r)
	case r.Dump != nil:
		e.addDump(r)
	case r.Pool != nil:
		e.addPool(r)
	case r.Tries != nil:
		e.addTries(r)
	case r.Attempt != nil:
		e.addAttempt(r)
	case r.Counter != nil:
		e.addCounter(r)
	case r.Span != nil:
		e.addSpan(r)
	case r.Access != nil:
		e.addAccess(r)
	case r.SQL != nil:
		e.addSQL(r)
	case r.Route != nil:
		e.addRoute(r)
	case r.Policy != nil:
		e.addPolicy(r)
	case r.Mark != nil:
		e.addMark(r)
	}
}

// span is a range of time; zero times are outside it.
type span struct{ first, last time.Time }

func (s *span) add(t time.Time) {
	if t.IsZero() {
		return
	}
	if s.first.IsZero() || t.Before(s.first) {
		s.first = t
	}
	if t.After(s.last) {
		s.last = t
	}
}

func (s span) seconds() float64 { return s.last.Sub(s.first).Seconds() }

func (s span) window() incident.Window { return incident.Window{From: s.first, To: s.last} }
