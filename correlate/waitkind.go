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

// role says how a library's frame takes part in a wait.
type role int

const (
	client role = iota // talks to something else; a prefix that ends in a dot is a whole package, whose own helper threads rest there too
	borrow             // hands out members of a pool
	logger             // writes the log: a lock or a write inside it is a wait for the log
	server             // the other side's connection: a read there is an idle one
	worker             // a pool's worker or a helper thread that has no work
	loader             // loads classes
	pass               // only passes a wait on: look further down
)

// rule says what frames mean that stand above the user's own code. The first
// frame, from the top, that has a rule for the thread's leaf decides.
type rule struct {
	role     role
	kind     incident.WaitKind
	detail   string
	prefixes string
}

// roleLeaves are the leaves in which a role's frame says something. A borrow
// counts only while the thread waits: under a socket read it is a connect or a
// validation, which the driver's own frames above it have already decided.
var roleLeaves = map[role]leaf{
	client: leafSocket | leafSelector | leafPark | leafSleep | leafBlocked | leafNative | leafProcess | leafFile,
	borrow: leafPark | leafBlocked | leafSleep,
	logger: leafPark | leafBlocked | leafSleep | leafFile | leafSocket,
	server: leafPark | leafSelector | leafSocket,
	worker: leafPark | leafSelector | leafSleep | leafSocket | leafProcess,
	loader: leafPark | leafBlocked,
}

