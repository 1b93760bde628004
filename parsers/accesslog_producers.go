package parsers

import (
	"bytes"
	"time"
)

// producer gives the columns their roles if the row of them is one that a
// known proxy prints by default. Names settle nothing there: there are none.
func (s *accessShape) producer() bool {
	return s.haproxy() || s.envoy() || s.traefik() || s.loadBalancer() || s.reactor()
}

// value returns a column's value in a sample line.
func (s *accessShape) value(line, column int) []byte {
	return s.values[line][column].of(s.lines[line])
}

// every reports whether all sample values of a column pass.
func (s *accessShape) every(column int, fits func(v []byte) bool) bool {
	for i := range s.lines {
		if !fits(s.value(i, column)) {
			return false
		}
	}
	return len(s.lines) > 0
}

// nextColumn returns the first column from an index on all of whose values
// pass; -1 if there is none.
func (s *accessShape) nextColumn(from int, fits func(v []byte) bool) int {
	for c := max(from, 0); c < len(s.layout.columns); c++ {
		if s.every(c, fits) {
			return c
		}
	}
	return -1
}

func isCount(v []byte) bool { n, decimals := numberShape(v); return n > 0 && decimals < 0 }

func isCountOrDash(v []byte) bool { return isDash(v) || isCount(v) }

func isRequest(v []byte) bool { verb, _ := requestParts(v); return verb != nil || isDash(v) }

// envoy recognises Envoy's default text and Istio's:
//
//	[2026-03-14T09:12:33.123Z] "GET /pay HTTP/1.1" 503 UO 0 81 0 - "-" "checkout/2.1" "6dd4…" "stock.shop:8080" "-"
//	[2026-03-14T09:12:33.123Z] "GET /pay HTTP/1.1" 200 - via_upstream - "-" 0 12 5 4 "-" "checkout/2.1" "6dd4…" "stock.shop:8080" "10.20.0.11:8080" outbound|8080||stock.shop.svc.cluster.local 10.20.1.31:41002 10.96.0.11:8080 10.20.1.31:50544 - default
func (s *accessShape) envoy() bool {
	columns := s.layout.columns
	if len(columns) < 10 || columns[0].end != ']' || columns[1].end != '"' || !s.every(0, isClock) || !s.every(1, isRequestish) ||
		!s.every(2, isCount) || !s.every(3, isEnvoyFlags) {
		return false
	}
	c := 4
	for ; c+3 < len(columns); c++ { // Istio's details come first
		if s.every(c, isCount) && s.every(c+1, isCount) && s.every(c+2, isCountOrDash) && s.every(c+3, isCountOrDash) {
			break
		}
	}
	if c+3 >= len(columns) {
		return false
	}
	p := &s.layout.plan
	p.software = "envoy"
	p.set(roleStart, 0, 0)
	p.set(roleRequest, 1, 0)
	p.set(roleStatus, 2, 0)
	p.set(roleFlags, 3, 0)
	p.set(roleDuration, c+2, time.Millisecond)
	p.set(roleUpTime, c+3, time.Millisecond)
	var quoted []int
	for c += 4; c < len(columns) && columns[c].end == '"'; c++ {
		quoted = append(quoted, c)
	}
	if len(quoted) >= 4 {
		p.set(roleRequestID, quoted[2], 0)
		p.set(roleHost, quoted[3], 0)
	}
	if len(quoted) >= 5 {
		p.set(roleUpAddr, quoted[4], 0)
	}
	if c < len(columns) && columns[c].end == 0 {
		p.set(roleBackend, c, 0)
	}
	p.proxy = true
	return true
}

// isRequestish accepts what stands between the quotes of a request, "- - -" of
// a connection that sent none included.
func isRequestish(v []byte) bool { return isRequest(v) || bytes.HasPrefix(v, []byte("- ")) }

// isEnvoyFlags reports whether v is a list of response flags.
func isEnvoyFlags(v []byte) bool {
	if isDash(v) {
		return true
	}
	for _, c := range v {
		if (c < 'A' || c > 'Z') && c != ',' {
			return false
		}
	}
	return len(v) >= 2
}

