package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/firebreak-io/firebreak/lang"
)

// TestChinese draws the screens in Chinese, of a report whose texts are long and
// without spaces: no line is wider than the terminal, whose wide characters take
// two of its columns.
func TestChinese(t *testing.T) {
	if err := lang.Use(lang.Chinese); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lang.Use(lang.English) }()
	r := readReport(t, "reference")
	in := &r.Incidents[0]
	in.Headline = strings.Repeat("库存表全表扫描拖慢了所有工作线程，重试又把负载放大到三倍。", 4)
	for i := range r.Findings {
		r.Findings[i].Text = "173/200 个线程在等数据库返回，大多在 getSkuStock 之下；" + r.Findings[i].Text
	}
	for _, width := range []int{40, 80, 120, 200} {
		for i, sc := range screens()[:numbered] {
			d := start(t, r, width, 30, func(*Config) {})
			d.press(fmt.Sprint(i + 1))
			frame := d.m.Frame()
			for line := range strings.SplitSeq(frame, "\n") {
				if n := ansi.StringWidth(line); n > width {
					t.Errorf("%s at %d columns has a line of %d: %s", sc.id, width, n, ansi.Strip(line))
				}
			}
			if title := sc.title(); width >= 80 && !strings.Contains(ansi.Strip(frame), title) {
				t.Errorf("%s at %d columns has no %q", sc.id, width, title)
			}
		}
	}
}
