package parsers

import (
	"bytes"
	"slices"
	"strings"
	"time"
)

// accessPlan says which column plays which role, and what its numbers mean.
type accessPlan struct {
	at       [accessRoles]int8 // index of the column; -1: there is none
	unit     [accessRoles]time.Duration
	software string
	started  bool // the time is when the request began
	proxy    bool // the line names upstreams
	pair     bool // the duration stands behind a slash: "0/101868"
	parts    int  // columns from the duration's on that add up to it; 0: itself alone
}

func newAccessPlan() accessPlan {
	var p accessPlan
	for i := range p.at {
		p.at[i] = -1
	}
	return p
}

// clock returns the column with the time, which tells lines of this plan from others.
func (p *accessPlan) clock() int { return int(max(p.at[roleTime], p.at[roleStart], 1)) }

func (p *accessPlan) has(r accessRole) bool { return p.at[r] >= 0 }

// set gives a role to a column unless it is taken.
func (p *accessPlan) set(r accessRole, column int, unit time.Duration) bool {
	if p.at[r] >= 0 || column < 0 {
		return false
	}
	p.at[r], p.unit[r] = int8(column), unit
	return true
}

// usable reports whether lines of this plan are those of an access log: a time,
// a request, and how it ended or how long it took.
func (p *accessPlan) usable() bool {
	return p.has(roleTimers) || (p.has(roleTime) || p.has(roleStart)) && (p.has(roleRequest) || p.has(rolePath)) && (p.has(roleStatus) || p.has(roleDuration))
}

// accessShape is the sample lines that have the same columns.
type accessShape struct {
	layout accessLayout
	lines  [][]byte
	values [][maxAccessColumns]extent
	facts  []accessFacts
}

const (
	maxAccessShapes  = 32
	maxAccessSamples = 4000 // lines of one shape that are looked at
	enoughOfShape    = 20   // lines of one shape whose values tell by themselves what its columns are
)

// learnAccess finds the layouts of an access log in sample lines, the most
// frequent first, and how many of the lines they cover. Lines of a shape that is
// rare are taken to mean what those of a frequent one do, or of a known layout.
func learnAccess(lines [][]byte, known ...*accessLayout) (layouts []*accessLayout, covered int) {
	objects := 0
	for _, line := range lines {
		if line[0] == '{' {
			objects++
		}
	}
	var inJSON []*accessLayout
	if objects > 0 {
		if inJSON, covered = learnAccessJSON(lines); objects*2 > len(lines) {
			layouts, inJSON = inJSON, nil
		}
	}
	sep := accessSeparator(lines)
	shapes := map[string]*accessShape{}
	var order []*accessShape
	var values [maxAccessColumns]extent
	var last *accessShape
	for _, line := range lines {
		if line[0] == '{' {
			continue
		}
		s := last
		if s == nil || !s.layout.split(line, &values) {
			columns := columnsOf(line, sep, &values)
			if len(columns) < 3 {
				continue
			}
			sign := shapeOf(columns)
			s = shapes[sign]
			if s == nil {
				if len(shapes) >= 8*maxAccessShapes {
					continue
				}
				s = &accessShape{layout: accessLayout{sep: sep, columns: columns}}
				shapes[sign] = s
				order = append(order, s)
			}
			last = s
		}
		if len(s.lines) < maxAccessSamples {
			s.lines = append(s.lines, line)
			s.values = append(s.values, values)
		}
	}
	slices.SortStableFunc(order, func(a, b *accessShape) int { return len(b.lines) - len(a.lines) })
	for _, s := range order {
		if len(layouts) == maxAccessShapes {
			break
		}
		s.decide()
		if len(s.lines) < enoughOfShape {
			if len(layouts) > 0 {
				s.borrow(layouts[0])
			}
			for _, l := range known {
				if s.borrow(l) {
					break
				}
			}
		}
		if len(s.lines) < 3 && slices.ContainsFunc(append(layouts[:min(len(layouts), 1):min(len(layouts), 1)], known...), func(l *accessLayout) bool { return l.cut(s.lines[0]) }) {
			continue
		}
		if s.layout.plan.usable() {
			layouts = append(layouts, &s.layout)
			covered += len(s.lines)
		}
	}
	return append(layouts, inJSON...), covered
}

