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

// leaf is what the innermost frames do.
type leaf int

const (
	leafJava    leaf = iota // runs Java code
	leafSocket              // waits for bytes of a peer, or to connect
	leafDNS                 // resolves a name
	leafIdleIO              // selector or acceptor
	leafFile                // file, pipe or stdin
	leafProcess             // waits for a child process
	leafPark                // parked, Object.wait
	leafSleep               // sleeps
	leafBlocked             // wants a monitor
	leafNative              // some other native code
)

var jvmSocketLeaves = []string{
	"java.net.SocketInputStream.socketRead0", "sun.nio.ch.SocketDispatcher.read0", "sun.nio.ch.SocketDispatcher.readv0", "sun.nio.ch.SocketDispatcher.write0",
	"java.net.SocketOutputStream.socketWrite0", "sun.nio.ch.FileDispatcherImpl.read0", "sun.nio.ch.FileDispatcherImpl.write0", "sun.nio.ch.Net.poll",
	"java.net.PlainSocketImpl.socketConnect", "java.net.DualStackPlainSocketImpl.", "java.net.TwoStacksPlainSocketImpl.", "sun.nio.ch.Net.connect", "sun.nio.ch.UnixDomainSockets.connect",
	"java.net.AbstractPlainSocketImpl.", "jdk.net.", "sun.nio.ch.NioSocketImpl.", "sun.nio.ch.SocketDispatcher.",
	"java.net.SocketInputStream.read", "org.apache.tomcat.jni.Socket.recv", "io.netty.channel.unix.", "java.net.PlainSocketImpl.",
}

var jvmAcceptLeaves = []string{
	"sun.nio.ch.EPollArrayWrapper.epollWait", "sun.nio.ch.EPoll.wait", "sun.nio.ch.KQueue.poll", "sun.nio.ch.KQueueArrayWrapper.kevent", "sun.nio.ch.WindowsSelectorImpl",
	"sun.nio.ch.WEPoll.wait", "sun.nio.ch.PollArrayWrapper.poll", "sun.nio.ch.DevPoll", "io.netty.channel.epoll.Native.epollWait", "io.netty.channel.kqueue.", "io.netty.channel.epoll.",
	"sun.nio.ch.Iocp.", "sun.nio.ch.Net.accept", "java.net.PlainSocketImpl.socketAccept", "sun.nio.ch.ServerSocketChannelImpl.accept", "sun.nio.ch.UnixDomainSockets.accept", "java.net.DualStackPlainSocketImpl.accept",
	"org.apache.tomcat.jni.Poll", "org.apache.tomcat.jni.Socket.accept", "sun.nio.ch.EPollSelectorImpl.", "sun.nio.ch.SelectorImpl.",
	"java.lang.ref.Reference.waitForReferencePendingList", "io.uring.", "io.netty.channel.uring.", "io.netty.incubator.channel.uring.",
	"sun.tools.attach.", "sun.nio.fs.LinuxWatchService.poll", "sun.management.ThreadImpl.dumpThreads0", "jdk.internal.vm.ThreadSnapshot", "sun.management.ThreadImpl.getThreadInfo", "java.lang.Thread.dumpThreads", "com.sun.management.internal.",
}

var jvmFileLeaves = []string{
	"java.io.FileInputStream.read", "java.io.FileInputStream.open", "java.io.FileOutputStream.write", "java.io.FileOutputStream.open", "java.io.RandomAccessFile.", "sun.nio.ch.FileDispatcherImpl.pread", "sun.nio.ch.FileDispatcherImpl.pwrite",
	"sun.nio.ch.FileDispatcherImpl.force", "sun.nio.ch.UnixFileDispatcherImpl.", "sun.nio.ch.FileChannelImpl.force", "sun.nio.ch.FileDispatcherImpl.truncate", "sun.nio.fs.UnixNativeDispatcher.", "java.util.zip.ZipFile.", "java.io.UnixFileSystem.", "java.io.WinNTFileSystem.", "java.io.FileDescriptor.sync", "sun.nio.ch.IOUtil.write1",
}

