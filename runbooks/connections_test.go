package runbooks

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/incident"
)

// TestConnectionsBeforeMethods holds that where workers wait for a connection,
// the walk says so and its pool is dealt with before methods are limited.
func TestConnectionsBeforeMethods(t *testing.T) {
	r := reportOf(t, filepath.Join(incidentsFolder, "lab-hikari-small"))
	if err := builtIn(t).Apply(r); err != nil {
		t.Fatal(err)
	}
	in := r.Incidents[0]
	for _, step := range []string{"workers-wait", "connections"} {
		if !slices.ContainsFunc(in.Walk, func(w incident.Answered) bool {
			return w.Step == step && w.Answer == incident.Yes && len(w.Because) > 0
		}) {
			t.Errorf("the walk does not answer yes to %s", step)
		}
	}
	of := func(words string) int {
		return slices.IndexFunc(in.Actions, func(a incident.Action) bool { return strings.Contains(a.What, words) })
	}
	if size, limit := of("Size HikariPool-1"), of("Limit or degrade"); size < 0 || limit < size {
		t.Errorf("the connection pool is action %d, the limit action %d", size, limit)
	}
}
