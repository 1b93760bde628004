package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// HikariCP's messages. The wording of the timeout has changed three times:
//
//	Timeout of 5000ms encountered waiting for connection.                                   1.x
//	Timeout after 5000ms of waiting for a connection.                                       2.0–2.3
//	OrdersPool - Connection is not available, request timed out after 501ms.                2.4–5.0
//	… timed out after 501ms (total=2, active=2, idle=0, waiting=1)                          since 5.1
//	OrdersPool - Pool stats (total=2, active=2, idle=0, waiting=2)                          2.4–5.1, DEBUG
//	OrdersPool - Pool stats (total=2/2, idle=0/2, active=2, waiting=2)                      since 6.0, DEBUG
//	OrdersPool - Thread starvation or clock leap detected (housekeeper delta=1m5s204ms948µs145ns).
//
// The waiting of a timeout leaves out the thread that has just given up, so 0
// there says nothing.
func hikari() detector {
	return messages("hikari", "HikariCP: borrowers that gave up, pool gauges, leaks and paused hosts", []rule{
		{sign: "Connection is not available, request timed out after ", find: hikariTimeout},
		{sign: "ms of waiting for a connection.", find: hikariOldTimeout},
		{sign: "ms encountered waiting for connection.", find: hikariOldTimeout},
		{sign: "stats (total=", find: hikariStats},
		{sign: "Thread starvation or clock leap detected", find: hikariClock},
		{sign: "was returned to the pool (unleaked)", find: hikariUnleaked},
		{sign: "Apparent connection leak detected", find: hikariLeak},
		{sign: "Connection leak detection triggered for ", find: hikariLeak},
		{sign: "Cannot acquire connection from data source", find: hikariUnreachable},
		{sign: "Exception during pool initialization", find: hikariUnreachable},
	})
}

func hikariTimeout(o *logOut, text []byte, at int) (bool, error) {
	p := newPool("hikari", "db")
	p.Name = hikariName(text, at)
	line := rest(text, at)
	p.Waited = span(past(line, "request timed out after "))
	if stats := enclosed(line, "ms (", ")"); stats != nil {
		hikariGauges(&p, stats)
	}
	p.Rejected = true
	p.Unreachable = p.Size == 0 || p.Size < 0 && unreachable(text[at:])
	return o.pool(at, p)
}

func hikariOldTimeout(o *logOut, text []byte, at int) (bool, error) {
	head := before(text, at+2)
	p := newPool("hikari", "db")
	i := bytes.LastIndex(head, []byte("Timeout "))
	if i < 0 {
		return false, nil
	}
	p.Waited = span(bytes.TrimLeft(head[i+len("Timeout "):], "aftero "))
	p.Rejected = true
	p.Unreachable = unreachable(text[at:])
	return o.pool(at, p)
}

func hikariStats(o *logOut, text []byte, at int) (bool, error) {
	p := newPool("hikari", "db")
	p.Name = hikariName(text, at)
	hikariGauges(&p, upTo(rest(text, at+len("stats (")), ")"))
	if p.Size < 0 || p.Active < 0 {
		return false, nil
	}
	if has(before(text, at), "shutdown ") {
		p.Shutdown = true
	} else if p.Size == 0 && p.Waiting > 0 {
		p.Unreachable = true
	}
	return o.pool(at, p)
}

// hikariGauges reads "total=2/10, idle=0/2, active=2, waiting=1" in any order.
func hikariGauges(p *evidence.PoolSnapshot, stats []byte) {
	p.Size = countAfter(stats, "total=")
	p.Active = countAfter(stats, "active=")
	p.Idle = countAfter(stats, "idle=")
	p.Waiting = countAfter(stats, "waiting=")
	if total := upTo(past(stats, "total="), ","); bytes.IndexByte(total, '/') >= 0 {
		p.Max = countAfter(total, "/")
	}
}

// hikariName reads the pool's name before a message. It may hold blanks,
// colons and slashes, and an exception's class or a header may stand before it.
func hikariName(text []byte, at int) string {
	head := before(text, at)
	i := bytes.LastIndex(head, []byte(" - "))
	if i < 0 { // 2.4.0: "Pool stats" and its kin named the pool after the word
		return snippet(past(head, "pool "), maxText)
	}
	head = head[:i]
	for _, opening := range [...]string{"Exception: ", " Connection [", ": [", " - ", ": "} {
		if j := bytes.LastIndex(head, []byte(opening)); j >= 0 {
			head = head[j+len(opening):]
		}
	}
	head = bytes.TrimLeft(head, "[ ")
	if j := bytes.LastIndexByte(head, ' '); j >= 0 && len(head) > 60 {
		head = head[j+1:]
	}
	return snippet(head, maxText)
}

func hikariClock(o *logOut, text []byte, at int) (bool, error) {
	value := span(enclosed(rest(text, at), "housekeeper delta=", ")"))
	name := hikariName(text, at)
	if value < 0 { // 2.4.6 printed the two the wrong way round
		value = span([]byte(name))
		name = snippet(enclosed(rest(text, at), "housekeeper delta=", ")"), maxText)
	}
	if value < 0 {
		return false, nil
	}
	return o.mark(at, evidence.Mark{
		Kind: evidence.MarkClockLeap, Subject: name, Text: snippet(rest(text, at), maxText), Value: value.Seconds(),
	})
}

// hikariLeak reads a borrower's stack. A slow query causes the same warning, so
// it stands only until the connection is returned: see hikariUnleaked.
func hikariLeak(o *logOut, text []byte, at int) (bool, error) {
	conn := upTo(past(text, "detection triggered for "), ",")
	return o.mark(at, leak(hikariOwner(o, text, at), conn, appFrame(text, at)))
}

func hikariUnleaked(o *logOut, text []byte, at int) (bool, error) {
	conn := enclosed(text, "reported leaked connection ", " was returned to the pool")
	return o.mark(at, evidence.Mark{
		Kind: evidence.MarkLeakReturned, Subject: hikariOwner(o, text, at), Text: snippet(conn, maxText),
	})
}

// bootThread is the width to which Spring Boot's layout cuts a thread's name.
const bootThread = 15

// hikariOwner names the pool of a leak: the housekeeping thread's name has it.
func hikariOwner(o *logOut, text []byte, at int) string {
	for _, suffix := range [...]string{" housekeeper", ":housekeeper"} {
		if name, ok := bytes.CutSuffix([]byte(o.rec.Thread), []byte(suffix)); ok {
			if len(o.rec.Thread) == bootThread { // its beginning was cut off, perhaps
				return ""
			}
			return string(name)
		}
	}
	if head := before(text, at); bytes.HasSuffix(head, []byte(" - ")) {
		return hikariName(text, at)
	}
	return ""
}

// leak describes a member that its borrower has kept, and the code that has it.
func leak(pool string, member []byte, holder string) evidence.Mark {
	text := snippet(member, maxText)
	if holder != "" {
		text += " held by " + holder
	}
	return evidence.Mark{Kind: evidence.MarkLeak, Subject: pool, Text: text}
}

func hikariUnreachable(o *logOut, text []byte, at int) (bool, error) {
	p := newPool("hikari", "db")
	p.Name = hikariName(text, at)
	p.Unreachable = true
	return o.pool(at, p)
}
