package parsers

import (
	"fmt"
	"strings"
	"time"
)

// CheckAccessFormat reports what is wrong with a format of an access log as
// Hint.AccessFormat takes it.
func CheckAccessFormat(format string) error {
	_, err := compileAccessFormat(format)
	return err
}

// compileAccessFormat makes a layout of a format as nginx's log_format and
// httpd's LogFormat have it:
//
//	$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent $request_time
//	%h %l %u %t "%r" %>s %b %D
//
// httpd's directives are read with httpd's units.
func compileAccessFormat(format string) (*accessLayout, error) {
	c := formatCompiler{layout: &accessLayout{sep: ' ', plan: newAccessPlan()}}
	format = strings.TrimSpace(format)
	variable := apacheDirective
	switch {
	case strings.Contains(format, "$"):
		variable = nginxVariable
	case !strings.Contains(format, "%"):
		return nil, fmt.Errorf("access format %q has neither $variables of nginx nor %%directives of httpd", format)
	default:
		format = strings.ReplaceAll(format, `\"`, `"`)
		c.layout.plan.started = true
	}
	for format != "" {
		v, n := variable(format)
		if n == 0 {
			c.literal += format[:1]
			format = format[1:]
			continue
		}
		format = format[n:]
		if v.open != "" {
			c.literal += v.open
		}
		c.add(v)
		c.literal += v.close
	}
	c.end()
	c.layout.tail = c.literal
	p := &c.layout.plan
	if !p.usable() {
		return nil, fmt.Errorf("access format: names no time, no request or no status")
	}
	if p.proxy = p.has(roleUpAddr) || p.has(roleUpStatus) || p.has(roleUpTime); p.proxy {
		p.software = "nginx"
	}
	return c.layout, nil
}

// formatVariable is a variable in a format.
type formatVariable struct {
	name        string
	role        accessRole
	unit        time.Duration
	open, close string // what is printed around it by itself
}

type formatCompiler struct {
	layout  *accessLayout
	literal string // since the last variable
}

// add ends the last column at the literal read since, and begins one.
func (c *formatCompiler) add(v formatVariable) {
	columns := c.layout.columns
	if len(columns) > 0 && c.literal == "" || len(columns) == maxAccessColumns {
		return // prints right behind the last one: part of it
	}
	c.end()
	c.layout.columns = append(c.layout.columns, accessColumn{lead: c.literal, key: v.name, role: v.role})
	c.layout.plan.set(v.role, len(c.layout.columns)-1, v.unit)
	c.literal = ""
}

// end decides where the last column ends: before the literal that follows it.
func (c *formatCompiler) end() {
	n := len(c.layout.columns)
	if n == 0 {
		return
	}
	last := &c.layout.columns[n-1]
	quoted := strings.HasSuffix(last.lead, `"`) && strings.HasPrefix(c.literal, `"`)
	switch {
	case c.literal == "":
		last.end = '\n'
	case quoted:
		last.end, c.literal = '"', c.literal[1:]
	case c.literal[0] == ']' || c.literal[0] == '}':
		last.end, c.literal = c.literal[0], c.literal[1:]
	case c.literal == " " && last.role != roleRequest && last.role != roleAgent && last.role != roleTime:
		last.end = 0
	default:
		last.until = c.literal
		if last.key == "timelocal" {
			last.atLeast = len("14/Mar/2026:09:12:33 +0000")
		}
	}
}

// nginxVariable reads "$name" or "${name}"; its length is 0 if there is none.
func nginxVariable(s string) (v formatVariable, n int) {
	if s[0] != '$' {
		return v, 0
	}
	name := s[1:]
	if strings.HasPrefix(name, "{") {
		end := strings.IndexByte(name, '}')
		if end < 0 {
			return v, 0
		}
		name, n = name[1:end], end+2
	} else {
		end := 0
		for end < len(name) && (isASCIILetter(name[end]) || name[end] >= '0' && name[end] <= '9' || name[end] == '_') {
			end++
		}
		name, n = name[:end], end+1
	}
	if name == "" {
		return v, 0
	}
	v.name = accessKey([]byte(name))
	if known, ok := accessNameOf(v.name); ok {
		v.role, v.unit = known.role, known.unit
	}
	switch v.role {
	case roleDuration, roleUpTime, roleUpConnect, roleUpHeader:
		v.unit = time.Second
	}
	return v, n
}

// apacheDirective reads "%h", "%>s", "%{ms}T"; its length is 0 if there is none.
func apacheDirective(s string) (v formatVariable, n int) {
	if s[0] != '%' {
		return v, 0
	}
	n = 1
	for n < len(s) && (s[n] == '>' || s[n] == '<' || s[n] == '!' || s[n] == ',' || s[n] >= '0' && s[n] <= '9') {
		n++
	}
	argument := ""
	if n < len(s) && s[n] == '{' {
		end := strings.IndexByte(s[n:], '}')
		if end < 0 {
			return v, 0
		}
		argument = s[n+1 : n+end]
		n += end + 1
	}
	if n >= len(s) {
		return v, 0
	}
	letter := s[n]
	n++
	v.name = string(letter)
	switch letter {
	case 'h', 'a':
		v.role = roleClient
	case 't':
		v.role = roleTime
		if argument == "" {
			v.open, v.close = "[", "]"
		}
	case 'r':
		v.role = roleRequest
	case 'm':
		v.role = roleVerb
	case 'U':
		v.role = rolePath
	case 's':
		v.role = roleStatus
	case 'v', 'V':
		v.role = roleHost
	case 'D':
		v.role, v.unit = roleDuration, time.Microsecond
	case 'T':
		v.role, v.unit = roleDuration, map[string]time.Duration{"": time.Second, "s": time.Second, "ms": time.Millisecond, "us": time.Microsecond}[argument]
	case 'i', 'e', 'o', 'x':
		v.name = accessKey([]byte(argument))
		if known, ok := accessNameOf(v.name); ok && (known.role == roleRequestID || known.role == roleTrace || known.role == roleAgent) {
			v.role = known.role
		}
	case 'b', 'B', 'I', 'O', 'S':
		v.role = roleBytes
	}
	return v, n
}

// fits reports whether most of the lines are of the layout.
func (l *accessLayout) fits(lines [][]byte) bool {
	var values [maxAccessColumns]extent
	n := 0
	for _, line := range lines {
		if l.split(line, &values) {
			n++
		}
	}
	return n > 0 && n*2 >= len(lines)
}

// formatFits reports whether an input is a log of the format that was given.
func (in *Input) formatFits(head []byte) bool {
	if in.Hint.AccessFormat == "" {
		return false
	}
	l, err := compileAccessFormat(in.Hint.AccessFormat)
	return err == nil && l.fits(sampleLines(head, false))
}
