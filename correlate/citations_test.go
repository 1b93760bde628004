package correlate_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/internal/cited"
)

// TestCitations opens every citation of every report, and looks at the line for
// what a finding of its kind must have been read from.
func TestCitations(t *testing.T) {
	for _, name := range incidentNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := conclude(t, name)
			open := opener{t: t, dir: filepath.Join(incidentsRoot, name), files: map[string][]string{}}
			for _, f := range r.Findings {
				if len(f.Citations) == 0 {
					t.Errorf("finding %s %s has no citation", f.ID, f.Kind)
				}
				for _, c := range f.Citations {
					open.check(c, string(f.Kind), shown[f.Kind])
				}
			}
			for _, e := range r.Edges {
				open.all(e.Citations, "edge")
			}
			for _, p := range r.Pools {
				open.all(p.Citations, "pool "+p.Name)
			}
			for _, s := range r.Stacks {
				open.all(s.Citations, "stack of "+s.Pool)
			}
			for _, s := range r.SQL {
				open.all(s.Citations, "statement "+s.Fingerprint)
			}
			for _, x := range r.Traces {
				open.all(x.Citations, "trace "+x.ID)
				if !slices.ContainsFunc(r.Edges, func(e incident.Edge) bool { return e.Name() == x.Edge }) {
					t.Errorf("trace %s is of edge %q, which is not reported", x.ID, x.Edge)
				}
				for _, s := range x.Spans {
					open.check(s.Citation, "span "+s.ID, nil)
				}
			}
		})
	}
}

// shown is what a cited line must have for its kind of finding, in lower case:
// one of these.
var shown = map[incident.Kind][]string{
	incident.PoolExhausted:   {"exhausted", "rejected from", "rejectedexecution", "pool is full, reject"},
	incident.PoolRejected:    {"exhausted", "pool is full, reject"},
	incident.PoolShutdown:    {"isshutdown:true", "shutting down", "terminated"},
	incident.PoolBurst:       {"exhausted", "rejected"},
	incident.ConnExhausted:   {"not available", "wait millis", "timeout waiting", "pool empty", "query_wait_timeout"},
	incident.ConnLeak:        {"leak", "abandon"},
	incident.RetryExhausted:  {"tried", "retries=", "exhausted all attempts", "execute service"},
	incident.RetrySucceeded:  {"although retry"},
	incident.CallLate:        {"timeout response finally returned", "invoke time out", "execute service"},
	incident.ProbeSlow:       {"elapsed", "invoke"},
	incident.ProbeFast:       {"elapsed", "invoke"},
	incident.StackDBRead:     {`"`, "goroutine ", " @ 0x"},
	incident.StackDBPool:     {`"`, "goroutine ", " @ 0x", "not available", "wait millis", "total="}, // a thread, or the gauge of the pool that it waits for
	incident.StackHTTP:       {`"`, "goroutine ", " @ 0x"},
	incident.StackLock:       {`"`, "goroutine ", " @ 0x"},
	incident.StackRPC:        {`"`, "goroutine ", " @ 0x"},
	incident.StackIdle:       {`"`, "goroutine ", " @ 0x"},
	incident.LockConvoy:      {`"`, "goroutine ", " @ 0x"},
	incident.LockDeadlock:    {`"`, "deadlock", "full thread dump"},
	incident.SQLRunning:      {"query", "active", "executing"},
	incident.SQLScan:         {"select_type", "simple ", "query plan", "seq scan", "# time", "# user@host", "# query_time", "duration"},
	incident.SQLSlow:         {"# time", "# user@host", "# query_time", "duration", "slow sql", "runningsqlcount"},
	incident.SQLMetaLock:     {"metadata lock"},
	incident.RouteNone:       {"no provider", "no available provider", "no servers available", "load balancer does not", "no live upstreams"},
	incident.RouteEmptied:    {"no provider", "router"},
	incident.RouteNarrow:     {"(", "router"},
	incident.GCPauses:        {"pause", "gc", "safepoint", "0.00   0.00"}, // the last: jstat, which prints numbers alone
	incident.ClockLeap:       {"clock"},
	incident.DownstreamSlow:  {"timed out", "timed-out", "timeout", "deadline", "refused"},
	incident.DuplicateWrite:  {"duplicate", " - "},
	incident.CallUnreachable: {"refused", "reset", "closed", "unavailable"},
}