// jvmRules is the table. Within one package the earlier line wins.
var jvmRules = []rule{
	// Database pools.
	{worker, incident.WaitIdle, "", `com.zaxxer.hikari.pool.HikariPool$HouseKeeper com.alibaba.druid.pool.DruidDataSource$CreateConnectionThread
		com.alibaba.druid.pool.DruidDataSource$DestroyConnectionThread com.alibaba.druid.pool.DruidDataSource$LogStatsThread com.alibaba.druid.pool.DruidDataSource$CreateConnectionTask
		com.mchange.v2.async.ThreadPoolAsynchronousRunner$PoolThread org.apache.commons.pool2.impl.EvictionTimer org.apache.commons.pool.impl.EvictionTimer`},
	{borrow, incident.WaitDBPool, "borrow", `com.zaxxer.hikari.util.ConcurrentBag.borrow com.zaxxer.hikari.util.ConcurrentBag.requite com.zaxxer.hikari.util.SuspendResumeLock.
		com.zaxxer.hikari.pool.HikariPool.getConnection com.zaxxer.hikari.pool.BaseHikariPool.getConnection com.zaxxer.hikari.HikariDataSource.getConnection
		com.alibaba.druid.pool.DruidDataSource. com.alibaba.druid.pool.DruidAbstractDataSource.
		org.apache.commons.dbcp. org.apache.commons.dbcp2. org.apache.tomcat.dbcp.
		org.apache.tomcat.jdbc.pool.ConnectionPool.borrowConnection org.apache.tomcat.jdbc.pool.ConnectionPool.getConnection org.apache.tomcat.jdbc.pool.FairBlockingQueue. org.apache.tomcat.jdbc.pool.MultiLockFairBlockingQueue.
		com.mchange.v2.resourcepool.BasicResourcePool. com.mchange.v2.c3p0. com.jolbox.bonecp. org.logicalcobwebs.proxool. snaq.db. com.atomikos.jdbc. com.atomikos.datasource.pool.
		org.vibur. io.agroal.pool.ConnectionPool oracle.ucp. oracle.jdbc.pool. bitronix.tm.resource.common.XAPool
		weblogic.common.resourcepool. weblogic.jdbc.common.internal.ConnectionPool com.ibm.ejs.j2c.FreePool com.ibm.ejs.j2c.PoolManager org.jboss.jca.core.connectionmanager.pool org.jboss.resource.connectionmanager.
		com.bes.datasource. com.tongweb.jdbc. com.apusic.jdbc. com.sun.enterprise.resource.pool. com.sun.enterprise.resource.PoolManagerImpl com.caucho.jca.
		io.r2dbc.pool. com.mongodb.internal.connection.DefaultConnectionPool com.mongodb.internal.connection.ConcurrentPool com.mongodb.connection.DefaultConnectionPool com.mongodb.connection.ConcurrentPool com.mongodb.connection.PooledConnectionProvider`},
	// Other pools.
	{borrow, incident.WaitRedis, "borrow", `redis.clients.jedis.JedisPool redis.clients.jedis.util.Pool. redis.clients.util.Pool. redis.clients.jedis.JedisSentinelPool redis.clients.jedis.ShardedJedisPool redis.clients.jedis.ConnectionPool redis.clients.jedis.providers.
		io.lettuce.core.support.ConnectionPoolSupport com.lambdaworks.redis.support.ConnectionPoolSupport org.springframework.data.redis.connection.lettuce.LettucePoolingConnectionProvider org.springframework.data.redis.connection.jedis.JedisConnectionFactory
		org.redisson.connection.pool. org.redisson.connection.ConnectionsHolder`},
	{borrow, incident.WaitHTTP, "borrow", `org.apache.http.pool.AbstractConnPool org.apache.http.impl.conn.PoolingHttpClientConnectionManager org.apache.http.impl.conn.PoolingClientConnectionManager org.apache.http.impl.conn.tsccm.
		org.apache.hc.core5.pool. org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager org.apache.commons.httpclient.MultiThreadedHttpConnectionManager`},

	// Database drivers.
	{worker, incident.WaitIdle, "", `com.mysql.cj.jdbc.AbandonedConnectionCleanupThread com.mysql.jdbc.AbandonedConnectionCleanupThread oracle.jdbc.driver.BlockSource$ThreadedCachingBlockSource
		oracle.jdbc.driver.OracleTimeoutThreadPerVM com.mongodb.internal.connection.DefaultServerMonitor com.mongodb.connection.DefaultServerMonitor com.mongodb.internal.connection.AsynchronousCluster org.mariadb.jdbc.internal.util.scheduler.`},
	{client, incident.WaitDBRead, "", `com.mysql. org.mariadb.jdbc. org.postgresql. com.impossibl.postgres. org.opengauss. com.huawei.opengauss. com.huawei.gauss. oracle.net. oracle.jdbc. oracle.sql. com.microsoft.sqlserver.jdbc. net.sourceforge.jtds.
		com.ibm.db2. com.ibm.as400. com.sybase.jdbc com.informix. dm.jdbc. com.dameng. com.kingbase8. com.kingbase. com.oceanbase.jdbc. com.alipay.oceanbase. com.oscar. com.gbase. com.xugu. com.highgo.jdbc. com.aliyun.polardb com.vertica. com.sap.db. org.firebirdsql.
		com.clickhouse. ru.yandex.clickhouse. com.github.housepower. com.taosdata. com.mongodb. com.datastax. org.apache.hadoop.hbase. org.apache.hive.jdbc. org.apache.phoenix. org.apache.calcite.avatica. io.trino. com.facebook.presto. org.neo4j. com.influxdb. org.influxdb.
		org.h2. org.hsqldb. org.apache.derby. org.sqlite. org.duckdb. com.pingcap. org.tikv. io.r2dbc.`},
	// Caches.
	{client, incident.WaitLock, "distributed", `org.redisson.RedissonLock org.redisson.RedissonBaseLock org.redisson.RedissonFairLock org.redisson.RedissonReadLock org.redisson.RedissonWriteLock org.redisson.RedissonMultiLock
		org.redisson.RedissonRedLock org.redisson.RedissonSpinLock org.redisson.RedissonFencedLock org.redisson.RedissonSemaphore org.redisson.RedissonPermitExpirableSemaphore org.redisson.RedissonCountDownLatch
		org.apache.curator.framework.recipes.locks. org.springframework.integration.redis.util.RedisLockRegistry`},
	{client, incident.WaitRedis, "", `redis.clients. io.lettuce. com.lambdaworks.redis. org.redisson. org.springframework.data.redis. net.spy.memcached. net.rubyeye.xmemcached. com.whalin.memcached. com.danga.MemCached.`},

	// Remote calls. The methods by name are what a caller waits in.
	{worker, incident.WaitIdle, "", `org.apache.dubbo.common.timer.HashedWheelTimer com.alibaba.dubbo.common.timer.HashedWheelTimer com.alibaba.dubbo.remoting.exchange.support.DefaultFuture$RemotingInvocationTimeoutScan
		org.apache.dubbo.remoting.exchange.support.DefaultFuture$RemotingInvocationTimeoutScan org.apache.zookeeper.ClientCnxn$ org.apache.curator.framework.imps. sun.rmi.transport.tcp.TCPTransport. sun.rmi.transport.tcp.TCPTransport$
		sun.rmi.transport.ObjectTable sun.rmi.transport.DGC`},
	{client, incident.WaitRPC, "", `org.apache.dubbo.remoting.exchange.support.DefaultFuture com.alibaba.dubbo.remoting.exchange.support.DefaultFuture org.apache.dubbo.common.threadpool.ThreadlessExecutor
		org.apache.dubbo.rpc.AsyncRpcResult org.apache.dubbo.rpc.AppResponse org.apache.dubbo.rpc.protocol.AbstractInvoker.waitForResultIfSync org.apache.dubbo.rpc.protocol.AsyncToSyncInvoker com.alibaba.dubbo.rpc.protocol.dubbo.DubboInvoker.doInvoke org.apache.dubbo.rpc.protocol.dubbo.DubboInvoker.doInvoke
		io.grpc.stub.ClientCalls com.alipay.remoting.rpc.RpcClientRemoting. com.alipay.remoting.BaseRemoting.invokeSync com.alipay.remoting.rpc.protocol.RpcInvokeCallbackListener com.alipay.sofa.rpc.message.AbstractResponseFuture com.alipay.sofa.rpc.client. com.alipay.remoting.InvokeFuture com.alipay.remoting.rpc.DefaultInvokeFuture
		com.weibo.api.motan.rpc.DefaultResponseFuture com.weibo.api.motan.transport.netty.NettyResponseFuture com.taobao.hsf.remoting.client. com.taobao.hsf.remoting.netty. com.taobao.hsf.invocation. com.taobao.hsf.tps.service.DPath com.taobao.remoting.
		org.apache.dubbo.remoting. com.alibaba.dubbo.remoting. org.apache.dubbo.rpc.protocol. com.alibaba.dubbo.rpc.protocol. io.grpc. com.alipay.sofa.rpc. com.alipay.remoting. com.weibo.api.motan. com.taobao.hsf. com.jd.jsf. com.tencent.tars. com.baidu.brpc. org.apache.servicecomb.
		org.apache.thrift. com.facebook.thrift. com.facebook.swift. org.apache.avro.ipc. com.caucho.hessian.client. com.alibaba.com.caucho.hessian.client. sun.rmi.transport. org.jboss.remoting. org.jboss.ejb.client. weblogic.rjvm. weblogic.rmi. com.ibm.rmi. com.ibm.CORBA. com.sun.corba.
		akka.pattern. org.apache.cxf. com.googlecode.jsonrpc4j.`},
	{client, incident.WaitRPC, "zookeeper", `org.apache.zookeeper. org.apache.curator. org.I0Itec.zkclient.`},
	{client, incident.WaitRPC, "etcd", `io.etcd. com.coreos.jetcd.`},
	{client, incident.WaitRPC, "ldap", `com.sun.jndi.ldap. com.unboundid.ldap. org.apache.directory.`},

	// Web calls.
	{worker, incident.WaitIdle, "", `okhttp3.ConnectionPool okhttp3.internal.connection.RealConnectionPool okhttp3.internal.concurrent.TaskRunner okio.AsyncTimeout com.squareup.okhttp.ConnectionPool
		sun.net.www.http.KeepAliveCache jdk.internal.net.http.HttpClientImpl$SelectorManager com.netflix.discovery. com.amazonaws.http.IdleConnectionReaper software.amazon.awssdk.http.apache.internal.conn.IdleConnectionReaper`},
	{client, incident.WaitHTTP, "hystrix", `com.netflix.hystrix.`},
	{client, incident.WaitHTTP, "mail", `com.sun.mail. org.eclipse.angus.mail.`},
	{client, incident.WaitHTTP, "ssh", `com.jcraft.jsch. net.schmizz.sshj. ch.ethz.ssh2. org.apache.sshd.`},
	{client, incident.WaitHTTP, "ftp", `org.apache.commons.net. sun.net.ftp.`},
	{client, incident.WaitHTTP, "", `java.net.http. jdk.internal.net.http.HttpClientImpl.send jdk.internal.net.http. sun.net.www.http. sun.net.www.protocol.http sun.net.www.protocol.https
		org.apache.http. org.apache.hc. org.apache.commons.httpclient. okhttp3. com.squareup.okhttp. okio. feign. retrofit2. org.springframework.web.client. org.springframework.http.client.
		org.springframework.web.reactive.function.client. reactor.netty.http.client. org.asynchttpclient. com.ning.http.client. org.eclipse.jetty.client. org.jboss.resteasy.client. org.glassfish.jersey.client. com.sun.jersey. com.sun.xml.ws. com.sun.xml.internal.ws. org.apache.axis. org.apache.axis2. weblogic.net.http.
		cn.hutool.http. kong.unirest. com.mashape.unirest. com.dtflys.forest. com.ejlchina.okhttps. com.aliyun.oss. com.aliyuncs. com.qcloud.cos. com.amazonaws. software.amazon.awssdk. com.azure. io.minio. com.google.api.client. com.google.cloud. org.elasticsearch.client. co.elastic.clients. org.opensearch.client. io.searchbox. org.apache.solr.client.`},

	// Message queues.
	{worker, incident.WaitIdle, "", `org.apache.kafka.clients.producer.internals.Sender org.apache.rocketmq.client.impl.consumer. org.apache.rocketmq.common.ServiceThread. com.alibaba.rocketmq.common.ServiceThread.
		org.apache.rocketmq.remoting.netty.NettyRemotingAbstract$NettyEventExecutor com.rabbitmq.client.impl.AMQConnection$MainLoop com.rabbitmq.client.impl.Frame.readFrom com.rabbitmq.client.impl.SocketFrameHandler.readFrame com.rabbitmq.client.impl.HeartbeatSender com.rabbitmq.client.impl.nio. com.rabbitmq.client.QueueingConsumer.
		org.apache.activemq.transport.tcp.TcpTransport. org.apache.activemq.thread. org.apache.activemq.transport.InactivityIOException org.apache.activemq.ActiveMQMessageConsumer. org.apache.activemq.SimplePriorityMessageDispatchChannel. org.apache.pulsar.client.impl.ConsumerBase.receive org.apache.pulsar.client.impl.ConsumerImpl.internalReceive`},
	{pass, "", "", `org.apache.kafka.common.network. org.apache.kafka.clients.NetworkClient`}, // serve those that wait for work as well as those that wait for an answer
	{client, incident.WaitMQ, "", `org.apache.kafka. org.apache.rocketmq. com.alibaba.rocketmq. com.aliyun.openservices.ons. com.rabbitmq.client. org.springframework.amqp. org.apache.pulsar. org.apache.activemq. com.ibm.mq. com.ibm.msg. com.tibco.tibjms. com.taobao.metamorphosis. io.nats.client. com.solacesystems. org.zeromq.`},

	// Logging. A full queue of an asynchronous appender is a wait for the log, its consumer's empty one is not.
	{worker, incident.WaitIdle, "", `ch.qos.logback.core.AsyncAppenderBase$Worker com.lmax.disruptor.BlockingWaitStrategy. com.lmax.disruptor.SleepingWaitStrategy. com.lmax.disruptor.TimeoutBlockingWaitStrategy. com.lmax.disruptor.YieldingWaitStrategy. com.lmax.disruptor.LiteBlockingWaitStrategy.
		com.lmax.disruptor.PhasedBackoffWaitStrategy. com.lmax.disruptor.BatchEventProcessor. com.lmax.disruptor.ProcessingSequenceBarrier. com.lmax.disruptor.WorkProcessor.
		org.apache.logging.log4j.core.async.TimeoutBlockingWaitStrategy org.apache.logging.log4j.core.async.RingBufferLogEvent org.apache.logging.log4j.core.appender.AsyncAppenderEventDispatcher org.apache.logging.log4j.core.appender.AsyncAppender$AsyncThread org.apache.log4j.AsyncAppender$Dispatcher org.apache.logging.log4j.core.util.WatchManager org.apache.juli.AsyncFileHandler$LoggerThread
		org.apache.log4j.helpers.FileWatchdog`},
	{logger, incident.WaitLogging, "", `org.apache.log4j. org.apache.logging. ch.qos.logback. java.util.logging. org.slf4j. org.apache.juli. org.jboss.logmanager. org.jboss.logging. org.apache.commons.logging. org.tinylog. weblogic.logging. com.google.common.flogger. net.logstash.logback. java.io.PrintStream. sun.util.logging.`},

	// Servers.
	{worker, incident.WaitIdle, "", `org.apache.tomcat.util.net.NioEndpoint$Poller org.apache.tomcat.util.net.NioBlockingSelector$BlockPoller org.apache.tomcat.util.net.Acceptor org.apache.tomcat.util.net.NioEndpoint$Acceptor org.apache.tomcat.util.threads. org.apache.catalina.core.StandardServer.await org.apache.catalina.core.ContainerBase$ContainerBackgroundProcessor
		org.eclipse.jetty.util.thread. org.eclipse.jetty.io.ManagedSelector org.mortbay.thread. org.jboss.threads. org.xnio.nio.WorkerThread.run org.glassfish.grizzly. com.sun.grizzly. weblogic.work.ExecuteThread. weblogic.kernel. weblogic.timers. weblogic.socket. com.ibm.ws.util.BoundedBuffer.waitGet com.ibm.ws.util.BoundedBuffer.take com.ibm.ws.tcpchannel. com.ibm.ws.channel. com.ibm.io.async. com.ibm.ws.threading. com.caucho.util.ThreadPool com.caucho.env.thread
		reactor.core.scheduler.BoundedElasticScheduler reactor.netty.resources. akka.actor.LightArrayRevolverScheduler akka.dispatch. scala.concurrent.forkjoin. kotlinx.coroutines.scheduling.CoroutineScheduler$Worker kotlinx.coroutines.DefaultExecutor`},
	{server, incident.WaitIdle, "client connection", `org.apache.coyote. org.apache.tomcat.util.net. org.apache.catalina. org.apache.jk. org.eclipse.jetty. org.mortbay. io.undertow. org.xnio. com.caucho.server. com.caucho.network. com.ibm.ws.webcontainer. com.sun.net.httpserver. sun.net.httpserver.`},
	{worker, incident.WaitIdle, "", `io.netty.channel.nio. io.netty.channel.epoll. io.netty.channel.kqueue. io.netty.channel.uring. io.netty.incubator.channel.uring. io.netty.channel.SingleThreadIoEventLoop. io.netty.util.concurrent.SingleThreadEventExecutor.takeTask io.netty.util.concurrent.SingleThreadEventExecutor.confirmShutdown io.netty.util.concurrent.GlobalEventExecutor
		io.netty.util.concurrent.UnorderedThreadPoolEventExecutor io.netty.util.HashedWheelTimer io.netty.util.ThreadDeathWatcher io.netty.util.internal.ObjectCleaner org.jboss.netty.channel.socket. org.jboss.netty.util.HashedWheelTimer org.apache.mina.`},

	// Schedulers, pools and helpers of the JDK and of frameworks.
	{worker, incident.WaitIdle, "", `java.util.concurrent.ThreadPoolExecutor.getTask java.util.concurrent.ForkJoinPool.awaitWork java.util.concurrent.ForkJoinPool.scan java.util.concurrent.ForkJoinPool.deactivate java.util.concurrent.ForkJoinPool.runWorker
		java.util.TimerThread. java.lang.ref. jdk.internal.ref. sun.misc.GC$Daemon sun.rmi.transport.GC java.lang.ProcessReaper java.lang.UNIXProcess$ProcessReaper java.lang.UNIXProcess.waitForProcessExit java.lang.ProcessHandleImpl$ java.lang.ProcessHandleImpl.waitForProcessExit0 sun.nio.ch.Poller java.util.prefs.
		sun.awt. java.awt. sun.java2d. com.sun.jmx.remote. com.sun.jmx.snmp. javax.management.remote. java.net.URLConnection$ sun.nio.ch.AsynchronousChannelGroupImpl sun.nio.ch.SimpleAsynchronousFileChannelImpl
		org.quartz.simpl.SimpleThreadPool$WorkerThread. org.quartz.core.QuartzSchedulerThread. org.quartz.impl.jdbcjobstore. com.xxl.job.core.thread. com.alibaba.nacos. com.ctrip.framework.apollo. com.alibaba.csp.sentinel. com.alibaba.arthas. com.taobao.arthas.
		com.github.benmanes.caffeine.cache. com.google.common.base.internal.Finalizer org.springframework.boot.devtools. org.springframework.boot.web.embedded. org.apache.felix. org.eclipse.osgi. io.opentelemetry.sdk. io.micrometer. brave. zipkin2. com.dianping.cat. org.apache.skywalking. co.elastic.apm. datadog. com.newrelic. com.navercorp.pinpoint.`},
	{loader, incident.WaitClassInit, "class loading", `java.lang.ClassLoader.loadClass java.lang.Class.forName0 jdk.internal.loader. java.net.URLClassLoader. sun.misc.URLClassPath. sun.misc.Launcher$ org.apache.catalina.loader. org.springframework.boot.loader. weblogic.utils.classloaders. com.ibm.ws.classloader. org.jboss.modules.`},

	// Governors.
	{client, incident.WaitOther, "throttled", `com.google.common.util.concurrent.RateLimiter com.google.common.util.concurrent.SmoothRateLimiter io.github.resilience4j.ratelimiter. com.alibaba.csp.sentinel.slots.block.flow.controller.`},
	{client, incident.WaitCondition, "bulkhead", `io.github.resilience4j.bulkhead.`},
}

