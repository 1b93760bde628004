package parsers

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// tableCells splits "| a | b |" into its cells, trimmed; nil if it is no row.
func tableCells(line []byte) []string {
	text := strings.TrimSpace(string(line))
	if len(text) < 2 || text[0] != '|' {
		return nil
	}
	text = strings.TrimSuffix(text[1:], "|")
	cells := strings.Split(text, "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

func isTableBorder(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 2 && line[0] == '+' && len(bytes.Trim(line, "+-")) == 0
}

// rows calls f with each row of the table that follows, and leaves the first
// line after it unread.
func (s *qosSession) rows(f func(cells []string) error) error {
	for s.in.Lines.Next() {
		line := s.in.Lines.Bytes()
		cells := tableCells(line)
		if cells == nil && !isTableBorder(line) {
			s.in.Lines.Unread()
			return nil
		}
		if cells == nil {
			continue
		}
		if err := f(cells); err != nil {
			return err
		}
	}
	return nil
}

// counts reads the rows of `count`: calls since the process started, kept only
// where an actives or executes limit is set; a row of zeros says nothing.
func (s *qosSession) counts() error {
	return s.rows(func(c []string) error {
		if len(c) != 6 {
			return nil
		}
		total, err1 := strconv.Atoi(c[1])
		failed, err2 := strconv.Atoi(c[2])
		if err1 != nil || err2 != nil || total <= 0 || failed < 0 || failed > total {
			return nil
		}
		a := evidence.Attempt{
			Side: evidence.Provider, Service: s.service, Method: c[0], Duration: evidence.None, Timeout: evidence.None,
		}
		if ms, err := strconv.ParseInt(strings.TrimSuffix(c[4], "ms"), 10, 32); err == nil && ms >= 0 {
			a.Duration = time.Duration(ms) * time.Millisecond
		}
		if a.Count = total - failed; a.Count > 0 {
			a.Outcome = evidence.OK
			r := s.record()
			r.Attempt = &a
			if err := s.emit(r); err != nil {
				return err
			}
		}
		if failed == 0 {
			return nil
		}
		a.Count, a.Outcome, a.Duration = failed, evidence.Failed, evidence.None
		r := s.record()
		r.Attempt = &a
		return s.emit(r)
	})
}

// pools reads "Pool status:WARN, max:200, core:200, largest:200, active:200,
// task:845213, service port: 20880", several joined by ";".
func (s *qosSession) pools(line []byte) error {
	for _, part := range strings.Split(string(line), ";") {
		_, text, ok := strings.Cut(part, "Pool status:")
		if !ok {
			continue
		}
		p := evidence.PoolSnapshot{
			Kind: evidence.ThreadPool, Impl: "dubbo", Max: evidence.None, Active: evidence.None, Idle: evidence.None,
			Waiting: evidence.None, Size: evidence.None, Queued: evidence.None, Largest: evidence.None,
			Tasks: evidence.None, Completed: evidence.None, Waited: evidence.None,
		}
		for _, field := range strings.Split(text, ",") {
			key, value, _ := strings.Cut(field, ":")
			value = strings.TrimSpace(strings.Trim(value, " |"))
			n, err := strconv.ParseInt(value, 10, 63)
			if err != nil || n < 0 {
				continue
			}
			switch strings.TrimSpace(key) {
			case "max":
				p.Max = int(n)
			case "largest":
				p.Largest = int(n)
			case "active":
				p.Active = int(n)
			case "task":
				p.Tasks = n
			case "service port":
				p.Name = "dubbo:" + value
			}
		}
		if p.Max == evidence.None || p.Active == evidence.None {
			s.in.Skip(s.in.Lines.Number(), "pool status without numbers")
			continue
		}
		r := s.record()
		r.Pool = &p
		if err := s.emit(r); err != nil {
			return err
		}
	}
	return nil
}

// list reads one table of QoS `ls`. The consumer table says how many addresses
// each service has in each registry, before connectivity and routing:
// "zookeeper-AF(I-2,A-2)", "nacos-I(10)/zookeeper-A(3)", in 2.x a plain "10".
func (s *qosSession) list(consumer bool) error {
	return s.rows(func(c []string) error {
		if !consumer || len(c) != 2 || strings.HasPrefix(c[0], "Consumer Service") || c[0] == "" || c[1] == "NUM" {
			return nil
		}
		service := strings.TrimPrefix(c[0], "DubboInternal - ")
		if service != c[0] {
			return nil // Dubbo's own metadata service
		}
		for _, part := range strings.Split(c[1], "/") {
			registry, n := addressCount(part)
			if n == evidence.None {
				continue
			}
			stage := "directory"
			if registry == "" && n > 0 {
				stage = "registered" // 2.7 counts more than providers
			}
			r := s.record()
			r.Route = &evidence.Route{Service: service, Registry: registry, Stages: []evidence.Stage{{Name: stage, Count: n}}}
			if err := s.emit(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// addressCount reads one registry's cell. Of two counts, by interface and by
// application, the greater stands: the same providers are registered twice.
func addressCount(text string) (registry string, n int) {
	text = strings.TrimSpace(text)
	if v, err := strconv.Atoi(text); err == nil && v >= 0 {
		return "", v
	}
	n = evidence.None
	name, counts, ok := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	if !ok {
		return "", n
	}
	if dash := strings.LastIndexByte(name, '-'); dash > 0 {
		name = name[:dash]
	}
	for _, c := range strings.Split(counts, ",") {
		if dash := strings.LastIndexByte(c, '-'); dash >= 0 {
			c = c[dash+1:]
		}
		if v, err := strconv.Atoi(strings.TrimSpace(c)); err == nil {
			n = max(n, v)
		}
	}
	return name, n
}