func shapeOf(columns []accessColumn) string {
	var b strings.Builder
	for _, c := range columns {
		b.WriteString(c.lead)
		b.WriteByte(0)
		b.WriteByte(c.end)
	}
	return b.String()
}

// accessSeparator returns what separates the columns: a blank, unless most
// lines hold as many of something else.
func accessSeparator(lines [][]byte) byte {
	for _, sep := range []byte{'\t', '|', '\x01', '^', ';'} {
		counts := map[int]int{}
		for _, line := range lines[:min(len(lines), 200)] {
			counts[bytes.Count(line, []byte{sep})]++
		}
		for n, c := range counts {
			if n >= 4 && c*4 >= min(len(lines), 200)*3 {
				return sep
			}
		}
	}
	return ' '
}

// borrow takes over the roles that another layout gives to the columns that are
// the same from the left and from the right, beside those that keys name. It
// reports whether that makes a plan that can be used.
func (s *accessShape) borrow(from *accessLayout) bool {
	if from.json != nil || from.sep != s.layout.sep {
		return false
	}
	a, b := s.layout.columns, from.columns
	left := 0
	for left < min(len(a), len(b)) && a[left] == b[left] {
		left++
	}
	right := 0
	for right < min(len(a), len(b))-left && a[len(a)-1-right] == b[len(b)-1-right] {
		right++
	}
	if left < 3 {
		return false
	}
	plan := newAccessPlan()
	plan.parts, plan.pair = from.plan.parts, from.plan.pair
	plan.software, plan.started, plan.proxy = from.plan.software, from.plan.started, from.plan.proxy
	for r, c := range from.plan.at {
		switch {
		case c < 0:
		case int(c) < left:
			plan.set(accessRole(r), int(c), from.plan.unit[r])
		case len(b)-int(c) <= right:
			plan.set(accessRole(r), int(c)+len(a)-len(b), from.plan.unit[r])
		}
	}
	if !plan.usable() {
		return false
	}
	own := s.layout.plan
	for r, c := range own.at {
		if c >= 0 && a[c].key != "" && !plan.uses(c) && plan.set(accessRole(r), int(c), own.unit[r]) {
			plan.proxy = plan.proxy || own.proxy
			if plan.software == "" {
				plan.software = own.software
			}
		}
	}
	s.layout.plan = plan
	return true
}

// uses reports whether a column plays a role.
func (p *accessPlan) uses(column int8) bool {
	for _, c := range p.at {
		if c == column {
			return true
		}
	}
	return false
}

