package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/correlate"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/internal/wellformed"
)

// More of them find more: go test ./cmd/firebreak -run TestMutated -mutations 20000 -mutation-seed 7.
var (
	mutations    = flag.Int("mutations", 40, "how many damaged inputs TestMutated makes")
	mutationSeed = flag.Uint64("mutation-seed", 1, "from which TestMutated makes them")
)

// TestMutated damages, cuts, splices and mixes the samples of the repository,
// and holds that whatever comes in, the report that comes out is well-formed,
// safe to show, the same each time and the same in any order of the files.
func TestMutated(t *testing.T) {
	samples := readSamples(t)
	schema := reportSchema(t)
	dir := t.TempDir()
	for i := range *mutations {
		seed := *mutationSeed + uint64(i)
		m := &mutator{Rand: rand.New(rand.NewPCG(seed, 1)), samples: samples}
		var paths []string
		for n := range 1 + m.IntN(3) {
			name, data := m.input()
			path := filepath.Join(dir, fmt.Sprintf("%d-%s", n, filepath.Base(name)))
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
		if err := checkReport(schema, paths); err != nil {
			t.Errorf("seed %d: %v", seed, err)
			keep := filepath.Join(os.TempDir(), fmt.Sprintf("firebreak-mutated-%d", seed))
			if testing.Verbose() && os.CopyFS(keep, os.DirFS(dir)) == nil {
				t.Logf("kept in %s", keep)
			}
		}
		for _, p := range paths {
			os.Remove(p)
		}
	}
}

func checkReport(schema *jsonschema.Schema, paths []string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			buf := make([]byte, 4<<10)
			err = fmt.Errorf("panic: %v\n%s", p, buf[:runtime.Stack(buf, false)])
		}
	}()
	start := time.Now()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var first []byte
	for _, backwards := range []bool{false, true} {
		engine := correlate.New(correlate.Config{})
		var all []collector.Source
		for i := range paths {
			if backwards {
				i = len(paths) - 1 - i
			}
			// That nothing could be read is no error here: its reason is in the sources.
			sources, _ := collector.Collect(context.Background(), paths[i:i+1], collector.Options{Zone: time.UTC}, engine.Add)
			all = append(all, sources...)
		}
		for _, s := range all {
			for _, p := range s.Problems {
				if strings.Contains(p, "internal error") {
					return fmt.Errorf("%s: %s", s.Path, p)
				}
			}
			engine.AddSource(sourceOf(s))
		}
		r := engine.Report()
		var b bytes.Buffer
		if err := incident.WriteJSON(&b, r); err != nil {
			return err
		}
		if first == nil {
			first = bytes.Clone(b.Bytes())
			v, err := jsonschema.UnmarshalJSON(&b)
			if err != nil {
				return err
			}
			if err := schema.Validate(v); err != nil {
				return err
			}
			if err := checkShown(r); err != nil {
				return err
			}
		} else if !bytes.Equal(first, b.Bytes()) {
			return fmt.Errorf("another order of the files gives another report:\n%s", firstDifference(first, b.Bytes()))
		}
	}
	runtime.ReadMemStats(&after)
	if d := time.Since(start); d > 20*time.Second { // generous: test machines are slow
		return fmt.Errorf("took %s", d)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 400<<20 {
		return fmt.Errorf("allocated %d MB", n>>20)
	}
	return nil
}

// checkShown holds that the forms for people have nothing that acts on a
// terminal or hides from an eye.
func checkShown(r *incident.Report) error {
	for _, form := range []string{"text", "ascii", "markdown", "redacted", "html"} {
		var b bytes.Buffer
		var err error
		switch form {
		case "text":
			err = incident.WriteText(&b, r, incident.TextOptions{Width: 80, Zone: time.UTC})
		case "ascii":
			err = incident.WriteText(&b, r, incident.TextOptions{Width: 37, Zone: time.UTC, ASCII: true})
		case "markdown":
			err = incident.WriteMarkdown(&b, r, incident.MarkdownOptions{Zone: time.UTC})
		case "html":
			if err = incident.WriteHTML(&b, r, incident.HTMLOptions{Zone: time.UTC}); err == nil {
				err = wellformed.HTML(b.Bytes())
			}
		default:
			err = incident.WriteMarkdown(&b, incident.Redact(r), incident.MarkdownOptions{Zone: time.UTC})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", form, err)
		}
		s := b.String()
		if !utf8.ValidString(s) {
			return fmt.Errorf("%s: not UTF-8", form)
		}
		for i, c := range s {
			if c != '\n' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)) {
				return fmt.Errorf("%s: %U at %q", form, c, s[max(0, i-40):min(len(s), i+40)])
			}
		}
		for _, odd := range []string{"%!", "<nil>"} {
			if strings.Contains(s, odd) && form == "text" {
				i := strings.Index(s, odd)
				return fmt.Errorf("%s: %q", form, s[max(0, i-80):min(len(s), i+80)])
			}
		}
	}
	return nil
}

func firstDifference(a, b []byte) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	part := func(x []byte) []byte { return x[max(0, i-200):min(len(x), i+200)] }
	return fmt.Sprintf("%s\n--- but ---\n%s", part(a), part(b))
}

func reportSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(incident.JSONSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("report.json")
}

type sample struct {
	name string
	data []byte
}

func readSamples(t *testing.T) []sample {
	t.Helper()
	var all []sample
	err := filepath.WalkDir("../../testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".golden") || strings.HasSuffix(path, ".md") {
			return err
		}
		data, err := os.ReadFile(path)
		if len(data) > 0 && len(data) < 1<<20 {
			all = append(all, sample{path, data})
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d samples, %v", len(all), err)
	}
	return all
}

