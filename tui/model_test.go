package tui

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/internal/golden"
)

// sizes are the windows that screens are looked at in.
var sizes = []struct{ width, height int }{{40, 24}, {80, 24}, {120, 40}, {200, 60}}

func TestScreensAtEverySize(t *testing.T) {
	r := readReport(t, "reference")
	for _, size := range sizes {
		for i, sc := range screens()[:numbered] {
			d := start(t, r, size.width, size.height)
			d.press(fmt.Sprint(i + 1))
			d.golden(fmt.Sprintf("%s-%d", sc.id, size.width))
		}
	}
}

// Whatever the window, a frame fits it, and moving about does no harm.
func TestFramesFitEveryWindow(t *testing.T) {
	r := readReport(t, "reference")
	for _, size := range []struct{ width, height int }{{1, 1}, {2, 1}, {1, 5}, {3, 3}, {10, 4}, {20, 8}, {39, 7}, {40, 12}, {109, 23}, {110, 24}, {300, 90}} {
		d := start(t, r, size.width, size.height)
		for i := range numbered {
			d.press(fmt.Sprint(i+1)).do("down", "down", "page-down", "last", "first", "enter")
			d.screen()
		}
		d.do("help").screen()
		d.do("back", "palette").write("export").screen()
	}
}

func TestResizeToNothingAndBack(t *testing.T) {
	d := start(t, readReport(t, "reference"), 120, 40)
	want := d.do("down", "down").screen()
	for _, size := range []struct{ width, height int }{{1, 1}, {0, 0}, {5, 2}, {500, 1}, {120, 40}} {
		d.send(tea.WindowSizeMsg{Width: size.width, Height: size.height})
		d.screen()
	}
	if got := d.screen(); got != want {
		t.Errorf("after resizing to nothing and back:\n%s\nbefore:\n%s", got, want)
	}
}

// Every theme paints the same text, and colour alone says nothing: without it
// the text is the same.
func TestThemesPaintTheSameText(t *testing.T) {
	r := readReport(t, "reference")
	want := start(t, r, 100, 40).screen()
	seen := map[string]bool{}
	for _, p := range palettes {
		d := start(t, r, 100, 40, func(c *Config) { c.Theme = p.name })
		if got := d.screen(); got != want {
			t.Errorf("%s shows another text", p.name)
		}
		seen[d.m.Frame()] = true
	}
	if len(seen) != len(palettes) {
		t.Errorf("%d themes look %d ways", len(palettes), len(seen))
	}
}

func TestThemesHaveContrast(t *testing.T) {
	for _, p := range palettes {
		least := 4.5
		if p.name == "contrast" {
			least = 7
		}
		ground := grounds[p.name]
		for name, ink := range map[string]string{
			"ink": p.ink, "faint": p.faint, "bad": p.bad, "warn": p.warn, "hurt": p.hurt, "good": p.good, "info": p.info, "cite": p.cite, "accent": p.accent,
		} {
			for where, on := range map[string]string{"ground": ground, "chosen": p.chosen} {
				if c := contrast(t, ink, on); c < least {
					t.Errorf("%s: %s on %s has a contrast of %.1f, less than %.1f", p.name, name, where, c, least)
				}
			}
		}
		if c := contrast(t, p.onChip, p.chip); c < least {
			t.Errorf("%s: a chip has a contrast of %.1f", p.name, c)
		}
		if c := contrast(t, p.onMark, p.mark); c < least {
			t.Errorf("%s: a mark has a contrast of %.1f", p.name, c)
		}
	}
}

func TestASCII(t *testing.T) {
	r := readReport(t, "reference")
	d := start(t, r, 100, 40, func(c *Config) { c.ASCII = true })
	for i := range numbered {
		d.press(fmt.Sprint(i + 1))
		for _, c := range d.screen() {
			if c > 0x7e {
				t.Errorf("screen %d shows %q with --ascii:\n%s", i+1, c, d.screen())
				break
			}
		}
	}
}

func TestEnterAloneWalksToTheLabel(t *testing.T) {
	d := start(t, readReport(t, "reference"), 100, 40)
	d.do("enter").shows("Is the provider's pool full?", "question 1 of 10")
	for range 10 {
		d.do("enter")
	}
	d.shows("THE WALK ENDS AT  slow-sql", "which is what firebreak says too").golden("walk-end")
}

