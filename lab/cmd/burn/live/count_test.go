package live

import "testing"

func TestSumAddsWhatIsWanted(t *testing.T) {
	page := []byte(`# TYPE a_total counter
a_total{caller="order",method="get",reason="initial"} 5
a_total{caller="order",method="get",reason="retry"} 2
a_total{caller="order",method="get",reason="hedge"} 100
a_total{caller="gateway",method="get",reason="initial"} 1000
a_total{method="get",reason="initial"} 1000
`)
	got, err := Sum(page, "a_total", map[string][]string{"caller": {"order"}, "reason": {"initial", "retry"}})
	if err != nil || got != 7 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Sum(page, "b_total", nil); err != nil || got != 0 {
		t.Errorf("of what is not there: %v, %v", got, err)
	}
}
