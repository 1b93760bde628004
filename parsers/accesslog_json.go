package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// An access log in JSON has an object a line. Its columns are the members with
// names that access logs use, wherever they are nested:
//
//	{"time":"2026-03-14T09:12:33+00:00","request":"GET /pay HTTP/1.1","status":200,"request_time":0.405,"upstream_status":"503, 504, 200"}
//	{"method":"GET","path":"/pay","response_code":503,"response_flags":"UO","duration":12,"upstream_cluster":"outbound|8080||stock.shop"}
//	{"logger":"http.log.access","request":{"method":"GET","uri":"/pay"},"duration":0.012,"status":200}
//
// nginx writes its variables without minding JSON: "urt":, where there is no
// value and "urt":0.001, 0.150 where there are several are read as meant.
type accessJSON struct {
	root    jsonMember
	columns []accessColumn
	fresh   bool // the last line had a member that none of the sample lines had and that access logs use
}

// jsonMember is a member that is a column, or holds some.
type jsonMember struct {
	name    string
	column  int // -1: none
	members map[string]*jsonMember
	next    *jsonMember // the one that came after it the last time
	first   *jsonMember // among its own members
}

// clone is a copy for another goroutine: walk notes what came after what.
func (j *accessJSON) clone() *accessJSON {
	return &accessJSON{root: *j.root.clone(), columns: j.columns}
}

func (m *jsonMember) clone() *jsonMember {
	c := &jsonMember{name: m.name, column: m.column}
	if m.members != nil {
		c.members = make(map[string]*jsonMember, len(m.members))
	}
	for name, x := range m.members {
		c.members[name] = x.clone()
	}
	return c
}

const (
	maxJSONDepth   = 6
	maxJSONMembers = 256 // of one object
)

// add makes columns of the members of a sample line that have a known name.
func (j *accessJSON) add(line []byte) {
	if j.root.members == nil {
		j.root = jsonMember{column: -1, members: map[string]*jsonMember{}}
	}
	j.learn(&j.root, line, 1, nil, 0)
}

func (j *accessJSON) learn(m *jsonMember, line []byte, at int, path []byte, depth int) int {
	return eachMember(line, at, func(name extent, from int) int {
		key := name.of(line)
		full := append(append(path[:len(path):len(path)], key...), '.')
		child := m.members[string(key)]
		if child == nil {
			child = &jsonMember{name: string(key), column: -1, members: map[string]*jsonMember{}}
			if line[from] != '{' && len(j.columns) < maxAccessColumns {
				for _, k := range [...]string{accessKey(full), accessKey(key)} {
					if name, ok := accessNameOf(k); ok {
						child.column = len(j.columns)
						j.columns = append(j.columns, accessColumn{key: k, role: name.role})
						break
					}
				}
			}
			if len(m.members) < maxJSONMembers {
				m.members[child.name] = child
			}
		}
		if line[from] == '{' && depth < maxJSONDepth {
			return j.learn(child, line, from+1, full, depth+1)
		}
		_, next := jsonValue(line, from)
		return next
	})
}

// split finds the columns of a line. It reports whether the line is an object.
func (j *accessJSON) split(line []byte, out *[maxAccessColumns]extent) bool {
	clear(out[:len(j.columns)])
	j.fresh = false
	if len(line) < 2 || line[0] != '{' {
		return false
	}
	return j.walk(&j.root, line, 1, out, 0) > 0
}

func (j *accessJSON) walk(m *jsonMember, line []byte, at int, out *[maxAccessColumns]extent, depth int) int {
	last := m
	next := m.first
	return eachMember(line, at, func(name extent, from int) int {
		child := next
		if child == nil || child.name != string(name.of(line)) {
			child = m.members[string(name.of(line))]
			if child != nil {
				if last == m {
					m.first = child
				} else {
					last.next = child
				}
			}
		}
		if child == nil {
			value, after := jsonValue(line, from)
			if value.to > value.from && len(m.members) < maxJSONMembers && !j.fresh {
				_, j.fresh = accessNameOf(accessKey(name.of(line)))
			}
			return after
		}
		last, next = child, child.next
		if line[from] == '{' && depth < maxJSONDepth && len(child.members) > 0 {
			return j.walk(child, line, from+1, out, depth+1)
		}
		value, after := jsonValue(line, from)
		if c := child.column; c >= 0 && after > 0 && out[c].to == 0 {
			out[c] = value
		}
		return after
	})
}

