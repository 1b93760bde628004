package correlate

import (
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// verdict is what one stack says about its thread.
type verdict struct {
	kind    incident.WaitKind
	detail  string          // "borrow", "connect", "sleep", "commit", …; empty for the plain case
	app     *evidence.Frame // first frame of the user's own code, from the top
	entry   *evidence.Frame // outermost frame of the user's own code: the service method
	decided string          // the frame that decided
	holdsDB bool            // a connection or transaction is held further down
}

// rule maps frames that begin with a prefix to what they mean.
type rule struct {
	prefix string
	kind   incident.WaitKind
	detail string
}

// jvmBorrow are the frames of a thread that waits for a member of a pool. They
// count only for threads that wait: under a socket read they are a connect or a
// validation.
var jvmBorrow = []rule{
	{"com.zaxxer.hikari.util.ConcurrentBag.borrow", incident.WaitDBPool, "borrow"},
	{"com.zaxxer.hikari.pool.HikariPool.getConnection", incident.WaitDBPool, "borrow"},
	{"com.zaxxer.hikari.pool.BaseHikariPool.getConnection", incident.WaitDBPool, "borrow"},
	{"com.alibaba.druid.pool.DruidDataSource.takeLast", incident.WaitDBPool, "borrow"},
	{"com.alibaba.druid.pool.DruidDataSource.pollLast", incident.WaitDBPool, "borrow"},
	{"com.alibaba.druid.pool.DruidDataSource.getConnection", incident.WaitDBPool, "borrow"},
	{"org.apache.commons.dbcp", incident.WaitDBPool, "borrow"},
	{"org.apache.tomcat.dbcp", incident.WaitDBPool, "borrow"},
	{"org.apache.tomcat.jdbc.pool.ConnectionPool.borrowConnection", incident.WaitDBPool, "borrow"},
	{"org.apache.tomcat.jdbc.pool.FairBlockingQueue.poll", incident.WaitDBPool, "borrow"},
	{"com.mchange.v2.resourcepool.BasicResourcePool", incident.WaitDBPool, "borrow"},
	{"com.mchange.v2.c3p0", incident.WaitDBPool, "borrow"},
	{"org.vibur.", incident.WaitDBPool, "borrow"},
	{"io.agroal.pool.ConnectionPool", incident.WaitDBPool, "borrow"},
	{"oracle.ucp.", incident.WaitDBPool, "borrow"},
	{"bitronix.tm.resource.common.XAPool", incident.WaitDBPool, "borrow"},
	{"weblogic.common.resourcepool.ResourcePoolImpl", incident.WaitDBPool, "borrow"},
	{"com.ibm.ejs.j2c.FreePool", incident.WaitDBPool, "borrow"},
	{"org.jboss.jca.core.connectionmanager.pool", incident.WaitDBPool, "borrow"},
	{"redis.clients.jedis.JedisPool", incident.WaitRedis, "borrow"},
	{"redis.clients.jedis.util.Pool.", incident.WaitRedis, "borrow"},
	{"redis.clients.util.Pool.", incident.WaitRedis, "borrow"},
	{"redis.clients.jedis.JedisSentinelPool", incident.WaitRedis, "borrow"},
	{"io.lettuce.core.support.ConnectionPoolSupport", incident.WaitRedis, "borrow"},
	{"org.springframework.data.redis.connection", incident.WaitRedis, "borrow"},
	{"org.apache.http.pool.AbstractConnPool", incident.WaitHTTP, "borrow"},
	{"org.apache.http.impl.conn.PoolingHttpClientConnectionManager", incident.WaitHTTP, "borrow"},
	{"org.apache.hc.core5.pool.", incident.WaitHTTP, "borrow"},
	{"org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager", incident.WaitHTTP, "borrow"},
	{"org.apache.commons.httpclient.MultiThreadedHttpConnectionManager", incident.WaitHTTP, "borrow"},
}

// jvmClients are libraries that talk to something else. The first frame, from
// the top, that is neither the JDK's nor neutral decides.
var jvmClients = []rule{
	{"com.mysql.", incident.WaitDBRead, ""},
	{"org.mariadb.jdbc.", incident.WaitDBRead, ""},
	{"org.postgresql.", incident.WaitDBRead, ""},
	{"com.impossibl.postgres.", incident.WaitDBRead, ""},
	{"oracle.net.", incident.WaitDBRead, ""},
	{"oracle.jdbc.", incident.WaitDBRead, ""},
	{"com.microsoft.sqlserver.jdbc.", incident.WaitDBRead, ""},
	{"net.sourceforge.jtds.", incident.WaitDBRead, ""},
	{"com.ibm.db2.", incident.WaitDBRead, ""},
	{"dm.jdbc.", incident.WaitDBRead, ""},
	{"com.kingbase8.", incident.WaitDBRead, ""},
	{"com.oceanbase.jdbc.", incident.WaitDBRead, ""},
	{"org.opengauss.", incident.WaitDBRead, ""},
	{"com.clickhouse.", incident.WaitDBRead, ""},
	{"ru.yandex.clickhouse.", incident.WaitDBRead, ""},
	{"com.mongodb.", incident.WaitDBRead, ""},
	{"com.datastax.", incident.WaitDBRead, ""},
	{"org.h2.", incident.WaitDBRead, ""},
	{"org.sqlite.", incident.WaitDBRead, ""},
	{"org.apache.hadoop.hbase.client.", incident.WaitDBRead, ""},
	{"redis.clients.", incident.WaitRedis, ""},
	{"io.lettuce.", incident.WaitRedis, ""},
	{"com.lambdaworks.redis.", incident.WaitRedis, ""},
	{"org.redisson.RedissonLock", incident.WaitLock, "distributed"},
	{"org.redisson.", incident.WaitRedis, ""},
	{"net.spy.memcached.", incident.WaitRedis, ""},
	{"net.rubyeye.xmemcached.", incident.WaitRedis, ""},
	{"org.apache.dubbo.remoting.exchange.support.DefaultFuture", incident.WaitRPC, ""},
	{"com.alibaba.dubbo.remoting.exchange.support.DefaultFuture", incident.WaitRPC, ""},
	{"org.apache.dubbo.common.threadpool.ThreadlessExecutor", incident.WaitRPC, ""},
	{"org.apache.dubbo.rpc.AsyncRpcResult", incident.WaitRPC, ""},
	{"org.apache.dubbo.rpc.protocol", incident.WaitRPC, ""},
	{"org.apache.dubbo.remoting.", incident.WaitRPC, ""},
	{"com.alibaba.dubbo.remoting.", incident.WaitRPC, ""},
	{"io.grpc.", incident.WaitRPC, ""},
	{"com.alipay.sofa.rpc.", incident.WaitRPC, ""},
	{"com.alipay.remoting.", incident.WaitRPC, ""},
	{"com.weibo.api.motan.", incident.WaitRPC, ""},
	{"org.apache.thrift.", incident.WaitRPC, ""},
	{"com.facebook.thrift.", incident.WaitRPC, ""},
	{"com.caucho.hessian.client.", incident.WaitRPC, ""},
	{"sun.rmi.transport.tcp.TCPChannel", incident.WaitRPC, ""},
	{"sun.rmi.transport.StreamRemoteCall", incident.WaitRPC, ""},
	{"org.apache.http.", incident.WaitHTTP, ""},
	{"org.apache.hc.", incident.WaitHTTP, ""},
	{"org.apache.commons.httpclient.", incident.WaitHTTP, ""},
	{"okhttp3.", incident.WaitHTTP, ""},
	{"com.squareup.okhttp.", incident.WaitHTTP, ""},
	{"okio.", incident.WaitHTTP, ""},
	{"feign.", incident.WaitHTTP, ""},
	{"org.springframework.web.client.", incident.WaitHTTP, ""},
	{"org.springframework.http.client.", incident.WaitHTTP, ""},
	{"org.springframework.web.reactive.function.client.", incident.WaitHTTP, ""},
	{"reactor.netty.http.client.", incident.WaitHTTP, ""},
	{"org.asynchttpclient.", incident.WaitHTTP, ""},
	{"com.ning.http.client.", incident.WaitHTTP, ""},
	{"cn.hutool.http.", incident.WaitHTTP, ""},
	{"com.aliyun.oss.", incident.WaitHTTP, ""},
	{"org.elasticsearch.client.", incident.WaitHTTP, ""},
	{"co.elastic.clients.", incident.WaitHTTP, ""},
	{"com.netflix.hystrix.", incident.WaitHTTP, "hystrix"},
	{"org.apache.kafka.clients.producer.", incident.WaitMQ, ""},
	{"org.apache.kafka.", incident.WaitMQ, ""},
	{"org.apache.rocketmq.", incident.WaitMQ, ""},
	{"com.alibaba.rocketmq.", incident.WaitMQ, ""},
	{"com.rabbitmq.client.", incident.WaitMQ, ""},
	{"org.apache.pulsar.", incident.WaitMQ, ""},
	{"org.apache.activemq.", incident.WaitMQ, ""},
	{"org.apache.zookeeper.", incident.WaitRPC, "zookeeper"},
	{"org.apache.curator.", incident.WaitRPC, "zookeeper"},
	{"com.sun.jndi.ldap.", incident.WaitRPC, "ldap"},
	{"com.sun.mail.", incident.WaitHTTP, "mail"},
	{"com.jcraft.jsch.", incident.WaitHTTP, "ssh"},
	{"org.apache.commons.net.", incident.WaitHTTP, "ftp"},
}

// jvmJDKClients are clients inside the JDK itself.
var jvmJDKClients = []rule{
	{"sun.net.www.http.", incident.WaitHTTP, ""},
	{"sun.net.www.protocol.http", incident.WaitHTTP, ""},
	{"jdk.internal.net.http.", incident.WaitHTTP, ""},
	{"java.net.http.", incident.WaitHTTP, ""},
	{"com.sun.jndi.ldap.", incident.WaitRPC, "ldap"},
	{"sun.rmi.transport.tcp.TCPTransport.handleMessages", incident.WaitIdle, ""},
	{"sun.rmi.transport.tcp.TCPTransport$ConnectionHandler", incident.WaitIdle, ""},
	{"sun.rmi.transport.tcp.TCPChannel", incident.WaitRPC, ""},
	{"sun.rmi.transport.StreamRemoteCall", incident.WaitRPC, ""},
}

// jvmLogging are the logging libraries: a lock or a write inside them is a wait
// for the log.
var jvmLogging = []string{
	"org.apache.log4j.", "org.apache.logging.log4j.", "ch.qos.logback.", "java.util.logging.", "org.slf4j.", "com.lmax.disruptor.RingBuffer.next",
	"com.lmax.disruptor.MultiProducerSequencer.next", "org.apache.juli.", "org.jboss.logmanager.", "org.apache.commons.logging.",
}

// jvmServer are the server sides of connections: a read there is an idle
// connection.
var jvmServer = []string{
	"org.apache.coyote.", "org.apache.tomcat.util.net.", "org.eclipse.jetty.", "org.mortbay.", "io.undertow.", "org.xnio.",
	"org.apache.catalina.", "weblogic.socket.", "io.netty.", "org.jboss.netty.", "org.glassfish.grizzly.", "com.caucho.server.",
}

// jvmIdle are the frames of a pool worker that has no work. They count only if
// no frame of the user's own code stands above them.
var jvmIdle = []string{
	"java.util.concurrent.ThreadPoolExecutor.getTask",
	"org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask",
	"java.util.concurrent.ForkJoinPool.awaitWork", "java.util.concurrent.ForkJoinPool.scan", "java.util.concurrent.ForkJoinPool.runWorker",
	"java.util.concurrent.ForkJoinPool.deactivate",
	"java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.",
	"java.util.TimerThread.mainLoop",
	"org.eclipse.jetty.util.thread.QueuedThreadPool.idleJobPoll",
	"org.eclipse.jetty.util.thread.QueuedThreadPool$Runner",
	"org.eclipse.jetty.util.thread.QueuedThreadPool.access",
	"org.eclipse.jetty.util.thread.ReservedThreadExecutor",
	"org.mortbay.thread.",
	"org.jboss.threads.EnhancedQueueExecutor", "org.jboss.threads.QueueExecutor",
	"org.xnio.nio.WorkerThread.run",
	"io.netty.channel.nio.NioEventLoop", "io.netty.channel.epoll.", "io.netty.channel.kqueue.", "io.netty.util.concurrent.SingleThreadEventExecutor.takeTask",
	"io.netty.util.HashedWheelTimer", "io.netty.util.concurrent.GlobalEventExecutor", "io.netty.channel.nio.NioIoHandler",
	"org.jboss.netty.channel.socket.nio.", "org.jboss.netty.util.HashedWheelTimer", "org.apache.dubbo.common.timer.HashedWheelTimer",
	"com.alibaba.dubbo.common.timer.HashedWheelTimer",
	"com.alibaba.dubbo.remoting.exchange.support.DefaultFuture$RemotingInvocationTimeoutScan",
	"org.glassfish.grizzly.",
	"org.quartz.simpl.SimpleThreadPool$WorkerThread.run", "org.quartz.core.QuartzSchedulerThread.run",
	"weblogic.work.ExecuteThread.waitForRequest", "com.ibm.ws.util.BoundedBuffer.waitGet",
	"kotlinx.coroutines.scheduling.CoroutineScheduler", "scala.concurrent.forkjoin.ForkJoinPool", "akka.actor.LightArrayRevolverScheduler",
	"com.lmax.disruptor.", "org.apache.logging.log4j.core.async.",
	"ch.qos.logback.core.AsyncAppenderBase$Worker",
	"com.zaxxer.hikari.pool.HikariPool$HouseKeeper", "com.alibaba.druid.pool.DruidDataSource$CreateConnectionThread",
	"com.alibaba.druid.pool.DruidDataSource$DestroyConnectionThread", "com.mysql.cj.jdbc.AbandonedConnectionCleanupThread", "com.mysql.jdbc.AbandonedConnectionCleanupThread",
	"com.mchange.v2.async.ThreadPoolAsynchronousRunner$PoolThread",
	"org.apache.kafka.clients.consumer.", "org.apache.kafka.clients.producer.internals.Sender", "org.apache.rocketmq.client.impl.consumer.PullMessageService",
	"org.apache.rocketmq.common.ServiceThread.waitForRunning", "org.apache.zookeeper.ClientCnxn$", "com.alibaba.nacos.", "com.ctrip.framework.apollo.",
	"com.netflix.discovery.", "org.apache.catalina.core.StandardServer.await", "java.lang.ref.ReferenceQueue.remove", "java.lang.ref.Reference",
	"sun.misc.GC$Daemon", "org.apache.tomcat.util.net.NioEndpoint$Poller", "org.apache.tomcat.util.net.Acceptor", "org.apache.tomcat.util.net.NioEndpoint$Acceptor",
	"org.apache.tomcat.util.net.NioBlockingSelector", "com.rabbitmq.client.impl.", "okhttp3.ConnectionPool", "okhttp3.internal.concurrent.TaskRunner", "okio.AsyncTimeout",
	"reactor.core.scheduler.", "jdk.internal.misc.InnocuousThread", "sun.nio.ch.Poller", "java.lang.ProcessReaper",
}

// jvmTransport are a client's own lower layers, which serve those that wait for
// work as well as those that wait for an answer: the frame below tells which.
var jvmTransport = []string{"org.apache.kafka.common.network.", "org.apache.kafka.clients.NetworkClient"}

// jvmNeutral are libraries that only pass a wait on; they neither decide it nor
// are the user's own code.
var jvmNeutral = []string{
	"com.google.common.util.concurrent.", "io.netty.util.concurrent.", "reactor.core.publisher.", "io.reactivex.", "rx.",
	"scala.concurrent.", "kotlinx.coroutines.", "org.apache.commons.pool2.", "org.apache.commons.pool.", "io.netty.", "com.google.common.",
	"org.springframework.util.concurrent.", "com.zaxxer.hikari.", "com.alibaba.druid.", "org.apache.tomcat.jdbc.", "com.p6spy.", "io.opentelemetry.", "net.bytebuddy.",
	"org.apache.skywalking.", "com.navercorp.pinpoint.", "datadog.", "com.newrelic.", "co.elastic.apm.", "org.slf4j.",
}

// jvmLibraries are packages that are not the user's own code. What is not here
// counts as the user's own.
var jvmLibraries = []string{
	"java.", "javax.", "jdk.", "sun.", "com.sun.", "jakarta.", "org.apache.", "org.springframework.", "com.alibaba.dubbo.", "com.alibaba.druid.", "com.alibaba.csp.",
	"com.alibaba.nacos.", "com.alibaba.fastjson", "com.alibaba.ttl.", "com.alibaba.cloud.", "com.alibaba.rocketmq.", "com.alibaba.com.caucho.", "com.mysql.", "org.mariadb.", "org.postgresql.", "oracle.", "com.microsoft.", "com.zaxxer.", "com.mchange.", "org.mybatis.",
	"com.baomidou.", "tk.mybatis.", "com.github.pagehelper.", "org.hibernate.", "org.jooq.", "com.querydsl.", "io.netty.", "org.jboss.", "reactor.", "io.reactivex.", "rx.", "feign.", "okhttp3.", "okio.", "retrofit2.", "redis.clients.",
	"io.lettuce.", "org.redisson.", "com.google.", "com.fasterxml.", "ch.qos.", "org.slf4j.", "kotlin.", "kotlinx.", "scala.", "akka.", "groovy.", "org.codehaus.", "clojure.", "net.sf.", "org.aspectj.", "org.eclipse.", "io.undertow.", "org.xnio.", "io.grpc.",
	"com.netflix.", "io.github.resilience4j.", "io.micrometer.", "io.opentelemetry.", "io.opentracing.", "brave.", "zipkin2.", "org.elasticsearch.", "co.elastic.", "com.mongodb.", "com.datastax.", "com.rabbitmq.", "com.lmax.", "com.caucho.",
	"com.esotericsoftware.", "org.objenesis.", "javassist.", "net.bytebuddy.", "cglib.", "com.p6spy.", "com.ibm.", "weblogic.", "com.weblogic.", "io.vertx.", "io.quarkus.", "io.micronaut.", "org.quartz.", "com.xxl.job.core.", "com.dangdang.", "org.yaml.", "org.json.", "gnu.", "org.h2.",
	"com.alipay.sofa.", "com.alipay.remoting.", "com.weibo.api.motan.", "net.sourceforge.", "com.taobao.", "io.seata.", "org.apache.seata.", "com.ctrip.framework.", "com.dianping.cat.", "org.sqlite.", "com.clickhouse.", "com.oceanbase.", "cn.hutool.", "org.glassfish.", "com.squareup.", "io.swagger.", "io.prometheus.", "com.codahale.", "com.jcraft.",
	"$Proxy", "LambdaForm", "GeneratedMethodAccessor", "com.arthas.", "com.taobao.arthas.", "org.junit.", "org.vibur.", "io.agroal.", "bitronix.", "org.h2.", "com.kingbase8.", "dm.jdbc.", "org.opengauss.",
}

func hasAny(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func match(s string, rules []rule) (rule, bool) {
	for _, r := range rules {
		if strings.HasPrefix(s, r.prefix) {
			return r, true
		}
	}
	return rule{}, false
}

// isGenerated reports frames of proxies and lambdas of the user's own classes:
// they are between two frames of user code and say nothing themselves.
func isGenerated(fn string) bool {
	return strings.Contains(fn, "$Proxy") || strings.Contains(fn, "$$EnhancerBy") || strings.Contains(fn, "$$FastClassBy") ||
		strings.Contains(fn, "$$SpringCGLIB") || strings.Contains(fn, "$$Lambda") || strings.Contains(fn, "ByGuice$$") || strings.Contains(fn, "$MockitoMock$") ||
		strings.Contains(fn, "DubboWrap") || strings.Contains(fn, ".Wrapper")
}

// isApp reports whether a Java function belongs to the user's own code.
func isApp(fn string) bool {
	return !hasAny(fn, jvmLibraries) && !isGenerated(fn)
}
