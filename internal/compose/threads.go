package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// dump writes a thread dump as jstack of some JDK prints it.
type dump struct {
	f    files
	file string
	jdk  int
	n    int
}

func jstack(f files, file string, jdk int, at time.Time) *dump {
	banner := map[int]string{
		8: "OpenJDK 64-Bit Server VM (25.382-b05 mixed mode)", 11: "OpenJDK 64-Bit Server VM (11.0.22+7-LTS mixed mode)",
		17: "OpenJDK 64-Bit Server VM (17.0.15+6-LTS mixed mode, sharing)", 21: "OpenJDK 64-Bit Server VM (21.0.2+13-LTS mixed mode, sharing)",
	}[jdk]
	f.printf(file, "%s\nFull thread dump %s:\n\n", at.Format("2006-01-02 15:04:05"), banner)
	return &dump{f: f, file: file, jdk: jdk}
}

var status = map[string]string{
	"RUNNABLE": "runnable", "BLOCKED (on object monitor)": "waiting for monitor entry", "WAITING (parking)": "waiting on condition",
	"TIMED_WAITING (parking)": "waiting on condition", "TIMED_WAITING (sleeping)": "waiting on condition",
	"WAITING (on object monitor)": "in Object.wait()", "TIMED_WAITING (on object monitor)": "in Object.wait()",
}

const (
	runnable = "RUNNABLE"
	blocked  = "BLOCKED (on object monitor)"
	parked   = "WAITING (parking)"
	timed    = "TIMED_WAITING (parking)"
	sleeping = "TIMED_WAITING (sleeping)"
)

// thread writes one thread. A frame that begins with "- " is an annotation.
func (d *dump) thread(name, state string, frames ...[]string) {
	d.n++
	id := fmt.Sprintf("#%d daemon prio=5 os_prio=0", 20+d.n)
	if d.jdk > 8 {
		id += fmt.Sprintf(" cpu=%d.%02dms elapsed=%d.40s", 12+spread(d.n, 900), d.n%100, 8600+d.n)
	}
	nid := fmt.Sprintf("0x%x", 20000+d.n)
	if d.jdk >= 21 {
		nid = fmt.Sprint(20000 + d.n)
		id = strings.Replace(id, " daemon", fmt.Sprintf(" [%d] daemon", 20000+d.n), 1)
	}
	d.f.printf(d.file, "%q %s tid=0x00007f1c%08x nid=%s %s [0x00007f1cea%06x]\n   java.lang.Thread.State: %s\n", name, id, 0x1000*d.n, nid, status[state], 0x1000*d.n, state)
	for _, frame := range slices.Concat(frames...) {
		if strings.HasPrefix(frame, "- ") {
			d.f.printf(d.file, "\t%s\n", frame)
			continue
		}
		d.f.printf(d.file, "\tat %s\n", moduled(frame, d.jdk))
	}
	d.f.printf(d.file, "\n")
}

// end writes what follows the threads.
func (d *dump) end() {
	if d.jdk > 8 {
		d.f.printf(d.file, "JNI global refs: 17, weak refs: 0\n\n")
	} else {
		d.f.printf(d.file, "JNI global references: 317\n\n")
	}
}

// moduled puts the module of the JDK's own classes where jstack does.
func moduled(frame string, jdk int) string {
	if jdk == 8 {
		return frame
	}
	for _, p := range []string{"java.lang.", "java.util.", "java.net.", "java.io.", "sun.nio.", "jdk.internal.", "sun.security."} {
		if strings.HasPrefix(frame, p) {
			return strings.Replace(frame, "(", fmt.Sprintf("(java.base@%s/", map[int]string{11: "11.0.22", 17: "17.0.15", 21: "21.0.2"}[jdk]), 1)
		}
	}
	return frame
}

func frames(lines ...string) []string { return lines }

