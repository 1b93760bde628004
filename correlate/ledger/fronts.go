package ledger

import "strings"

// nearCount is by how much the attempts of a proxy and the requests that entered
// behind it may differ for the one to be taken as the front of the other.
const nearCount = 0.1

// putFronts finds, for paths that begin with an HTTP request from outside, the
// proxy that sent it: proxies rarely make spans, so their retries begin traces.
func (b *Book) putFronts() {
	if b.Lines == 0 || b.Share < 1 {
		return
	}
	for i := range b.Paths {
		p := &b.Paths[i]
		if len(p.Layers) == 0 || p.Layers[0].Caller != "" || p.Roots <= 0 {
			continue
		}
		root := p.Layers[0].Method
		var front *Edge
		several := false
		for k := range b.Edges {
			e := &b.Edges[k]
			if e.Basis != FromAccess || e.OneSided != "consumer" || e.Amplification < 0 || e.Attempts <= 0 || !sameRoute(e.Method, root) {
				continue
			}
			if d := e.Attempts - p.Roots; max(d, -d) > nearCount*p.Roots {
				continue
			}
			several = several || front != nil
			front = e
		}
		if front == nil || several {
			continue
		}
		p.Front, p.WithFront = front, front.Amplification*p.Amplification
	}
}

// sameRoute reports whether a masked path of an access log and a server's own
// route are of one endpoint: equal but for what they call their parameters, or
// the route a prefix, as some servers state it ("GET /stock/").
func sameRoute(masked, route string) bool {
	for {
		a, restA, moreA := strings.Cut(masked, "/")
		b, restB, moreB := strings.Cut(route, "/")
		if b == "" && !moreB || b == "**" || b == "*" {
			return true // the end of a prefix
		}
		if a != b && !(isParameter(a) && isParameter(b)) {
			return false
		}
		if !moreA || !moreB {
			return moreA == moreB
		}
		masked, route = restA, restB
	}
}

func isParameter(segment string) bool {
	return segment != "" && (segment[0] == '{' || segment[0] == ':' || segment[0] == '<')
}