// decide gives the columns their roles, by their names where these fit what the
// values are, else by the values.
func (s *accessShape) decide() {
	columns := s.layout.columns
	s.facts = make([]accessFacts, len(columns))
	for i, line := range s.lines {
		for c := range columns {
			s.facts[c].add(s.values[i][c].of(line))
		}
	}
	s.layout.plan = newAccessPlan()
	if s.layout.json == nil && s.producer() {
		return
	}
	p := &s.layout.plan
	taken := make([]bool, len(columns))
	set := func(r accessRole, c int, unit time.Duration) {
		if c >= 0 {
			taken[c] = true
			p.set(r, c, unit)
		}
	}
	for c := range columns {
		if role, unit := namedRole(columns[c].key, &s.facts[c]); role != roleNone {
			set(role, c, unit)
		}
	}
	// find returns the first column free from an index on that fits; -1 if none does.
	find := func(from int, fits func(f *accessFacts) bool) int {
		for c := max(from, 0); c < len(columns); c++ {
			if !taken[c] && fits(&s.facts[c]) {
				return c
			}
		}
		return -1
	}
	if !p.has(roleTime) && !p.has(roleStart) {
		at := find(0, func(f *accessFacts) bool { return f.only(f.epoch) && f.whole == 0 })
		if at < 0 {
			at = find(0, func(f *accessFacts) bool { return f.only(f.clock) })
		}
		if at < 0 {
			at = find(0, func(f *accessFacts) bool { return f.only(f.epoch) })
		}
		set(roleTime, at, 0)
	}
	if !p.has(roleRequest) && !p.has(rolePath) {
		at := find(0, func(f *accessFacts) bool { return f.request*2 >= f.values })
		set(roleRequest, at, 0)
		if at < 0 {
			at = find(0, func(f *accessFacts) bool { return f.only(f.verb) })
			if path := find(at+1, func(f *accessFacts) bool { return f.only(f.path) }); at >= 0 && path >= 0 {
				set(roleVerb, at, 0)
				set(rolePath, path, 0)
			}
		}
	}
	request := int(max(p.at[roleRequest], p.at[rolePath]))
	if !p.has(roleClient) {
		at := find(0, func(f *accessFacts) bool { return f.only(f.ip) })
		if at < 0 || at > request {
			at = find(0, func(f *accessFacts) bool { return f.only(f.ip + f.addr) })
		}
		if at < request {
			set(roleClient, at, 0)
		}
		if !p.has(roleHost) && at > 0 { // "%v:%p" before it
			if host := find(0, func(f *accessFacts) bool { return f.only(f.addr) }); host < at {
				set(roleHost, host, 0)
			}
		}
	}
	if !p.has(roleStatus) {
		status := (*accessFacts).isStatus
		at := find(request+1, status)
		if at < 0 {
			at = find(0, status)
		}
		set(roleStatus, at, 0)
		if next := at + 1; at >= 0 && next < len(columns) && !taken[next] && s.facts[next].only(s.facts[next].whole) && s.facts[next].multi == 0 {
			set(roleBytes, next, 0)
			taken[next] = true
		}
	}
	s.decideUpstream(taken, request)
	if s.layout.json == nil {
		s.decideDuration(taken)
	}
	if !p.has(roleRequestID) {
		set(roleRequestID, find(request+1, func(f *accessFacts) bool { return f.only(f.hex32+f.uuid) && !(f.same && f.values > 1) }), 0)
	}
	if !p.has(roleTrace) {
		set(roleTrace, find(0, func(f *accessFacts) bool { return f.only(f.parent) }), 0)
	}
	if p.proxy = p.has(roleUpAddr) || p.has(roleUpStatus) || p.has(roleUpTime); p.proxy {
		p.software = "nginx"
	}
	if s.layout.json != nil {
		s.jsonProducer()
	}
}

// namedRole returns the role that a key names, if the values can be that.
func namedRole(key string, f *accessFacts) (accessRole, time.Duration) {
	name, ok := accessNameOf(key)
	if !ok {
		return roleNone, 0
	}
	empty := f.dash == f.elems
	number := f.whole+f.decimal+f.epoch > 0 && f.only(f.whole+f.decimal+f.epoch)
	if key == "s" && f.decimal > 0 || key == "time" && f.only(f.decimal) {
		name.role = roleDuration
	}
	switch name.role {
	case roleTime, roleStart:
		if !f.only(f.clock + f.epoch) {
			return roleNone, 0
		}
	case roleStatus:
		if !f.isStatus() {
			return roleNone, 0
		}
	case roleUpAddr, roleUpStatus, roleBackend:
		switch {
		case f.addr > 0 && f.only(f.addr+f.word+f.verb):
			return roleUpAddr, 0
		case f.only(f.status) && name.role != roleBackend || empty && name.role == roleUpStatus:
			return roleUpStatus, 0
		case name.role == roleBackend && f.decimal == 0 && f.whole == 0 && f.request == 0:
			return roleBackend, 0
		}
		if empty && name.role == roleUpAddr {
			return roleUpAddr, 0
		}
		return roleNone, 0
	case roleDuration, roleUpTime, roleUpConnect, roleUpHeader, roleQueued:
		switch {
		case empty && name.role != roleDuration:
		case f.united > 0 && f.only(f.united):
		case !number:
			return roleNone, 0
		case name.unit == 0 && f.decimal > 0:
			name.unit = time.Second
		}
	case roleRequest:
		if f.request == 0 {
			if f.only(f.path) {
				return rolePath, 0
			}
			return roleNone, 0
		}
	case rolePath:
		if f.request > 0 {
			return roleRequest, 0
		}
	case roleGRPC:
		if !empty && !f.only(f.grpc) || key == "gs" && !f.grpcFailed {
			return roleNone, 0
		}
	case roleRetries, roleAttempts, roleOrdinal:
		if !f.only(f.whole) {
			return roleNone, 0
		}
	}
	return name.role, name.unit
}