// socketRead is a blocking read of a socket.
func socketRead(jdk int) []string {
	if jdk < 13 {
		return frames("java.net.SocketInputStream.socketRead0(Native Method)", "java.net.SocketInputStream.socketRead(SocketInputStream.java:116)", "java.net.SocketInputStream.read(SocketInputStream.java:171)")
	}
	return frames("sun.nio.ch.Net.poll(Native Method)", "sun.nio.ch.NioSocketImpl.park(NioSocketImpl.java:186)", "sun.nio.ch.NioSocketImpl.timedRead(NioSocketImpl.java:290)", "sun.nio.ch.NioSocketImpl.implRead(NioSocketImpl.java:314)", "java.net.Socket$SocketInputStream.read(Socket.java:966)")
}

// mysqlRead waits for the answer of Connector/J 8.
func mysqlRead(jdk int) []string {
	return slices.Concat(socketRead(jdk), frames("com.mysql.cj.protocol.ReadAheadInputStream.fill(ReadAheadInputStream.java:107)", "com.mysql.cj.protocol.a.SimplePacketReader.readHeader(SimplePacketReader.java:54)", "com.mysql.cj.protocol.a.NativeProtocol.readMessage(NativeProtocol.java:581)", "com.mysql.cj.NativeSession.execSQL(NativeSession.java:696)", "com.mysql.cj.jdbc.ClientPreparedStatement.executeInternal(ClientPreparedStatement.java:930)", "com.mysql.cj.jdbc.ClientPreparedStatement.execute(ClientPreparedStatement.java:354)"))
}

// mysql5Read waits for the answer of Connector/J 5.1.
func mysql5Read(jdk int) []string {
	return slices.Concat(socketRead(jdk), frames("com.mysql.jdbc.util.ReadAheadInputStream.fill(ReadAheadInputStream.java:101)", "com.mysql.jdbc.MysqlIO.readFully(MysqlIO.java:3008)", "com.mysql.jdbc.MysqlIO.reuseAndReadPacket(MysqlIO.java:3466)", "com.mysql.jdbc.MysqlIO.sqlQueryDirect(MysqlIO.java:2651)", "com.mysql.jdbc.ConnectionImpl.execSQL(ConnectionImpl.java:2486)", "com.mysql.jdbc.PreparedStatement.execute(PreparedStatement.java:1197)"))
}

// pgRead waits for the answer of pgJDBC.
func pgRead(jdk int) []string {
	return slices.Concat(socketRead(jdk), frames("org.postgresql.core.VisibleBufferedInputStream.readMore(VisibleBufferedInputStream.java:161)", "org.postgresql.core.PGStream.receiveChar(PGStream.java:467)", "org.postgresql.core.v3.QueryExecutorImpl.processResults(QueryExecutorImpl.java:2155)", "org.postgresql.core.v3.QueryExecutorImpl.execute(QueryExecutorImpl.java:355)", "org.postgresql.jdbc.PgPreparedStatement.executeQuery(PgPreparedStatement.java:137)"))
}

// park is LockSupport.park as the JDK prints it.
func park(jdk int, timed bool, on string) []string {
	unsafe := "sun.misc.Unsafe.park(Native Method)"
	if jdk > 8 {
		unsafe = "jdk.internal.misc.Unsafe.park(Native Method)"
	}
	call := "java.util.concurrent.locks.LockSupport.park(LockSupport.java:211)"
	if timed {
		call = "java.util.concurrent.locks.LockSupport.parkNanos(LockSupport.java:252)"
	}
	return frames(unsafe, "- parking to wait for  "+on, call)
}

// hikariBorrow waits for a connection of HikariCP.
func hikariBorrow(jdk int) []string {
	return slices.Concat(park(jdk, true, "<0x00000000f0a81230> (a java.util.concurrent.SynchronousQueue$TransferQueue)"), frames("java.util.concurrent.SynchronousQueue.poll(SynchronousQueue.java:903)", "com.zaxxer.hikari.util.ConcurrentBag.borrow(ConcurrentBag.java:151)", "com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:162)", "com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:128)", "com.zaxxer.hikari.HikariDataSource.getConnection(HikariDataSource.java:112)", "org.springframework.jdbc.datasource.DataSourceUtils.fetchConnection(DataSourceUtils.java:160)"))
}

