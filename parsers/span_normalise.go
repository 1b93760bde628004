package parsers

import (
	"bytes"
	"encoding/hex"
	"net"
	"strconv"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// spanReader makes Span records of span sources. It keeps one copy of names
// that repeat.
type spanReader struct {
	in      *Input
	emit    Emit
	names   interner
	queries map[string]string
	cited   [512]citedTrace
	noLines bool // lines of what is read are not lines of the input
	src     spanSource
	rec     evidence.Record
	span    evidence.Span
	buf     []byte
}

// citedTrace keeps the text of a trace's ID.
type citedTrace struct {
	id   [16]byte
	part string // "#trace <hex>"
}

const (
	tracePart  = "#trace "
	maxQueries = 4096
)

func newSpanReader(in *Input, emit Emit) *spanReader {
	return &spanReader{in: in, emit: emit, queries: map[string]string{}}
}

// done emits the span in src, made by the process at place.
func (r *spanReader) done(place evidence.Place, line int) error {
	if !r.fill(line) {
		return nil
	}
	r.rec.Place = place
	return r.emit(&r.rec)
}

// fill makes a record of the span in src. Its place is for the caller to say.
func (r *spanReader) fill(line int) bool {
	s := &r.src
	if r.noLines {
		line = 0
	}
	if s.id == [8]byte{} || s.trace == [16]byte{} {
		r.in.Skip(line, "span without a trace ID or a span ID")
		return false
	}
	part := r.tracePart(s.trace)
	r.rec = evidence.Record{
		Cite: evidence.Citation{Source: r.in.Name, Line: line, Part: part}, Trace: part[len(tracePart):],
	}
	if s.start > 0 {
		r.rec.Time, r.rec.Zoned = time.Unix(0, s.start).UTC(), evidence.Yes
	}
	r.span = evidence.Span{}
	if s.duration < 0 && s.end > 0 && s.start > 0 && s.end < s.start {
		r.in.Skip(line, "span ends before it begins: its duration is taken as zero")
	}
	r.normalise(&r.span)
	r.rec.Span = &r.span
	return true
}

// tracePart returns the text of a trace's ID, made once for spans that follow
// each other.
func (r *spanReader) tracePart(id [16]byte) string {
	c := &r.cited[(uint(id[15])|uint(id[14])<<8)%uint(len(r.cited))]
	if c.part == "" || c.id != id {
		var buf [len(tracePart) + 32]byte
		copy(buf[:], tracePart)
		hex.Encode(buf[len(tracePart):], id[:])
		c.id, c.part = id, string(buf[:])
	}
	return c.part
}

// query returns a statement's text, one copy of those that repeat.
func (r *spanReader) query(b []byte) string {
	if q, ok := r.queries[string(b)]; ok {
		return q
	}
	q := string(b)
	if len(b) < 2<<10 && len(r.queries) < maxQueries {
		r.queries[q] = q
	}
	return q
}

// normalise fills a span from the source.
func (r *spanReader) normalise(sp *evidence.Span) {
	s := &r.src
	sp.TraceID, sp.ID, sp.Parent = s.trace, s.id, s.parent
	sp.Kind, sp.Remote, sp.Shared = s.kind, s.remote, s.shared
	if k := s.str(fieldKind); sp.Kind == evidence.KindUnknown && k != nil {
		sp.Kind = spanKindOf(k)
	}
	name := s.bytes(s.name)
	sp.Name, sp.Scope = r.names.of(name), s.scope
	if sp.Scope == "" {
		sp.Scope = r.names.of(s.str(fieldScope))
	}
	s.statusTags()
	switch {
	case s.duration >= 0:
		sp.Duration = time.Duration(s.duration)
	case s.end > s.start && s.start > 0:
		sp.Duration = time.Duration(s.end - s.start)
	case s.end == 0: // never ended
		sp.Duration = evidence.None
	}
	sp.Weight = s.weight
	if w := s.str(fieldTracestate); sp.Weight == 0 && len(w) > 0 {
		sp.Weight = spanWeight(w)
	}
	sp.Rows = evidence.None
	if sp.Protocol = s.protocol(name); evidence.Borrows(sp.Name) { // a wait for a pool: nothing is sent
		sp.Protocol, sp.Kind = "", evidence.KindInternal
	}
	r.attempts(sp, name)
	r.peer(sp)
	switch sp.Protocol {
	case "http":
		r.http(sp, name)
	case "grpc", "dubbo", "rpc", "aws":
		r.rpc(sp, name)
	case "db", "redis":
		r.db(sp)
	case "messaging":
		r.messaging(sp, name)
	}
	s.outcome(sp, &r.names)
}

// statusTags takes the status of a span from tags, where tracers without a
// field for it put it.
func (s *spanSource) statusTags() {
	if s.status != 0 {
		return
	}
	switch c := s.str(fieldStatusCode); {
	case len(c) == 0:
	case bytes.EqualFold(c, []byte("error")), string(c) == "2":
		s.status = 2
		return
	case bytes.EqualFold(c, []byte("ok")), string(c) == "1":
		s.status = 1
		return
	}
	if !s.set(fieldErrorFlag) {
		return
	}
	if s.fields[fieldErrorFlag].kind != 's' {
		if s.yes(fieldErrorFlag) {
			s.status = 2
		}
		return
	}
	if e := s.str(fieldErrorFlag); !bytes.EqualFold(e, []byte("false")) && string(e) != "0" { // Brave puts the message there
		s.status = 2
	}
}

// micrometer reports whether a span has the keys of Micrometer's HTTP
// observations, whose names are too common to be believed alone.
func (s *spanSource) micrometer() bool {
	return s.set(fieldMicroOutcome) && s.set(fieldMicroStatus) && (s.set(fieldMicroURI) || s.set(fieldMicroMethod))
}

// protocol names what kind of call a span is part of; empty for none.
func (s *spanSource) protocol(name []byte) string {
	component := s.str(fieldComponent)
	switch {
	case s.set(fieldMessaging), s.set(fieldDestination):
		return "messaging"
	case s.set(fieldDBSystem), s.set(fieldDBText), s.set(fieldDBSummary):
		switch string(s.str(fieldDBSystem)) {
		case "redis", "valkey", "keydb", "dragonfly", "aws.elasticache":
			return "redis"
		}
		return "db"
	case s.set(fieldRPCSystem):
		switch system := s.str(fieldRPCSystem); string(system) {
		case "grpc":
			return "grpc"
		case "dubbo", "apache_dubbo":
			return "dubbo"
		case "aws-api", "aws.api", "aws_api":
			return "aws"
		case "http":
		default:
			return "rpc"
		}
	}
	switch {
	case s.grpcNative(name):
		return "grpc"
	case s.set(fieldAWSAttempt):
		return "aws"
	case bytes.EqualFold(component, []byte("grpc")), s.set(fieldRPCStatus) && !s.set(fieldRPCMethod):
		return "grpc"
	case bytes.Contains(component, []byte("dubbo")), bytes.Contains(component, []byte("Dubbo")):
		return "dubbo"
	case s.set(fieldMethod), s.set(fieldURL), s.set(fieldHTTPStatus), s.micrometer():
		return "http"
	case s.set(fieldRPCService):
		return "rpc"
	}
	return ""
}

// grpcNative knows the spans of gRPC's own tracing by their names.
func (s *spanSource) grpcNative(name []byte) bool {
	if !bytes.HasPrefix(name, []byte("Sent.")) && !bytes.HasPrefix(name, []byte("Attempt.")) && !bytes.HasPrefix(name, []byte("Recv.")) {
		return false
	}
	return s.set(fieldGRPCAttempt) || len(s.scope) >= 4 && s.scope[:4] == "grpc" || bytes.Count(name, []byte(".")) >= 2
}

// peer fills the other end.
func (r *spanReader) peer(sp *evidence.Span) {
	s := &r.src
	server := sp.Kind == evidence.KindServer || sp.Kind == evidence.KindConsumer || sp.Attempt == evidence.RoleEntry
	host, port := s.str(fieldPeerAddress), int64(0)
	if len(host) > 0 {
		port, _ = s.num(fieldPeerPort)
		if port == 0 && !s.set(fieldServerAddress) && s.set(fieldPeerNamePort) && net.ParseIP(string(host)) != nil {
			port, _ = s.num(fieldPeerNamePort)
		}
	} else if server {
		host = s.str(fieldClientAddress)
	}
	sp.PeerAddr = r.hostPort(host, port, "")
	sp.Peer = r.names.of(s.str(fieldPeerService))
	if sp.Peer != "" || server {
		return
	}
	if c := s.str(fieldCluster); len(c) > 0 { // outbound|8080||stock.shop.svc.cluster.local
		parts := bytes.Split(c, []byte("|"))
		if len(parts) == 4 && len(parts[3]) > 0 {
			n, _ := wholeNumber(parts[1])
			sp.Peer = r.hostPort(parts[3], n, sp.Protocol)
			return
		}
		if sp.Attempt != evidence.RoleUnknown || !s.set(fieldURL) {
			sp.Peer = r.names.of(c)
			return
		}
	}
	host = s.str(fieldServerAddress)
	port, _ = s.num(fieldServerPort)
	if len(host) == 0 {
		host = s.str(fieldPeerName)
		port, _ = s.num(fieldPeerNamePort)
	}
	if len(host) == 0 && s.micrometer() {
		host, port = s.str(fieldMicroClient), 0
		if string(host) == "none" {
			host = nil
		}
	}
	if len(host) == 0 {
		host, port = spanURLHost(s.str(fieldURL)), 0
	}
	if len(host) == 0 {
		host, port = s.str(fieldPeerAddress), 0
		if p, ok := s.num(fieldPeerPort); ok {
			port = p
		}
	}
	sp.Peer = r.hostPort(host, port, sp.Protocol)
}

// hostPort joins a host and its port. Ports that go without saying are left
// out: some generations print them and some do not.
func (r *spanReader) hostPort(host []byte, port int64, protocol string) string {
	if len(host) == 0 || len(host) > 255 {
		return ""
	}
	if protocol == "http" || protocol == "aws" {
		if h, p, ok := cutPort(host); ok && (p == 80 || p == 443) {
			host = h
		}
		if port == 80 || port == 443 {
			port = 0
		}
	}
	if port <= 0 || port > 65535 {
		return r.names.of(host)
	}
	if _, _, ok := cutPort(host); ok {
		return r.names.of(host)
	}
	b := r.buf[:0]
	if bytes.IndexByte(host, ':') >= 0 && host[0] != '[' {
		b = append(append(append(b, '['), host...), ']')
	} else {
		b = append(b, host...)
	}
	b = strconv.AppendInt(append(b, ':'), port, 10)
	r.buf = b
	return r.names.of(b)
}

// cutPort splits host:port; an IPv6 address without brackets has none.
func cutPort(host []byte) (h []byte, port int64, ok bool) {
	i := bytes.LastIndexByte(host, ':')
	if i <= 0 || host[i-1] != ']' && bytes.IndexByte(host[:i], ':') >= 0 {
		return host, 0, false
	}
	port, ok = wholeNumber(host[i+1:])
	return host[:i], port, ok && isDigits(host[i+1:])
}

// spanKindOf reads a kind's name in any of its spellings.
func spanKindOf(b []byte) evidence.SpanKind {
	if i := bytes.LastIndexAny(b, "_."); i >= 0 { // SPAN_KIND_CLIENT, SpanKind.CLIENT
		b = b[i+1:]
	}
	switch {
	case len(b) == 1 && b[0] >= '1' && b[0] <= '5':
		return evidence.SpanKind(b[0] - '0')
	case bytes.EqualFold(b, []byte("internal")):
		return evidence.KindInternal
	case bytes.EqualFold(b, []byte("server")):
		return evidence.KindServer
	case bytes.EqualFold(b, []byte("client")):
		return evidence.KindClient
	case bytes.EqualFold(b, []byte("producer")):
		return evidence.KindProducer
	case bytes.EqualFold(b, []byte("consumer")):
		return evidence.KindConsumer
	}
	return evidence.KindUnknown
}

// spanWeight returns how many calls alike a span stands for, from the sampling
// threshold in its tracestate: ot=th:c is 4. 0 if it has none.
func spanWeight(state []byte) float64 {
	for len(state) > 0 {
		member, rest, _ := bytes.Cut(state, []byte(","))
		state = rest
		member = bytes.TrimSpace(member)
		if !bytes.HasPrefix(member, []byte("ot=")) {
			continue
		}
		for _, pair := range bytes.Split(member[3:], []byte(";")) {
			switch {
			case bytes.HasPrefix(pair, []byte("th:")):
				return thresholdWeight(pair[3:])
			case bytes.HasPrefix(pair, []byte("p:")): // until 2023: a power of two; 63 is never
				if p, ok := wholeNumber(pair[2:]); ok && p >= 0 && p < 63 {
					return float64(uint64(1) << p)
				}
			}
		}
	}
	return 0
}

func thresholdWeight(digits []byte) float64 {
	if len(digits) == 0 || len(digits) > 14 {
		return 0
	}
	var t uint64
	for i := range 14 {
		d := 0
		if i < len(digits) {
			if d = hexDigit(digits[i]); d < 0 {
				return 0
			}
		}
		t = t<<4 | uint64(d)
	}
	const all = 1 << 56
	return all / float64(all-t)
}

// statusText returns a status without allocating for the usual ones.
func statusText(code int) string {
	if code < len(statusTexts) && code > 0 {
		return statusTexts[code]
	}
	return strconv.Itoa(code)
}

var statusTexts = func() (t [600]string) {
	for i := range t {
		t[i] = strconv.Itoa(i)
	}
	return t
}()
