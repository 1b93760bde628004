package parsers

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

const maxRouteAddresses = 16

// invokers reads getRouterSnapshot (3.0.6+): "<key>@<hex>" on the line before,
// then "[ All Invokers:6 ] [ Valid Invokers: 5 ]".
func (s *qosSession) invokers(line []byte) error {
	all, valid := intAfter(line, "[ All Invokers:"), intAfter(line, "[ Valid Invokers:")
	if all == evidence.None {
		s.in.Skip(s.in.Lines.Number(), "router snapshot without numbers")
		return nil
	}
	before := bytes.TrimRight(s.in.Lines.Before(), "\r\n ")
	before = bytes.TrimSpace(before[bytes.LastIndexByte(before, '\n')+1:])
	if i := bytes.LastIndex(before, []byte(", Result: ")); i >= 0 { // as DefaultCommandExecutor logs it
		before = before[i+len(", Result: "):]
	}
	key, _, _ := strings.Cut(string(before), "@")
	if strings.ContainsAny(key, " \t") {
		key = ""
	}
	route := evidence.Route{Service: key, Stages: []evidence.Stage{{Name: "directory", Count: all}}}
	if valid != evidence.None {
		route.Stages = append(route.Stages, evidence.Stage{Name: "valid", Count: valid})
	}
	r := s.record()
	r.Route = &route
	return s.emit(r)
}

// intAfter returns the number behind a word, or None.
func intAfter(line []byte, word string) int {
	_, rest, ok := bytes.Cut(line, []byte(word))
	if !ok {
		return evidence.None
	}
	rest = bytes.TrimLeft(rest, " ")
	n := 0
	for n < len(rest) && isDigit(rest[n]) {
		n++
	}
	v, err := strconv.Atoi(string(rest[:n]))
	if err != nil {
		return evidence.None
	}
	return v
}

// addresses reads getAddress (3.2.0+) as text: for each registry, at the level
// of interfaces and of applications, all, valid and disabled invokers, one URL
// a line.
func (s *qosSession) addresses(line []byte) error {
	service, _, _ := strings.Cut(strings.TrimPrefix(string(bytes.TrimSpace(line)), "ConsumerModel: "), "@")
	var (
		route   evidence.Route
		section string
		at      int
	)
	flush := func() error {
		if len(route.Stages) == 0 {
			return nil
		}
		r := s.record()
		r.Cite.Line = at
		sent := route
		r.Route = &sent
		route.Stages, route.Addresses = nil, nil
		return s.emit(r)
	}
	route.Service = service
	for s.in.Lines.Next() {
		text := string(bytes.TrimSpace(s.in.Lines.Bytes()))
		name, isSection := strings.CutSuffix(text, "Invokers:")
		switch {
		case text == "" || strings.HasPrefix(text, "MigrationStep: "):
		case strings.HasPrefix(text, "Registry: "):
			if err := flush(); err != nil {
				return err
			}
			url := strings.TrimPrefix(text, "Registry: ")
			route.Registry, _, _ = strings.Cut(url, "?")
		case text == "Interface-Level:" || text == "Application-Level:":
			if err := flush(); err != nil {
				return err
			}
			at = s.in.Lines.Number()
		case isSection:
			stage := map[string]string{"All": "directory", "Valid": "valid", "Disabled": "disabled"}[strings.TrimSpace(name)]
			if stage == "" {
				continue
			}
			if at == 0 {
				at = s.in.Lines.Number()
			}
			section = stage
			route.Stages = append(route.Stages, evidence.Stage{Name: stage})
		case strings.Contains(text, "://") && !strings.Contains(text, " ") && len(route.Stages) > 0:
			route.Stages[len(route.Stages)-1].Count++
			if section == "directory" && len(route.Addresses) < maxRouteAddresses {
				route.Addresses = append(route.Addresses, urlHost(text))
			}
		default:
			s.in.Lines.Unread()
			return flush()
		}
	}
	return flush()
}

// urlHost returns "10.20.0.11:20880" of a Dubbo URL.
func urlHost(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	return rest
}

// recent reads one entry of getRecentRouterSnapshot (3.0.6+): the snapshot's
// text as it is logged, behind the time in milliseconds, then the tree.
func (s *qosSession) recent(line []byte) error {
	r := s.record()
	text := strings.TrimSpace(string(line))
	if ms, err := strconv.ParseInt(text[:13], 10, 64); err == nil {
		r.Time, r.Zoned = time.UnixMilli(ms).UTC(), evidence.Yes
	}
	rec := *r
	route := evidence.Route{}
	_, head, _ := strings.Cut(text, "service ")
	route.Service, head, _ = strings.Cut(head, " from registry ")
	if _, consumer, ok := strings.Cut(head, " on the consumer "); ok && rec.Place.Instance == "" {
		rec.Place.Instance, _, _ = strings.Cut(consumer, " ")
	}
	for s.in.Lines.Next() {
		node, ok := snapshotNode(string(bytes.TrimSpace(s.in.Lines.Bytes())))
		if !ok {
			s.in.Lines.Unread()
			break
		}
		if node.name == "Parent" {
			route.Stages = append(route.Stages, evidence.Stage{Name: "valid", Count: node.input}, evidence.Stage{Name: "after-route", Count: node.chain})
			route.Empty = node.chain == 0
			continue
		}
		route.Stages = append(route.Stages, evidence.Stage{Name: node.name, Count: node.output})
		if node.input > 0 && node.output == 0 && route.Culprit == "" && !passedOn(node.message) {
			route.Culprit, route.Message = node.name, clip(node.message, 200)
		}
	}
	if len(route.Stages) == 0 {
		s.in.Skip(rec.Cite.Line, "router snapshot without a tree")
		return nil
	}
	if route.Stages[0].Name == "valid" { // what is left after the routers comes last
		after := route.Stages[1]
		route.Stages = append(append(route.Stages[:1:1], route.Stages[2:]...), after)
	}
	rec.Route = &route
	return s.emit(&rec)
}

// passedOn reports whether a router's message says that it gave on what it was
// given. TagStateRouter's "Disable Tag Router" does not say so: without a rule it
// still goes by the tags of the providers.
func passedOn(message string) bool { return strings.HasPrefix(message, "Directly return") }

// routerNode is one line of a snapshot's tree.
type routerNode struct {
	name, message        string
	input, output, chain int
}

// snapshotNode reads "[ TagStateRouter (Input: 6) (Current Node Output: 2)
// (Chain Node Output: 2) Router message: … ] Current Node Output: …".
func snapshotNode(text string) (routerNode, bool) {
	var n routerNode
	rest, ok := strings.CutPrefix(text, "[ ")
	if !ok {
		return n, false
	}
	if n.name, rest, ok = strings.Cut(rest, " (Input: "); !ok {
		return n, false
	}
	line := []byte("(Input: " + rest)
	n.input = intAfter(line, "(Input: ")
	n.output = intAfter(line, "(Current Node Output: ")
	n.chain = intAfter(line, "(Chain Node Output: ")
	if _, message, ok := strings.Cut(rest, "Router message: "); ok {
		for _, end := range []string{" ] Current Node Output:", " ] Input:"} {
			if i := strings.LastIndex(message, end); i >= 0 {
				message = message[:i]
			}
		}
		n.message = message
	}
	return n, n.input != evidence.None && n.output != evidence.None && n.chain != evidence.None
}
