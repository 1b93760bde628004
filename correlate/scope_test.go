package correlate

import (
	"fmt"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// story writes evidence for tests in a few words.
type story struct {
	t *testing.T
	e *Engine
	n int
}

func (s *story) add(at time.Time, service, source string, fill func(*evidence.Record)) {
	s.n++
	r := &evidence.Record{Time: at, Zoned: evidence.Yes, Place: evidence.Place{Service: service}, Cite: evidence.Citation{Source: source, Line: s.n}}
	fill(r)
	if err := s.e.Add(r); err != nil {
		s.t.Fatal(err)
	}
}

// refusals has a provider's pool refuse work.
func (s *story) refusals(at time.Time, service, addr string, n int) {
	for i := range n {
		s.add(at.Add(time.Duration(i)*time.Second), service, service+"/app.log", func(r *evidence.Record) {
			r.Pool = &evidence.PoolSnapshot{
				Name: "DubboServerHandler-" + addr, Kind: evidence.ThreadPool, Impl: "dubbo", Owner: addr, Max: 200, Active: 200, Size: 200, Rejected: true,
				Idle: evidence.None, Waiting: evidence.None, Queued: evidence.None, Tasks: evidence.None, Completed: evidence.None, Waited: evidence.None,
			}
		})
	}
}

// busyDump has all workers of a provider stand in frames.
func (s *story) busyDump(at time.Time, service, addr string, frames ...string) {
	source := service + "/jstack.txt"
	var fs []*evidence.Frame
	for _, f := range frames {
		fs = append(fs, &evidence.Frame{Func: f, Native: f == frames[0]})
	}
	s.add(at, service, source, func(r *evidence.Record) {
		r.Dump = &evidence.Dump{ID: "1", Runtime: evidence.JVM, Declared: evidence.None}
	})
	for i := range 200 {
		s.add(at, service, source, func(r *evidence.Record) {
			r.Stack = &evidence.Stack{Dump: "1", Runtime: evidence.JVM, Name: fmt.Sprintf("DubboServerHandler-%s-thread-%d", addr, i+1), State: evidence.StateRunnable, Frames: fs, Count: 1}
		})
	}
	s.add(at, service, source, func(r *evidence.Record) {
		r.Dump = &evidence.Dump{ID: "1", Runtime: evidence.JVM, Closing: true, Threads: 200, Declared: evidence.None}
	})
}

func (s *story) exhausted(at time.Time, consumer, service, method string, n int) {
	for i := range n {
		s.add(at.Add(time.Duration(i)*time.Second), consumer, consumer+"/app.log", func(r *evidence.Record) {
			r.Tries = &evidence.Tries{Service: service, Method: method, Attempts: 3, Failed: 2, Candidates: 2, Outcome: evidence.Timeout, Timeout: time.Second}
		})
	}
}

var (
	ten      = time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)
	inMySQL  = []string{"java.net.SocketInputStream.socketRead0", "com.mysql.cj.protocol.ReadAheadInputStream.fill", "com.acme.SkuServiceImpl.getSku"}
	inHTTP   = []string{"java.net.SocketInputStream.socketRead0", "org.apache.http.impl.io.SessionInputBufferImpl.fillBuffer", "com.acme.PayServiceImpl.pay"}
	sku, pay = "10.20.1.21:20880", "10.20.3.11:20880"
)

func labels(r *incident.Report) []incident.Label {
	var list []incident.Label
	for _, in := range r.Incidents {
		list = append(list, in.Label)
	}
	return list
}