// joined is what stands in lines from which the ledger concludes, of any kind:
// spans, and requests of access logs.
var joined = []string{`"traceid":`, ` http/1.1"`, `"response_code":`}

// An opener reads lines of an incident's evidence.
type opener struct {
	t     *testing.T
	dir   string
	files map[string][]string
}

func (o opener) all(list []evidence.Citation, what string) {
	for _, c := range list {
		o.check(c, what, nil)
	}
}

func (o opener) check(c evidence.Citation, what string, oneOf []string) {
	o.t.Helper()
	lines, ok := o.files[c.Source]
	if !ok {
		lines = strings.Split(o.read(c.Source), "\n")
		o.files[c.Source] = lines
	}
	if c.Line == 0 && c.Part != "" {
		return
	}
	if c.Line < 1 || c.Line > len(lines) {
		o.t.Errorf("%s cites %v, of %d lines", what, c, len(lines))
		return
	}
	if strings.TrimSpace(lines[c.Line-1]) == "" {
		o.t.Errorf("%s cites %v, an empty line", what, c)
	}
	// The exception of a record stands below the record's first line.
	line := strings.ToLower(strings.Join(lines[c.Line-1:min(c.Line+1, len(lines))], "\n"))
	for _, s := range slices.Concat(oneOf, joined) {
		if strings.Contains(line, s) {
			return
		}
	}
	if len(oneOf) > 0 {
		o.t.Errorf("%s cites %v, where none of %q stands: %.160s", what, c, oneOf, line)
	}
}

// read returns the text of a cited source, which may be compressed, or lie in a tar.gz.
func (o opener) read(source string) string {
	file, member, packed := strings.Cut(source, "!")
	data, err := os.ReadFile(filepath.Join(o.dir, filepath.FromSlash(file)))
	if err != nil {
		o.t.Errorf("cited: %v", err)
		return ""
	}
	if !packed && !strings.HasSuffix(file, ".gz") {
		return plain(data)
	}
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		o.t.Fatal(err)
	}
	if !packed {
		if data, err = io.ReadAll(gz); err != nil {
			o.t.Fatal(err)
		}
		return plain(data)
	}
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			o.t.Errorf("cited: %s has no %s", file, member)
			return ""
		}
		if err != nil {
			o.t.Fatal(err)
		}
		if h.Name != member {
			continue
		}
		if data, err = io.ReadAll(r); err != nil {
			o.t.Fatal(err)
		}
		return plain(data)
	}
}

// plain decodes UTF-16 with a mark; other encodings keep ASCII as it is.
func plain(data []byte) string {
	if !bytes.HasPrefix(data, []byte{0xff, 0xfe}) {
		return string(data)
	}
	var units []uint16
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, uint16(data[i])|uint16(data[i+1])<<8)
	}
	return string(utf16.Decode(units))
}

// TestNumbersAreCited holds the text form of every report to say where each
// number comes from. What is missing and what to do are advice, not numbers seen.
func TestNumbersAreCited(t *testing.T) {
	for _, name := range incidentNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := conclude(t, name)
			for i := range r.Incidents {
				r.Incidents[i].Actions, r.Incidents[i].Missing = nil, nil
			}
			var b strings.Builder
			if err := incident.WriteText(&b, r, incident.TextOptions{Width: 120}); err != nil {
				t.Fatal(err)
			}
			for _, p := range cited.Uncited(b.String(), func(string) bool { return false }) {
				t.Errorf("a number without a citation:\n%s", p)
			}
		})
	}
}
