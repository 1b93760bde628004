package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// Calls that found no instance to go to, other than Dubbo's:
//
//	Load balancer does not have available server for client: risk-engine          (Ribbon)
//	No instances available for risk-engine                                        (Ribbon behind RestTemplate)
//	No servers available for service: risk-engine                                 (Spring Cloud LoadBalancer)
//	Load balancer does not contain an instance for the service risk-engine        (Feign since Spring Cloud 2020)
//	Unable to find instance for risk-engine                                       (Spring Cloud Gateway)
//	rpc error: code = Unavailable desc = last resolver error: produced zero addresses (gRPC for Go)
func discovery() detector {
	const zeroAddresses = "produced zero addresses"
	return messages("discovery", "Calls without an instance to go to: Ribbon, Spring Cloud LoadBalancer, Feign, Spring Cloud Gateway, gRPC for Go", []rule{
		{sign: "Load balancer does not have available server for client: ", find: noInstance("for client: ")},
		{sign: "Load balancer does not contain an instance for the service ", find: noInstance("for the service ")},
		{sign: "No servers available for service: ", find: noInstance("for service: ")},
		{sign: "No instances available for ", find: noInstance("available for ")},
		{sign: "Unable to find instance for ", find: noInstance("instance for ")},
		{sign: zeroAddresses, find: func(o *logOut, text []byte, at int) (bool, error) {
			if !has(text[:at], "resolver error") {
				return false, nil
			}
			return true, o.noProvider(at, peerOf(text), zeroAddresses)
		}},
	})
}

// noInstance reads the service's name after words of the message.
func noInstance(words string) func(o *logOut, text []byte, at int) (bool, error) {
	return func(o *logOut, text []byte, at int) (bool, error) {
		line := rest(text, at)
		name := bytes.TrimRight(upTo(past(line, words), " ,;\"'()[]{}\\"), ".:")
		if len(name) < 2 || len(name) > 120 {
			return false, nil
		}
		message := line[:bytes.Index(line, []byte(words))+len(words)]
		return true, o.noProvider(at, string(name), string(bytes.TrimRight(message, ": ")))
	}
}

func (o *logOut) noProvider(at int, service, message string) error {
	ev := o.at(at)
	ev.Route = &evidence.Route{Service: service, Empty: true, Message: message}
	return o.send(ev)
}