// jvmLongPolls are calls whose very purpose is to wait for something to come.
var jvmLongPolls = newPrefixes([]leafRule{{1, `org.apache.kafka.clients.consumer.KafkaConsumer.poll redis.clients.jedis.JedisPubSub. redis.clients.jedis.BinaryJedisPubSub. redis.clients.jedis.JedisPubSubBase.
	redis.clients.jedis.Jedis.blpop redis.clients.jedis.Jedis.brpop redis.clients.jedis.BinaryJedis.blpop redis.clients.jedis.BinaryJedis.brpop redis.clients.jedis.UnifiedJedis.blpop redis.clients.jedis.UnifiedJedis.brpop
	redis.clients.jedis.Jedis.subscribe redis.clients.jedis.Jedis.psubscribe org.redisson.RedissonBlockingQueue.take org.redisson.RedissonBlockingQueue.poll org.redisson.RedissonDelayedQueue. org.redisson.RedissonBlockingDeque.take`}})

// jvmRule finds the rule of a frame.
var jvmRule = func() *prefixes[*rule] {
	p := &prefixes[*rule]{}
	for i := range jvmRules {
		p.add(&jvmRules[i], jvmRules[i].prefixes)
	}
	return p
}()

// shadings are the package elements behind which a library hides a copy of another.
var shadings = []string{".shaded.", ".shade.", ".repackaged.", ".relocated.", ".thirdparty.", "rocketmq.logging."}

// unshade removes what a library has put in front of a copy of another.
func unshade(fn string) string {
	for _, s := range shadings {
		if i := strings.LastIndex(fn, s); i >= 0 {
			if rest := fn[i+len(s):]; strings.Count(rest, ".") >= 3 {
				fn = rest
			}
		}
	}
	return fn
}

func hasAny(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
