package tail

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/collector"
)

// withDumps watches a folder of its own.
func withDumps(c *Config) {
	dir := filepath.Join(filepath.Dir(c.Files[0].Paths[0]), "dumps")
	c.Dumps = []Dumps{{Dir: dir, Patterns: []string{"Dubbo_JStack.log.*", "*.jstack"}, Service: "order"}}
	withState(c)
}

const threads = `2026-03-14 09:12:33
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6-LTS mixed mode, sharing):

"main" #1 prio=5 os_prio=0 cpu=89.37ms elapsed=1.67s tid=0x00007f1c00001000 nid=0x4e21 waiting on condition  [0x00007f1cea001000]
   java.lang.Thread.State: TIMED_WAITING (sleeping)
	at java.lang.Thread.sleep(java.base@17.0.15/Native Method)
	at com.acme.shop.Main.main(Main.java:7)

`

// fresh writes a file as it would be at the stage's time.
func (s *stage) fresh(name, text string) {
	s.t.Helper()
	s.write(name, text)
	if err := os.Chtimes(s.path(name), s.now, s.now); err != nil {
		s.t.Fatal(err)
	}
}

func TestDumpsAreReadOnceAndWhole(t *testing.T) {
	s := newStage(t, withDumps)
	s.polls(1)
	if n := s.news[s.path("dumps")]; !strings.Contains(n.Unread, "not there") {
		t.Errorf("%+v", n)
	}
	os.Mkdir(s.path("dumps"), 0o755)
	s.fresh("dumps/a.jstack", threads[:200])
	s.fresh("dumps/notes.txt", threads)
	s.fresh("dumps/.b.jstack", threads)
	s.polls(1)
	s.fresh("dumps/a.jstack", threads)
	s.polls(1)
	s.want()
	s.polls(1)
	s.want("a.jstack:2 dump", "a.jstack:4 stack main", "a.jstack:2 dump")
	if n := s.news[s.path("dumps/a.jstack")]; n.Records != 3 || !n.Gone || n.Kind != collector.KindDump || n.Unread != "" {
		t.Errorf("%+v", n)
	}
	if s.raw[s.path("dumps/a.jstack")] != threads {
		t.Error("it is not kept as it is")
	}
	s.polls(saveEvery)
	s.begin() // killed
	s.polls(9)
	s.want()

	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte(threads))
	w.Close()
	s.fresh("dumps/c.jstack.gz", packed.String())
	s.fresh("dumps/Dubbo_JStack.log.2026-03-14_10-02-07", threads)
	s.fresh("dumps/a.jstack", threads+threads) // another one of the same name
	s.polls(3)
	if got := strings.Join(s.records, "\n"); strings.Count(got, "stack main") != 4 || !strings.Contains(got, "c.jstack.gz:4 stack main") || !strings.Contains(got, "a.jstack@2026-03-14T") {
		t.Errorf("got %s", got)
	}
}

func TestOldDumpsAreLeftAlone(t *testing.T) {
	s := newStage(t, withDumps)
	os.Mkdir(s.path("dumps"), 0o755)
	s.fresh("dumps/new.jstack", threads)
	s.fresh("dumps/old.jstack", threads)
	long := s.now.Add(-time.Hour)
	os.Chtimes(s.path("dumps/old.jstack"), long, long)
	s.polls(5)
	s.want("new.jstack:2 dump", "new.jstack:4 stack main", "new.jstack:2 dump")
}

func TestStats(t *testing.T) {
	s := newStage(t, withDumps)
	s.write("app.log", full(1)+quietLine)
	s.polls(9)
	st := s.Stats()
	if st.Records["app-log"] != 1 || st.Lines != 2 || st.Bytes == 0 || len(st.States) != 2 {
		t.Errorf("%+v", st)
	}
	if x := st.States[0]; !x.Up || x.Kind != collector.KindFile || x.LagBytes != 0 || x.Last.IsZero() || x.Source != s.path("*.log") {
		t.Errorf("%+v", x)
	}
	if x := st.States[1]; x.Up || x.Kind != collector.KindDump {
		t.Errorf("%+v", x)
	}
	s.append("app.log", "half a line")
	s.polls(2)
	if x := s.Stats().States[0]; x.LagBytes != 11 || x.Lag != time.Second {
		t.Errorf("%+v", x)
	}
}

func TestLinksInADumpFolderAreLeftOut(t *testing.T) {
	s := newStage(t, withDumps)
	os.Mkdir(s.path("dumps"), 0o755)
	s.fresh("elsewhere", threads)
	if err := os.Symlink(s.path("elsewhere"), s.path("dumps/a.jstack")); err != nil {
		t.Skip(err)
	}
	s.polls(4)
	s.want()
	if n := s.news[s.path("dumps")]; len(n.Problems) != 1 || !strings.Contains(n.Problems[0], "a.jstack") || n.Unread != "" {
		t.Errorf("%+v", n)
	}
	delete(s.news, s.path("dumps"))
	s.polls(4)
	if n, again := s.news[s.path("dumps")]; again {
		t.Errorf("said again: %+v", n)
	}
}
