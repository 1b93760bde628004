package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

func TestPoolsAndStacksOfOtherIncidents(t *testing.T) {
	for _, name := range []string{"convoy", "deadlock", "goroutines", "rowlock"} {
		r := readReport(t, name)
		for _, size := range sizes {
			d := start(t, r, size.width, size.height)
			d.press("4").golden(fmt.Sprintf("pools-%s-%d", name, size.width))
		}
	}
}

// A thread leads to the owner of its lock, the owner to its own stack, in each
// dump.
func TestThreadsLeadToTheOwnerOfTheirLock(t *testing.T) {
	d := start(t, readReport(t, "convoy"), 80, 40)
	d.press("4").do("down").shows("39 lock com.acme.price.PriceTable.get", "held by DubboServerHandler-10.20.50.1:20880-thread-5")
	d.do("enter").shows("39 threads lock", "[price/jstack2.txt:4]", "FRAMES THAT TELL").golden("stack-convoy-80")
	goDown(d, "held by")
	d.do("enter").shows("1 thread cpu", "PriceTable.rebuild", "price/jstack1.txt 1 cited")
	goDown(d, "[price/jstack1.txt:74]")
	d.do("enter").shows("line 74 of price/jstack1.txt")
	d.do("back", "back").shows("held by")
	d.do("back").shows("1 pool, 1 full")
}

// goDown moves the cursor onto the thing that says a text.
func goDown(d *driver, text string) {
	d.t.Helper()
	for range 200 {
		if rows := d.m.chosen(); len(rows) > 0 && strings.Contains(rows[0].text().plain(), text) {
			return
		}
		d.do("down")
	}
	d.t.Fatalf("nothing says %q:\n%s", text, d.screen())
}

func TestThreadsLeadToTheirStatementAndBack(t *testing.T) {
	d := start(t, readReport(t, "rowlock"), 80, 50)
	d.press("4").do("down").shows("StockRepository.deduct")
	d.do("enter").shows("ITS STATEMENTS", "update t_sku_stock set available=available-?")
	goDown(d, "update t_sku_stock")
	d.do("enter").shows("waits for locks", "504 s")
	if key := d.m.here().key; !strings.HasPrefix(key, "sql update t_sku_stock") {
		t.Errorf("on %q", key)
	}
	d.do("enter").shows("THREADS THAT RUN IT", "SPANS THAT RAN IT")
	goDown(d, "deduct")
	goDown(d, "14 ")
	d.do("enter").shows("14 threads db-read")
}

func TestEndsOfThePoolsScreen(t *testing.T) {
	d := start(t, readReport(t, "rowlock"), 120, 40)
	d.press("4")
	d.do("suspicious", "suspicious", "next", "links", "back").do("only").write("hikari").press("enter").shows("only: hikari", "HikariPool-1").lacks("deduct")
	d.do("unfilter").do("only").write("nothing has this").press("enter").shows("The filters leave nothing.")
}

func TestNumbersOfAPoolAreCited(t *testing.T) {
	for _, name := range []string{"reference", "convoy", "deadlock", "goroutines", "rowlock", "edges"} {
		s := newScene(readReport(t, name))
		s.glyphs, s.width, s.height = &unicodeGlyphs, 100, 40
		if len(s.report.Incidents) > 0 {
			s.now = &s.report.Incidents[0]
		}
		s.report.SQL = slices.DeleteFunc(s.report.SQL, func(f incident.Fingerprint) bool { return len(s.seenRunning(&f)) == 0 })
		for _, p := range []*page{poolsPage(s, place{}), sqlPage(s, place{}), flamePage(s, place{})} {
			seen := map[string]bool{}
			for i := range p.rows {
				r := &p.rows[i]
				if r.key != "" && len(r.cites) == 0 {
					t.Errorf("%s: %q is not cited", name, r.text().plain())
				}
				if r.key != "" && seen[r.key] && p.rows[i-1].key != r.key {
					t.Errorf("%s: two things are called %q", name, r.key)
				}
				seen[r.key] = true
			}
		}
		for _, key := range slices.Concat(s.poolKeys(), s.groups().keys) {
			for _, r := range poolsDetail(s, place{}, key).rows {
				if r.key != "" && !strings.HasPrefix(r.key, "do ") && len(r.cites) == 0 {
					t.Errorf("%s: %s: %q is not cited", name, key, r.text().plain())
				}
			}
		}
	}
}

// What is not known is left out, and no number is shown as 0 for it.
func TestUnknownNumbersAreAbsent(t *testing.T) {
	at := []evidence.Citation{{Source: "a.log", Line: 1}}
	r := &incident.Report{
		Pools:  []incident.Pool{{Name: "bare", Kind: "thread", Citations: at}},
		Stacks: []incident.StackGroup{{Threads: 3, WaitKind: incident.WaitOther, Citations: at}},
		SQL:    []incident.Fingerprint{{Fingerprint: "select 1", Citations: at}},
	}
	d := start(t, r, 120, 30)
	d.press("4").shows("· bare", "OTHER THREADS", "3 other no frames").lacks("busy", "queued", "rejected", "0/", "%")
	d.press("5").shows("select 1").lacks("total", "rows", "full scan", "index")
	d.press("4").do("flame").shows("3 threads")
}

func TestPoolsOfOneNameAreToldApart(t *testing.T) {
	d := start(t, readReport(t, "rowlock"), 120, 40)
	d.press("4").shows("HikariPool-1 product-1", "HikariPool-1 product-2")
}