// eachMember calls f for the members of an object, from behind its brace, with
// where the value begins; f returns where it ends, or -1. It returns the offset
// behind the object; -1 if it has no end.
func eachMember(line []byte, at int, f func(name extent, from int) int) int {
	for {
		at = skipBlanks(line, at)
		switch byteAt(line, at) {
		case '}':
			return at + 1
		case ',':
			at++
			continue
		case '"':
		default:
			return -1
		}
		end := quoteEnd(line, at+1)
		if end < 0 {
			return -1
		}
		name := extent{int32(at + 1), int32(end)}
		at = skipBlanks(line, end+1)
		if byteAt(line, at) != ':' {
			return -1
		}
		if at = skipBlanks(line, at+1); at >= len(line) {
			return -1
		}
		if at = f(name, at); at < 0 {
			return -1
		}
	}
}

func skipBlanks(line []byte, at int) int {
	for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
		at++
	}
	return at
}

// jsonValue returns a value without its quotes, empty for null, and the offset
// behind it; -1 if it has no end.
func jsonValue(line []byte, at int) (value extent, next int) {
	switch line[at] {
	case '"':
		end := quoteEnd(line, at+1)
		if end < 0 {
			return value, -1
		}
		return extent{int32(at + 1), int32(end)}, end + 1
	case '{', '[':
		end := bracketEnd(line, at)
		return extent{int32(at), int32(max(end, at))}, end
	}
	from := at
	for at < len(line) && line[at] != '}' && (line[at] != ',' || byteAt(line, skipBlanks(line, at+1)) != '"') {
		at++
	}
	to := at
	for to > from && line[to-1] == ' ' {
		to--
	}
	if string(line[from:to]) == "null" {
		to = from
	}
	if at >= len(line) {
		at = -1
	}
	return extent{int32(from), int32(to)}, at
}

// bracketEnd returns the offset behind an array or object; -1 if it has no end.
func bracketEnd(line []byte, at int) int {
	depth := 0
	for ; at < len(line); at++ {
		switch line[at] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		case '"':
			if at = quoteEnd(line, at+1); at < 0 {
				return -1
			}
		}
	}
	return -1
}

// maxJSONKinds bounds the kinds of objects that are told apart.
const maxJSONKinds = 8

// learnAccessJSON finds the layouts of the lines that are objects, those of most
// lines first, and how many of them are an access log's. What calls its time or
// its status by another name is of another kind.
func learnAccessJSON(lines [][]byte) (layouts []*accessLayout, covered int) {
	left := make([][]byte, 0, min(len(lines), maxAccessSamples))
	for _, line := range lines[:min(len(lines), maxAccessSamples)] {
		if line[0] == '{' {
			left = append(left, line)
		}
	}
	for len(left) > 0 && len(layouts) < maxJSONKinds {
		l, n := learnObject(left)
		if l == nil {
			break
		}
		layouts, covered = append(layouts, l), covered+n
		others := left[:0:0]
		var values [maxAccessColumns]extent
		for _, line := range left {
			if !l.json.split(line, &values) || !l.requestIn(line, &values) {
				others = append(others, line)
			}
		}
		if len(others) == len(left) {
			break
		}
		left = others
	}
	return layouts, covered
}

// learnObject finds a layout that fits some of the lines, and how many these are.
func learnObject(lines [][]byte) (*accessLayout, int) {
	j := &accessJSON{}
	for _, line := range lines {
		j.add(line)
	}
	s := &accessShape{layout: accessLayout{sep: ' ', json: j, columns: j.columns}}
	var values [maxAccessColumns]extent
	for _, line := range lines {
		if j.split(line, &values) && s.layout.mayBeRequest(line, &values) {
			s.lines = append(s.lines, line)
			s.values = append(s.values, values)
		}
	}
	if len(s.lines) == 0 {
		return nil, 0
	}
	s.decide()
	if !s.layout.plan.usable() {
		return nil, 0
	}
	n := 0
	for i, line := range s.lines {
		if s.layout.requestIn(line, &s.values[i]) {
			n++
		}
	}
	return &s.layout, n
}

