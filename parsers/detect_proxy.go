package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// Error logs of reverse proxies:
//
//	2026/03/14 05:13:51 [error] 21678#21678: *1 upstream timed out (110: Connection timed out) while reading response header from upstream, …, upstream: "http://10.20.0.12:8080/pay", host: "shop.example"
//	2026/03/14 05:13:52 [error] 21678#21678: *23 limiting requests, excess: 0.993 by zone "z", client: …
//	2026/03/14 05:13:53 [error] 31#31: *8824 no live upstreams while connecting to upstream, …, upstream: "http://stock/v1", host: "shop.example"
//	[proxy:error] [pid 12] AH00957: HTTP: attempt to connect to 10.20.0.12:8080 (stock) failed
//	no healthy upstream                                                                        Envoy's answer, as a client logs it
func proxies() detector {
	return messages("proxy-error", "Error logs of nginx, Apache httpd, HAProxy and Envoy: upstreams that were slow, refused or gone, and requests that were limited", []rule{
		{sign: "upstream timed out (", find: nginxUpstream},
		{sign: "no live upstreams while connecting to upstream", find: nginxNobody},
		{sign: "while connecting to upstream", find: nginxUpstream},
		{sign: "upstream prematurely closed connection", find: nginxUpstream},
		{sign: "while reading response header from upstream", find: nginxUpstream},
		{sign: "limiting requests, excess: ", find: nginxLimit},
		{sign: "limiting connections by zone ", find: nginxLimit},
		{sign: "AH00957: ", find: httpdProxy},
		{sign: "AH00959: ", find: httpdProxy},
		{sign: "AH01102: ", find: httpdProxy},
		{sign: "AH01170: ", find: httpdNobody},
		{sign: " has no server available!", find: haproxyDown},
		{sign: "no healthy upstream", find: envoyNobody},
		{sign: "no endpoints available for service", find: kubeNobody},
	})
}

func nginxUpstream(o *logOut, text []byte, at int) (bool, error) {
	from, to := lineOf(text, at)
	line := text[from:to]
	// The warning beside each error says once more what the error said.
	if has(line, "temporarily disabled while ", "prematurely closed connection, so upstream", "is buffered to a temporary file", "worker_connections are not enough") {
		return true, nil
	}
	target := past(line, "upstream: \"")
	if i := bytes.Index(target, []byte("://")); i >= 0 && i < 12 {
		target = target[i+3:]
	}
	reason := line[bytes.IndexByte(line, '*')+1:]
	if i := bytes.IndexByte(reason, ' '); i >= 0 && plain(reason) >= 0 {
		reason = reason[i+1:]
	}
	if i := bytes.Index(reason, []byte(", client: ")); i >= 0 {
		reason = reason[:i]
	}
	return o.mark(at, slow(snippet(upTo(target, "/?\""), maxText), reason))
}

// nginxNobody reads the error of a request for which every server of the group
// was set aside. The group's name stands where the address would.
func nginxNobody(o *logOut, text []byte, at int) (bool, error) {
	from, to := lineOf(text, at)
	target := past(text[from:to], "upstream: \"")
	if i := bytes.Index(target, []byte("://")); i >= 0 && i < 12 {
		target = target[i+3:]
	}
	return true, o.noProvider(at, snippet(upTo(target, "/?\""), maxText), "no live upstreams")
}

// httpdNobody reads "AH01170: balancer://stock: All workers are in error state".
func httpdNobody(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	if !has(line, "All workers are in error state") {
		return false, nil
	}
	return true, o.noProvider(at, snippet(upTo(past(line, "balancer://"), ":/ "), maxText), "all workers are in error state")
}

// envoyNobody reads the body and the reason of a refusal by Envoy, as clients
// log it. The callee is named, if at all, by the URL beside it.
func envoyNobody(o *logOut, text []byte, at int) (bool, error) {
	return true, o.noProvider(at, peerOf(text), "no healthy upstream")
}

func kubeNobody(o *logOut, text []byte, at int) (bool, error) {
	name := bytes.TrimLeft(past(rest(text, at), "for service"), " \\\"'")
	return true, o.noProvider(at, snippet(upTo(name, " \\\"',"), maxText), "no endpoints available")
}

func nginxLimit(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	if has(line, ", dry run") || has(before(text, at), "delaying request") {
		return false, nil
	}
	return o.mark(at, evidence.Mark{
		Kind: evidence.MarkRateLimited, Subject: snippet(enclosed(line, "zone \"", "\""), maxText), Text: snippet(upTo(line, ","), maxText),
	})
}

func httpdProxy(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	peer := ""
	for _, opening := range [...]string{"attempt to connect to ", "disabling worker for (", "remote server "} {
		if peer == "" {
			peer = hostAt(past(line, opening))
		}
	}
	return o.mark(at, slow(peer, line))
}

func haproxyDown(o *logOut, text []byte, at int) (bool, error) {
	head := before(text, at)
	return true, o.noProvider(at, snippet(head[bytes.LastIndexByte(head, ' ')+1:], maxText), "no server available")
}
