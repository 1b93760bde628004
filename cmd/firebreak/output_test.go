package main

import "testing"

func TestColorOnTerminals(t *testing.T) {
	for _, c := range []struct {
		name string
		o    reportOptions
		tty  bool
		env  map[string]string
		want bool
	}{
		{"terminal", reportOptions{color: "auto"}, true, nil, true},
		{"pipe", reportOptions{color: "auto"}, false, nil, false},
		{"terminal, NO_COLOR", reportOptions{color: "auto"}, true, map[string]string{"NO_COLOR": "1"}, false},
		{"terminal, NO_COLOR empty", reportOptions{color: "auto"}, true, map[string]string{"NO_COLOR": ""}, true},
		{"dumb terminal", reportOptions{color: "auto"}, true, map[string]string{"TERM": "dumb"}, false},
		{"terminal, but into a file", reportOptions{color: "auto", output: "r.txt"}, true, nil, false},
		{"always, against NO_COLOR", reportOptions{color: "always"}, false, map[string]string{"NO_COLOR": "1"}, true},
		{"never", reportOptions{color: "never"}, true, nil, false},
	} {
		a := &app{outTerminal: c.tty, env: func(k string) string { return c.env[k] }}
		if got, err := a.wantsColor(c.o); got != c.want || err != nil {
			t.Errorf("%s: %v (%v), want %v", c.name, got, err, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"report", "reprot", 1}, {"slow-sq", "slow-sql", 1}, {"abc", "xyz", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
