package otlp

import (
	"testing"
	"time"
)

func TestStrangersAreToldOfOnceAMinute(t *testing.T) {
	var s strangers
	at := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
	for i, x := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {time.Second, 0}, {59 * time.Second, 0}, {time.Minute, 3}, {61 * time.Second, 0}, {3 * time.Minute, 2}} {
		if n := s.note(at.Add(x.after)); n != x.want {
			t.Errorf("%d: %d are told of, want %d", i, n, x.want)
		}
	}
}
