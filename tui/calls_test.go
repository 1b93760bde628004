package tui

import (
	"fmt"
	"testing"
)

// The screens of calls, routes and traces on reports that have all of them.
func TestCallScreensAtEverySize(t *testing.T) {
	for _, name := range []string{"edges", "layers"} {
		r := readReport(t, name)
		for _, size := range sizes {
			d := start(t, r, size.width, size.height)
			d.press("3").golden(fmt.Sprintf("%s-calls-%d", name, size.width))
			d.do("enter").golden(fmt.Sprintf("%s-call-%d", name, size.width))
			d.press("6").golden(fmt.Sprintf("%s-routes-%d", name, size.width))
			d.m.push(place{screen: onTrace, arg: traceArg(&r.Traces[0])})
			d.golden(fmt.Sprintf("%s-trace-%d", name, size.width))
		}
	}
}
