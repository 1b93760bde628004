package live

import (
	"bytes"
	"fmt"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Sum adds up the series of a counter on a page of metrics whose labels have one of
// the values wanted.
func Sum(page []byte, name string, want map[string][]string) (float64, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(page))
	if err != nil {
		return 0, fmt.Errorf("metrics: %w", err)
	}
	sum := 0.0
	for _, m := range families[name].GetMetric() {
		if has(m, want) {
			sum += m.GetCounter().GetValue()
		}
	}
	return sum, nil
}

func has(m *dto.Metric, want map[string][]string) bool {
	for label, values := range want {
		i := slices.IndexFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == label })
		if i < 0 || !slices.Contains(values, m.GetLabel()[i].GetValue()) {
			return false
		}
	}
	return true
}
