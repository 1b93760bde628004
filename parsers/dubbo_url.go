package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// dubboProvider is what a message says of the provider that it names:
//
//	dubbo://10.20.0.11:20880/com.example.OrderService?application=checkout-web&side=consumer&timeout=1000&retries=2
//	DefaultServiceInstance{serviceName='order-provider', host='10.20.0.11', port=20880, …}, service{name='com.example.OrderService',…}
type dubboProvider struct {
	addr    []byte
	service []byte
	remote  []byte // the provider's application
	own     []byte // the application whose log this is, if the URL says whose it is
	query   []byte
	side    evidence.Side
}

// parse reads the provider at the start of b.
func (p *dubboProvider) parse(b []byte) {
	*p = dubboProvider{}
	if i := bytes.Index(b[:min(len(b), 200)], []byte("ServiceInstance{")); i >= 0 {
		p.remote = between(b, "serviceName='", "'")
		host := between(b, "host='", "'")
		if port := numberAfter(b, "port="); port > 0 && len(host) > 0 {
			k := bytes.Index(b, []byte("port="))
			n := digitRun(b, k+5)
			p.addr = append(append(append([]byte{}, host...), ':'), b[k+5:k+5+n]...)
		}
		p.service = between(b, "service{name='", "'")
		return
	}
	i := bytes.Index(b[:min(len(b), 80)], []byte("://"))
	if i <= 0 {
		p.addr = hostPort(b)
		p.service = between(b[:min(len(b), 4096)], "service{name='", "'")
		return
	}
	for _, c := range b[:i] {
		if !isASCIILetter(c) && c != '-' && c != '+' && (c < '0' || c > '9') {
			return
		}
	}
	b = b[i+3:]
	if k := bytes.IndexByte(b, '@'); k >= 0 && k < bytes.IndexAny(b, "/? ,") { // user:password@
		b = b[k+1:]
	}
	p.addr = hostPort(bytes.TrimRight(b[:urlHostEnd(b)], ","))
	b = b[urlHostEnd(b):]
	if len(b) > 0 && b[0] == '/' {
		n := 1
		for n < len(b) && b[n] != '?' && b[n] != ' ' && b[n] != ',' && b[n] != '\n' {
			n++
		}
		p.service = interfaceOf(b[1:n])
		b = b[n:]
	}
	if len(b) == 0 || b[0] != '?' {
		return
	}
	// A query may hold commas (methods=a,b), but no comma and space.
	n := 0
	for n < len(b) && b[n] > ' ' {
		n++
	}
	p.query = bytes.TrimRight(b[1:n], ",")
	switch string(p.value("side")) {
	case "consumer":
		p.side = evidence.Consumer
		p.own, p.remote = p.value("application"), p.value("remote.application")
	case "provider":
		p.side = evidence.Provider
		p.remote = p.value("application")
	}
	if s := p.value("interface"); len(s) > 0 {
		p.service = s
	}
}

func urlHostEnd(b []byte) int {
	n := 0
	for n < len(b) && b[n] != '/' && b[n] != '?' && b[n] > ' ' {
		n++
	}
	return n
}

// value returns a parameter of the URL.
func (p *dubboProvider) value(key string) []byte {
	for q := p.query; len(q) > 0; {
		pair := q
		if i := bytes.IndexByte(q, '&'); i >= 0 {
			pair, q = q[:i], q[i+1:]
		} else {
			q = nil
		}
		if len(pair) > len(key) && pair[len(key)] == '=' && string(pair[:len(key)]) == key {
			return pair[len(key)+1:]
		}
	}
	return nil
}

// number returns a parameter of the method, of the service or of its default.
func (p *dubboProvider) number(method, key string) int64 {
	for _, k := range []string{method + "." + key, key, "default." + key} {
		if v := p.value(k); len(v) > 0 && digitRun(v, 0) == len(v) {
			n, _ := leadingNumber(v)
			return n
		}
	}
	return evidence.None
}

// policy returns what the URL configures; nil if it says nothing of it.
func (p *dubboProvider) policy(o *logOut, method string) *evidence.Policy {
	if len(p.query) == 0 {
		return nil
	}
	pol := &evidence.Policy{
		Service: o.str(p.service), Method: method, Side: p.side,
		Timeout: p.timeout(method),
		Retries: int(p.number(method, "retries")),
		Cluster: o.str(p.first(method, "cluster")), LoadBalance: o.str(p.first(method, "loadbalance")),
		Threads: int(p.number(method, "threads")), Queues: int(p.number(method, "queues")),
	}
	switch p.side {
	case evidence.Consumer:
		pol.Application = o.str(p.own)
	case evidence.Provider:
		pol.Application = o.str(p.remote)
	}
	if pol.Timeout == evidence.None && pol.Retries == evidence.None && pol.Threads == evidence.None && pol.Queues == evidence.None && pol.Cluster == "" && pol.LoadBalance == "" {
		return nil
	}
	return pol
}

func (p *dubboProvider) first(method, key string) []byte {
	for _, k := range []string{method + "." + key, key, "default." + key} {
		if v := p.value(k); len(v) > 0 {
			return v
		}
	}
	return nil
}

// place puts what the URL says of the log's own application into a record.
func (p *dubboProvider) place(ev *evidence.Record, o *logOut) {
	if o.rec.App == "" && len(p.own) > 0 {
		ev.Place.Service = o.str(p.own)
	}
}

// timeout returns the timeout that the URL configures: in milliseconds, or in
// dubbo-go's URLs with a unit ("800ms", "1m30s").
func (p *dubboProvider) timeout(method string) time.Duration {
	if d := asMillis(p.number(method, "timeout")); d != evidence.None {
		return d
	}
	v := p.first(method, "timeout")
	if v == nil {
		v = p.value("methods." + method + ".timeout")
	}
	if len(v) == 0 || len(v) > 24 || v[len(v)-1] < 'a' {
		return evidence.None
	}
	d, err := time.ParseDuration(string(v))
	if err != nil || d <= 0 || d > 24*time.Hour {
		return evidence.None
	}
	return d
}
