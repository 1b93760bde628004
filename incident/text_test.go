package incident

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/internal/cited"
	"github.com/firebreak-io/firebreak/internal/golden"
)

func textOf(t *testing.T, r *Report, o TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	for name, r := range examples() {
		t.Run(name, func(t *testing.T) {
			golden.Check(t, "testdata/"+name+".txt", []byte(textOf(t, r, TextOptions{})))
			golden.Check(t, "testdata/"+name+".120.txt", []byte(textOf(t, r, TextOptions{Width: 120})))
		})
	}
	golden.Check(t, "testdata/two.ascii.txt", []byte(textOf(t, twoIncidents(), TextOptions{ASCII: true, Zone: time.FixedZone("CST", 8*3600)})))
	golden.Check(t, "testdata/slow-sql.color.txt", []byte(textOf(t, slowSQLReport(), TextOptions{Color: true})))
}

// TestTextWidth holds every line but commands to the width asked for.
func TestTextWidth(t *testing.T) {
	for name, r := range examples() {
		for w := 40; w <= 130; w += 7 {
			for line := range strings.Lines(textOf(t, r, TextOptions{Width: w, Color: w%2 == 0})) {
				line = strings.TrimSuffix(line, "\n")
				if cells(line) > w && !isCommandLine(line) {
					t.Errorf("%s at %d columns: %d: %q", name, w, cells(line), line)
				}
			}
		}
	}
}

// isCommandLine tells a command by its indentation.
func isCommandLine(line string) bool {
	line = sgr.ReplaceAllString(line, "")
	return strings.HasPrefix(line, "      ") && commandWords.MatchString(line)
}

var (
	sgr          = regexp.MustCompile("\x1b\\[[0-9;]*m")
	commandWords = regexp.MustCompile(`firebreak capture|ALTER TABLE|jstack|tail `)
)

func TestColorSaysNothingAlone(t *testing.T) {
	for name, r := range examples() {
		with := sgr.ReplaceAllString(textOf(t, r, TextOptions{Color: true}), "")
		if without := textOf(t, r, TextOptions{}); with != without {
			t.Errorf("%s: colour changes the words", name)
		}
	}
}

// TestVerdictFitsOneScreen is the five-second promise: what happened and what
// to do stand in the first 24 lines of 80 columns.
func TestVerdictFitsOneScreen(t *testing.T) {
	lines := strings.SplitAfter(textOf(t, slowSQLReport(), TextOptions{}), "\n")
	screen := strings.Join(lines[:24], "")
	for _, want := range []string{"SLOW-SQL", "high certainty", "trigger", "amplifier", "victim", "ACT FIRST: retry-amplification", "Save the scene", "retries=0"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the first screen lacks %q:\n%s", want, screen)
		}
	}
}

// TestEveryNumberIsCited holds that a paragraph (a line and those indented more
// deeply after it) with a number outside citations, times, IDs and commands has
// a citation.
func TestEveryNumberIsCited(t *testing.T) {
	for name, r := range examples() {
		if name == "hostile" {
			continue // its names have brackets and digits of their own
		}
		for _, p := range cited.Uncited(textOf(t, r, TextOptions{}), isCommandLine) {
			t.Errorf("%s: a number without a citation:\n%s", name, p)
		}
	}
}

func TestCells(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "支付": 4, "é": 1, "e\u0301": 1, "\x1b[1;31mab\x1b[0m": 2, "ｱ": 1, "Ａ": 2, "🔥": 2, "…": 1,
	} {
		if got := cells(s); got != want {
			t.Errorf("cells(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, s := range []string{"com.acme.shop.SkuService", "支付服务的两个线程互相等待", "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", ""} {
		for n := range 30 {
			got := shorten(s, n, "…")
			if cells(got) > n {
				t.Errorf("shorten(%q, %d) = %q: %d columns", s, n, got, cells(got))
			}
			if cells(s) <= n && got != s {
				t.Errorf("shorten(%q, %d) = %q though it fits", s, n, got)
			}
		}
	}
	if got := shorten("provider/logs/app.log", 12, "…"); got != "prov…app.log" && got != "provi…pp.log" {
		t.Errorf("got %q", got)
	}
}
