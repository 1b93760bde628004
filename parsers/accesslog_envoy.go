package parsers

import (
	"bytes"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// envoyRequest fills in what Envoy's flags and cluster say. The time of its
// upstream spans all tries, so that it is a try's own only if there was one.
func envoyRequest(a *evidence.Access) {
	inbound := strings.HasPrefix(a.Backend, "inbound|")
	if inbound {
		a.Side = evidence.Provider
		a.Upstreams = nil
	} else if i := strings.LastIndexByte(a.Backend, '|'); i >= 0 {
		a.Peer = a.Backend[i+1:]
	}
	exhausted := hasFlag(a.Flags, "URX", "UpstreamRetryLimitExceeded")
	if a.Attempts != 1 {
		for i := range a.Upstreams {
			if a.Attempts > 1 || exhausted {
				a.Upstreams[i].Duration = evidence.None
			}
		}
	}
	if len(a.Upstreams) == 1 && a.Upstreams[0].Status < 0 && (a.Flags == "" || a.Flags == "URX") {
		a.Upstreams[0].Status = a.Status
	}
	a.Hidden = exhausted && a.Attempts < 2
	switch {
	case hasFlag(a.Flags, "UT", "SI", "DT", "UMSDR", "UpstreamRequestTimeout", "StreamIdleTimeout", "DurationTimeout"):
		a.Outcome = evidence.Timeout
	case hasFlag(a.Flags, "UO", "RL", "RLSE", "OM", "UAEX", "UpstreamOverflow", "RateLimited"):
		a.Outcome = evidence.Rejected
	case hasFlag(a.Flags, "UH", "NR", "NC", "NoHealthyUpstream", "NoRouteFound", "NoClusterFound"):
		a.Outcome = evidence.NoProvider
	case hasFlag(a.Flags, "UF", "UC", "UR", "LR", "UPE", "UpstreamConnectionFailure", "UpstreamConnectionTermination", "UpstreamRemoteReset", "LocalReset"):
		a.Outcome = evidence.Unreachable
	case hasFlag(a.Flags, "DC", "DR", "DownstreamConnectionTermination"):
		a.Outcome = evidence.Cancelled
	}
}

// hasFlag reports whether one of the names stands in a list with commas.
func hasFlag(flags string, names ...string) bool {
	for flags != "" {
		flag, rest, _ := strings.Cut(flags, ",")
		for _, n := range names {
			if flag == n {
				return true
			}
		}
		flags = rest
	}
	return false
}

// bareAddr removes a scheme and a path from an upstream's address.
func bareAddr(v []byte) []byte {
	if i := bytes.Index(v[:min(len(v), 12)], []byte("://")); i > 0 {
		v = v[i+3:]
		if j := bytes.IndexByte(v, '/'); j >= 0 {
			v = v[:j]
		}
	}
	return v
}
