package tui

func poolsPage(s *scene, at place) *page               { return &page{none: "soon"} }
func poolsDetail(s *scene, at place, key string) *page { return nil }
func sqlPage(s *scene, at place) *page                 { return &page{none: "soon"} }
func sqlDetail(s *scene, at place, key string) *page   { return nil }
func sqlSorts() []string                               { return []string{"total"} }
func whatIfPage(s *scene, at place) *page              { return &page{none: "soon"} }
func whatIfBindings() []binding                        { return nil }

type scenario struct{}
