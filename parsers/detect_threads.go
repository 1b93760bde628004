package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// Worker pools that refused work, and requests that run for too long:
//
//	RejectedExecutionException: Task … rejected from java.util.concurrent.ThreadPoolExecutor@5c0369c4[Running, pool size = 8, active threads = 8, queued tasks = 100, completed tasks = 4711]
//	qtp1234-50 rejected … QueuedThreadPool[qtp1234]@1f2{STARTED,8<=200<=200,i=0,r=8,t=59999ms,q=1024}
//	Thread [http-nio-8080-exec-7] (id=[71]) has been active for [61,204] milliseconds (since […]) to serve the same request for [http://…] and may be stuck …
//
// A pool that is shutting down refuses work too: that is a deployment.
func threadPools() detector {
	return messages("thread-pool", "Rejected tasks and gauges of JDK, Spring, Tomcat, Jetty, httpd, PHP-FPM and other worker pools; stuck requests", []rule{
		{sign: ", pool size = ", last: true, find: jdkPool},
		{sign: "[Running, parallelism = ", last: true, find: forkJoinPool},
		{sign: "{STARTED,", last: true, find: jettyPool},
		{sign: "{STOPPING,", last: true, find: jettyPool},
		{sign: "low on threads: ", find: jettyLow},
		{sign: " state did not accept task: ", find: springRejected},
		{sign: "are currently busy, waiting", find: connectorBusy},
		{sign: "created for connector with address", find: connectorBusy},
		{sign: "Queue capacity is full", find: rejectedBy("tomcat")},
		{sign: "event executor terminated", find: shutdownOf("netty")},
		{sign: "server reached Max", find: httpdFull},
		{sign: "server reached pm.max_children setting (", find: phpFull},
		{sign: "Thread limit exceeded replacing blocked worker", find: rejectedBy("forkjoin")},
		{sign: "RejectedExecutionException", find: bareRejection},
		{sign: "milliseconds (since ", find: stuckValve},
		{sign: "was previously reported to be stuck but has completed", find: stuckDone},
		{sign: "milliseconds and may be hung", find: stuckWebSphere},
		{sign: "(StuckThreadMaxTime) of ", find: stuckWebLogic},
		{sign: "ms, time limit is ", find: stuckVertx},
		{sign: "WORKER TIMEOUT (pid:", find: stuckGunicorn},
	})
}

// jdkPool reads a ThreadPoolExecutor's text. Tasks print themselves before it
// and may hold brackets, hence the last one of the record.
func jdkPool(o *logOut, text []byte, at int) (bool, error) {
	head := before(text, at)
	open := bytes.LastIndexByte(head, '[')
	if open < 0 {
		return false, nil
	}
	p := newPool("jdk", "")
	gauges := rest(text, at)
	p.Size = countAfter(gauges, "pool size = ")
	p.Active = countAfter(gauges, "active threads = ")
	p.Queued = countAfter(gauges, "queued tasks = ")
	p.Completed = int64(countAfter(gauges, "completed tasks = "))
	if p.Size < 0 || p.Active < 0 {
		return false, nil
	}
	p.Name = poolClass(head[:open])
	p.Shutdown = !bytes.Equal(head[open+1:], []byte("Running"))
	p.Rejected = has(text, " rejected from ", "did not accept task", "RejectedExecution")
	if p.Rejected && bytes.Contains(text, []byte("Thread pool is EXHAUSTED")) {
		return true, nil // Dubbo's own message about the same refusal
	}
	return o.pool(at, p)
}

// poolClass reads "ThreadPoolExecutor@5c0369c4" at the end of text.
func poolClass(text []byte) string {
	if i := bytes.LastIndexAny(text, " [(:="); i >= 0 {
		text = text[i+1:]
	}
	at := max(0, bytes.IndexByte(text, '@'))
	return snippet(text[bytes.LastIndexByte(text[:at], '.')+1:], maxText)
}

func forkJoinPool(o *logOut, text []byte, at int) (bool, error) {
	p := newPool("forkjoin", "")
	gauges := rest(text, at)
	p.Name = poolClass(before(text, at))
	p.Max = countAfter(gauges, "parallelism = ")
	p.Size = countAfter(gauges, ", size = ")
	p.Active = countAfter(gauges, "active = ")
	p.Queued = countAfter(gauges, "submissions = ")
	p.Rejected = has(text, "RejectedExecution")
	return o.pool(at, p)
}

// jettyPool reads "QueuedThreadPool[qtp1]@1f{STARTED,8<=200<=200,i=0,r=8,q=3}".
func jettyPool(o *logOut, text []byte, at int) (bool, error) {
	head := before(text, at)
	name := head[bytes.LastIndexByte(head, ' ')+1:]
	if !has(name, "QueuedThreadPool", "qtp") {
		return false, nil
	}
	gauges := upTo(rest(text, at), "}")
	p := newPool("jetty", "")
	p.Size = countAfter(gauges, "<=")
	if i := bytes.LastIndex(gauges, []byte("<=")); i >= 0 {
		p.Max = int(plain(gauges[i+2:]))
	}
	p.Idle = countAfter(gauges, ",i=")
	p.Queued = countAfter(gauges, ",q=")
	if p.Size >= 0 && p.Idle >= 0 {
		p.Active = max(0, p.Size-p.Idle)
	}
	p.Name = snippet(upTo(bytes.TrimPrefix(name, []byte("QueuedThreadPool[")), "]@{"), maxText)
	if i := bytes.Index(name, []byte("@qtp")); i >= 0 {
		p.Name = snippet(name[i+1:], maxText)
	}
	p.Shutdown = !bytes.HasPrefix(gauges, []byte("{STARTED"))
	p.Rejected = has(text, " rejected ", "RejectedExecution")
	return o.pool(at, p)
}

