package runbooks

import (
	"slices"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// hop names what the workers wait for, as exactly as it is known: the peer whose
// answers are late, the service whose calls timed out, or the code that calls.
// Only what stands in the trigger counts: other calls may be those of callers.
func (c *Case) hop() string {
	var ids []string
	for _, l := range c.incident.Chain {
		if l.Role == incident.Trigger && l.Label == incident.DownstreamWait {
			ids = append(ids, l.Findings...)
		}
	}
	of := func(field string, kinds ...incident.Kind) string {
		for _, k := range kinds {
			for _, f := range c.of(k) {
				if s := oneLine(f.Names[field]); s != "" && slices.Contains(ids, f.ID) && !c.itself(s) {
					return s
				}
			}
		}
		return ""
	}
	if s := of("peer", incident.DownstreamSlow, incident.TimeDownstream); s != "" {
		return s
	}
	if s := of("service", incident.CallTimeout, incident.RetryExhausted, incident.RetryAmplified, incident.CallUnreachable); s != "" {
		return s
	}
	if s := of("app_frame", incident.ConnHeldAcross, incident.StackRPC, incident.StackHTTP, incident.StackRedis, incident.StackMQ, incident.StackDNS, incident.StackDisk); s != "" {
		return lang.Sprintf("what %s calls", s)
	}
	return ""
}

// itself reports whether a name is that of a process whose own stacks wait: its
// log names itself where it names nobody else.
func (c *Case) itself(name string) bool {
	return slices.ContainsFunc(c.of(stackKinds...), func(f *incident.Finding) bool { return f.Names["process"] == name })
}
