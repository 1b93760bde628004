package ledger

// statementSum is what spans tell of one statement.
type statementSum struct {
	latency  Histogram
	failures int64
	system   uint32 // operation, for its database
	callers  map[methodKey]int64
	lost     int64 // executions by callers beyond the cap
	examples edgeSum
}

const maxCallers = 32

// countStatements adds the attempts of a database call to their statements.
func (j *joiner) countStatements(c *call) {
	t := &j.tree
	caller := methodKey{j.name(t.service(j.units[c.unit].head)), 0}
	if at := j.entryAbove(c.site); at >= 0 {
		caller = methodKey{j.name(t.service(at)), t.spans[at].op}
	}
	j.each(c, func(_ int, x *try) {
		if x.client < 0 || t.spans[x.client].query == 0 {
			return
		}
		s := &t.spans[x.client]
		sum := j.texts[s.query]
		if sum == nil {
			sum = &statementSum{system: s.op, callers: map[methodKey]int64{}}
			j.texts[s.query] = sum
		}
		sum.latency.Add(duration(s.dur))
		if s.class != isOK && s.class != isUnknown {
			sum.failures++
		}
		if _, ok := sum.callers[caller]; ok || len(sum.callers) < maxCallers {
			sum.callers[caller]++
		} else {
			sum.lost++
		}
		sum.examples.example(exampleOf(s, 1, s.dur))
	})
}
