package correlate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
)

// Spans and access logs tell of every attempt, not only of calls that failed.
// The ledger joins them; what it concludes stands here beside what logs say of
// the same edges, and is never added to it.

// maxTexts bounds the statement texts whose fingerprints are remembered.
const maxTexts = 20_000

// addSpan hands a span to the ledger, and what it says of a statement to the
// statements.
func (e *Engine) addSpan(r *evidence.Record) {
	e.openLedger().AddSpan(r)
	s := r.Span
	if evidence.Borrows(s.Name) {
		e.addBorrow(r)
		return
	}
	if s.Query == "" || s.Duration < 0 || s.Protocol != "db" {
		return
	}
	e.spanSQL = evidence.Statement{
		Origin: evidence.ClientSlow, Engine: s.DBSystem, DB: s.DBName, Text: s.Query, Fingerprint: e.fingerprint(s.DBSystem, s.Query),
		Duration: s.Duration, LockTime: evidence.None, RowsExamined: evidence.None, RowsSent: s.Rows, TrxAge: evidence.None,
	}
	e.spanRec = evidence.Record{Time: r.Time, Zoned: r.Zoned, Place: r.Place, Cite: r.Cite, SQL: &e.spanSQL}
	if s.Duration >= time.Second {
		e.keep(&e.spanRec)
	}
	e.addSQL(&e.spanRec)
}

func (e *Engine) addAccess(r *evidence.Record) { e.openLedger().AddAccess(r) }

func (e *Engine) openLedger() *ledger.Ledger {
	if e.ledger == nil {
		e.ledger = ledger.New(ledger.Config{Fingerprint: e.cfg.Fingerprint})
	}
	return e.ledger
}

// fingerprint removes a statement's literals; texts that were seen before cost
// a look-up.
func (e *Engine) fingerprint(system, text string) string {
	if e.cfg.Fingerprint == nil {
		return strings.Join(strings.Fields(text), " ")
	}
	if fp, ok := e.texts[text]; ok {
		return fp
	}
	fp := e.cfg.Fingerprint(system, text)
	if len(e.texts) < maxTexts {
		if e.texts == nil {
			e.texts = map[string]string{}
		}
		e.texts[strings.Clone(text)] = fp
	}
	return fp
}

// closeLedger joins what was added. It may be called again.
func (e *Engine) closeLedger() {
	if e.ledger == nil {
		return
	}
	e.book = e.ledger.Close()
	e.ledger = nil
}

// accounts are the edges of the book, the most amplified first; none without
// spans or access logs.
func (e *Engine) accounts() []ledger.Edge {
	if e.book == nil {
		return nil
	}
	return e.book.Edges
}

// accountNames are what an account says about whose calls it counts, as names
// says it of a record.
func accountNames(x *ledger.Edge) []string {
	var keys []string
	if s := serviceName(x.Service); s != "" {
		keys = append(keys, "svc:"+s)
	}
	if x.Callee != "" {
		keys = append(keys, "app:"+x.Callee)
	}
	return keys
}

// joinAccounts makes one island of what spans show to be one way of requests:
// a service in the middle passes on what it waits for. The caller at its head is
// not joined: it may suffer from several.
func (e *Engine) joinAccounts(isl *islands) {
	accounts := e.accounts()
	called := map[string]bool{}
	for i := range accounts {
		if x := &accounts[i]; x.Basis == ledger.FromSpans && x.Caller != "" {
			called[x.Callee] = true
		}
	}
	for i := range accounts {
		x := &accounts[i]
		keys := accountNames(x)
		if called[x.Caller] && x.Basis == ledger.FromSpans && len(keys) > 0 {
			keys = append(keys, "app:"+x.Caller)
		}
		isl.join(keys)
	}
}

// within is the part of a book that a scope of the evidence is about.
func within(b *ledger.Book, keep func(names []string, first, last time.Time) bool) *ledger.Book {
	if b == nil {
		return nil
	}
	c := *b
	c.Edges = slices.DeleteFunc(slices.Clone(b.Edges), func(x ledger.Edge) bool { return !keep(accountNames(&x), x.First, x.Last) })
	c.Methods = slices.DeleteFunc(slices.Clone(b.Methods), func(m ledger.Method) bool {
		return m.Service != "" && !keep([]string{"app:" + m.Service}, time.Time{}, time.Time{})
	})
	return &c
}

// accountName is "SkuService.getSkuStock", "order GET /stock/{id}" or what else
// names the operation. Hosts are not shortened as Java's interfaces are.
func accountName(x *ledger.Edge) string {
	switch {
	case strings.Contains(x.Method, " "):
		return strings.TrimSpace(cmp.Or(x.Service, x.Callee) + " " + x.Method)
	case x.Service != "":
		return joinMethod(shortService(x.Service), methodName(x.Method))
	case x.Callee != "" && x.Method != "":
		return x.Callee + " " + x.Method
	}
	return cmp.Or(x.Method, x.Callee, "calls")
}

// accountTitle is "order -> SkuService.getSkuStock".
func accountTitle(x *ledger.Edge) string {
	if x.Caller == "" {
		return accountName(x)
	}
	return x.Caller + " -> " + accountName(x)
}

// stretch is a time in which an edge made more attempts than calls.
type stretch struct {
	from, to        time.Time
	calls, attempts int64
}

func (s stretch) amplification() float64 {
	if s.calls == 0 {
		return 0
	}
	return float64(s.attempts) / float64(s.calls)
}

// amplifiedStretch is the time in which an edge made most of its retries: windows
// with retries, bridged over short pauses. Stray retries long before, as of a
// process that has just started, are not its beginning.
func amplifiedStretch(x *ledger.Edge) stretch {
	var best, s stretch
	gap := 0
	for _, w := range x.Windows {
		retries := w.Attempts > w.Calls+w.Calls/10
		if s.from.IsZero() && !retries {
			continue
		}
		if s.from.IsZero() {
			s = stretch{from: w.From}
		}
		if retries {
			gap = 0
		} else if gap++; time.Duration(gap)*w.Width > max(stretchGap, 2*w.Width) {
			s, gap = stretch{}, 0
			continue
		}
		s.calls += w.Calls
		s.attempts += w.Attempts
		if retries {
			s.to = w.From.Add(w.Width)
		}
		if s.attempts-s.calls > best.attempts-best.calls {
			best = s
		}
	}
	// Attempts count when they were made, calls when they began: at the edges of
	// the stretch there may be more attempts a call than any call made.
	if x.Ceiling > 1 && best.calls > 0 {
		best.attempts = min(best.attempts, best.calls*int64(x.Ceiling))
	}
	return best
}

// stretchGap is the longest time without retries within one storm.
const stretchGap = 5 * time.Second

// exampleCite is where an example stands: a line may hold many traces.
func exampleCite(ex ledger.Example) evidence.Citation {
	c := ex.Cite
	if c.Part == "" && ex.Trace != "" {
		c.Part = "#trace " + ex.Trace
	}
	return c
}

// accountSighting is when an account's calls were seen and a few of the worst.
func accountSighting(x *ledger.Edge, count int64, from, to time.Time) *sighting {
	s := &sighting{count: int(count)}
	s.span.add(from)
	s.span.add(to)
	for i, ex := range x.Examples {
		if i == keepCites {
			break
		}
		s.citeAt(cited{cite: exampleCite(ex)})
	}
	return s
}