func leafOf(s *evidence.Stack) (leaf, int) {
	for i, f := range s.Frames {
		fn := f.Func
		switch {
		case i > 6:
			return leafJava, i
		case hasAny(fn, jvmAcceptLeaves):
			return leafIdleIO, i
		case strings.Contains(fn, "lookupAllHostAddr") || strings.HasPrefix(fn, "java.net.InetAddress") || strings.HasPrefix(fn, "java.net.Inet6AddressImpl") || strings.HasPrefix(fn, "java.net.Inet4AddressImpl"):
			return leafDNS, i
		case fn == "sun.nio.ch.Net.poll" || hasAny(fn, jvmSocketLeaves):
			return leafSocket, i
		case hasAny(fn, jvmFileLeaves):
			return leafFile, i
		case strings.HasPrefix(fn, "java.lang.Thread.sleep") || strings.HasPrefix(fn, "java.lang.VirtualThread.sleep"):
			return leafSleep, i
		case strings.HasPrefix(fn, "java.lang.UNIXProcess.") || strings.HasPrefix(fn, "java.lang.ProcessImpl.") || strings.HasPrefix(fn, "java.lang.ProcessHandleImpl."):
			return leafProcess, i
		case fn == "sun.misc.Unsafe.park" || fn == "jdk.internal.misc.Unsafe.park" || fn == "java.lang.Object.wait" || fn == "java.lang.Object.wait0" ||
			strings.HasPrefix(fn, "java.lang.VirtualThread.park") || strings.HasPrefix(fn, "java.util.concurrent.locks.LockSupport.park") || strings.HasPrefix(fn, "java.lang.VirtualThread.yieldContinuation"):
			if s.State == evidence.StateBlocked {
				return leafBlocked, i // re-enters a monitor after Object.wait
			}
			return leafPark, i
		case s.State == evidence.StateBlocked:
			return leafBlocked, i
		case i == 0 && f.Native:
			if s.State == evidence.StateWaiting || s.State == evidence.StateTimedWaiting {
				return leafPark, i
			}
			if !strings.HasPrefix(fn, "java.lang.Throwable.") && !strings.HasPrefix(fn, "java.lang.Class.") && !strings.HasPrefix(fn, "java.lang.System.") &&
				!strings.HasPrefix(fn, "java.util.zip.") && !strings.HasPrefix(fn, "java.lang.reflect.") && !strings.HasPrefix(fn, "jdk.internal.reflect.") && !strings.HasPrefix(fn, "sun.reflect.") && !strings.HasPrefix(fn, "java.lang.String") && !strings.HasPrefix(fn, "java.lang.StrictMath") && !strings.HasPrefix(fn, "java.lang.Object.") && !strings.HasPrefix(fn, "java.lang.invoke.") {
				return leafNative, i
			}
			return leafJava, i
		case isJDK(fn):
			continue
		}
		break
	}
	switch s.State {
	case evidence.StateWaiting, evidence.StateTimedWaiting:
		if strings.Contains(s.Detail, "sleeping") {
			return leafSleep, 0
		}
		return leafPark, 0
	case evidence.StateBlocked:
		return leafBlocked, 0
	}
	return leafJava, 0
}

func isJDK(fn string) bool {
	return strings.HasPrefix(fn, "java.") || strings.HasPrefix(fn, "javax.") || strings.HasPrefix(fn, "jdk.") || strings.HasPrefix(fn, "sun.") || strings.HasPrefix(fn, "com.sun.")
}