func TestOverrideChangesTheWalkAndTheReport(t *testing.T) {
	d := start(t, readReport(t, "reference"), 100, 40)
	d.press("2").do("enter", "enter", "enter", "enter", "enter", "enter", "enter")
	d.shows("Do most of them wait for an answer of the database?", "question 8 of 10")
	d.do("override").press("n").write("the DBA saw it idle").press("enter")
	d.shows("✘ no", "your answer, with the note: the DBA saw it idle")
	for range 12 {
		if !strings.Contains(d.screen(), "THE WALK ENDS AT") {
			d.do("enter")
		}
	}
	d.shows("THE WALK ENDS AT", "firebreak itself says slow-sql", "answered by you: 1")
	d.lacks("THE WALK ENDS AT  slow-sql")
	d.press("1").shows("You say", "firebreak says slow-sql")
	d.press("2").do("export").press("j")
	if len(d.reports) != 1 {
		t.Fatalf("%d reports were exported", len(d.reports))
	}
	in := d.reports[0].Incidents[0]
	i := slices.IndexFunc(in.Walk, func(a incident.Answered) bool { return a.OverriddenBy != nil })
	if i < 0 || *in.Walk[i].OverriddenBy != "the DBA saw it idle" || in.Walk[i].Answer != incident.No {
		t.Errorf("the exported walk does not have the override: %+v", in.Walk)
	}
	if end := in.Walk[len(in.Walk)-1].Concludes; end == incident.SlowSQL || end == "" {
		t.Errorf("the exported walk concludes %q", end)
	}
	if in.Label != incident.SlowSQL {
		t.Errorf("firebreak's own label became %s", in.Label)
	}
	// What the evidence says comes back.
	d.press("2")
	for range 20 {
		if !strings.Contains(d.screen(), "question 1 of") {
			d.do("back-step")
		}
	}
	d.do("enter", "enter", "enter", "enter", "enter", "enter", "enter").do("override").press("e")
	d.lacks("your answer")
}

func TestRemarksGoIntoTheReport(t *testing.T) {
	d := start(t, readReport(t, "reference"), 100, 60)
	d.do("down").do("bookmark").press("f").write("seen on the dashboard too").press("enter")
	d.do("remarks").shows("speaks for it", "seen on the dashboard too", "t_sku_stock full scan")
	d.do("enter").shows("trigger  slow-sql")
	d.do("export").press("m")
	got := d.reports[0].Incidents[0].Remarks
	if len(got) != 1 || got[0].Stance != incident.For || got[0].Text != "seen on the dashboard too" || len(got[0].Citations) == 0 || len(got[0].Findings) == 0 {
		t.Errorf("remarks in the report: %+v", got)
	}
	d.do("quit")
	if d.saved == nil || len(d.saved.Notebook.Remarks) != 1 || !d.quit {
		t.Errorf("quitting kept %+v", d.saved)
	}
	// Going on with the case.
	again := start(t, readReport(t, "reference"), 100, 60, func(c *Config) { c.Case = d.saved })
	again.do("remarks").shows("seen on the dashboard too")
	d.do("down")
}

func TestSearchCountsAndGoesAlong(t *testing.T) {
	d := start(t, readReport(t, "reference"), 100, 40)
	d.do("search").write("jst").shows("/jst", "1 of")
	d.press("enter").do("next").shows("jstack")
	if d.m.here().query != "jst" {
		t.Errorf("searching for %q", d.m.here().query)
	}
	d.do("back")
	if d.m.here().query != "" {
		t.Error("Esc did not end the search")
	}
	d.do("search").write("no such thing").shows("0 of 0").press("esc")
	if d.m.here().query != "" {
		t.Error("Esc did not take the search back")
	}
}

// A terminal sends Esc and a key right after it as that key with Alt.
func TestEscAndAKeyAtOnce(t *testing.T) {
	d := start(t, readReport(t, "reference"), 100, 30)
	d.do("help")
	d.send(tea.KeyPressMsg{Code: '8', Mod: tea.ModAlt})
	if got := d.m.here().screen; got != onSources || len(d.m.stack) != 1 {
		t.Errorf("on %s", got)
	}
}

