package incident

import (
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// examples are whole reports, as the engine would make them, for the goldens of
// all forms.
func examples() map[string]*Report {
	return map[string]*Report{
		"slow-sql":     slowSQLReport(),
		"inconclusive": inconclusiveReport(),
		"two":          twoIncidents(),
		"hostile":      hostileReport(),
		"healthy":      healthyReport(),
	}
}

func at(clock string) time.Time {
	t, err := time.Parse(time.DateTime, "2026-03-14 "+clock)
	if err != nil {
		panic(err)
	}
	return t
}

func cite(source string, line int) []evidence.Citation {
	return []evidence.Citation{{Source: source, Line: line}}
}

func tool() Tool { return Tool{Version: "0.1.0"} }

func slowSQLReport() *Report {
	return &Report{
		GeneratedAt: at("10:12:00"), Tool: tool(),
		Window: Window{at("09:55:00"), at("10:09:40")},
		Incidents: []Incident{{
			ID: "2026-03-14T10-02Z-slow-sql-product", Label: SlowSQL, Certainty: High, ActFirst: RetryAmplification,
			Headline: "t_sku_stock is read in full by getSkuStock: 173 of 200 workers of product wait for it, and order asks 3.0x for every call",
			Subject:  "product", Window: Window{at("10:02:11"), at("10:09:40")},
			Chain: []Link{
				{Trigger, SlowSQL, at("10:02:11"), "t_sku_stock full scan, 2.48 M rows, 173/200 threads wait for it", []string{"f1", "f2"}, false},
				{Amplifier, RetryAmplification, at("10:02:14"), "order -> SkuService.getSkuStock 3.0x (300 -> 900 calls/s)", []string{"f3"}, true},
				{Victim, PoolStarvation, at("10:02:31"), "DubboServerHandler-10.20.1.21:20880 200/200, 0 queued, 118 rejections", []string{"f4"}, false},
			},
			Notes: []Note{{"Dubbo writes at most one thread dump in ten minutes: this one is 14 s younger than the first refusal.", []string{"f5"}}},
			Alternatives: []Alternative{
				{GCPause, Low, nil, []string{"f6"}, "the collector paused 0.4 % of the window"},
				{LockContention, Low, []string{"f7"}, []string{"f2"}, "18 threads wait for a lock, but its owner waits for the same query"},
			},
			Walk: []Answered{
				{"retries-and-pools", "pool-full", "Is the provider's pool full?", Yes, []string{"f4"}, nil, ""},
				{"retries-and-pools", "amplified", "Does the provider receive more than the business asks for?", Yes, []string{"f3"}, nil, ""},
				{"retries-and-pools", "waits", "What do the busy workers wait for?", Yes, []string{"f2", "f7"}, ptr("DBA confirms the missing index"), ""},
				{"retries-and-pools", "statement", "Which statement, lock or downstream?", Yes, []string{"f1"}, nil, SlowSQL},
				{"retries-and-pools", "routing", "Did routing make it worse?", DontKnow, nil, nil, ""},
			},
			Actions: []Action{
				{1, "Save the scene before any restart", "firebreak capture --pid 4242 --log '/srv/product/logs/*.log' -o scene.tar.zst", "A restart destroys the stacks that prove the cause.", "", ""},
				{2, "Cut the amplification: retries=0 for order -> SkuService.getSkuStock", "configVersion: v3.0\nscope: service\nkey: com.acme.shop.SkuService\nconfigs:\n  - side: consumer\n    match:\n      application:\n        oneof:\n          - exact: order\n    parameters:\n      getSkuStock.retries: 0", "900 calls/s become 300; 2 of 3 attempts repeat work that is still running.", "Calls that a retry would have saved now fail.", RetryAmplification},
				{3, "Limit SkuService.getSkuStock", "", "300 calls/s x 3.1 s need 930 workers; the pool has 200.", "", PoolStarvation},
				{4, "Add the index on t_sku_stock.sku_code", "ALTER TABLE t_sku_stock ADD INDEX idx_sku_code (sku_code), ALGORITHM=INPLACE, LOCK=NONE;", "The scan reads 2,481,932 rows for one.", "Building it reads the table once more; do it with the load cut.", SlowSQL},
			},
			Missing: []Missing{
				{"a second thread dump of product", "jstack -l 4242 > product-2.txt", "The same threads at the same query: the pool is frozen. Other threads: it is slow."},
			},
		}},
		Findings: []Finding{
			{ID: "f1", Kind: SQLScan, Subject: "t_sku_stock", Text: "select stock from t_sku_stock where sku_code = ? reads 2,481,932 rows for 1 returned, without an index (2.48 M)", Values: map[string]float64{"sql.rows_examined": 2481932}, Names: map[string]string{"table": "t_sku_stock"}, First: at("10:02:11"), Last: at("10:09:38"), Count: 1180, Citations: cite("mysql/slow.log", 12)},
			{ID: "f2", Kind: StackDBRead, Subject: "DubboServerHandler", Text: "173 of 200 workers wait for an answer of the database in SkuServiceImpl.getSkuStock", Values: map[string]float64{"threads": 173}, First: at("10:02:45"), Last: at("10:02:45"), Citations: []evidence.Citation{{Source: "product/Dubbo_JStack.log.2026-03-14_10:02:45", Line: 88}, {Source: "product/Dubbo_JStack.log.2026-03-14_10:02:45", Line: 131}}},
			{ID: "f3", Kind: RetryAmplified, Subject: "order -> SkuService.getSkuStock", Text: "300 calls/s became 900 attempts/s: 3.0x, its ceiling with retries=2", Values: map[string]float64{"edge.amplification": 3}, First: at("10:02:14"), Last: at("10:09:40"), Citations: append(cite("order/app.log", 311), cite("product/access.log", 5120)...)},
			{ID: "f4", Kind: PoolExhausted, Subject: "DubboServerHandler-10.20.1.21:20880", Text: "the pool refused 118 requests with 200 of 200 workers active and 0 queued", Values: map[string]float64{"pool.max": 200, "pool.active": 200, "pool.queued": 0}, First: at("10:02:31"), Last: at("10:09:40"), Count: 118, Citations: cite("product/app.log", 4711)},
			{ID: "f5", Kind: DumpStale, Subject: "product", Text: "the dump was taken 14 s after the first refusal", First: at("10:02:45"), Citations: cite("product/Dubbo_JStack.log.2026-03-14_10:02:45", 1)},
			{ID: "f6", Kind: GCQuiet, Subject: "product", Text: "pauses sum to 1.8 s of 449 s (0.4 %)", Citations: cite("product/gc.log", 3)},
			{ID: "f7", Kind: LockConvoy, Subject: "LocalCache", Text: "18 workers wait for a lock held by DubboServerHandler-10.20.1.21:20880-thread-7, which waits for the database", Citations: []evidence.Citation{{Source: "product/Dubbo_JStack.log.2026-03-14_10:02:45", Line: 2203}}},
		},
		Edges: []Edge{{
			Consumer: "order", Service: "com.acme.shop.SkuService", Method: "getSkuStock", Calls: ptr(int64(134700)), Attempts: ptr(int64(404100)),
			Amplification: ptr(3.0), ByAttempts: map[string]int64{"3": 134700}, Ceiling: ptr(3), TimeoutMS: ptr(int64(1000)),
			Candidates: []Stage{{"directory", 10}, {"after-route", 2}, {"tried", 2}}, Outcomes: map[string]int64{"timeout": 403982, "rejected": 118},
			Basis: "logs", Citations: cite("order/app.log", 311),
		}},
		Pools: []Pool{{
			Name: "DubboServerHandler-10.20.1.21:20880", Kind: "thread", Owner: "10.20.1.21:20880", Max: ptr(200), Active: ptr(200), Idle: ptr(0), Queued: ptr(0),
			Rejected: ptr(int64(118)), CompletedPerSecond: ptr(64.5), HoldSeconds: ptr(3.1), Diagnosis: "slow",
			ByWaitKind: map[string]int{"db-read": 173, "rpc": 9, "lock": 18}, Citations: cite("product/app.log", 4711),
		}},
		Stacks: []StackGroup{{
			Pool: "DubboServerHandler", Threads: 173, State: "RUNNABLE", WaitKind: WaitDBRead,
			AppFrame: "com.acme.shop.product.service.impl.SkuServiceImpl.getSkuStock(SkuServiceImpl.java:64)",
			Top:      []string{"java.net.SocketInputStream.socketRead0(Native Method)"}, Dumps: 1,
			Citations: []evidence.Citation{{Source: "product/Dubbo_JStack.log.2026-03-14_10:02:45", Line: 88}},
		}},
		SQL: []Fingerprint{{
			Fingerprint: "select stock from t_sku_stock where sku_code = ?", Count: ptr(int64(1180)), TotalSeconds: ptr(3650.2), P95Seconds: ptr(3.3),
			RowsExamined: ptr(int64(2481932)), FullScan: ptr(true), RunningNow: ptr(131), Table: "t_sku_stock", Method: "SkuService.getSkuStock",
			Citations: cite("mysql/slow.log", 12),
		}},
		Timeline: []Series{
			{Signal: "order -> getSkuStock", Unit: "1/s", Onset: at("10:02:14"), Points: []Point{{at("09:55:00"), 300}, {at("10:00:00"), 310}, {at("10:02:00"), 500}, {at("10:03:00"), 900}, {at("10:09:00"), 880}}},
		},
		Sources: []Source{
			{Path: "mysql/slow.log", Format: "mysql-slow-log", Bytes: 733_412, Records: 1180, From: at("10:02:11"), To: at("10:09:38")},
			{Path: "order/app.log", Format: "app-log", Bytes: 912_004_113, Records: 134_700, Skipped: 2, From: at("09:55:00"), To: at("10:09:40"), Problems: []string{"line 88: line longer than 1 MiB"}},
			{Path: "product/app.log", Format: "app-log", Bytes: 48_120_000, Records: 4_812, From: at("10:02:31"), To: at("10:09:40")},
			{Path: "product/core.1", Bytes: 4096, Problems: []string{"not text"}},
		},
	}
}

func inconclusiveReport() *Report {
	return &Report{
		GeneratedAt: at("10:12:00"), Tool: tool(), Window: Window{at("10:02:31"), at("10:09:40")},
		Incidents: []Incident{{
			ID: "i1", Label: Inconclusive, Certainty: Low,
			Headline: "DubboServerHandler-10.20.1.21:20880 of product is full (200/200), but nothing shows what its workers wait for",
			Chain:    []Link{{Victim, PoolStarvation, at("10:02:31"), "DubboServerHandler-10.20.1.21:20880 200/200, 118 rejections", []string{"f1"}, false}},
			Missing: []Missing{
				{"three thread dumps of product, five seconds apart", "firebreak capture --pid 4242 -o scene.tar.zst", "Most workers in a driver's read: a slow statement or a lock in the database. In getConnection: the connection pool. In one lock: contention."},
				{"the consumer's log", "", "\"Tried 3 times\" near the limit: retries multiply the load."},
			},
		}},
		Findings: []Finding{{ID: "f1", Kind: PoolExhausted, Subject: "DubboServerHandler-10.20.1.21:20880", Text: "the pool refused 118 requests with 200 of 200 (200/200) workers active", Count: 118, First: at("10:02:31"), Last: at("10:09:40"), Citations: cite("app.log", 4711)}},
		Sources: []Source{
			{Path: "a.log.gz", Format: "app-log", Bytes: 60_940, Records: 70, Problems: []string{"compressed data ends early after 60940 bytes"}, Unread: "compressed data ends early after 60940 bytes"},
			{Path: "app.log", Format: "app-log", Bytes: 48_120, Records: 118},
			{Path: "locked.log", Problems: []string{"permission denied"}, Unread: "permission denied"},
			{Path: "secret.zip!dump.txt", Problems: []string{"encrypted"}, Unread: "encrypted"},
		},
	}
}

func healthyReport() *Report {
	return &Report{
		GeneratedAt: at("10:12:00"), Tool: tool(),
		Incidents: []Incident{{ID: "i1", Label: Healthy, Certainty: Medium, Headline: "nothing burns: most workers idle, no retries, no slow statement"}},
		Findings:  []Finding{{ID: "f1", Kind: PoolIdle, Subject: "DubboServerHandler", Text: "187 of 200 workers are idle", Citations: cite("dump.txt", 1)}},
		Sources:   []Source{{Path: "dump.txt", Format: "jstack", Bytes: 300_000, Records: 240}},
	}
}

func twoIncidents() *Report {
	r := slowSQLReport()
	next := time.Date(2026, 3, 15, 2, 0, 0, 0, time.UTC)
	r.Window.To = next.Add(time.Hour)
	r.Incidents = append(r.Incidents, Incident{
		ID: "2026-03-15T02-00Z-deadlock-支付", Label: Deadlock, Certainty: Medium, ActFirst: Deadlock,
		Headline: "支付服务的两个线程互相等待对方持有的锁，所有后续请求都在同一把锁上排队，共有 41 个线程受到影响，需要重启该实例",
		Subject:  "支付服务", Window: Window{next, next.Add(10 * time.Minute)},
		Chain: []Link{{Trigger, Deadlock, next, "支付服务 AccountCache/OrderCache", []string{"f8"}, false}},
		Actions: []Action{
			{1, "Save the scene before any restart", "firebreak capture --pid 77 -o scene.tar.zst", "", "", ""},
			{2, "Restart pay-7f9c with its traffic drained", "", "A deadlock of monitors does not resolve itself.", "", Deadlock},
		},
	})
	r.Findings = append(r.Findings, Finding{
		ID: "f8", Kind: LockDeadlock, Subject: "pay", Text: "2 threads wait for each other, 41 more wait behind them", First: next, Last: next,
		Citations: []evidence.Citation{{Source: "incident-2026-03-15.tar.gz!var/lib/kubernetes/pods/pay-7f9c/logs/archive/2026/03/15/02/thread-dump-of-the-payment-service.txt", Line: 90210}, {Source: "dump.txt", Part: "#pay-worker-7"}},
	})
	return r
}

// hostile is a name as an attacker would write it into a log.
const hostile = "x\x1b[2J\x1b]0;owned\x07\n# @channel <script>`rm -rf /`\u202egpj.exe\u200b\xff|$(id)"

func hostileReport() *Report {
	r := slowSQLReport()
	in := &r.Incidents[0]
	in.Headline = hostile + " 3 times"
	in.Subject = hostile
	in.Chain[0].Subject = hostile
	in.Notes[0].Text = hostile
	in.Alternatives[0].WhyNot = hostile
	in.Walk[0].Ask = hostile
	in.Walk[2].OverriddenBy = ptr(hostile)
	in.Actions[0].What, in.Actions[0].Why, in.Actions[0].Risk = hostile, hostile, hostile
	in.Actions[0].Command = "firebreak capture --log " + Quote(hostile)
	in.Missing[0].What, in.Missing[0].WouldTell = hostile, hostile
	in.Missing[0].Command = "tail \x1b[31m" + Quote(hostile)
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Subject, f.Text = hostile, hostile+" "+f.Text
		f.Names = map[string]string{hostile: hostile}
		f.Citations[0].Source, f.Citations[0].Part = hostile, hostile
	}
	r.Edges[0].Consumer, r.Edges[0].Service, r.Edges[0].Method, r.Edges[0].Basis = hostile, hostile, hostile, hostile
	r.Edges[0].Outcomes = map[string]int64{hostile: 3}
	r.Edges[0].Candidates[0].Stage = hostile
	r.Pools[0].Name, r.Pools[0].Diagnosis, r.Pools[0].Owner = hostile, hostile, hostile
	r.Stacks[0].Pool, r.Stacks[0].AppFrame, r.Stacks[0].Lock, r.Stacks[0].Owner = hostile, hostile, hostile, hostile
	r.SQL[0].Fingerprint, r.SQL[0].Method = hostile, hostile
	r.Timeline[0].Signal = hostile
	r.Sources[0].Path, r.Sources[0].Problems = hostile, []string{hostile}
	return r
}

func ptr[T any](v T) *T { return &v }
