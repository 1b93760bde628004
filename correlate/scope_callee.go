package correlate

import (
	"strings"
	"unicode"

	"github.com/firebreak-io/firebreak/incident"
)

// shortestName is how long a process's name must be to be found in the names of
// its callers' code.
const shortestName = 4

// callees joins processes whose threads wait for an answer with those that they
// wait for, where the code that waits names them: com.acme.front.PricingClient
// waits for the process "pricing". They are one incident: the first passes on
// what the second suffers from.
func (e *Engine) callees(dumpKeys map[string][]string, join func([]string)) {
	homesOf := map[string][]string{} // word -> names of processes called so
	for _, keys := range dumpKeys {
		for _, k := range keys {
			app, ok := strings.CutPrefix(k, "app:")
			if !ok {
				continue
			}
			for _, w := range nameWords(app[strings.LastIndexByte(app, '/')+1:]) {
				if len(w) >= shortestName && !plainWord[w] {
					homesOf[w] = append(homesOf[w], k)
				}
			}
		}
	}
	if len(homesOf) < 2 {
		return
	}
	for _, g := range e.shapes.sortedGroups() {
		v := &g.key.shape.verdict
		if v.kind != incident.WaitHTTP && v.kind != incident.WaitRPC || v.app == nil || !requestPool(g.key.pool.pool) {
			continue
		}
		class, _ := splitFunc(v.app.Func)
		words := nameWords(simpleClass(class))
		for dump, n := range g.counts {
			mine := dumpKeys[dump]
			if n < fewThreads || len(mine) == 0 {
				continue
			}
			for _, w := range words {
				for _, k := range homesOf[w] {
					join([]string{mine[0], k})
				}
			}
		}
	}
}

// plainWord are words of processes' names that name none.
var plainWord = map[string]bool{"service": true, "server": true, "client": true, "provider": true, "consumer": true, "java": true, "prod": true, "core": true, "main": true, "impl": true, "rest": true, "http": true, "node": true, "host": true, "dump": true, "jstack": true, "before": true, "after": true}

// nameWords splits "PricingClient", "pricing-service" or "pricing_7" into words
// in lower case.
func nameWords(s string) []string {
	var words []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	lower := false
	for _, r := range s {
		switch {
		case !unicode.IsLetter(r):
			flush()
		case unicode.IsUpper(r) && lower:
			flush()
			fallthrough
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		lower = unicode.IsLower(r)
	}
	flush()
	return words
}
