package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Alibaba Druid's messages:
//
//	com.alibaba.druid.pool.GetConnectionTimeoutException: wait millis 5000, active 20, maxActive 20, creating 0, runningSqlCount 12 : select …
//	runningSqlCount 8 : update …
//	slow sql 3012 millis. select * from t_order where id = ?["4711"]
//	abandon connection, owner thread: http-nio-8080-exec-3, connected at : 1773479553123, open stackTrace
//
// The list of running statements names those that hold the pool. Each begins a
// line, and a statement may have line ends of its own.
func druid() detector {
	return messages("druid", "Druid: borrowers that gave up with the statements that hold the pool, slow statements, leaks", []rule{
		{sign: "GetConnectionTimeoutException", last: true, find: druidTimeout},
		{sign: "wait millis ", last: true, find: druidTimeout},
		{sign: "current wait Thread count ", find: druidWaiters},
		{sign: "slow sql ", find: druidSlow},
		{sign: "abandon connection, owner thread: ", find: druidAbandon},
		{sign: "create connection SQLException, url: ", find: druidUnreachable},
		{sign: "create connection error, url: ", find: druidUnreachable},
	})
}

func druidTimeout(o *logOut, text []byte, at int) (bool, error) {
	if i := bytes.LastIndex(text, []byte("wait millis ")); i >= 0 {
		at = i
	}
	if !bytes.HasPrefix(text[at:], []byte("wait millis ")) {
		p := newPool("druid", "db")
		p.Rejected, p.Unreachable = true, unreachable(text)
		return o.pool(at, p)
	}
	line := rest(text, at)
	head := line // the gauges, without the statement that may follow
	if i := bytes.Index(line, []byte(" : ")); i >= 0 {
		head = line[:i]
	}
	p := newPool("druid", "db")
	p.Name = druidName(o, text)
	p.Active = countAfter(head, "active ")
	p.Max = countAfter(head, "maxActive ")
	p.Waited = millis(plain(line[len("wait millis "):]))
	if p.Active < 0 || p.Max < 0 {
		return false, nil
	}
	p.Rejected = true
	errors := countAfter(head, "createErrorCount ")
	p.Unreachable = p.Active == 0 && (errors > 0 || unreachable(text[at:])) || p.Active < p.Max && errors > 0
	running := druidRunning(text[at:])
	for _, s := range running {
		p.Holders = append(p.Holders, s.Text)
	}
	if done, err := o.pool(at, p); err != nil {
		return done, err
	}
	for _, s := range running {
		if _, err := o.sql(at, s); err != nil {
			return true, err
		}
	}
	return true, nil
}

const maxRunning = 50 // statements read of one list

// druidRunning reads the list "runningSqlCount <n> : <sql>".
func druidRunning(text []byte) []evidence.Statement {
	key := []byte("runningSqlCount ")
	var list []evidence.Statement
	for i := bytes.Index(text, key); i >= 0 && len(list) < maxRunning; i = bytes.Index(text, key) {
		text = text[i+len(key):]
		n := plain(text)
		sep := bytes.Index(rest(text, 0), []byte(" : "))
		if n < 0 || sep < 0 {
			continue
		}
		sql := text[sep+len(" : "):]
		for _, end := range [...]string{"\nrunningSqlCount ", "\n\tat ", "\n    at ", "\nCaused by: ", "\n###", "\n; ", "; nested exception"} {
			if j := bytes.Index(sql, []byte(end)); j >= 0 {
				sql = sql[:j]
			}
		}
		s := newStatement(evidence.Running, sql)
		s.Count = n
		if s.Text != "" {
			list = append(list, s)
		}
	}
	return list
}

// druidName reads "{dataSource-1}", which Druid puts before some of its lines.
func druidName(o *logOut, text []byte) string {
	if name := enclosed(text, "{dataSource-", "}"); name != nil {
		return "dataSource-" + snippet(upTo(name, ", "), maxText)
	}
	return ""
}

func druidWaiters(o *logOut, text []byte, at int) (bool, error) {
	p := newPool("druid", "db")
	p.Name = druidName(o, text)
	p.Waiting = countAfter(rest(text, at), "wait Thread count ")
	p.Rejected = true
	return o.pool(at, p)
}

// druidSlow reads a line of the StatFilter: the statement as the client timed it.
func druidSlow(o *logOut, text []byte, at int) (bool, error) {
	body := text[at+len("slow sql "):]
	ms := plain(body)
	i := bytes.Index(body[:min(len(body), 40)], []byte(" millis. "))
	if ms < 0 || i < 0 {
		return false, nil
	}
	sql := bytes.TrimSpace(body[i+len(" millis. "):])
	if bytes.HasSuffix(sql, []byte("]")) { // the parameters
		if j := bytes.LastIndexByte(sql, '['); j > 0 {
			sql = sql[:j]
		}
	}
	s := newStatement(evidence.ClientSlow, sql)
	s.Duration = time.Duration(ms) * time.Millisecond
	return o.sql(at, s)
}

func druidAbandon(o *logOut, text []byte, at int) (bool, error) {
	owner := upTo(past(text[at:], "owner thread: "), ",")
	return o.mark(at, leak(druidName(o, text), append([]byte("thread "), owner...), appFrame(text, at)))
}

func druidUnreachable(o *logOut, text []byte, at int) (bool, error) {
	p := newPool("druid", "db")
	p.Name = snippet(upTo(past(text[at:], "url: "), ", ?"), maxText)
	p.Unreachable = true
	return o.pool(at, p)
}