// traefik recognises Traefik's common format: the combined one with four
// columns behind it.
//
//	10.20.0.9 - - [14/Mar/2026:09:12:33 +0000] "GET /pay HTTP/1.1" 200 12 "-" "checkout/2.1" 42 "pay@docker" "http://10.20.0.11:8080" 5ms
func (s *accessShape) traefik() bool {
	n := len(s.layout.columns)
	if n < 12 || !s.every(n-4, isCount) || !s.every(n-1, func(v []byte) bool { return bytes.HasSuffix(v, []byte("ms")) && isCount(v[:len(v)-2]) }) ||
		s.layout.columns[n-2].end != '"' || s.layout.columns[n-3].end != '"' || !s.every(n-2, isURLOrDash) || !s.every(4, isRequestish) {
		return false
	}
	p := &s.layout.plan
	p.software, p.started, p.proxy = "traefik", true, true
	p.set(roleClient, 0, 0)
	p.set(roleTime, 3, 0)
	p.set(roleRequest, 4, 0)
	p.set(roleStatus, 5, 0)
	p.set(roleBackend, n-3, 0)
	p.set(roleUpAddr, n-2, 0)
	p.set(roleDuration, n-1, time.Millisecond)
	return true
}

func isURLOrDash(v []byte) bool {
	return isDash(v) || bytes.Contains(v[:min(len(v), 10)], []byte("://"))
}

// loadBalancer recognises the logs of AWS's load balancers, of the application
// kind and the classic one: client and target, three times in seconds, two
// statuses, two sizes, the request.
//
//	https 2026-03-14T09:12:33.186641Z app/shop/50dc6c495c0c9188 10.20.0.9:2817 10.20.0.11:80 0.000 0.001 0.000 200 200 34 366 "GET https://shop.example:443/pay HTTP/1.1" "checkout/2.1" … "Root=1-58337262-36d228ad5d99923122bbe354" …
func (s *accessShape) loadBalancer() bool {
	seconds := func(v []byte) bool {
		whole, decimals := numberShape(v)
		return whole > 0 && decimals > 0 || string(v) == "-1"
	}
	status := func(v []byte) bool { return isDash(v) || accessStatus(v) >= 0 || string(v) == "0" }
	c := s.nextColumn(2, seconds)
	if c < 4 || len(s.layout.columns) < c+8 || !s.every(c+1, seconds) || !s.every(c+2, seconds) || !s.every(c+3, status) || !s.every(c+4, status) ||
		!s.every(c+7, isRequestish) || !s.every(c-4, isClock) {
		return false
	}
	p := &s.layout.plan
	p.software, p.proxy, p.parts = "aws-elb", true, 3
	p.set(roleTime, c-4, 0)
	p.set(roleBackend, c-3, 0)
	p.set(roleClient, c-2, 0)
	p.set(roleUpAddr, c-1, 0)
	p.set(roleDuration, c, time.Second)
	p.set(roleUpTime, c+1, time.Second)
	p.set(roleStatus, c+3, 0)
	p.set(roleUpStatus, c+4, 0)
	p.set(roleRequest, c+7, 0)
	p.set(roleCreated, s.nextColumn(c+8, isClock), 0)
	p.set(roleTrace, s.nextColumn(c+8, func(v []byte) bool { return isDash(v) || bytes.Contains(v, []byte("Root=")) }), 0)
	return true
}

// reactor recognises the access log of Reactor Netty, on which Spring Cloud
// Gateway and WebFlux run, where a logger's name in front gives it away:
//
//	2026-03-14 09:12:33.123 INFO 1 --- [or-http-epoll-2] reactor.netty.http.server.AccessLog : 10.20.0.9 - - [14/Mar/2026:09:12:33 +0000] "GET /pay HTTP/1.1" 200 12 5
func (s *accessShape) reactor() bool {
	if len(s.lines) == 0 || !bytes.Contains(s.lines[0], []byte("AccessLog")) || !bytes.Contains(s.lines[0], []byte("netty")) {
		return false
	}
	n := len(s.layout.columns)
	request := s.nextColumn(0, func(v []byte) bool { return !isDash(v) && isRequest(v) })
	if request < 2 || n < request+4 || !s.every(request+1, isCountOrDash) || !s.every(n-1, isCount) {
		return false
	}
	p := &s.layout.plan
	p.software, p.started = "reactor-netty", true
	p.set(roleTime, request-1, 0)
	if request >= 4 {
		p.set(roleClient, request-4, 0)
	}
	p.set(roleRequest, request, 0)
	p.set(roleStatus, request+1, 0)
	p.set(roleDuration, n-1, time.Millisecond)
	return true
}
