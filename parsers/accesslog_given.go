package parsers

import "bytes"

// A format that is given names what its author cared for, and often stops where
// the log goes on: with the lists of upstreams, say. Then the layout that was
// recognised, which understands more, is read, by the units that were given.

// moreThan are the roles for which a recognised layout is preferred to one given
// that does not name them.
var moreThan = []accessRole{roleUpAddr, roleUpStatus, roleUpTime, roleDuration, roleRequestID, roleAttempts, roleRetries, roleFlags, roleTries, roleTimers, roleGRPC}

// agreeing is how many lines a given layout and a recognised one are compared in.
const agreeing = 50

// understandsMore reports whether a recognised layout reads all that a given one
// names, the same way, and more besides.
func (l *accessLayout) understandsMore(given *accessLayout, lines [][]byte) bool {
	more := false
	for _, r := range moreThan {
		more = more || l.plan.has(r) && !given.plan.has(r)
	}
	if !more {
		return false
	}
	var mine, theirs [maxAccessColumns]extent
	n := 0
	for _, line := range lines {
		if n == agreeing {
			break
		}
		if !l.split(line, &mine) || !given.split(line, &theirs) {
			continue
		}
		n++
		for r := roleTime; r < accessRoles; r++ {
			a, b := l.plan.at[r], given.plan.at[r]
			switch {
			case a < 0 && b < 0:
			case a < 0:
				switch r {
				case roleBytes, roleAgent, roleQuery, roleHost, roleClient:
				default:
					return false // it names what was not recognised
				}
			case b < 0:
				for i := range len(given.columns) - 1 { // the last one may hold all that follows
					if x := theirs[i]; mine[a].from < x.to && x.from < mine[a].to && given.columns[i].role != roleNone && given.columns[i].role != roleRequest {
						return false // it calls this something else
					}
				}
			case r != roleBytes && r != roleAgent && !bytes.HasPrefix(theirs[b].of(line), mine[a].of(line)):
				return false
			}
		}
	}
	return n > 0
}

// withUnits takes over the units that a given layout states.
func (l *accessLayout) withUnits(given *accessLayout) {
	for r := range given.plan.unit {
		if given.plan.at[r] >= 0 && given.plan.unit[r] > 0 && l.plan.at[r] >= 0 {
			l.plan.unit[r] = given.plan.unit[r]
		}
	}
}
