package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// What is said of a call that found nobody to send it to:
//
//	Failed to invoke the method <m> in the service <i>. No provider available for the service <key> from registry <registry> on the consumer <ip> using the dubbo version <v>. …
//	No provider available from registry <registry> for service <key> on consumer <ip> use dubbo version <v>, please check status of providers(disabled, not registered or in blacklist).
//	No provider available after connectivity filter for the service <key> All validInvokers' size: 0 All routed invokers' size: 0 All invokers' size: 6 from registry …
//	No provider available after route for the service <key> from registry <X> on the consumer <ip> using the dubbo version <v>. Router snapshot is below: ⏎ <tree>

func readDubboNoProvider(d *dubboText, off int) (bool, error) {
	msg := d.message(off)
	r := &evidence.Route{Empty: true}
	var key, registry, consumer []byte
	switch {
	case bytes.HasPrefix(msg, []byte("No provider available after route ")):
		return readDubboSnapshot(d, off)
	case bytes.HasPrefix(msg, []byte("No provider available after connectivity filter for the service ")):
		key = until(after(msg, "for the service "), " \n")
		registry = between(msg, " from registry ", " on the consumer ")
		consumer = until(after(msg, " on the consumer "), " \n")
		r.Stages = directoryStages(registry)
		for _, s := range []struct{ key, name string }{
			{"All invokers' size: ", "directory"}, {"All validInvokers' size: ", "valid"}, {"All routed invokers' size: ", "after-route"},
		} {
			if n := numberAfter(msg, s.key); n >= 0 {
				r.Stages = append(r.Stages, evidence.Stage{Name: s.name, Count: int(n)})
			}
		}
		if len(r.Stages) > 0 {
			r.Stages = append(r.Stages, evidence.Stage{Name: "connected", Count: 0})
		}
		r.Message = "no provider available after connectivity filter"
	case bytes.HasPrefix(msg, []byte("No provider available for the service ")):
		key = until(after(msg, "for the service "), " \n")
		registry = between(msg, " from registry ", " on the consumer ")
		consumer = until(after(msg, " on the consumer "), " \n")
		r.Stages = directoryStages(registry)
	case bytes.HasPrefix(msg, []byte("No provider available from registry ")):
		registry = between(msg, "from registry ", " for service ")
		key = between(msg, " for service ", " on consumer ")
		consumer = until(after(msg, " on consumer "), " \n")
		r.Stages = directoryStages(registry)
		r.Message = "providers disabled, not registered or in blocklist"
	case bytes.HasPrefix(msg, []byte("No provider available in ")):
		list := msg[len("No provider available in "):]
		if byteAt(list, 0) != '[' {
			return false, nil
		}
		var p dubboProvider
		if i := bytes.Index(list, []byte("://")); i > 0 {
			p.parse(list[bytes.LastIndexAny(list[:i], " [,")+1:])
			key = p.service
		}
	case bytes.HasPrefix(msg, []byte("No provider is available because can't connect")):
	default:
		return false, nil
	}
	// The method, and the service where the key is missing, stand before it.
	start := bytes.LastIndexByte(d.text[:off], '\n') + 1
	if head := after(d.text[start:off], "Failed to invoke the method "); head != nil {
		method := until(head, " .")
		if dubboName(method) {
			r.Method = d.o.str(method)
		}
		if key == nil {
			for _, of := range []string{" of the service ", " in the service "} {
				if s := after(head, of); s != nil {
					key = until(s, " \n")
				}
			}
		}
	}
	if key == nil && r.Method == "" || key != nil && !dubboName(key) {
		return false, nil
	}
	r.Service = d.o.str(interfaceOf(key))
	r.Registry = registryAddress(registry, d.o)
	return true, d.route(off, r, consumer)
}

func (d *dubboText) route(off int, r *evidence.Route, consumer []byte) error {
	ev := d.at(off)
	if c := hostOnly(consumer); len(c) > 0 && d.r.Instance == "" {
		ev.Place.Instance = d.o.str(c)
	}
	ev.Route = r
	return d.o.send(ev)
}

// directoryStages reads the counts that 3.2.4 and later print in place of the
// registry's address:
//
//	RegistryDirectory(registry: 10.20.9.5:2181)-Directory(invokers: 6[…], validInvokers: 2[…], invokersToReconnect: 4[…])
func directoryStages(registry []byte) []evidence.Stage {
	i := bytes.Index(registry, []byte("-Directory(invokers: "))
	if i < 0 {
		return nil
	}
	var stages []evidence.Stage
	for _, s := range []struct{ key, name string }{
		{"(invokers: ", "directory"}, {" validInvokers: ", "valid"}, {" invokersToReconnect: ", "reconnecting"},
	} {
		if n := numberAfter(registry[i:], s.key); n >= 0 {
			stages = append(stages, evidence.Stage{Name: s.name, Count: int(n)})
		}
	}
	return stages
}

// registryAddress cuts the address out of a directory's text.
func registryAddress(b []byte, o *logOut) string {
	if a := after(b, "(registry: "); a != nil {
		return o.str(until(a, ",)"))
	}
	if len(b) > 200 {
		return ""
	}
	return o.str(bytes.TrimSpace(b))
}