func jettyLow(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	p := newPool("jetty", "")
	p.Size = countAfter(line, "low on threads: ")
	p.Idle = countAfter(line, "idleThreads:")
	if p.Size < 0 {
		return false, nil
	}
	if p.Idle >= 0 {
		p.Active = max(0, p.Size-p.Idle)
	}
	return o.pool(at, p)
}

func springRejected(o *logOut, text []byte, at int) (bool, error) {
	p := newPool("spring", "")
	p.Rejected = true
	p.Shutdown = bytes.HasSuffix(before(text, at), []byte("shutdown"))
	return o.pool(at, p)
}

// connectorBusy reads what Tomcat's old connectors (to 6.0) said when the last
// worker was taken.
func connectorBusy(o *logOut, text []byte, at int) (bool, error) {
	from, to := lineOf(text, at)
	line := text[from:to]
	p := newPool("tomcat", "")
	p.Max = int(grouped(past(line, "hreads (")))
	p.Active, p.Size, p.Idle = p.Max, p.Max, 0
	if port := past(line, "and port "); plain(port) > 0 {
		p.Name = "port " + snippet(upTo(port, " .,"), 5)
	}
	if p.Max < 0 {
		return false, nil
	}
	return o.pool(at, p)
}

func httpdFull(o *logOut, text []byte, at int) (bool, error) {
	if !has(rest(text, at), "MaxRequestWorkers", "MaxClients", "Max clients") {
		return false, nil
	}
	p := newPool("httpd", "")
	p.Name, p.Idle, p.Rejected = "httpd", 0, true
	return o.pool(at, p)
}

func phpFull(o *logOut, text []byte, at int) (bool, error) {
	p := newPool("php-fpm", "")
	p.Name = snippet(enclosed(before(text, at), "[pool ", "]"), maxText)
	p.Max = countAfter(rest(text, at), "setting (")
	p.Active, p.Size, p.Idle, p.Rejected = p.Max, p.Max, 0, true
	return o.pool(at, p)
}

func rejectedBy(impl string) func(*logOut, []byte, int) (bool, error) {
	return func(o *logOut, _ []byte, at int) (bool, error) {
		p := newPool(impl, "")
		p.Rejected = true
		return o.pool(at, p)
	}
}

func shutdownOf(impl string) func(*logOut, []byte, int) (bool, error) {
	return func(o *logOut, _ []byte, at int) (bool, error) {
		p := newPool(impl, "")
		p.Rejected, p.Shutdown = true, true
		return o.pool(at, p)
	}
}

// bareRejection is a refused task whose pool did not print itself. Those that
// other families read with more detail are left to them.
func bareRejection(o *logOut, text []byte, at int) (bool, error) {
	if has(text, "pool is EXHAUSTED", "pool is exhausted", "ulkhead", "Hystrix", "hystrix", "ThreadlessExecutor.execute", "\tat java.util.concurrent.RejectedExecutionException") {
		return false, nil
	}
	message := bytes.ToLower(rest(text, at))
	if !bytes.HasPrefix(message, []byte("rejectedexecutionexception")) {
		return false, nil
	}
	p := newPool("", "")
	p.Rejected = true
	p.Shutdown = has(message, "terminat", "shut", "closed", "stopp")
	return o.pool(at, p)
}

func stuck(o *logOut, at int, subject, text []byte, seconds float64) (bool, error) {
	return o.mark(at, evidence.Mark{
		Kind: evidence.MarkStuck, Subject: snippet(subject, maxText), Text: snippet(text, maxText), Value: seconds,
	})
}

// stuckValve reads Tomcat's StuckThreadDetectionValve, whose values stand in
// brackets since 8.0 and whose numbers follow the locale.
func stuckValve(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	head := before(text, at)
	if !bytes.Contains(line, []byte("may be stuck")) {
		return false, nil
	}
	ms := grouped(bytes.TrimLeft(past(head, "active for "), "["))
	if ms < 0 {
		return false, nil
	}
	subject := bytes.TrimLeft(past(line, "same request for "), "[")
	return stuck(o, at, upTo(subject, " ]?"), bytes.Trim(upTo(past(head, "Thread "), "] ("), "[\""), float64(ms)/1000)
}

func stuckDone(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	ms := grouped(bytes.TrimLeft(past(line, "for approximately "), "["))
	if ms < 0 {
		return false, nil
	}
	return stuck(o, at, nil, []byte("completed"), float64(ms)/1000)
}

func stuckWebSphere(o *logOut, text []byte, at int) (bool, error) {
	head := before(text, at)
	ms := grouped(past(head, "has been active for "))
	if ms < 0 {
		return false, nil
	}
	return stuck(o, at, nil, enclosed(head, "Thread \"", "\""), float64(ms)/1000)
}

func stuckWebLogic(o *logOut, text []byte, at int) (bool, error) {
	head := before(text, at)
	s := grouped(past(head, "has been busy for \""))
	if s < 0 {
		return false, nil
	}
	subject := upTo(past(head, "working on the request \""), "\"")
	return stuck(o, at, subject, upTo(head, "'"), float64(s))
}

// stuckVertx reads Vert.x' blocked thread checker.
func stuckVertx(o *logOut, text []byte, at int) (bool, error) {
	head := before(text, at+2)
	d := span(past(head, "has been blocked for "))
	if d < 0 {
		return false, nil
	}
	return stuck(o, at, []byte(appFrame(text, at)), enclosed(head, "Thread[", ","), d.Seconds())
}

func stuckGunicorn(o *logOut, text []byte, at int) (bool, error) {
	return stuck(o, at, []byte("gunicorn worker"), rest(text, at), 0)
}