// mayBeRequest reports whether an object has, by the names of its members, what
// requestIn asks for.
func (l *accessLayout) mayBeRequest(line []byte, values *[maxAccessColumns]extent) bool {
	var seen [accessRoles]bool
	for c := range l.columns {
		if v := values[c]; v.to > v.from {
			seen[l.columns[c].role] = true
		}
	}
	return tellsRequest(&seen) && !hasTrace(line)
}

// requestIn reports whether an object is a request's: it has a time, a method or
// path, and a status or duration, and is no error with a stack trace.
func (l *accessLayout) requestIn(line []byte, values *[maxAccessColumns]extent) bool {
	var seen [accessRoles]bool
	for role, c := range l.plan.at {
		if c >= 0 {
			seen[role] = values[c].to > values[c].from
		}
	}
	return tellsRequest(&seen) && !hasTrace(line)
}

func tellsRequest(seen *[accessRoles]bool) bool {
	return (seen[roleTime] || seen[roleStart]) && (seen[roleRequest] || seen[rolePath]) && (seen[roleStatus] || seen[roleDuration] && seen[roleVerb])
}

func hasTrace(line []byte) bool { return bytes.Contains(line, []byte(`\n\tat `)) }

// jsonProducer tells who wrote an object by names that only they use, and with
// that the units of its numbers.
func (s *accessShape) jsonProducer() {
	p := &s.layout.plan
	keys := map[string]bool{}
	for _, c := range s.layout.columns {
		keys[c.key] = true
	}
	duration := func(unit time.Duration) {
		if p.unit[roleDuration] == 0 {
			p.unit[roleDuration] = unit
		}
		if p.unit[roleUpTime] == 0 {
			p.unit[roleUpTime] = unit
		}
	}
	switch {
	case keys["responseflags"] || keys["upstreamcluster"] || keys["upstreamrequestattemptcount"]:
		p.software, p.proxy = "envoy", true
		for c := range s.layout.columns {
			if s.layout.columns[c].key == "upstreamcluster" { // says more than the route
				p.at[roleBackend] = int8(c)
			}
		}
		if p.has(roleDuration) && s.facts[p.at[roleDuration]].decimal == 0 {
			p.unit[roleDuration], p.unit[roleUpTime] = time.Millisecond, time.Millisecond
		}
	case keys["downstreamstatus"] || keys["originstatus"]:
		p.software, p.proxy = "traefik", true
		duration(time.Nanosecond)
	case keys["latenciesrequest"]:
		p.software, p.proxy = "kong", true
	}
}

// kongTries takes the tries from Kong's list of them, in which only failed ones
// have a code. Its time until an answer is the last one's.
func (r *accessParser) kongTries(a *evidence.Access, list, took []byte) {
	a.Side = evidence.Consumer
	r.tries = r.tries[:0]
	for at := 1; at < len(list); {
		if list[at] != '{' {
			at++
			continue
		}
		u := evidence.Upstream{Status: evidence.None, Duration: evidence.None, Connect: evidence.None, Header: evidence.None}
		var ip, port []byte
		at = eachMember(list, at+1, func(name extent, from int) int {
			value, next := jsonValue(list, from)
			switch v := value.of(list); string(name.of(list)) {
			case "ip":
				ip = v
			case "port":
				port = v
			case "code":
				u.Status = accessStatus(v)
			}
			return next
		})
		if at < 0 {
			break
		}
		r.addr = append(append(append(r.addr[:0], ip...), ':'), port...)
		u.Addr = r.names.of(r.addr)
		r.tries = append(r.tries, u)
	}
	if len(r.tries) == 0 {
		a.Attempts = 0
		return
	}
	if last := &r.tries[len(r.tries)-1]; last.Status < 0 {
		last.Status = a.Status
		last.Duration = accessDuration(took, time.Millisecond)
	}
	a.Upstreams = r.tries
}
