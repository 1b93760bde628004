package tui

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		width      int
		indent     string
		want       []string
	}{
		{"words", "one two three four", 9, "", []string{"one two", "three", "four"}},
		{"indent", "one two three four", 9, "  ", []string{"one two", "  three", "  four"}},
		{"long word", "abcdefghij", 4, "", []string{"abcd", "efgh", "ij"}},
		{"word after a word", "ab cdefghij", 4, "", []string{"ab", "cdef", "ghij"}},
		{"no spaces between wide characters", "调用在全部三次尝试之后失败", 10, "", []string{"调用在全部", "三次尝试之", "后失败"}},
		{"no comma at the beginning", "全部失败了，然后", 10, "", []string{"全部失败", "了，然后"}},
		{"wide after narrow", "timeout 调用在全部三次", 12, "", []string{"timeout 调用", "在全部三次"}},
		{"names stay whole", "调用 order-service 失败", 14, "", []string{"调用", "order-service", "失败"}},
		{"empty", "", 10, "", []string{""}},
		{"one column", "ab", 1, "", []string{"a", "b"}},
		{"wider than a column", "支付", 1, "", []string{"支", "付"}},
	} {
		var got []string
		for _, line := range say(plain, tt.text).wrap(tt.width, tt.indent) {
			got = append(got, strings.TrimRight(line.plain(), " "))
		}
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestClipAndMiddle(t *testing.T) {
	if got := middle("com.demo.product.SkuServiceImpl.getSkuStock", 20, "…"); cells(got) != 20 || !strings.HasPrefix(got, "com.") || !strings.HasSuffix(got, "SkuStock") {
		t.Errorf("%q", got)
	}
	for n := range 30 {
		for _, s := range []string{"ascii only here", "支付服务支付服务", "a支b付c", "👩‍👩‍👧 e\u0301"} {
			if got := (text{{plain, s}, {dim, s}}).clip(n, "…"); got.cells() > n {
				t.Errorf("clip(%q, %d) has %d columns: %q", s, n, got.cells(), got.plain())
			}
			if got := pad(s, n, "…"); cells(got) != n {
				t.Errorf("pad(%q, %d) has %d columns: %q", s, n, cells(got), got)
			}
		}
	}
}
