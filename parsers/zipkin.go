package parsers

import "bytes"

// Spans as Zipkin's v2 API takes and gives them since 2.0: a list, a list of
// traces, or one span a line. All tags are text.
//
//	[{"traceId":"5b8e…","parentId":"…","id":"eee1…","kind":"CLIENT","name":"get /cart","timestamp":1773479553120000,"duration":20400,"localEndpoint":{"serviceName":"orders","ipv4":"10.20.1.4"},"remoteEndpoint":{"serviceName":"cart","ipv4":"10.20.1.9","port":8080},"tags":{"http.method":"GET","http.path":"/cart"},"shared":true}]
//
// A server's span may share the ID of the client's, and then says so.
func zipkinFormat() Format {
	return Format{
		Name:     "zipkin",
		Doc:      "Spans in Zipkin's JSON: lists, lists of traces, one span a line",
		Versions: "Zipkin v2 API; spans of Brave, Micrometer, Istio and the Collector",
		Signs:    []string{`[{"traceId":…,"id":…,"localEndpoint":{…`},
		Sniff:    sniffZipkin,
		Parse:    parseSpanJSON,
	}
}

func sniffZipkin(_ string, head []byte) Match {
	if !jsonDocument(head) {
		return No
	}
	has := func(key string) bool { return bytes.Contains(head, []byte(key)) }
	list := bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("["))
	switch {
	case !has(`"traceId"`) || !has(`"id"`):
		return No
	case has(`"localEndpoint"`), list && has(`"timestamp"`) && has(`"duration"`):
		return Sure
	}
	return No
}

// endpoint reads who a span names as one end of a call.
func (d *spanJSON) endpoint() (service string, ip []byte, port int64) {
	j := d.j
	if !j.open('{') {
		return "", nil, 0
	}
	ip = d.value[:0]
	for key := j.key(); key != nil; key = j.key() {
		switch string(key) {
		case "serviceName":
			b, _ := j.scalar()
			service = d.r.names.of(b)
		case "ipv4", "ipv6":
			if b, _ := j.scalar(); len(ip) == 0 {
				ip = append(ip, b...)
			}
		case "port":
			port, _ = d.integer()
		default:
			j.pass()
		}
	}
	d.value = ip
	return service, ip, port
}

func (d *spanJSON) localEndpoint() {
	service, ip, port := d.endpoint()
	d.res[resService] = resValue{text: service}
	if len(ip) > 0 {
		d.res[resIP] = resValue{text: d.r.hostPort(ip, port, "")}
	}
}

func (d *spanJSON) remoteEndpoint() {
	s := &d.r.src
	service, ip, port := d.endpoint()
	if service != "" && !s.set(fieldPeerService) {
		s.putText(spanName{fieldPeerService, 100}, []byte(service))
	}
	if len(ip) > 0 && !s.set(fieldPeerAddress) {
		s.putText(spanName{fieldPeerAddress, 100}, ip)
		if port > 0 {
			s.putInt(spanName{fieldPeerPort, 100}, port)
		}
	}
}

// annotations reads the events of a span; a time and a word each.
func (d *spanJSON) annotations() {
	j, s := d.j, &d.r.src
	if !j.open('[') {
		return
	}
	for j.elem() {
		if !j.open('{') {
			continue
		}
		s.openEvent()
		for key := j.key(); key != nil; key = j.key() {
			if string(key) == "value" {
				b, _ := j.scalar()
				s.event.name = s.keep(b)
			} else {
				j.pass()
			}
		}
		s.closeEvent()
	}
}
