package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/internal/golden"
	"github.com/firebreak-io/firebreak/lang"
)

// inChinese runs a function in Chinese. Tests that use it are not parallel: the
// language is one for the process.
func inChinese(t *testing.T, do func()) {
	t.Helper()
	if err := lang.Use(lang.Chinese); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lang.Use(lang.English) }()
	do()
}

// said are the fields of the JSON form that hold texts for people: sentences,
// which are said in the language in use.
var said = map[string]bool{
	"headline": true, "text": true, "why_not": true, "ask": true, "what": true, "why": true, "risk": true, "would_tell": true, "problems": true, "unread": true,
}

// may are those that hold a name or a command in which a word may be said.
var may = map[string]bool{"subject": true, "command": true, "service": true, "peer": true, "edge": true, "names": true, "hot": true}

// TestLanguagesSayTheSame concludes for all incidents in both languages: the
// reports differ in their texts and in nothing else, and no text is left in
// English.
func TestLanguagesSayTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("it concludes twice for each incident")
	}
	folders, err := filepath.Glob("../../testdata/incidents/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no incidents: %v", err)
	}
	left := map[string]string{}
	for i, folder := range folders {
		name := filepath.Base(folder)
		if strings.HasPrefix(name, "lab-") && i%4 != 0 {
			continue // large, and much alike
		}
		english := asJSON(t, folder)
		var chinese any
		inChinese(t, func() { chinese = asJSON(t, folder) })
		same(func(path, a, b string) {
			key := path[strings.LastIndexByte(path, '.')+1:]
			switch {
			case a != b && !said[key] && !may[key]:
				t.Errorf("%s: %s is %q in English, %q in Chinese", name, path, a, b)
			case said[key] && inEnglish(b):
				left[shape(b)] = name + " " + path + ": " + b
			}
		}, func(format string, args ...any) { t.Errorf(name+": "+format, args...) }, "report", english, chinese)
	}
	for _, at := range slices.Sorted(maps.Values(left)) {
		t.Errorf("left in English: %s", at)
	}
}

// asJSON returns a folder's report as JSON decodes it.
func asJSON(t *testing.T, folder string) any {
	t.Helper()
	r, _, err := analyse(context.Background(), request{paths: []string{folder}, zone: time.UTC, version: "test"}, func(progress) {})
	if err != nil {
		t.Fatalf("%s: %v", folder, err)
	}
	var b bytes.Buffer
	if err := incident.WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// same walks two documents, hands the strings of both to text, and says where
// they differ otherwise.
func same(text func(path, a, b string), differ func(format string, args ...any), path string, a, b any) {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			text(path, x, y)
			return
		}
		differ("%s is %T in the one, %T in the other", path, a, b)
	case []any:
		y, _ := b.([]any)
		if len(x) != len(y) {
			differ("%s has %d entries in the one, %d in the other", path, len(x), len(y))
			return
		}
		for i := range x {
			same(text, differ, path, x[i], y[i])
		}
	case map[string]any:
		y, _ := b.(map[string]any)
		if !slices.Equal(slices.Sorted(maps.Keys(x)), slices.Sorted(maps.Keys(y))) {
			differ("%s has other keys in the other", path)
			return
		}
		for k := range x {
			same(text, differ, path+"."+k, x[k], y[k])
		}
	default:
		if a != b {
			differ("%s is %v in the one, %v in the other", path, a, b)
		}
	}
}

var statement = regexp.MustCompile(`(?i)\b(?:select|insert|update|delete|replace|alter)\b[^（）]*`)

var english = regexp.MustCompile(`(?:^|[ (])[a-z]{2,} [a-z]{2,} [a-z]{2,}(?:[ ,.;:)]|$)`)

// inEnglish reports whether a text has no Chinese and a few English words in a row.
func inEnglish(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) }) && english.MatchString(statement.ReplaceAllString(s, ""))
}

var variable = regexp.MustCompile(`[0-9.]+|"[^"]*"`)

// shape is a text without its numbers, to tell of each once.
func shape(s string) string {
	s = variable.ReplaceAllString(s, "")
	return fmt.Sprint(len(strings.Fields(s)), s[:min(len(s), 40)])
}

// TestReportInChinese draws the report of the reference incident in Chinese: at
// two widths, with and without colour, and as Markdown.
func TestReportInChinese(t *testing.T) {
	inChinese(t, func() {
		r, _, err := analyse(context.Background(), request{paths: []string{"../../testdata/incidents/reference-slow-sql-retries"}, zone: time.UTC, version: "test"}, func(progress) {})
		if err != nil {
			t.Fatal(err)
		}
		commands := commandLines(r)
		for _, width := range []int{40, 80} {
			plain, colored := textAt(t, r, width, false), textAt(t, r, width, true)
			golden.Check(t, fmt.Sprintf("testdata/chinese/report.%d.txt", width), []byte(plain))
			if sgr.ReplaceAllString(colored, "") != plain {
				t.Errorf("at %d columns colours move the text", width)
			}
			for line := range strings.Lines(plain) {
				line = strings.TrimSuffix(line, "\n")
				if incident.Cells(line) > width && !commands[strings.TrimSpace(line)] {
					t.Errorf("%d columns at %d: %s", incident.Cells(line), width, line)
				}
			}
		}
		var b bytes.Buffer
		if err := incident.WriteMarkdown(&b, r, incident.MarkdownOptions{}); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/chinese/report.md", b.Bytes())
	})
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func textAt(t *testing.T, r *incident.Report, width int, color bool) string {
	t.Helper()
	var b bytes.Buffer
	if err := incident.WriteText(&b, r, incident.TextOptions{Width: width, Color: color}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