func TestSeveralIncidents(t *testing.T) {
	for _, c := range []struct {
		name string
		tell func(*story)
		want []incident.Label
	}{
		{"one service", func(s *story) {
			s.refusals(ten, "product", sku, 20)
			s.busyDump(ten.Add(20*time.Second), "product", sku, inMySQL...)
		}, []incident.Label{incident.SlowSQL}},
		{"two services, two causes", func(s *story) {
			s.refusals(ten, "product", sku, 20)
			s.busyDump(ten.Add(20*time.Second), "product", sku, inMySQL...)
			s.refusals(ten.Add(time.Minute), "payment", pay, 20)
			s.busyDump(ten.Add(80*time.Second), "payment", pay, inHTTP...)
		}, []incident.Label{incident.SlowSQL, incident.DownstreamWait}},
		{"two services, one cause", func(s *story) {
			s.refusals(ten, "product", sku, 20)
			s.busyDump(ten.Add(20*time.Second), "product", sku, inMySQL...)
			s.refusals(ten.Add(time.Minute), "payment", pay, 20)
			s.busyDump(ten.Add(80*time.Second), "payment", pay, inMySQL...)
		}, []incident.Label{incident.SlowSQL}},
		{"hours apart", func(s *story) {
			s.refusals(ten, "product", sku, 20)
			s.busyDump(ten.Add(20*time.Second), "product", sku, inMySQL...)
			s.exhausted(ten.Add(5*time.Hour), "order", "com.acme.PayService", "query", 20)
		}, []incident.Label{incident.SlowSQL, incident.RetryAmplification}},
		{"a caller that burns because of what it calls", func(s *story) {
			s.refusals(ten, "product", sku, 20)
			s.busyDump(ten.Add(20*time.Second), "product", sku, inMySQL...)
			s.exhausted(ten, "payment", "com.acme.SkuService", "getSku", 20)
			s.add(ten, "payment", "payment/app.log", func(r *evidence.Record) {
				r.Tries = &evidence.Tries{Service: "com.acme.SkuService", Method: "getSku", Attempts: 3, Failed: 1, Candidates: 1, Providers: []string{sku}, Outcome: evidence.Timeout}
			})
			s.refusals(ten.Add(time.Minute), "payment", pay, 20)
			s.busyDump(ten.Add(80*time.Second), "payment", pay, "sun.misc.Unsafe.park", "org.apache.dubbo.remoting.exchange.support.DefaultFuture.get", "com.acme.PayServiceImpl.pay")
		}, []incident.Label{incident.SlowSQL}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &story{t: t, e: New(Config{})}
			c.tell(s)
			r := s.e.Report()
			if got := labels(r); fmt.Sprint(got) != fmt.Sprint(c.want) {
				for _, in := range r.Incidents {
					t.Logf("%s: %s", in.Label, in.Headline)
				}
				t.Errorf("labels %v, want %v", got, c.want)
			}
			seen := map[string]bool{}
			for _, f := range r.Findings {
				if seen[f.ID] {
					t.Errorf("two findings are %s", f.ID)
				}
				seen[f.ID] = true
			}
		})
	}
}

func TestZoneGap(t *testing.T) {
	for _, c := range []struct {
		name         string
		stated, bare time.Time
		length       time.Duration
		want         int
	}{
		{"eight hours east", ten, ten.Add(8*time.Hour + 3*time.Minute), 10 * time.Minute, 8},
		{"five hours west", ten, ten.Add(-5 * time.Hour), 10 * time.Minute, -5},
		{"the same minutes", ten, ten.Add(time.Minute), 10 * time.Minute, 0},
		{"another incident", ten, ten.Add(150 * time.Minute), 10 * time.Minute, 0},
		{"another day", ten, ten.Add(30 * time.Hour), 10 * time.Minute, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := New(Config{})
			e.AddSource(incident.Source{Path: "slow.log", From: c.stated, To: c.stated.Add(c.length)})
			e.AddSource(incident.Source{Path: "app.log", From: c.bare, To: c.bare.Add(c.length)})
			e.zoned["slow.log"], e.zoned["app.log"] = evidence.Yes, evidence.No
			if got := e.zoneGap(); got != c.want {
				t.Errorf("gap %d h, want %d", got, c.want)
			}
		})
	}
}

func TestFewBusyThreadsAreNotIdle(t *testing.T) {
	for _, truncated := range []bool{false, true} {
		s := &story{t: t, e: New(Config{})}
		frames := []*evidence.Frame{{Func: inMySQL[0], Native: true}, {Func: inMySQL[1]}, {Func: inMySQL[2]}}
		for i := range 2 {
			s.add(ten, "product", "product/jstack.txt", func(r *evidence.Record) {
				r.Stack = &evidence.Stack{Dump: "1", Runtime: evidence.JVM, Name: fmt.Sprintf("DubboServerHandler-%s-thread-%d", sku, i+1), State: evidence.StateRunnable, Frames: frames, Count: 1}
			})
		}
		s.add(ten, "product", "product/jstack.txt", func(r *evidence.Record) {
			r.Dump = &evidence.Dump{ID: "1", Runtime: evidence.JVM, Closing: true, Threads: 2, Truncated: truncated, Declared: evidence.None}
		})
		r := s.e.Report()
		for _, f := range r.Findings {
			if f.Kind == incident.StackIdle {
				t.Errorf("truncated %v: %s", truncated, f.Text)
			}
		}
		if got := r.Incidents[0].Label; got != incident.Inconclusive {
			t.Errorf("truncated %v: %s, want inconclusive", truncated, got)
		}
	}
}
