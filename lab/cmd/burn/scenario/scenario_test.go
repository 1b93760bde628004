package scenario

import (
	"reflect"
	"slices"
	"testing"

	"github.com/firebreak-io/firebreak/incident"
)

func TestEveryDoseMakesSense(t *testing.T) {
	seen := map[string]bool{}
	runs := 0
	for i, s := range All {
		if seen[s.Name] || s.Why == "" {
			t.Errorf("%s: twice, or without a why", s.Name)
		}
		seen[s.Name] = true
		for _, l := range Levels(i) {
			runs++
			d := s.Dose(l, 1)
			names := map[string]bool{}
			for _, each := range d.Setup.Services {
				names[each.Name] = true
			}
			for _, f := range d.Faults {
				for _, on := range f.On {
					if !names[on] {
						t.Errorf("%s %s: a fault on %s, which is not there", s.Name, l, on)
					}
				}
				if f.From >= Lasts || f.To != 0 && f.To <= f.From {
					t.Errorf("%s %s: fault from %s to %s", s.Name, l, f.From, f.To)
				}
			}
			for _, name := range d.Dumps {
				if !names[name] {
					t.Errorf("%s %s: dumps %s, which is not there", s.Name, l, name)
				}
			}
			for _, label := range append(append([]string{d.Expect.Label}, d.Expect.Or...), d.Expect.Not...) {
				if !slices.Contains(incident.Labels(), incident.Label(label)) {
					t.Errorf("%s %s: %q is no label", s.Name, l, label)
				}
			}
			if slices.Contains(d.Expect.Not, d.Expect.Label) {
				t.Errorf("%s %s: wants and refuses %s", s.Name, l, d.Expect.Label)
			}
		}
	}
	if runs > 48 {
		t.Errorf("%d runs do not fit into forty minutes", runs)
	}
}

func TestSecondCapturesDiffer(t *testing.T) {
	for i, s := range All {
		if slices.Contains(Levels(i), Second) && reflect.DeepEqual(s.Dose(Full, 1), s.Dose(Second, 1)) {
			t.Errorf("%s: the second capture has the parameters of the first", s.Name)
		}
	}
}