// readDubboForbidden reads 2.5.0 to 2.5.3's
//
//	Forbid consumer <ip> access service <i> from registry <r> use dubbo version <v>, Please check registry access list (whitelist/blacklist).
func readDubboForbidden(d *dubboText, off int) (bool, error) {
	msg := d.line(off)
	key := between(msg, " access service ", " from registry ")
	if !dubboName(key) || !bytes.Contains(msg, []byte(" use dubbo version ")) {
		return false, nil
	}
	r := &evidence.Route{
		Service: d.o.str(interfaceOf(key)), Empty: true, Message: "forbidden by the registry's access list",
		Registry: registryAddress(between(msg, " from registry ", " use dubbo version "), d.o),
	}
	return true, d.route(off, r, between(msg, "Forbid consumer ", " access service "))
}

// readDubboConditionEmpty reads a condition rule that left nobody:
//
//	The route result is empty and force execute. consumer: 10.20.1.31, service: <key>, router: <rule>
func readDubboConditionEmpty(d *dubboText, off int) (bool, error) {
	msg := d.line(off)
	key := until(after(msg, ", service: "), ", \n")
	if !dubboName(key) {
		return false, nil
	}
	r := &evidence.Route{Service: d.o.str(interfaceOf(key)), Empty: true, Culprit: "ConditionRouter"}
	if rule := after(msg, ", router: "); rule != nil {
		if i := bytes.Index(rule, []byte(", dubbo version: ")); i >= 0 {
			rule = rule[:i]
		}
		r.Message = string(rule[:min(len(rule), 300)])
	} else {
		r.Message = "consumer is in the service's blocklist"
	}
	return true, d.route(off, r, until(after(msg, "consumer: "), ", \n"))
}

// readDubboSnapshot reads the tree of routers, 3.0.5 and later:
//
//	[ Parent (Input: 6) (Current Node Output: 6) (Chain Node Output: 2) ] Input: 10.20.0.11:20880,… -> Chain Node Output: …
//	  [ TagStateRouter (Input: 6) (Current Node Output: 2) (Chain Node Output: 2) Router message: Use tag gray to route. … ] Current Node Output: …
func readDubboSnapshot(d *dubboText, off int) (bool, error) {
	msg := d.message(off)
	first := until(msg, "\n")
	key := until(after(first, "for the service "), " \n")
	if bytes.HasPrefix(first, []byte("Router snapshot service ")) {
		key = until(first[len("Router snapshot service "):], " \n")
	}
	if !dubboName(key) || !bytes.Contains(first, []byte(" is below")) {
		return false, nil
	}
	r := &evidence.Route{Service: d.o.str(interfaceOf(key)), Empty: bytes.HasPrefix(first, []byte("No provider"))}
	d.tree(msg[len(first):], r)
	return true, d.route(off, r, until(after(first, " on the consumer "), " \n"))
}

// tree reads the routers of a snapshot into a route's stages.
func (d *dubboText) tree(b []byte, r *evidence.Route) {
	chain := int64(evidence.None)
	root := true
	for len(b) > 0 {
		var line []byte
		line, b, _ = bytes.Cut(b, []byte{'\n'})
		line = bytes.TrimSpace(line)
		const input, output = " (Input: ", "(Current Node Output: "
		i := bytes.Index(line, []byte(input))
		if i < 0 || !bytes.HasPrefix(line, []byte("[ ")) || len(r.Stages) >= 256 {
			continue
		}
		name := d.o.str(bytes.TrimSpace(line[2:i]))
		in, out := numberAfter(line, input), numberAfter(line, output)
		if root {
			root = false
			chain = numberAfter(line, "(Chain Node Output: ")
			if in >= 0 {
				r.Stages = append(r.Stages, evidence.Stage{Name: "valid", Count: int(in)})
			}
			if list := between(line, "] Input: ", " ->"); list != nil {
				r.Addresses = d.addresses(list)
			}
			continue
		}
		if out < 0 {
			continue
		}
		r.Stages = append(r.Stages, evidence.Stage{Name: name, Count: int(out)})
		if in > 0 && out == 0 && r.Culprit == "" {
			m := after(line, "Router message: ")
			if k := bytes.LastIndex(m, []byte(" ] Current Node Output:")); k >= 0 {
				m = m[:k]
			}
			if m = m[:min(len(m), 300)]; !passedOn(string(m)) {
				r.Culprit, r.Message = name, string(m)
			}
		}
	}
	if chain >= 0 {
		r.Stages = append(r.Stages, evidence.Stage{Name: "after-route", Count: int(chain)})
		r.Empty = r.Empty || chain == 0
	}
}

// addresses reads a list of up to five addresses, "Empty" or "a,b...".
func (d *dubboText) addresses(b []byte) []string {
	var list []string
	for len(b) > 0 && len(list) < 16 {
		var item []byte
		item, b, _ = bytes.Cut(b, []byte{','})
		if a := hostPort(bytes.TrimSpace(item)); a != nil {
			list = append(list, d.o.str(a))
		}
	}
	return list
}
