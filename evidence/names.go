package evidence

import (
	"strconv"
	"strings"
)

// String returns "file:line", "file#part" or "file".
func (c Citation) String() string {
	s := c.Source
	if c.Line > 0 {
		s += ":" + strconv.Itoa(c.Line)
	}
	if c.Part != "" {
		s += c.Part
	}
	return s
}

func name[T ~int8](v T, names []string) string {
	if int(v) < 0 || int(v) >= len(names) {
		return "unknown"
	}
	return names[v]
}

// String returns the outcome's name as used in reports.
func (o Outcome) String() string {
	return name(o, []string{
		"unknown", "ok", "failed", "timeout", "rejected", "cancelled",
		"no-provider", "late", "business-error", "unreachable", "redirected", "challenged",
	})
}

// String returns the side's name as used in reports.
func (s Side) String() string { return name(s, []string{"unknown", "consumer", "provider", "probe"}) }

// String returns the kind's name as used in reports.
func (k PoolKind) String() string { return name(k, []string{"unknown", "thread", "connection"}) }

// String returns the state's Java name.
func (s State) String() string {
	return name(s, []string{"UNKNOWN", "NEW", "RUNNABLE", "BLOCKED", "WAITING", "TIMED_WAITING", "TERMINATED"})
}

// String returns the runtime's name.
func (r Runtime) String() string { return name(r, []string{"unknown", "jvm", "go"}) }

// String returns the origin's name.
func (o SQLOrigin) String() string {
	return name(o, []string{
		"unknown", "slow-log", "running", "plan", "lock-wait", "deadlock", "client-slow", "digest", "idle-session",
	})
}

// String returns "unknown", "yes" or "no".
func (t Tri) String() string { return name(t, []string{"unknown", "yes", "no"}) }

// MarshalText makes a citation its String in JSON.
func (c Citation) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (c *Citation) UnmarshalText(text []byte) error {
	s := string(text)
	*c = Citation{Source: s}
	if i := strings.IndexByte(s, '#'); i > 0 {
		c.Source, c.Part = s[:i], s[i:]
	}
	if i := strings.LastIndexByte(c.Source, ':'); i > 0 {
		if n, err := strconv.Atoi(c.Source[i+1:]); err == nil {
			c.Source, c.Line = c.Source[:i], n
		}
	}
	return nil
}

// Borrows reports whether a span is that of a borrower who waits for a pool of
// database connections, by its name: HikariDataSource.getConnection.
func Borrows(name string) bool {
	owner, ok := strings.CutSuffix(name, ".getConnection")
	return ok && (strings.HasSuffix(owner, "DataSource") || strings.HasSuffix(owner, "Pool") || strings.HasSuffix(owner, "DataSourceProxy")) && !strings.ContainsAny(owner, " /")
}
