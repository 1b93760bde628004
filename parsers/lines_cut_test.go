package parsers

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// TestCutLineIsSaid holds that a line which is too long is said with its place.
func TestCutLineIsSaid(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 3<<20)
	in := NewInput("a.log", io.MultiReader(strings.NewReader("one\n"), bytes.NewReader(long), strings.NewReader("\nthree\n")))
	var said []int
	in.Skip = func(line int, why string) {
		if strings.Contains(why, "longer than 1 MiB") {
			said = append(said, line)
		}
	}
	if err := Read(in, func(*evidence.Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if len(said) != 1 || said[0] != 2 {
		t.Errorf("said at lines %v, want 2", said)
	}
}
