package exporter

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/firebreak-io/firebreak/correlate/live"
)

// crowded is an engine with as many edges as are kept by name, and so many
// methods of each.
func crowded(methods int) *still {
	e := example()
	model := e.snapshot.Edges[1]
	e.snapshot.Edges = nil
	for i := range 2_000 {
		x := model
		x.Callee, x.Methods = fmt.Sprint("stock-", i), nil
		for k := range methods {
			m := model.Methods[0]
			m.Name = fmt.Sprint("GET /stock/", k)
			x.Methods = append(x.Methods, m)
		}
		e.snapshot.Edges = append(e.snapshot.Edges, x)
	}
	return e
}

// BenchmarkPage scrapes pages of 2,000 edges of three and of twenty methods.
func BenchmarkPage(b *testing.B) {
	for _, methods := range []int{3, 20} {
		for name, accept := range map[string]string{
			"text":     "text/plain",
			"protobuf": "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
		} {
			b.Run(fmt.Sprint(methods, "-methods/", name), func(b *testing.B) {
				h, err := NewServer(crowded(methods), "test").Handler()
				if err != nil {
					b.Fatal(err)
				}
				r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
				r.Header.Set("Accept", accept)
				b.ReportAllocs()
				for b.Loop() {
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					if w.Code != http.StatusOK {
						b.Fatal(w.Code)
					}
					b.SetBytes(int64(w.Body.Len()))
				}
			})
		}
	}
}

// TestCrowdedPage is whole whatever there is of edges: no label set comes twice.
func TestCrowdedPage(t *testing.T) {
	e := crowded(1)
	for i := range e.snapshot.Edges[0].Methods {
		e.snapshot.Edges[0].Methods[i].Joined.Inferred = 0
	}
	e.snapshot.Edges = append(e.snapshot.Edges, live.Edge{Caller: live.Other, Callee: live.Other, Protocol: live.Other})
	if code, text, _ := page(t, NewServer(e, "test"), "/metrics"); code != http.StatusOK {
		t.Errorf("%d: %.500s", code, text)
	}
}