func TestFiltersAreChipsThatCanBeTakenAway(t *testing.T) {
	d := start(t, readReport(t, "reference"), 120, 30)
	d.press("8").shows("jstack-1.txt", "explain.txt")
	d.do("only").write("jstack").press("enter").shows("only: jstack", "jstack-1.txt").lacks("explain.txt")
	d.do("without").write("jstack-2").press("enter").shows("not: jstack-2", "jstack-3.txt").lacks("product-p…jstack-2.txt")
	d.do("unfilter", "unfilter").shows("explain.txt").lacks("only: jstack")
	d.do("only").write("nothing has this").press("enter").shows("The filters leave nothing.")
}

func TestOpenShowsTheLine(t *testing.T) {
	d := start(t, readReport(t, "reference"), 100, 30)
	d.do("down", "open").shows("[product-provider/jstack-1.txt:4", "line 4 of product-provider/jstack-1.txt ␛[31m")
	d.do("back").shows("trigger  slow-sql")
}

func TestPaletteFindsCommandsByWord(t *testing.T) {
	d := start(t, readReport(t, "reference"), 100, 30)
	d.do("palette").write("export").shows("export the report").press("enter").shows("m Markdown").press("h")
	if !slices.Equal(d.exported, []string{"html"}) {
		t.Errorf("exported %v", d.exported)
	}
	d.do("palette").write("skew").shows("traffic-skew").press("enter")
	d.shows("runbook: traffic-skew")
}

func TestHelpIsSearchedByWordAndByKey(t *testing.T) {
	d := start(t, readReport(t, "reference"), 100, 30)
	d.do("help").shows("EVERYWHERE")
	d.do("search").write("clipboard").press("esc").do("search").write("bookmark").shows("bookmark the chosen thing")
}

func TestCopy(t *testing.T) {
	d := start(t, readReport(t, "reference"), 100, 50)
	d.do("down", "down", "down", "down", "copy").shows("also in copied.txt")
	if len(d.copied) != 1 || !strings.HasPrefix(d.copied[0], "for i in 1 2 3; do jstack") || !strings.Contains(d.copied[0], "\n") {
		t.Errorf("copied %q", d.copied)
	}
	d.do("copy-headline")
	if !strings.HasPrefix(d.copied[1], "slow-sql (high): slow-sql (t_sku_stock") {
		t.Errorf("copied %q", d.copied[1])
	}
}

func TestNothingReadable(t *testing.T) {
	d := start(t, nil, 80, 24, func(c *Config) {
		c.Source = &stillSource{err: errors.New("nothing could be read\n  logs/a.bin: binary \x1b[31m")}
	})
	d.shows("Nothing could be read.", "logs/a.bin: binary ␛[31m")
	if d.m.Failure() == nil {
		t.Error("the failure is forgotten")
	}
	d.do("export", "copy", "bookmark", "open", "links", "override", "suspicious", "next").press("2", "3", "9", "enter")
}

func TestEmptyReport(t *testing.T) {
	d := start(t, &incident.Report{}, 80, 24)
	d.shows("No incident could be made out of this evidence.")
	for i := range numbered {
		d.press(fmt.Sprint(i+1)).do("down", "enter", "sort", "open", "suspicious")
		d.screen()
	}
}

// hostile is a name that would harm a terminal or a layout.
var hostile = []string{
	"\x1b[2J\x1b]0;owned\x07\x9b31m", strings.Repeat("w", 10_000), "\u202egnp.exe\u2066\u200b", "支付服务支付服务支付服务支付服务支付服务支付服务支付服务", "a\r\nb\tc\x00",
	"👩‍👩‍👧‍👦 e\u0301\u0301\u0301 \ufeff", string([]byte{0xff, 0xfe, 0xc0}),
}

func TestHostileNamesDoNoHarm(t *testing.T) {
	for i, name := range hostile {
		r := readReport(t, "reference")
		spoil(r, name)
		for _, size := range sizes {
			d := start(t, r, size.width, size.height, func(c *Config) { c.Name = name })
			for n := range numbered {
				d.press(fmt.Sprint(n+1)).do("down", "down")
				check := func() {
					frame := d.m.Frame()
					d.screen()
					for _, bad := range []string{"\x1b[2J", "\x1b]", "\u202e", "\u2066", "\x07", "\r", "\x00"} {
						if strings.Contains(frame, bad) {
							t.Errorf("name %d: screen %d sends %q", i, n+1, bad)
						}
					}
					if strings.ContainsFunc(ansi.Strip(frame), func(c rune) bool { return c < 0x20 && c != '\n' || c >= 0x7f && c < 0xa0 }) {
						t.Errorf("name %d: screen %d sends control characters", i, n+1)
					}
				}
				check()
				d.do("enter")
				check()
			}
		}
	}
}

