package correlate

import (
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// classify says what a thread waits for. It walks from the top and stops at the
// first decisive frame; a class "somewhere in the stack" proves nothing.
func classify(s *evidence.Stack) verdict {
	if s.Runtime == evidence.Go {
		return classifyGo(s)
	}
	return classifyJVM(s)
}

// maxWalk is how many frames may stand between the leaf and the frame that
// decides: drivers behind TLS, proxies and statement filters take some forty.
const maxWalk = 80

func classifyJVM(s *evidence.Stack) verdict {
	v := verdict{kind: incident.WaitIdle}
	if len(s.Frames) == 0 {
		// Compilers, dispatchers and collectors have no Java frames.
		if s.State == evidence.StateBlocked || s.WaitsOn.Class != "" && lockClass(s.WaitsOn.Class) {
			v.kind = incident.WaitLock
		} else if !s.System && (s.State == evidence.StateWaiting || s.State == evidence.StateTimedWaiting) {
			v.kind = incident.WaitOther
		}
		return v
	}
	v.app, v.entry = appFrames(s.Frames)
	l := leafOf(s)
	v.kind, v.detail, v.decided = waitOf(s, l, v.app)
	v.holdsDB = holdsConnection(s.Frames, v.kind)
	return v
}

// waitOf finds the wait of a Java thread whose innermost frames do l.
func waitOf(s *evidence.Stack, l leaf, app *evidence.Frame) (kind incident.WaitKind, detail, decided string) {
	if s.Working == evidence.No && l&(leafPark|leafSleep) != 0 && app == nil {
		return incident.WaitIdle, "", "" // the pool's own worker lock says that no task runs
	}
	if l == leafBlocked && strings.HasPrefix(s.Detail, "class init") {
		return incident.WaitClassInit, "", ""
	}
	if l == leafDNS {
		return incident.WaitDNS, "", s.Frames[0].Func
	}
	request := app != nil || servesRequest(s.Frames)
	for i, f := range s.Frames {
		if f == app || i >= maxWalk {
			break
		}
		fn := unshade(f.Func)
		found, ok := jvmRule.match(fn)
		if !ok {
			continue
		}
		r := found.value
		if r.role == pass || l&roleLeaves[r.role] == 0 {
			continue
		}
		switch r.role {
		case client:
			if l == leafFile && !isEmbedded(fn) {
				continue
			}
			if l == leafBlocked || l == leafPark && waitsForLock(s, s.Frames[:i]) {
				return incident.WaitLock, "inside a client", f.Func
			}
			wholePackage := strings.HasSuffix(found.prefix, ".")
			if wholePackage && !request && l&(leafPark|leafSelector|leafSleep) != 0 || longPoll(s.Frames[i:], app) {
				return incident.WaitIdle, "", f.Func
			}
			if r.kind == incident.WaitDBRead {
				return r.kind, dbCall(s.Frames, app), f.Func
			}
		case logger:
			if fn == "java.io.PrintStream.close" {
				continue
			}
		case loader:
			if l == leafPark && !waitsForLock(s, s.Frames[:i]) {
				continue
			}
		case server:
			if app != nil {
				if l == leafPark && waitsForLock(s, s.Frames[:i]) {
					return incident.WaitLock, "", f.Func
				}
				return incident.WaitOther, "slow client", f.Func
			}
			if l == leafPark && servesRequest(s.Frames[i:]) {
				continue
			}
		}
		return r.kind, r.detail, f.Func
	}
	return fallback(s, l, app, request)
}

// fallback decides by the leaf alone, for no library's frame has.
func fallback(s *evidence.Stack, l leaf, app *evidence.Frame, request bool) (kind incident.WaitKind, detail, decided string) {
	top := s.Frames[0].Func
	loop, ownThread := false, false
	if app != nil {
		loop, ownThread = ownLoop(s.Frames)
	}
	switch l {
	case leafBlocked:
		return incident.WaitLock, "monitor", ""
	case leafPark:
		detail := conditionDetail(s)
		switch {
		case waitsForLock(s, s.Frames):
			return incident.WaitLock, "", ""
		case strings.Contains(detail, "process"):
			return incident.WaitOther, detail, ""
		case !request:
			return incident.WaitIdle, "", ""
		case loop && detail == "queue", loop && ownThread && detail == "":
			return incident.WaitIdle, "queue loop", ""
		}
		return incident.WaitCondition, detail, ""
	case leafSleep:
		if !request {
			return incident.WaitIdle, "sleep", ""
		}
		return incident.WaitOther, "sleep", ""
	case leafSelector:
		return incident.WaitIdle, "", ""
	case leafFile:
		if !request || stdin(s.Frames) {
			return incident.WaitIdle, "", ""
		}
		return incident.WaitDisk, "", top
	case leafProcess:
		if !request {
			return incident.WaitIdle, "", ""
		}
		return incident.WaitOther, "process", ""
	case leafSocket:
		if !request || loop {
			return incident.WaitIdle, "client connection", ""
		}
		return incident.WaitHTTP, "own socket", ""
	case leafNative:
		if !request {
			return incident.WaitIdle, "", ""
		}
		return incident.WaitOther, "native", top
	}
	switch {
	case !request, s.State != evidence.StateRunnable && s.State != evidence.StateUnknown:
		return incident.WaitIdle, "", "" // the JVM's or a framework's own housekeeping
	case s.State == evidence.StateUnknown && loop && strings.Contains(top, "Queue"):
		return incident.WaitIdle, "queue loop", ""
	}
	return incident.WaitCPU, "", top
}

// servesRequest reports whether a stack without user code is that of a request:
// gateways and generic invocations run in frameworks alone.
func servesRequest(frames []*evidence.Frame) bool {
	for _, f := range frames {
		if hasAny(f.Func, requestFrames) {
			return true
		}
	}
	return false
}

var requestFrames = []string{
	"org.springframework.web.servlet.", "org.springframework.web.method.", "org.springframework.web.filter.", "org.springframework.web.reactive.", "org.springframework.cloud.gateway.",
	"org.apache.dubbo.rpc.filter.", "org.apache.dubbo.rpc.proxy.", "com.alibaba.dubbo.rpc.filter.", "com.alibaba.dubbo.rpc.proxy.", "org.apache.dubbo.remoting.exchange.support.header.HeaderExchangeHandler.handleRequest",
	"com.alibaba.dubbo.remoting.exchange.support.header.HeaderExchangeHandler.handleRequest", "org.apache.catalina.core.ApplicationFilterChain", "org.apache.catalina.core.StandardWrapperValve", "javax.servlet.http.", "jakarta.servlet.http.",
	"org.eclipse.jetty.servlet.", "io.undertow.servlet.", "com.netflix.zuul.", "io.grpc.stub.ServerCalls", "com.alipay.sofa.rpc.server.", "com.weibo.api.motan.transport.ProviderMessageRouter",
}

// isEmbedded reports drivers of databases that live in the process and read
// files themselves.
func isEmbedded(fn string) bool {
	return hasAny(fn, []string{"org.h2.", "org.hsqldb.", "org.apache.derby.", "org.sqlite.", "org.duckdb."})
}

// longPoll reports calls whose purpose is to wait for something to come.
func longPoll(frames []*evidence.Frame, app *evidence.Frame) bool {
	for _, f := range frames {
		if f == app {
			return false
		}
		if _, ok := jvmLongPolls.find(f.Func); ok {
			return true
		}
	}
	return false
}

func stdin(frames []*evidence.Frame) bool {
	for _, f := range frames {
		if strings.Contains(f.Func, "jline") || strings.HasPrefix(f.Func, "java.util.Scanner.") || strings.HasPrefix(f.Func, "java.io.Console") {
			return true
		}
	}
	return false
}

// waitsForLock reports whether a parked thread wants a lock rather than waits at
// a condition: by what it waits on, or, where the dump does not say, by the
// frames above the first that is not the JDK's.
func waitsForLock(s *evidence.Stack, above []*evidence.Frame) bool {
	if s.WaitsOn.Class != "" {
		return lockClass(s.WaitsOn.Class)
	}
	return lockFrames(above)
}

// lockClass reports the classes of what a thread parks on when it wants a lock.
func lockClass(class string) bool {
	return strings.Contains(class, "ReentrantLock$") || strings.Contains(class, "ReentrantReadWriteLock$") || strings.HasSuffix(class, "StampedLock")
}

func lockFrames(frames []*evidence.Frame) bool {
	for _, f := range frames {
		fn := f.Func
		switch {
		case strings.Contains(fn, "ConditionObject.await"), strings.Contains(fn, ".Semaphore"), strings.Contains(fn, "CountDownLatch"), strings.Contains(fn, "FutureTask."):
			return false
		case strings.HasPrefix(fn, "java.util.concurrent.locks.ReentrantLock"), strings.HasPrefix(fn, "java.util.concurrent.locks.ReentrantReadWriteLock"), strings.HasPrefix(fn, "java.util.concurrent.locks.StampedLock."):
			return true
		case !isJDK(fn):
			return false
		}
	}
	return false
}

// conditions name the synchronizer that a thread waits at, by the class it waits
// on or the frames it waits in.
var conditions = []struct{ in, out string }{
	{"CompletableFuture", "future"},
	{"FutureTask", "future"},
	{"ForkJoinTask.", "future"},
	{"AbstractFuture.", "future"},
	{"DefaultPromise.", "future"},
	{"FluentFuture", "future"},
	{"concurrent.Await", "future"},
	{"BlockingMonoSubscriber", "future"},
	{"BlockingSingleSubscriber", "future"},
	{"BasicFuture.", "future"},
	{"StructuredTaskScope", "future"},
	{"ThreadPoolExecutor.awaitTermination", "termination"},
	{"java.lang.Thread.join", "join"},
	{"ProcessImpl.waitFor", "process"},
	{"UNIXProcess.waitFor", "process"},
	{"CountDownLatch", "latch"},
	{"CyclicBarrier", "barrier"},
	{"Phaser", "barrier"},
	{"Exchanger.", "exchanger"},
	{"BlockingQueue.put", "full queue"},
	{"BlockingDeque.put", "full queue"},
	{"BlockingQueue.offer", "full queue"},
	{"BlockingQueue.take", "queue"},
	{"BlockingQueue.poll", "queue"},
	{"BlockingDeque.take", "queue"},
	{"BlockingDeque.poll", "queue"},
	{"TransferQueue.take", "queue"},
	{"TransferQueue.poll", "queue"},
	{"DelayQueue.", "queue"},
	{"SynchronousQueue.put", "full queue"},
	{"SynchronousQueue.offer", "full queue"},
	{"SynchronousQueue.take", "queue"},
	{"SynchronousQueue.poll", "queue"},
	{"commons.pool", "object pool"},
	{"Semaphore", "semaphore"},
}

func conditionDetail(s *evidence.Stack) string {
	for _, f := range s.Frames {
		for _, c := range conditions {
			if strings.Contains(f.Func, c.in) {
				return c.out
			}
		}
		if isApp(f.Func) {
			break
		}
	}
	for _, c := range conditions {
		if strings.Contains(s.WaitsOn.Class, c.in) {
			return c.out
		}
	}
	return ""
}

// dbCalls rank what a database call is: a driver executes statements to connect
// and to validate as well.
var dbCalls = []struct{ detail, methods string }{
	{"connect", "createNewIO connectOneTryOnly connectWithRetries doAuthentication doConnect connect openConnectionImpl makeConnection newConnection createPhysicalConnection createPoolEntry newPoolEntry logon doHandshake authenticate connectHelper createConnection"},
	{"validation", "isValid ping pingInternal isConnectionAlive isConnectionDead validateConnection testConnectionInternal setAutoCommit setReadOnly setTransactionIsolation isValidConnection activeConnectionTest testConnection validate"},
	{"commit", "commit doCommit"},
	{"rollback", "rollback doRollback"},
	{"fetch", "next nextRow fetch readNext fetchMoreRows getMoreResults"},
	{"query", ""},
}

var dbMethods = func() map[string]int {
	m := map[string]int{}
	for i, c := range dbCalls {
		for _, method := range strings.Fields(c.methods) {
			m[method] = i
		}
	}
	return m
}()

// dbCall says what kind of database call it is, by the methods of drivers and
// pools above the user's code.
func dbCall(frames []*evidence.Frame, app *evidence.Frame) string {
	best := len(dbCalls)
	for _, f := range frames {
		if f == app {
			break
		}
		r, ok := jvmRule.find(unshade(f.Func))
		if !ok || r.kind != incident.WaitDBRead && r.kind != incident.WaitDBPool {
			if !strings.HasPrefix(f.Func, "java.sql.DriverManager.") && !strings.HasPrefix(f.Func, "com.zaxxer.hikari.pool.") && !strings.HasPrefix(f.Func, "org.apache.tomcat.jdbc.pool.") {
				continue
			}
		}
		_, m := splitFunc(f.Func)
		if i, ok := dbMethods[m]; ok {
			best = min(best, i)
		} else if strings.HasPrefix(m, "execute") {
			best = min(best, len(dbCalls)-1)
		}
	}
	if best == len(dbCalls) {
		return ""
	}
	return dbCalls[best].detail
}

var (
	transactionFrames = []string{"TransactionInterceptor.invoke", "TransactionTemplate.execute", "TransactionAspectSupport.invokeWithinTransaction"}
	connectionFrames  = []string{
		".doInTransaction", "pool.HikariProxy", "pool.ProxyConnection", "pool.ProxyStatement", "pool.ProxyPreparedStatement", "druid.pool.DruidPooled",
		"dbcp2.Delegating", "dbcp.Delegating", "c3p0.impl.NewProxy", "proxy.jdbc.PreparedStatementProxyImpl", "TransactionalOperator.", "EntityTransaction",
	}
)

// holdsConnection reports whether the thread runs inside a transaction or has a
// statement of a pooled connection in hand. One that borrows the connection of
// the only transaction it is in does not have it yet.
func holdsConnection(frames []*evidence.Frame, kind incident.WaitKind) bool {
	transactions, begins := 0, false
	for _, f := range frames {
		fn := f.Func
		for _, c := range connectionFrames {
			if strings.Contains(fn, c) && (kind != incident.WaitDBPool || !strings.HasSuffix(fn, ".getConnection")) {
				return true
			}
		}
		if strings.HasSuffix(fn, ".doBegin") && transactions == 0 {
			begins = true
		}
		if strings.HasSuffix(fn, "TransactionAspectSupport.invokeWithinTransaction") || strings.HasSuffix(fn, "TransactionTemplate.execute") {
			transactions++
		}
	}
	if transactions == 0 {
		for _, f := range frames {
			for _, c := range transactionFrames {
				if strings.Contains(f.Func, c) {
					return true
				}
			}
		}
		return false
	}
	return !begins || kind != incident.WaitDBPool || transactions > 1
}