// druidBorrow waits for a connection of Druid.
func druidBorrow(jdk int) []string {
	return slices.Concat(park(jdk, true, "<0x00000000e1c0aa18> (a java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject)"), frames("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.awaitNanos(AbstractQueuedSynchronizer.java:2078)", "com.alibaba.druid.pool.DruidDataSource.pollLast(DruidDataSource.java:2255)", "com.alibaba.druid.pool.DruidDataSource.getConnectionInternal(DruidDataSource.java:1739)", "com.alibaba.druid.pool.DruidDataSource.getConnectionDirect(DruidDataSource.java:1430)", "com.alibaba.druid.pool.DruidDataSource.getConnection(DruidDataSource.java:1410)"))
}

// mybatis stands between a mapper and the driver.
func mybatis(mapper string) []string {
	return frames("com.zaxxer.hikari.pool.HikariProxyPreparedStatement.execute(HikariProxyPreparedStatement.java)", "org.apache.ibatis.executor.statement.PreparedStatementHandler.query(PreparedStatementHandler.java:65)", "org.apache.ibatis.executor.SimpleExecutor.doQuery(SimpleExecutor.java:63)", "org.apache.ibatis.binding.MapperProxy.invoke(MapperProxy.java:86)", "com.sun.proxy.$Proxy91."+mapper+"(Unknown Source)")
}

// worker ends every stack of a thread pool.
func worker(jdk int) []string {
	if jdk == 8 {
		return frames("java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1149)", "java.util.concurrent.ThreadPoolExecutor$Worker.run(ThreadPoolExecutor.java:624)", "java.lang.Thread.run(Thread.java:750)")
	}
	return frames("java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1136)", "java.util.concurrent.ThreadPoolExecutor$Worker.run(ThreadPoolExecutor.java:635)", "java.lang.Thread.run(Thread.java:840)")
}

// dubboServer is below a service method.
func dubboServer(jdk int, n node) []string {
	p := n.pkg()
	return slices.Concat(frames(p+".common.bytecode.Wrapper7.invokeMethod(Wrapper7.java)", p+".rpc.proxy.javassist.JavassistProxyFactory$1.doInvoke(JavassistProxyFactory.java:47)", p+".rpc.proxy.AbstractProxyInvoker.invoke(AbstractProxyInvoker.java:76)", p+".rpc.filter.ExceptionFilter.invoke(ExceptionFilter.java:62)", p+".remoting.transport.dispatcher.ChannelEventRunnable.run(ChannelEventRunnable.java:51)"), worker(jdk))
}

// idle is a worker without work.
func idle(jdk int) []string {
	return slices.Concat(park(jdk, false, "<0x00000000e0d01108> (a java.util.concurrent.SynchronousQueue$TransferStack)"), frames("java.util.concurrent.SynchronousQueue.take(SynchronousQueue.java:924)", "java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1074)"), worker(jdk))
}

// tomcat is below a controller.
func tomcat(jdk int) []string {
	return slices.Concat(frames("org.springframework.web.method.support.InvocableHandlerMethod.doInvoke(InvocableHandlerMethod.java:205)", "org.springframework.web.servlet.DispatcherServlet.doDispatch(DispatcherServlet.java:1067)", "javax.servlet.http.HttpServlet.service(HttpServlet.java:655)", "org.apache.catalina.core.StandardWrapperValve.invoke(StandardWrapperValve.java:197)", "org.apache.coyote.http11.Http11Processor.service(Http11Processor.java:399)", "org.apache.tomcat.util.net.NioEndpoint$SocketProcessor.doRun(NioEndpoint.java:1789)", "org.apache.tomcat.util.threads.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1191)", "org.apache.tomcat.util.threads.ThreadPoolExecutor$Worker.run(ThreadPoolExecutor.java:659)", "org.apache.tomcat.util.threads.TaskThread$WrappingRunnable.run(TaskThread.java:61)"), frames("java.lang.Thread.run(Thread.java:840)"))
}

