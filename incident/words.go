package incident

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/lang"
)

// facts collects what is known of a thing, in words.
type facts []string

func (f *facts) add(known bool, format string, args ...any) {
	if known {
		*f = append(*f, lang.Sprintf(format, args...))
	}
}

func (f facts) String() string { return lang.Join(f) }

// Grouped writes a whole number with commas, as all forms of the report do.
func Grouped(n int64) string { return grouped(n) }

func grouped[T ~int | ~int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// seconds writes a duration with three digits that matter.
func seconds(s float64) string {
	switch {
	case s == 0:
		return "0 s"
	case s < 0.001:
		return strconv.FormatFloat(s*1e6, 'f', 0, 64) + " µs"
	case s < 1:
		return significant(s*1e3) + " ms"
	}
	return significant(s) + " s"
}

// significant writes a number with three digits that matter, or all before the
// point.
func significant(f float64) string {
	if math.Abs(f) >= 100 {
		return grouped(int64(math.Round(f)))
	}
	digits := 2
	if math.Abs(f) >= 10 {
		digits = 1
	}
	s := strconv.FormatFloat(f, 'f', digits, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func byteSize(n int64) string {
	const unit = 1000
	if n < unit {
		return grouped(n) + " B"
	}
	f, i := float64(n), -1
	for f >= unit && i < 4 {
		f /= unit
		i++
	}
	return significant(f) + " " + []string{"kB", "MB", "GB", "TB", "PB"}[i]
}

// counts writes a map of counts, the largest first.
func counts[V ~int | ~int64](m map[string]V) string {
	keys := slices.Sorted(maps.Keys(m))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(m[b], m[a]) })
	var f facts
	for _, k := range keys {
		f.add(m[k] != 0, "%s %s", lang.Word(k), grouped(m[k]))
	}
	return f.String()
}

func plural[T ~int | ~int64](n T, one, many string) string {
	return lang.Plural(int64(n), grouped(n), one, many)
}

// zoneName names a zone at a time: "UTC", "CST (UTC+8)".
func zoneName(t time.Time) string {
	name, offset := t.Zone()
	if offset == 0 {
		return "UTC"
	}
	utc := fmt.Sprintf("UTC%+d", offset/3600)
	if m := offset % 3600 / 60; m != 0 {
		utc = fmt.Sprintf("UTC%+d:%02d", offset/3600, max(m, -m))
	}
	if name == "" || strings.ContainsAny(name, "+-0123456789") {
		return utc
	}
	return name + " (" + utc + ")"
}

// collapse makes every run of spaces one.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

func (p *Pool) facts() facts {
	var f facts
	switch {
	case p.Active != nil && p.Max != nil:
		f.add(true, "%s/%s active", grouped(*p.Active), grouped(*p.Max))
	case p.Active != nil:
		f.add(true, "%s active", grouped(*p.Active))
	case p.Max != nil:
		f.add(true, "max %s", grouped(*p.Max))
	}
	if p.Idle != nil {
		f.add(true, "%s idle", grouped(*p.Idle))
	}
	if p.Queued != nil {
		f.add(true, "%s queued", grouped(*p.Queued))
	}
	if p.Waiting != nil {
		f.add(true, "%s waiting", grouped(*p.Waiting))
	}
	if p.Rejected != nil {
		f.add(true, "%s rejected", grouped(*p.Rejected))
	}
	f.add(p.Diagnosis != "", "%s", lang.Word(p.Diagnosis))
	if p.CompletedPerSecond != nil {
		f.add(true, "completes %s/s", significant(*p.CompletedPerSecond))
	}
	if p.HoldSeconds != nil {
		f.add(true, "each held %s", seconds(*p.HoldSeconds))
	}
	if by := counts(p.ByWaitKind); by != "" {
		f.add(true, "waiting for: %s", by)
	}
	return f
}

// Name returns "consumer -> Service.method", packages left out.
func (e *Edge) Name() string {
	name := e.Service[strings.LastIndexByte(e.Service, '.')+1:]
	if strings.Contains(e.Method, " ") {
		name = e.Service // a host, not a Java interface
	}
	switch {
	case e.Method == "":
	case name == "":
		name = e.Method
	case strings.Contains(e.Method, " "): // "GET /stock/{id}"
		name += " " + e.Method
	default:
		name += "." + e.Method
	}
	if e.Consumer != "" {
		name = e.Consumer + " -> " + name
	}
	return name
}

func (e *Edge) facts() facts {
	var f facts
	if e.Amplification != nil {
		f.add(true, "%.1fx", *e.Amplification)
	}
	switch {
	case e.Calls != nil && e.Attempts != nil:
		f.add(true, "%s -> %s", plural(*e.Calls, "call", "calls"), plural(*e.Attempts, "attempt", "attempts"))
	case e.Attempts != nil:
		f.add(true, "%s", plural(*e.Attempts, "attempt", "attempts"))
	case e.Calls != nil:
		f.add(true, "%s", plural(*e.Calls, "call", "calls"))
	}
	if e.Ceiling != nil {
		f.add(true, "ceiling %d", *e.Ceiling)
	}
	if e.TimeoutMS != nil {
		f.add(true, "timeout %s ms", grouped(*e.TimeoutMS))
	}
	if e.Peak != nil {
		f.add(true, "%.1fx while it was retried", *e.Peak)
	}
	if e.Cumulative != nil && e.Amplification != nil && *e.Cumulative >= 1.1**e.Amplification {
		f.add(true, "%.1fx with the layers above", *e.Cumulative)
	}
	fates, outcomes := counts(e.Fates), counts(e.Outcomes)
	f.add(fates != "", "calls: %s", fates)
	f.add(fates != "" && outcomes != "", "attempts: %s", outcomes)
	f.add(fates == "" && outcomes != "", "%s", outcomes)
	if e.Abandoned != nil {
		f.add(true, "%s went on at the provider after the caller had left", plural(*e.Abandoned, "call", "calls"))
	}
	if e.OrphanedS != nil {
		f.add(true, "%s of work for nobody", seconds(*e.OrphanedS))
	}
	if e.Ambiguous != nil {
		f.add(true, "%s of requests that may be retries or a loop", plural(*e.Ambiguous, "group", "groups"))
	}
	var stages []string
	for _, s := range e.Candidates {
		stages = append(stages, fmt.Sprintf("%s %d", s.Stage, s.Count))
	}
	f.add(len(stages) > 0, "candidates %s", strings.Join(stages, " > "))
	f.add(e.Scope == "failed-calls", "failed calls only")
	f.add(e.Scope == "since-start", "since the process started")
	if e.Basis != "" {
		f.add(true, "from %s", lang.Word(e.Basis))
	}
	return f
}

// severalRetry are the paths on which more than one layer retries; the others
// say nothing that their edges do not.
func severalRetry(paths []Path) []Path {
	var list []Path
	for _, p := range paths {
		n := 0
		for _, l := range p.Layers {
			if l.Amplification >= 1.05 {
				n++
			}
		}
		if n > 1 {
			list = append(list, p)
		}
	}
	return list
}

// Name returns the path's product: "gateway -> order 3.0x × order -> Sku.get 3.0x".
// Layers that do not retry are left out.
func (p *Path) Name() string {
	var parts []string
	for _, l := range p.Layers {
		if l.Amplification < 1.05 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %.1fx", l.Edge, l.Amplification))
	}
	return strings.Join(parts, " × ")
}

func (p *Path) facts() facts {
	var f facts
	f.add(true, "= %.1fx", p.Amplification)
	f.add(p.Load > 1.05*p.Amplification, "%.1f with fan-out", p.Load)
	if p.InPerS != nil && p.OutPerS != nil {
		f.add(true, "%s/s in, %s/s at the last", significant(*p.InPerS), significant(*p.OutPerS))
	}
	return f
}

func (s *Fingerprint) facts() facts {
	var f facts
	if s.Count != nil {
		f.add(true, "%s", plural(*s.Count, "execution", "executions"))
	}
	if s.TotalSeconds != nil {
		f.add(true, "%s in all", seconds(*s.TotalSeconds))
	}
	if s.P95Seconds != nil {
		f.add(true, "p95 %s", seconds(*s.P95Seconds))
	}
	if s.MaxSeconds != nil {
		f.add(true, "at most %s", seconds(*s.MaxSeconds))
	}
	if s.RowsExamined != nil {
		f.add(true, "up to %s read", plural(*s.RowsExamined, "row", "rows"))
	}
	f.add(s.FullScan != nil && *s.FullScan, "full scan")
	f.add(s.FullScan != nil && !*s.FullScan, "no full scan")
	if s.RunningNow != nil {
		f.add(true, "%s running now", grouped(*s.RunningNow))
	}
	if s.LockWaits != nil {
		f.add(*s.LockWaits > 0, "%s", plural(*s.LockWaits, "lock wait", "lock waits"))
	}
	f.add(s.Method != "", "run by %s", s.Method)
	f.add(s.Method == "" && s.DAOFrame != "", "run at %s", s.DAOFrame)
	return f
}

// name returns "173 threads in DubboServerHandler, db-read".
func (s *StackGroup) name() string {
	return lang.Sprintf("%s in %s, %s", plural(s.Threads, "thread", "threads"), s.Pool, lang.Word(string(s.WaitKind)))
}

func (s *StackGroup) facts() facts {
	var f facts
	f.add(s.AppFrame != "", "at %s", s.AppFrame)
	f.add(s.AppFrame == "" && len(s.Top) > 0, "at %s", strings.Join(s.Top[:min(1, len(s.Top))], ""))
	f.add(s.State != "", "%s", s.State)
	f.add(s.Lock != "", "waits on %s", s.Lock)
	f.add(s.Owner != "", "held by \"%s\"", s.Owner)
	f.add(s.Dumps > 0, "in %s", plural(s.Dumps, "dump", "dumps"))
	return f
}

func (s *Source) facts() facts {
	var f facts
	f.add(s.Format != "", "%s", s.Format)
	f.add(s.Records == 0, "nothing recognised")
	f.add(true, "%s", byteSize(s.Bytes))
	f.add(true, "%s", plural(s.Records, "record", "records"))
	f.add(s.Skipped > 0, "%s skipped", grouped(s.Skipped))
	return f
}

// times says how often a finding was seen, unless its sentence does.
func (f *Finding) times() string {
	n := grouped(f.Count)
	if f.Count < 2 || hasNumber(f.Text, n) || hasNumber(f.Text, strconv.Itoa(f.Count)) {
		return ""
	}
	return lang.Sprintf("(%sx)", n)
}