// spoil puts a name everywhere.
func spoil(r *incident.Report, name string) {
	for i := range r.Incidents {
		in := &r.Incidents[i]
		in.Headline, in.Subject = name, name
		for j := range in.Chain {
			in.Chain[j].Subject = name
		}
		for j := range in.Actions {
			in.Actions[j].What, in.Actions[j].Why = name, name
		}
		for j := range in.Notes {
			in.Notes[j].Text = name
		}
	}
	for i := range r.Findings {
		r.Findings[i].Text, r.Findings[i].Subject = name, name
		r.Findings[i].Citations[0].Source = name
	}
	for i := range r.Edges {
		r.Edges[i].Consumer, r.Edges[i].Service, r.Edges[i].Method = name, name, name
	}
	for i := range r.Pools {
		r.Pools[i].Name = name
	}
	for i := range r.Stacks {
		r.Stacks[i].Pool, r.Stacks[i].AppFrame, r.Stacks[i].Top = name, name, []string{name}
	}
	for i := range r.SQL {
		r.SQL[i].Fingerprint, r.SQL[i].Table = name, name
	}
	for i := range r.Timeline {
		r.Timeline[i].Signal = name
	}
	for i := range r.Sources {
		r.Sources[i].Path, r.Sources[i].Problems = name, []string{name}
	}
}

// The documentation's table of keys is made of the table of bindings.
func TestKeyTableInTheDocumentation(t *testing.T) {
	const file = "../docs/screens.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(text), "## Keys\n")
	if !ok {
		t.Fatal("docs/screens.md has no section Keys")
	}
	golden.Check(t, file, []byte(before+"## Keys\n\n"+KeyTable()))
}

func TestKeyTableNamesEveryBinding(t *testing.T) {
	table := KeyTable()
	ids := map[string]bool{}
	for _, b := range bindings() {
		if !strings.Contains(table, b.does) || b.does == "" {
			t.Errorf("%s is not in the table", b.id)
		}
		if ids[b.id] {
			t.Errorf("two bindings are called %s", b.id)
		}
		ids[b.id] = true
	}
	// A key does one thing on a screen.
	for _, sc := range screens() {
		for _, special := range []bool{true, false} {
			seen := map[string]string{}
			for _, b := range bindings() {
				if !b.worksOn(sc.id) || (len(b.on) > 0) != special {
					continue
				}
				for _, k := range b.keys {
					if seen[k] != "" {
						t.Errorf("on %s, %s does both %s and %s", sc.id, k, seen[k], b.id)
					}
					seen[k] = b.id
				}
			}
		}
	}
}

// contrast returns the WCAG contrast ratio of two colours.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	light := func(s string) float64 {
		r, g, bl, _ := lipgloss.Color(s).RGBA()
		sum := 0.0
		for i, v := range []uint32{r, g, bl} {
			c := float64(v) / 0xffff
			if c <= 0.03928 {
				c /= 12.92
			} else {
				c = pow24((c + 0.055) / 1.055)
			}
			sum += c * []float64{0.2126, 0.7152, 0.0722}[i]
		}
		return sum
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func pow24(x float64) float64 { return math.Pow(x, 2.4) }

// Answers and notes are not lost in silence where the case cannot be kept; who
// quits once more, or is asked to end from outside, has it so.
func TestCaseCannotBeKept(t *testing.T) {
	full := func(c *Config) { c.Host.Save = func(*Case) error { return errors.New("no space left on device") } }
	d := start(t, readReport(t, "reference"), 100, 60, full)
	d.press("q").shows("no space left on device; q once more quits")
	if d.quit {
		t.Fatal("it quit, and what was noted is gone")
	}
	if d.press("q"); !d.quit {
		t.Error("q once more does not quit")
	}
	d = start(t, readReport(t, "reference"), 100, 60, full)
	if d.send(Leave{}); !d.quit {
		t.Error("asked to end, it does not")
	}
}
