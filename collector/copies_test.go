package collector

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/firebreak-io/firebreak/evidence"
)

// accessLines are lines from to to of one access log.
func accessLines(from, to int) []byte {
	var b bytes.Buffer
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "10.20.1.%d - - [14/Mar/2026:10:%02d:%02d +0000] \"POST /orders?key=%d HTTP/1.1\" 200 512 \"-\" \"curl/8.5\"\n", i%200, i/60%60, i%60, i)
	}
	return b.Bytes()
}

const plan = "+----+-------------+-------+------+---------------+------+---------+------+---------+-------------+\n" +
	"| id | select_type | table | type | possible_keys | key  | key_len | ref  | rows    | Extra       |\n" +
	"+----+-------------+-------+------+---------------+------+---------+------+---------+-------------+\n" +
	"|  1 | SIMPLE      | t_sku | ALL  | NULL          | NULL | NULL    | NULL | 2480000 | Using where |\n" +
	"+----+-------------+-------+------+---------------+------+---------+------+---------+-------------+\n"

func utf16le(text []byte) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(string(text))) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// TestCopiesCountOnce reads logs beside copies of themselves.
func TestCopiesCountOnce(t *testing.T) {
	log := accessLines(0, 3000)
	for _, c := range []struct {
		name    string
		files   map[string][]byte
		records int
		says    string
	}{
		{"compressed beside it", map[string][]byte{"access.log": log, "access.log.gz": gz(log)}, 3000, "access.log.gz: the same content as access.log: not counted"},
		{"a short one", map[string][]byte{"access.log": accessLines(0, 4), "access.log.gz": gz(accessLines(0, 4))}, 4, "the same content"},
		{"under another name", map[string][]byte{"access.log": log, "b/saved-by-me.txt": log}, 3000, "the same content"},
		{"in the folder and in its archive", map[string][]byte{"order/access.log": log, "all.tar": tarred(member{"order/access.log", log})}, 3000, "order/access.log: the same content as all.tar!order/access.log"},
		{"in another encoding", map[string][]byte{"access.log": log, "access-windows.log": utf16le(log)}, 3000, "the same content"},
		{"three times", map[string][]byte{"a.log": log, "b.log": log, "c.log": zst(log)}, 3000, "c.log: the same content as a.log"},
		{"saved again later", map[string][]byte{"at-10.log": accessLines(0, 1111), "at-11.log": log}, 3000, "at-11.log: its first 1111 lines are the same as in at-10.log"},
		{"saved before", map[string][]byte{"a.log": log, "b.log": accessLines(0, 1111)}, 3000, "the same content"},
		{"parted ways", map[string][]byte{"a.log": log, "b.log": append(accessLines(0, 2000), accessLines(5000, 5100)...)}, 3100, "lines are the same as in a.log"},
		{"one after the other", map[string][]byte{"access.log": accessLines(1500, 3000), "access.log.1": accessLines(0, 1500)}, 3000, ""},
		{"a banner alike", map[string][]byte{"a.log": append([]byte(strings.Repeat("# Software: shop\n", 40)), accessLines(0, 50)...), "b.log": append([]byte(strings.Repeat("# Software: shop\n", 40)), accessLines(50, 100)...)}, 100, ""},
		{"one plan of two replicas", map[string][]byte{"a/explain.txt": []byte(plan), "b/explain.txt": []byte(plan)}, 2, ""},
		{"one plan saved twice", map[string][]byte{"explain.txt": []byte(plan), "explain.txt.gz": gz([]byte(plan))}, 1, "the same content"},
		{"two lines of two replicas", map[string][]byte{"a/app.log": accessLines(0, 2), "b/app.log": accessLines(0, 2)}, 4, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, data := range c.files {
				write(t, dir, name, data)
			}
			n := 0
			lines := map[string]bool{}
			sources, err := Collect(t.Context(), []string{dir}, Options{}, func(r *evidence.Record) error {
				n++
				if at := fmt.Sprint(r.Cite); lines[at] {
					t.Errorf("%s twice", at)
				} else {
					lines[at] = true
				}
				return nil
			})
			said := describe(sources)
			for _, s := range sources {
				for _, p := range s.Problems {
					said += "\n" + s.Path + ": " + p
				}
			}
			// Where two part ways, the block in which they do is counted again.
			if tolerated := map[bool]int{true: lastBlock / 90}[c.name == "parted ways"]; err != nil || n < c.records || n > c.records+tolerated || !strings.Contains(said, c.says) || c.says == "" && strings.Contains(said, "same") {
				t.Errorf("%d records, want %d; error %v; %s", n, c.records, err, said)
			}
		})
	}
}

// TestLinks follows links to files, each file read once, and says which links
// are not followed.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "store/0.log", accessLines(0, 5))
	write(t, dir, "elsewhere/x.log", accessLines(0, 5))
	given := filepath.Join(dir, "containers")
	os.MkdirAll(filepath.Join(given, "sub"), 0o755)
	for name, to := range map[string]string{
		"order.log": filepath.Join(dir, "store", "0.log"), "again.log": "order.log", "gone.log": "nothing", "self.log": "self.log",
		"loop": "../containers", "sub/up": "..", "other": filepath.Join(dir, "elsewhere"),
	} {
		if err := os.Symlink(to, filepath.Join(given, name)); err != nil {
			t.Skip(err)
		}
	}
	n := 0
	sources, err := Collect(t.Context(), []string{given}, Options{}, func(*evidence.Record) error { n++; return nil })
	var said strings.Builder
	for _, s := range sources {
		fmt.Fprintf(&said, "%s %d %v\n", s.Path, s.Records, s.Problems)
	}
	want := `again.log 5 []
gone.log 0 [a link to nothing]
order.log 0 [the same file as again.log, read once]
other 0 [a link to a folder elsewhere: not followed]
self.log 0 [a link: too many levels of symbolic links]
`
	if err != nil || n != 5 || said.String() != want {
		t.Errorf("%d records, error %v\n%s", n, err, said.String())
	}
}