func classifyJVM(s *evidence.Stack) verdict {
	v := verdict{kind: incident.WaitOther}
	v.app, v.entry = appFrames(s.Frames)
	if len(s.Frames) == 0 {
		if s.State == evidence.StateUnknown || s.System {
			v.kind = incident.WaitIdle
		}
		if s.State == evidence.StateRunnable {
			v.kind = incident.WaitIdle // compiler, dispatcher, attach listener: no Java frames
		}
		return v
	}
	v.holdsDB = holdsConnection(s.Frames)
	l, _ := leafOf(s)
	decide := func(kind incident.WaitKind, detail, frame string) verdict {
		v.kind, v.detail, v.decided = kind, detail, frame
		return v
	}
	if s.Working == evidence.No && (l == leafPark || l == leafSleep) && v.app == nil {
		return decide(incident.WaitIdle, "", "")
	}

	// The first frames outside the JDK, down to the user's own code, say whose
	// wait it is.
	for i, f := range s.Frames {
		fn := f.Func
		if i > 60 {
			break
		}
		if l == leafBlocked || l == leafPark {
			if r, ok := match(fn, jvmBorrow); ok {
				return decide(r.kind, r.detail, fn)
			}
		}
		if r, ok := match(fn, jvmJDKClients); ok && (l == leafSocket || l == leafPark || l == leafDNS) {
			return decide(r.kind, r.detail, fn)
		}
		if (l == leafPark || l == leafIdleIO || l == leafSleep || l == leafSocket) && hasAny(fn, jvmIdle) {
			return decide(incident.WaitIdle, "", fn)
		}
		if strings.Contains(fn, "<clinit>") && l == leafBlocked {
			return decide(incident.WaitClassInit, "", fn)
		}
		if hasAny(fn, jvmLogging) {
			switch l {
			case leafBlocked, leafPark, leafFile, leafSocket:
				return decide(incident.WaitLogging, "", fn)
			}
		}
		if isJDK(fn) {
			if l == leafPark && lockFrames(fn) && lockClass(s.WaitsOn.Class) {
				// Decide below, unless a library's own frame comes first.
			}
			if (l == leafBlocked || l == leafPark) && classLoading(fn) {
				return decide(incident.WaitClassInit, "class loading", fn)
			}
			continue
		}
		if hasAny(fn, jvmTransport) {
			continue
		}
		if l == leafSocket || l == leafDNS || l == leafIdleIO || l == leafPark || l == leafBlocked || l == leafSleep || l == leafNative {
			if r, ok := match(fn, jvmClients); ok {
				if l == leafBlocked && r.kind != incident.WaitLock {
					return decide(incident.WaitLock, "inside a client", fn)
				}
				if l == leafPark && lockClass(s.WaitsOn.Class) && i > 0 && jdkLockAbove(s.Frames[:i]) {
					return decide(incident.WaitLock, "inside a client", fn)
				}
				detail := r.detail
				if r.kind == incident.WaitDBRead {
					detail = dbCall(s.Frames, l)
				}
				return decide(r.kind, detail, fn)
			}
			if (l == leafSocket || l == leafIdleIO || l == leafPark) && hasAny(fn, jvmServer) && !hasAny(fn, jvmNeutral) {
				if v.app == nil || aboveApp(s.Frames, i, v.app) {
					return decide(incident.WaitIdle, "client connection", fn)
				}
			}
		}
		if hasAny(fn, jvmNeutral) {
			continue
		}
		break
	}

	switch l {
	case leafBlocked:
		if strings.Contains(s.Detail, "class init") || strings.Contains(s.WaitsOn.Class, "class init") {
			return decide(incident.WaitClassInit, "", "")
		}
		return decide(incident.WaitLock, "monitor", "")
	case leafPark:
		if lockClass(s.WaitsOn.Class) || s.WaitsOn.Class == "" && jdkLockAbove(s.Frames) {
			return decide(incident.WaitLock, "", "")
		}
		if v.app == nil {
			return decide(incident.WaitIdle, "", "")
		}
		return decide(incident.WaitCondition, conditionDetail(s.Frames), "")
	case leafSleep:
		if v.app == nil {
			return decide(incident.WaitIdle, "sleep", "")
		}
		return decide(incident.WaitOther, "sleep", "")
	case leafIdleIO:
		return decide(incident.WaitIdle, "", "")
	case leafDNS:
		return decide(incident.WaitDNS, "", s.Frames[0].Func)
	case leafFile:
		if v.app == nil {
			return decide(incident.WaitIdle, "", "")
		}
		return decide(incident.WaitDisk, "", s.Frames[0].Func)
	case leafProcess:
		return decide(incident.WaitOther, "process", "")
	case leafSocket:
		if v.app == nil {
			return decide(incident.WaitIdle, "client connection", "")
		}
		return decide(incident.WaitHTTP, "own socket", "")
	case leafNative:
		return decide(incident.WaitOther, "native", s.Frames[0].Func)
	}
	if s.State == evidence.StateRunnable || s.State == evidence.StateUnknown {
		if v.app == nil && !workerFrames(s.Frames) {
			return decide(incident.WaitIdle, "", "")
		}
		return decide(incident.WaitCPU, "", s.Frames[0].Func)
	}
	return v
}

