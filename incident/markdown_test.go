package incident

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/internal/cited"
	"github.com/firebreak-io/firebreak/internal/golden"
)

func markdownOf(t *testing.T, r *Report, o MarkdownOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteMarkdown(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	for name, r := range examples() {
		golden.Check(t, "testdata/"+name+".md", []byte(markdownOf(t, r, MarkdownOptions{})))
	}
}

// numbered is an item of a numbered list, or a line that names a finding.
var numbered = regexp.MustCompile(`\bf\d+\b|^\s*\d+\. `)

// TestMarkdownNumbersAreCited holds every list item with a number to have a
// citation.
func TestMarkdownNumbersAreCited(t *testing.T) {
	for name, r := range examples() {
		fenced := false
		for line := range strings.Lines(markdownOf(t, r, MarkdownOptions{})) {
			if strings.HasPrefix(line, "   ```") {
				fenced = !fenced
			}
			item := strings.HasPrefix(line, "- ") || numbered.MatchString(line)
			if fenced || !item || cited.Has(line) {
				continue
			}
			if strings.ContainsAny(cited.Bare(line), "0123456789") {
				t.Errorf("%s: a number without a citation: %s", name, line)
			}
		}
	}
}

func TestMarkdownEscape(t *testing.T) {
	for in, want := range map[string]string{
		"t_sku_stock full scan":         "t_sku_stock full scan",
		"_a_ *b* `c`":                   "\\_a\\_ \\*b\\* \\`c\\`",
		"# x":                           "\\# x",
		"<script>":                      "\\<script>",
		"@channel help":                 "`@channel` help",
		"see http://evil.example/x now": "see `http://evil.example/x` now",
		"[x](javascript:1)":             "\\[x\\](javascript:1)",
		"order -> Sku":                  "order -> Sku",
		"a&lt;b":                        "a\\&lt;b",
	} {
		if got := escape(in); got != want {
			t.Errorf("escape(%q) = %q, want %q", in, got, want)
		}
	}
	if got := code("a``b"); got != "``` a``b ```" {
		t.Errorf("code: %q", got)
	}
}
