package correlate

import (
	"slices"
	"testing"
)

func TestNameWords(t *testing.T) {
	for in, want := range map[string][]string{
		"PricingClient":   {"pricing", "client"},
		"pricing-service": {"pricing", "service"},
		"pricing_7":       {"pricing"},
		"HTTPClient":      {"httpclient"},
		"":                nil,
	} {
		if got := nameWords(in); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