// appFrames returns the innermost and the outermost frame of the user's own
// code. The outermost is the service method: what stands below it are
// frameworks that call it. Filters and aspects are not methods of the service.
func appFrames(frames []*evidence.Frame) (app, entry *evidence.Frame) {
	for _, f := range frames {
		if !isApp(f.Func) {
			continue
		}
		if app == nil {
			app = f
		}
		if !plumbing(f.Func) {
			entry = f
		}
	}
	if entry == nil {
		entry = app
	}
	return app, entry
}

// plumbing reports methods through which calls pass without being the call.
func plumbing(fn string) bool {
	class, method := splitFunc(fn)
	switch method {
	case "invoke", "doFilter", "doFilterInternal", "intercept", "run", "call", "around", "doAround", "proceed", "preHandle", "main", "execute0", "lambda", "get", "apply", "accept":
		for _, word := range []string{"Filter", "Interceptor", "Aspect", "Advice", "Proxy", "Runnable", "Callable", "Wrapper", "Handler$", "Lambda"} {
			if strings.Contains(class, word) {
				return true
			}
		}
		return method == "main" || method == "run" || method == "call"
	}
	return strings.HasPrefix(method, "lambda$") || strings.HasSuffix(class, "Filter") || strings.HasSuffix(class, "Aspect") || strings.HasSuffix(class, "Interceptor")
}

// splitFunc splits "com.acme.X.method" into class and method.
func splitFunc(fn string) (class, method string) {
	if i := strings.LastIndexByte(fn, '.'); i >= 0 {
		return fn[:i], fn[i+1:]
	}
	return "", fn
}

// simpleClass returns the class name without package and outer "Impl".
func simpleClass(class string) string {
	if i := strings.LastIndexByte(class, '.'); i >= 0 {
		class = class[i+1:]
	}
	if i := strings.IndexByte(class, '$'); i > 0 {
		class = class[:i]
	}
	return class
}

func aboveApp(frames []*evidence.Frame, i int, app *evidence.Frame) bool {
	for _, f := range frames[:i] {
		if f == app {
			return false
		}
	}
	return true
}

// workerFrames reports whether a stack runs somebody's task rather than the
// machinery of a pool.
func workerFrames(frames []*evidence.Frame) bool {
	for _, f := range frames {
		if strings.Contains(f.Func, "ThreadPoolExecutor.runWorker") || strings.Contains(f.Func, "http11.") || strings.HasPrefix(f.Func, "org.springframework.web.") || strings.HasPrefix(f.Func, "org.apache.dubbo.rpc.") || strings.HasPrefix(f.Func, "com.alibaba.dubbo.rpc.") {
			return true
		}
	}
	return false
}

func lockFrames(fn string) bool {
	return strings.Contains(fn, "ReentrantLock.lock") || strings.Contains(fn, "ReentrantLock.tryLock") || strings.Contains(fn, "ReentrantReadWriteLock$") || strings.Contains(fn, "ReentrantLock$") ||
		strings.Contains(fn, "locks.StampedLock.") || strings.Contains(fn, "AbstractQueuedSynchronizer.acquire") || strings.Contains(fn, "AbstractQueuedLongSynchronizer.acquire") || strings.Contains(fn, "ReentrantLock.acquire")
}

