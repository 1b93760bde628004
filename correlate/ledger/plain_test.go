package ledger

import (
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// TestPlainLinesBesideLists mixes lines with a proxy's tries and lines without,
// in one log, in one after the other, and in two that tell of the same requests.
func TestPlainLinesBesideLists(t *testing.T) {
	for _, c := range []struct {
		name          string
		listed, plain string        // logs
		apart         time.Duration // from the first listed line to the first plain one
		status        int           // of the listed lines
		told          bool          // the plain lines have an edge of their own
	}{
		{"one log, one kind after the other", "edge/access.log", "edge/access.log", time.Hour, 200, true},
		{"one log, both kinds at once", "edge/access.log", "edge/access.log", 0, 200, true},
		{"two logs of the same hour", "edge/upstream.log", "edge/access.log", 0, 504, false},
		{"two logs of the same hour, of which one has failures", "edge/shop.log", "edge/pay.log", 0, 200, true},
		{"a log and the one before it", "edge/access.log.1", "edge/access.log", time.Hour, 200, true},
	} {
		var m maker
		for i := range 100 {
			at := time.Duration(i) * time.Second
			listed := line1(evidence.Consumer, "/pay", c.status)
			listed.Upstreams = []evidence.Upstream{up(0, "10.0.0.1:80", c.status)}
			m.access("edge", c.listed, at, listed)
			m.access("edge", c.plain, at+c.apart, line1(evidence.Provider, "/pay", 504))
		}
		told := false
		for _, e := range book(t, Config{}, m.records, 1).Edges {
			if e.OneSided == "provider" && e.Attempts == 100 && e.Outcomes[evidence.Timeout] == 100 {
				told = true
			}
		}
		if told != c.told {
			t.Errorf("%s: told %v, want %v", c.name, told, c.told)
		}
	}
}
