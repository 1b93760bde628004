package tui

import (
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// openBeside is a report of a firebreak serve that says nothing of an incident
// which is open.
func openBeside(label incident.Label) *incident.Report {
	at := func(clock string) time.Time {
		t, _ := time.Parse(time.DateTime, "2026-03-14 "+clock)
		return t
	}
	return &incident.Report{
		GeneratedAt: at("10:31:05"),
		Incidents: []incident.Incident{{
			ID: "i1", Label: label, Certainty: incident.Low, Headline: "The evidence does not tell what burns, if anything does.",
			Missing: []incident.Missing{{What: "thread dumps of the slow provider", Command: "jstack -l PID", WouldTell: "what its workers wait for"}},
		}},
		OpenIncidents: []incident.OpenIncident{{
			ID: "2026-03-14T10-27Z-slow-sql-skuservice", Label: incident.SlowSQL, Certainty: incident.High, Subject: "SkuService", Headline: "slow SQL holds the workers",
			Opened: at("10:27:10"), Said: at("10:29:40"), Bundle: "http://localhost:9464/api/v1/incidents/2026-03-14T10-27Z-slow-sql-skuservice/bundle",
		}},
	}
}

func TestOpenIncidentIsSaid(t *testing.T) {
	for _, size := range sizes {
		start(t, openBeside(incident.Inconclusive), size.width, size.height).golden("open-" + number(float64(size.width)))
	}
	d := start(t, openBeside(incident.Inconclusive), 120, 40)
	d.shows("open: slow-sql (SkuService) since 10:27, last said 10:29; bundle: http://localhost:9464/")
	d.do("down", "copy")
	if url := openBeside("").OpenIncidents[0].Bundle; len(d.copied) != 1 || d.copied[0] != url {
		t.Errorf("y copies %q", d.copied)
	}
	start(t, openBeside(incident.SlowSQL), 120, 40).lacks("open: slow-sql")
	r := openBeside(incident.Inconclusive)
	r.Incidents = nil
	start(t, r, 120, 40).shows("No incident could be made out of this evidence.", "open: slow-sql (SkuService)")
}

// TestLinesOfABundleAreCitedBriefly shows the path of the followed file, and opens
// the line that the bundle has.
func TestLinesOfABundleAreCitedBriefly(t *testing.T) {
	r := readReport(t, "reference")
	const folder = "downloads/2026-03-14T10-27Z-slow-sql-skuservice.tar.gz!2026-03-14T10-27Z-slow-sql-skuservice/evidence/firebreak-raw"
	for i := range r.Findings {
		for j := range r.Findings[i].Citations {
			c := &r.Findings[i].Citations[j]
			*c = evidence.Citation{Source: folder + "/var/log/shop/order.log", Line: i + 1, Part: c.Part}
		}
	}
	d := start(t, r, 120, 40)
	d.shows("[…/var/log/shop/order.log:").lacks("firebreak-raw").golden("bundle-120")
	d.do("open")
	if c := d.m.excerpt[d.m.here().arg].cite; c.Source != folder+"/var/log/shop/order.log" {
		t.Errorf("o opens %s", c)
	}
}