func lockClass(class string) bool {
	return strings.Contains(class, "ReentrantLock$") || strings.Contains(class, "ReentrantReadWriteLock$") || strings.HasSuffix(class, "StampedLock")
}

func jdkLockAbove(frames []*evidence.Frame) bool {
	for _, f := range frames {
		if strings.Contains(f.Func, "ConditionObject.await") || strings.Contains(f.Func, "Semaphore") || strings.Contains(f.Func, "CountDownLatch") {
			return false
		}
		if lockFrames(f.Func) && !strings.Contains(f.Func, "AbstractQueued") {
			return true
		}
		if !isJDK(f.Func) {
			return false
		}
	}
	return false
}

func classLoading(fn string) bool {
	return strings.HasPrefix(fn, "java.lang.ClassLoader.loadClass") || strings.HasPrefix(fn, "jdk.internal.loader.") || strings.HasPrefix(fn, "java.net.URLClassLoader.") ||
		strings.HasPrefix(fn, "sun.misc.URLClassPath.") || strings.HasPrefix(fn, "sun.misc.Launcher$AppClassLoader.") || strings.HasPrefix(fn, "java.lang.Class.forName0")
}

// conditionDetail names the synchronizer that a thread waits at.
func conditionDetail(frames []*evidence.Frame) string {
	for _, f := range frames {
		for _, c := range []struct{ in, out string }{
			{"CompletableFuture.", "future"}, {"FutureTask.", "future"}, {"ForkJoinTask.", "future"}, {"CountDownLatch.", "latch"}, {"Semaphore.", "semaphore"},
			{"CyclicBarrier.", "barrier"}, {"Phaser.", "barrier"}, {"Exchanger.", "exchanger"}, {"BlockingQueue.put", "full queue"}, {"BlockingQueue.take", "queue"}, {"BlockingQueue.poll", "queue"}, {"SynchronousQueue.", "queue"},
		} {
			if strings.Contains(f.Func, c.in) {
				return c.out
			}
		}
		if !isJDK(f.Func) {
			break
		}
	}
	return ""
}

// dbCall says what kind of database call it is.
func dbCall(frames []*evidence.Frame, l leaf) string {
	for _, f := range frames {
		_, m := splitFunc(f.Func)
		switch m {
		case "commit", "rollback":
			return m
		case "setAutoCommit", "isValid", "ping", "pingInternal", "isConnectionAlive", "isConnectionDead", "validateConnection", "testConnectionInternal":
			return "validation"
		case "createNewIO", "connectOneTryOnly", "doAuthentication", "doConnect", "socketConnect", "connectWithRetries", "makeConnection", "newConnection":
			return "connect"
		case "next", "nextRow", "fetch":
			return "fetch"
		}
		if strings.HasPrefix(m, "execute") && !strings.Contains(f.Func, "QueryExecutor") {
			return "query"
		}
		if isApp(f.Func) {
			break
		}
	}
	return ""
}

// holdsConnection reports whether the thread runs inside a transaction or has a
// statement of a pooled connection in hand.
func holdsConnection(frames []*evidence.Frame) bool {
	for _, f := range frames {
		fn := f.Func
		if strings.Contains(fn, "TransactionInterceptor.invoke") || strings.Contains(fn, "TransactionTemplate.execute") || strings.Contains(fn, ".doInTransaction") ||
			strings.Contains(fn, "TransactionAspectSupport.invokeWithinTransaction") || strings.Contains(fn, "pool.HikariProxy") || strings.Contains(fn, "pool.ProxyConnection") || strings.Contains(fn, "pool.ProxyStatement") || strings.Contains(fn, "pool.ProxyPreparedStatement") ||
			strings.Contains(fn, "druid.pool.DruidPooled") || strings.Contains(fn, "dbcp2.Delegating") || strings.Contains(fn, "dbcp.Delegating") || strings.Contains(fn, "c3p0.impl.NewProxy") {
			return true
		}
	}
	return false
}