func TestFlame(t *testing.T) {
	r := readReport(t, "reference")
	for _, size := range sizes {
		d := start(t, r, size.width, size.height)
		d.press("4").do("flame").golden(fmt.Sprintf("flame-%d", size.width))
	}
	d := start(t, r, 120, 40)
	d.press("4").do("flame").shows("200 threads", "173 87 %", "18 9 %")
	d.do("down", "down", "enter").shows("173 threads", "100 %").lacks("87 %")
	d.do("last", "enter").shows("FRAMES THAT TELL") // the innermost frame leads to its stack
	d.do("back", "back").shows("200 threads")
	d.do("flame").shows("1 pool, 1 full")
	if d.m.here().screen != onPools {
		t.Errorf("on %s", d.m.here().screen)
	}
}

func TestFlameWidthsAddUp(t *testing.T) {
	for _, name := range []string{"reference", "rowlock", "goroutines"} {
		s := newScene(readReport(t, name))
		root := flameOf(s, "")
		want := 0
		for _, g := range s.report.Stacks {
			want += g.Threads
		}
		if root.threads != want {
			t.Errorf("%s: %d threads of %d", name, root.threads, want)
		}
		var walk func(n *node)
		walk = func(n *node) {
			sum := 0
			for _, c := range n.children {
				sum += c.threads
				walk(c)
			}
			if sum > n.threads {
				t.Errorf("%s: %s has %d threads, its callees %d", name, n.name, n.threads, sum)
			}
		}
		walk(root)
	}
}

// crowd is a report of many pools and groups of threads.
func crowd(groups int) *incident.Report {
	r := &incident.Report{Incidents: []incident.Incident{{Label: incident.LockContention}}}
	kinds := []incident.WaitKind{incident.WaitDBRead, incident.WaitLock, incident.WaitRPC, incident.WaitCPU}
	two := 200
	for i := range 20 {
		name := fmt.Sprintf("DubboServerHandler-10.20.1.%d:20880", i)
		r.Pools = append(r.Pools, incident.Pool{
			Name: name, Kind: "thread", Max: &two, Active: &two, ByWaitKind: map[string]int{"db-read": 150, "lock": 50},
			Citations: []evidence.Citation{{Source: "app.log", Line: i + 1}},
		})
		r.Findings = append(r.Findings, incident.Finding{
			ID: fmt.Sprintf("f%d", i), Kind: incident.LockConvoy, Subject: "lock", Text: "a convoy",
			Names: map[string]string{"pool": name, "lock": "com.acme.Lock", "owner": name + "-thread-7", "owner_at": "com.acme.Owner.run(Owner.java:7)"},
		})
	}
	for i := range 30 {
		r.SQL = append(r.SQL, incident.Fingerprint{
			Fingerprint: fmt.Sprintf("select * from t_%d where id=?", i), Table: fmt.Sprintf("t_%d", i),
			DAOFrame: fmt.Sprintf("com.acme.shop.product.dao.Repository%d.find(Repository%d.java:31)", i, i), Method: fmt.Sprintf("Service%d.get", i),
		})
	}
	for i := range groups {
		pool := r.Pools[i%20].Name
		app := fmt.Sprintf("com.acme.shop.product.dao.Repository%d.find(Repository%d.java:31)", i, i)
		g := incident.StackGroup{
			Pool: pool, Threads: groups - i, State: "BLOCKED", WaitKind: kinds[i%4], AppFrame: app, Dumps: 3,
			Top: []string{"java.net.SocketInputStream.read", "com.mysql.cj.protocol.ReadAheadInputStream.fill", function(app), fmt.Sprintf("com.acme.shop.Service%d.get", i%50), "com.acme.Wrapper.invoke"},
		}
		if g.WaitKind == incident.WaitLock {
			g.Lock = "com.acme.Lock"
		}
		for j := range 4 {
			g.Citations = append(g.Citations, evidence.Citation{Source: fmt.Sprintf("jstack-%d.txt", j), Line: i*20 + 1, Part: fmt.Sprintf("#%s-thread-%d", pool, i)})
		}
		r.Stacks = append(r.Stacks, g)
	}
	return r
}

func TestCrowdIsShownWhole(t *testing.T) {
	d := start(t, crowd(5000), 200, 60)
	d.press("4").shows("5,000 stacks").do("last").shows("DubboServerHandler-10.20.1.19:20880")
	d.do("flame").shows("com.acme.Wrapper.invoke")
}

// BenchmarkFrameStacks is a frame after a key press among 5,000 groups of
// threads, and the first one, for which the page is made.
func BenchmarkFrameStacks(b *testing.B) {
	open := func() *Model {
		m := New(Config{Source: &stillSource{}, Theme: "dark"})
		m.show(Reading{Report: crowd(5000)})
		m.loading = false
		m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
		m.Update(tea.KeyPressMsg(tea.Key{Code: '4', Text: "4"}))
		m.Frame()
		return m
	}
	for _, on := range []struct {
		name string
		keys string
	}{{"pools", ""}, {"flame", "v"}} {
		m := open()
		for _, k := range on.keys {
			m.Update(tea.KeyPressMsg(tea.Key{Code: k, Text: string(k)}))
		}
		b.Run(on.name+"/key", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				k := 'j'
				if i%200 >= 100 {
					k = 'k'
				}
				m.Update(tea.KeyPressMsg(tea.Key{Code: k, Text: string(k)}))
				m.Frame()
			}
		})
		b.Run(on.name+"/first", func(b *testing.B) {
			for b.Loop() {
				m.scene.stacks = &stackGroups{}
				m.changed()
				m.Frame()
			}
		})
	}
}
