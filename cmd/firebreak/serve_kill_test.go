package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/exporter"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/incident/bundle"
)

// TestKilledWhileItBurns kills the real program, several times, at about the
// moment when it freezes an incident: its bundle is whole or not there, and the
// next process has the incident.
func TestKilledWhileItBurns(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "incidents")
	addr := freeAddress(t)
	config := filepath.Join(dir, "firebreak.yaml")
	text := fmt.Sprintf(`otlp: {grpc: "", http: ""}
web: {listen: [%q]}
logs:
  - {paths: [%q], service: product, from: start}
incidents: {dir: %q}
detect: {hold: 1}
report: {every: 100ms}
`, addr, filepath.Join(dir, "*.log"), kept)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "app.log")
	whole, absent := 0, 0
	for round := range 5 {
		if err := os.RemoveAll(kept); err != nil {
			t.Fatal(err)
		}
		for host := range 9 {
			appendTo(t, log, strings.Repeat(exhausted(host), 20))
		}
		p := startServing(t, config, addr)
		for n := p.noticed(); round%2 == 1 && n.Bundle == nil; n = p.noticed() { // else at the very moment
		}
		p.kill()
		store, err := bundle.Open(kept, bundle.Limits{}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		list, err := store.List()
		if err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(kept)
		if err != nil || len(entries) != len(list) {
			t.Errorf("%d bundles and %d things in the folder: %v", len(list), len(entries), err)
		}
		if len(list) == 0 {
			absent++
			continue
		}
		whole++
		m := list[0]
		if r := reopened(t, filepath.Join(kept, m.ID)); r.Incidents[0].Label != m.Label || len(m.Files) < 5 {
			t.Errorf("the bundle says %s, its manifest %s of %d files", r.Incidents[0].Label, m.Label, len(m.Files))
		}
		p = startServing(t, config, addr)
		if n := p.noticed(); n.ID != m.ID || n.Label != incident.PoolStarvation || n.Bundle == nil {
			t.Errorf("after the restart: %+v, want %s", n, m.ID)
		}
		p.kill()
	}
	t.Logf("%d were whole, %d not there yet", whole, absent)
	if whole < 2 {
		t.Error("where it was written before the kill it is not there")
	}
}

// noticed waits for an incident.
func (p *serving) noticed() exporter.Noticed {
	p.t.Helper()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		var list struct{ Incidents []exporter.Noticed }
		page, _ := p.get(exporter.IncidentsPath)
		if err := json.Unmarshal([]byte(page), &list); err != nil {
			p.t.Fatal(err, page)
		}
		if len(list.Incidents) > 0 {
			return list.Incidents[0]
		}
	}
	p.t.Fatal("nothing is noticed")
	return exporter.Noticed{}
}
