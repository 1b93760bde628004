package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/firebreak-io/firebreak/incident"
)

// TestRealReportsFitTheSchema runs the program over all samples of the
// repository and validates what comes out.
func TestRealReportsFitTheSchema(t *testing.T) {
	if testing.Short() {
		t.Skip("it concludes for each incident")
	}
	r, partial, err := analyse(context.Background(), request{paths: []string{"../../testdata"}, zone: time.UTC, version: "test"}, func(progress) {})
	if err != nil || partial {
		t.Fatal(err)
	}
	if len(r.Findings) == 0 || len(r.Incidents) == 0 {
		t.Fatalf("%d findings, %d incidents", len(r.Findings), len(r.Incidents))
	}
	schema := reportSchema(t)
	for name, report := range map[string]*incident.Report{"as it is": r, "redacted": incident.Redact(r)} {
		var b bytes.Buffer
		if err := incident.WriteJSON(&b, report); err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(&b)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, w := range []int{40, 80, 120} {
			if err := incident.WriteText(&b, report, incident.TextOptions{Width: w, Color: true}); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestInterrupted holds that the end of the context gives a report, not an error.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, partial, err := analyse(ctx, request{paths: []string{"../../testdata"}, zone: time.UTC}, func(progress) {})
	if err != nil || !partial || r == nil {
		t.Errorf("report %v, partial %v, %v", r != nil, partial, err)
	}
}