// tomcatIdle is a Tomcat worker without a request.
func tomcatIdle(jdk int) []string {
	return slices.Concat(park(jdk, false, "<0x00000000e0b77a20> (a java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject)"), frames("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await(AbstractQueuedSynchronizer.java:1623)", "java.util.concurrent.LinkedBlockingQueue.take(LinkedBlockingQueue.java:435)", "org.apache.tomcat.util.threads.TaskQueue.take(TaskQueue.java:117)", "org.apache.tomcat.util.threads.TaskQueue.take(TaskQueue.java:33)", "org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1114)", "org.apache.tomcat.util.threads.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1176)", "org.apache.tomcat.util.threads.ThreadPoolExecutor$Worker.run(ThreadPoolExecutor.java:659)", "java.lang.Thread.run(Thread.java:840)"))
}

// netty is an event loop that waits for events.
func netty(jdk int) []string {
	if jdk == 8 {
		return frames("sun.nio.ch.EPollArrayWrapper.epollWait(Native Method)", "sun.nio.ch.EPollSelectorImpl.doSelect(EPollSelectorImpl.java:93)", "sun.nio.ch.SelectorImpl.select(SelectorImpl.java:97)", "io.netty.channel.nio.NioEventLoop.select(NioEventLoop.java:813)", "io.netty.channel.nio.NioEventLoop.run(NioEventLoop.java:460)", "java.lang.Thread.run(Thread.java:750)")
	}
	return frames("sun.nio.ch.EPoll.wait(Native Method)", "sun.nio.ch.EPollSelectorImpl.doSelect(EPollSelectorImpl.java:118)", "sun.nio.ch.SelectorImpl.lockAndDoSelect(SelectorImpl.java:129)", "io.netty.channel.nio.NioEventLoop.select(NioEventLoop.java:879)", "io.netty.channel.nio.NioEventLoop.run(NioEventLoop.java:526)", "java.lang.Thread.run(Thread.java:840)")
}

// httpRead waits for the answer of an HTTP server in Apache HttpClient 4.
func httpRead(jdk int) []string {
	return slices.Concat(socketRead(jdk), frames("org.apache.http.impl.io.SessionInputBufferImpl.streamRead(SessionInputBufferImpl.java:137)", "org.apache.http.impl.io.SessionInputBufferImpl.fillBuffer(SessionInputBufferImpl.java:153)", "org.apache.http.impl.conn.DefaultHttpResponseParser.parseHead(DefaultHttpResponseParser.java:138)", "org.apache.http.impl.DefaultBHttpClientConnection.receiveResponseHeader(DefaultBHttpClientConnection.java:157)", "org.apache.http.protocol.HttpRequestExecutor.doReceiveResponse(HttpRequestExecutor.java:273)", "org.apache.http.impl.client.CloseableHttpClient.execute(CloseableHttpClient.java:83)"))
}

// infoDump writes threads as ThreadInfo prints them: no dates, few frames.
type infoDump struct {
	f    files
	file string
	max  int // frames before the cut
	n    int
}

func (d *infoDump) thread(name, header string, busy bool, stack ...[]string) {
	d.n++
	d.f.printf(d.file, "%q Id=%d %s\n", name, 290+d.n, header)
	n := 0
	for _, frame := range slices.Concat(stack...) {
		if on, ok := strings.CutPrefix(frame, "- "); ok {
			d.f.printf(d.file, "\t-  %s\n", on)
			continue
		}
		if n == d.max {
			d.f.printf(d.file, "\t...\n")
			break
		}
		n++
		d.f.printf(d.file, "\tat %s\n", frame)
	}
	if busy {
		d.f.printf(d.file, "\n\tNumber of locked synchronizers = 1\n\t- java.util.concurrent.ThreadPoolExecutor$Worker@%x\n", 0x2d61b000+d.n)
	}
	d.f.printf(d.file, "\n")
}
