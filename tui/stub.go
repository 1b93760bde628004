package tui

func whatIfPage(s *scene, at place) *page { return &page{none: "soon"} }
func whatIfBindings() []binding           { return nil }

type scenario struct{}
