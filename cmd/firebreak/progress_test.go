package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgressLine(t *testing.T) {
	p := progress{bytes: 412e6, total: 958e6, files: 2, filesTotal: 12, current: "order/app.log"}
	for width, want := range map[int]string{
		100: "[######..........]  43 %  412.0 MB of 958.0 MB  206.0 MB/s  file 3 of 12  2s left",
		120: "[######..........]  43 %  412.0 MB of 958.0 MB  206.0 MB/s  file 3 of 12  2s left  order/app.log",
		20:  "[######..........]  ",
		0:   "",
	} {
		if got := p.line(2*time.Second, width); got != want {
			t.Errorf("width %d:\n got %q\nwant %q", width, got, want)
		}
	}
	p.current = "\x1b[2J支付"
	if got := p.line(0, 200); strings.ContainsRune(got, '\x1b') {
		t.Errorf("an escape gets through: %q", got)
	}
	stream := progress{bytes: 999}
	if got := stream.line(time.Second, 80); got != "999 B  999 B/s" {
		t.Errorf("got %q", got)
	}
}

func TestProgressBarIsCalm(t *testing.T) {
	var b bytes.Buffer
	now := time.Unix(0, 0)
	bar := &progressBar{w: &b, now: func() time.Time { return now }, width: 80, start: now}
	for range 1000 { // ten seconds
		now = now.Add(10 * time.Millisecond)
		bar.tell(progress{bytes: 1})
	}
	bar.clear()
	if n := strings.Count(b.String(), "\r") - 1; n < 90 || n > 100 {
		t.Errorf("drawn %d times in ten seconds", n)
	}
	if !strings.HasSuffix(b.String(), "\r\x1b[K") {
		t.Error("the line stays")
	}
	var nothing progressBar
	nothing.tell(progress{bytes: 1})
	nothing.clear()
}