// mutator makes damaged inputs.
type mutator struct {
	*rand.Rand
	samples []sample
}

func (m *mutator) sample() sample { return m.samples[m.IntN(len(m.samples))] }

func (m *mutator) input() (string, []byte) {
	s := m.sample()
	data := bytes.Clone(s.data)
	for range 1 + m.IntN(4) {
		data = m.mutate(data)
		if len(data) > 2<<20 {
			data = data[:2<<20]
		}
	}
	return s.name, data
}

var (
	digits = regexp.MustCompile(`[0-9]+`)
	words  = regexp.MustCompile(`[A-Za-z][\w.$-]{2,}`)
)

var hostileNumbers = []string{
	"-1", "0", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e308", "NaN", "Infinity", "4e18",
	"00000000000000000000000000000000000000001", "999999999999", "2147483648", "", "1,000", "0x7f", "٣",
}

var hostileWords = []string{
	"\x1b[2J\x1b]0;owned\x07", "\u202egpj.exe", "$(reboot)", "`id`", "--flag", "-", "'; drop table t; --", "<script>alert(1)</script>",
	"商品服务", "a\rb", "\x00", "\xff\xfe", "\xed\xa0\x80", "|", "](http://evil.example)", "{{.}}", "%s%n", "\u2028", "\u200b", "\t",
	strings.Repeat("w", 10_000), strings.Repeat("宽", 3000), strings.Repeat("(", 5000), strings.Repeat("[", 5000), strings.Repeat("{\"a\":", 3000),
	"\\", "\"", "''", "/*", "0001-01-01 00:00:00", "9999-12-31 23:59:59,999", "1970-01-01T00:00:00Z", "2026-02-30 25:61:61",
}

func (m *mutator) at(data []byte) int { return m.IntN(len(data) + 1) }

func (m *mutator) mutate(data []byte) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	other := m.sample().data
	switch m.IntN(18) {
	case 0: // cut
		return data[:m.at(data)]
	case 1:
		return data[m.at(data):]
	case 2: // half and half
		return append(bytes.Clone(data[:m.at(data)]), other[m.at(other):]...)
	case 3: // one in the middle of another
		i := m.at(data)
		return append(append(bytes.Clone(data[:i]), other...), data[i:]...)
	case 4: // lines of two, in turn
		var out []byte
		others := bytes.SplitAfter(other, []byte("\n"))
		for i := range max(len(lines), len(others)) {
			if i < len(lines) {
				out = append(out, lines[i]...)
			}
			if i < len(others) {
				out = append(out, others[i]...)
			}
		}
		return out
	case 5:
		m.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		return bytes.Join(lines, nil)
	case 6: // lines lost
		var out []byte
		for _, l := range lines {
			if m.IntN(8) > 0 {
				out = append(out, l...)
			}
		}
		return out
	case 7: // a line many times
		i, n := m.IntN(len(lines)), m.IntN(1000)
		return bytes.Join(append(append([][]byte{bytes.Join(lines[:i], nil)}, bytes.Repeat(lines[i], n)), lines[i:]...), nil)
	case 8: // bytes changed
		out := bytes.Clone(data)
		for range len(out) / 200 {
			out[m.IntN(len(out))] = byte(m.IntN(256))
		}
		return out
	case 9: // one number, or many
		share := m.IntN(30) + 1
		with := hostileNumbers[m.IntN(len(hostileNumbers))]
		return digits.ReplaceAllFunc(data, func(d []byte) []byte {
			if m.IntN(share) > 0 {
				return d
			}
			return []byte(with)
		})
	case 10, 11: // words
		share := m.IntN(60) + 5
		budget := 50
		return words.ReplaceAllFunc(data, func(w []byte) []byte {
			if m.IntN(share) > 0 || budget == 0 {
				return w
			}
			budget--
			return []byte(hostileWords[m.IntN(len(hostileWords))])
		})
	case 12: // line ends
		return bytes.ReplaceAll(data, []byte("\n"), []byte([]string{"\r\n", "\r", "\\n", " ", "\n\n", "\r\r\n", "\x00"}[m.IntN(7)]))
	case 13: // another encoding
		return wide(data, m.IntN(4))
	case 14: // a prefix on each line
		p := []byte([]string{"> ", "\t", "2026-03-14 10:00:00,000 [main] INFO x - ", "stdout F ", "  12: ", "\x1b[31m", "| "}[m.IntN(7)])
		return append(bytes.Clone(p), bytes.ReplaceAll(data, []byte("\n"), append([]byte("\n"), p...))...)
	case 15: // hard-wrapped
		width := 20 + m.IntN(100)
		var out []byte
		for _, l := range lines {
			for len(l) > width {
				out = append(append(out, l[:width]...), '\n')
				l = l[width:]
			}
			out = append(out, l...)
		}
		return out
	case 16: // twice
		return append(bytes.Clone(data), data...)
	default: // a range lost
		i, j := m.at(data), m.at(data)
		return append(bytes.Clone(data[:min(i, j)]), data[max(i, j):]...)
	}
}

// wide encodes each byte in two or four.
func wide(data []byte, kind int) []byte {
	var out []byte
	for _, b := range data {
		switch kind {
		case 0:
			out = append(out, b, 0)
		case 1:
			out = append(out, 0, b)
		case 2:
			out = append(out, b, 0, 0, 0)
		default:
			out = append(out, 0, 0, 0, b)
		}
	}
	return out
}
