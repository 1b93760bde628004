package main

import (
	"fmt"
	"time"
)

// reference is the chain that firebreak was made for: a statement without an
// index takes three seconds, consumers give up after one and try three times,
// 200 provider workers fill up, and getCategory, which takes 4 ms, is refused.
func reference(f files) {
	const (
		provider = "product-provider/app.log"
		consumer = "order-service/app.log"
		pool     = "DubboServerHandler-10.20.1.21:20880"
	)
	spring := func(file string, at time.Time, level, thread, logger, format string, args ...any) {
		f.printf(file, "%s %5s 7120 --- [%15.15s] %-40.40s : %s\n", at.Format("2006-01-02 15:04:05.000"), level, thread, logger, fmt.Sprintf(format, args...))
	}
	tail := func(code string) string {
		return fmt.Sprintf(", dubbo version: 3.2.16, current host: 10.20.1.21, error code: %s. This may be caused by , go to https://dubbo.apache.org/faq/%c/%s to find instructions. ", code, code[0], code[2:])
	}
	sku := "com.demo.product.api.SkuService"
	url := func(host, method string) string {
		return fmt.Sprintf("dubbo://%s:20880/%s?anyhost=true&application=order-service&dubbo=2.0.2&interface=%s&methods=getSkuStock,getCategory&pid=8123&release=3.2.16&remote.application=product-provider&retries=2&side=consumer&timeout=1000&timestamp=1773480000000", host, sku, sku)
	}

	spring(provider, noon.Add(-40*time.Second), "INFO", "main", "c.d.p.ProductApplication", "Started ProductApplication in 6.114 seconds (JVM running for 7.002)")
	for i := range 30 {
		spring(provider, noon.Add(time.Duration(-30+i)*time.Second), "INFO", fmt.Sprintf(".1.21:20880-thread-%d", i+1), "c.d.p.service.impl.SkuServiceImpl", "stock of SKU-%d read", 1000+i)
	}
	for i := range 118 {
		at := noon.Add(time.Duration(i*110) * time.Millisecond)
		done := 18236 + i*7
		spring(provider, at, "WARN", "NettyServerWorker-5-3", "o.a.d.c.t.s.AbortPolicyWithReport",
			" [DUBBO] Thread pool is EXHAUSTED! Thread Name: %s, Pool Size: 200 (active: 200, core: 200, max: 200, largest: 200), Task: %d (completed: %d), Executor status:(isShutdown:false, isTerminated:false, isTerminating:false), in dubbo://10.20.1.21:20880!%s", pool, done+200, done, tail("0-1"))
	}

	id := 48213
	for i := range 40 {
		at := noon.Add(time.Duration(-3000+i*350) * time.Millisecond)
		id += 3
		host := []string{"10.20.1.21", "10.20.1.22"}[i%2]
		spring(consumer, at, "ERROR", fmt.Sprintf("nio-8080-exec-%d", i%50+1), "c.d.order.web.OrderController", "place order failed")
		f.printf(consumer, "org.apache.dubbo.rpc.RpcException: Failed to invoke the method getSkuStock in the service %s. Tried 3 times of the providers [10.20.1.22:20880, 10.20.1.21:20880] (2/2) from the registry 10.20.9.5:2181 on the consumer 10.20.2.31 using the dubbo version 3.2.16. Last error is: Invoke remote method timeout. method: getSkuStock, provider: %s, cause: org.apache.dubbo.remoting.TimeoutException: Waiting server-side response timeout by scan timer. start time: %s, end time: %s, client elapsed: 0 ms, server elapsed: 1003 ms, timeout: 1000 ms, request: Request [id=%d, version=2.0.2, twoWay=true, event=false, broken=false, mPayload=0, data=null], channel: /10.20.2.31:51022 -> /%s:20880\n",
			sku, url(host, "getSkuStock"), at.Add(-1003*time.Millisecond).Format("2006-01-02 15:04:05.000"), at.Format("2006-01-02 15:04:05.000"), id, host)
		f.printf(consumer, "\tat org.apache.dubbo.rpc.cluster.support.FailoverClusterInvoker.doInvoke(FailoverClusterInvoker.java:115)\n\tat org.apache.dubbo.rpc.cluster.support.AbstractClusterInvoker.invoke(AbstractClusterInvoker.java:345)\n\tat com.demo.order.service.StockClient.stockOf(StockClient.java:41)\n\tat com.demo.order.web.OrderController.place(OrderController.java:58)\n\tat java.base/java.lang.Thread.run(Thread.java:840)\n")
	}
	for i := range 12 {
		at := noon.Add(time.Duration(1200+i*900) * time.Millisecond)
		spring(consumer, at, "ERROR", fmt.Sprintf("nio-8080-exec-%d", i%50+1), "c.d.order.web.CategoryController", "category page failed")
		f.printf(consumer, "org.apache.dubbo.rpc.RpcException: Failed to invoke the method getCategory in the service %s. Tried 3 times of the providers [10.20.1.22:20880, 10.20.1.21:20880] (2/2) from the registry 10.20.9.5:2181 on the consumer 10.20.2.31 using the dubbo version 3.2.16. Last error is: Failed to invoke remote method: getCategory, provider: %s, cause: org.apache.dubbo.remoting.RemotingException: Server side(10.20.1.21,20880) thread pool is exhausted, detail msg:Thread pool is EXHAUSTED! Thread Name: %s, Pool Size: 200 (active: 200, core: 200, max: 200, largest: 200), Task: 18438 (completed: 18238), Executor status:(isShutdown:false, isTerminated:false, isTerminating:false), in dubbo://10.20.1.21:20880!\n\tat org.apache.dubbo.rpc.cluster.support.FailoverClusterInvoker.doInvoke(FailoverClusterInvoker.java:115)\n",
			sku, url("10.20.1.21", "getCategory"), pool)
	}

	for n := range 3 {
		file := fmt.Sprintf("product-provider/jstack-%d.txt", n+1)
		f.printf(file, "%s\nFull thread dump OpenJDK 64-Bit Server VM (17.0.15+6-LTS mixed mode, sharing):\n\n", noon.Add(time.Duration(20+5*n)*time.Second).Format("2006-01-02 15:04:05"))
		for i := 1; i <= 200; i++ {
			head := func(state, status string) {
				f.printf(file, "\"%s-thread-%d\" #%d daemon prio=5 os_prio=0 cpu=%d.21ms elapsed=%d.40s tid=0x00007f1c%08x nid=0x%x %s  [0x00007f1ceac8d000]\n   java.lang.Thread.State: %s\n", pool, i, 60+i, 800+i, 60+5*n, 0x1000*i, 20000+i, status, state)
			}
			bottom := "\tat com.demo.product.service.impl.SkuServiceImpl.%s\n\tat org.apache.dubbo.common.bytecode.Wrapper7.invokeMethod(Wrapper7.java)\n\tat org.apache.dubbo.rpc.proxy.javassist.JavassistProxyFactory$1.doInvoke(JavassistProxyFactory.java:73)\n\tat org.apache.dubbo.rpc.proxy.AbstractProxyInvoker.invoke(AbstractProxyInvoker.java:100)\n\tat org.apache.dubbo.remoting.transport.dispatcher.ChannelEventRunnable.run(ChannelEventRunnable.java:64)\n\tat java.util.concurrent.ThreadPoolExecutor.runWorker(java.base@17.0.15/ThreadPoolExecutor.java:1136)\n\tat java.util.concurrent.ThreadPoolExecutor$Worker.run(java.base@17.0.15/ThreadPoolExecutor.java:635)\n\tat org.apache.dubbo.common.threadlocal.InternalRunnable.run(InternalRunnable.java:41)\n\tat java.lang.Thread.run(java.base@17.0.15/Thread.java:840)\n\n"
			switch {
			case i <= 173:
				head("RUNNABLE", "runnable")
				f.printf(file, "\tat sun.nio.ch.Net.poll(java.base@17.0.15/Native Method)\n\tat sun.nio.ch.NioSocketImpl.park(java.base@17.0.15/NioSocketImpl.java:186)\n\tat sun.nio.ch.NioSocketImpl.timedRead(java.base@17.0.15/NioSocketImpl.java:290)\n\tat sun.nio.ch.NioSocketImpl.implRead(java.base@17.0.15/NioSocketImpl.java:314)\n\tat java.net.Socket$SocketInputStream.read(java.base@17.0.15/Socket.java:966)\n\tat com.mysql.cj.protocol.ReadAheadInputStream.fill(ReadAheadInputStream.java:107)\n\tat com.mysql.cj.protocol.a.NativeProtocol.readMessage(NativeProtocol.java:581)\n\tat com.mysql.cj.jdbc.ClientPreparedStatement.executeQuery(ClientPreparedStatement.java:972)\n\tat com.zaxxer.hikari.pool.HikariProxyPreparedStatement.executeQuery(HikariProxyPreparedStatement.java)\n\tat org.apache.ibatis.executor.SimpleExecutor.doQuery(SimpleExecutor.java:63)\n\tat jdk.proxy2.$Proxy91.selectStock(jdk.proxy2/Unknown Source)\n")
				f.printf(file, bottom, "getSkuStock(SkuServiceImpl.java:64)")
			case i <= 191:
				head("BLOCKED (on object monitor)", "waiting for monitor entry")
				f.printf(file, "\tat com.demo.product.cache.StockCache.load(StockCache.java:33)\n\t- waiting to lock <0x00000000ff%06x> (a java.lang.Object)\n", 0x1000+i/3)
				f.printf(file, bottom, "getSkuStock(SkuServiceImpl.java:61)")
			default:
				head("TIMED_WAITING (parking)", "waiting on condition")
				f.printf(file, "\tat jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)\n\tat java.util.concurrent.locks.LockSupport.parkNanos(java.base@17.0.15/LockSupport.java:269)\n\tat org.apache.dubbo.common.threadpool.ThreadlessExecutor.waitAndDrain(ThreadlessExecutor.java:77)\n\tat org.apache.dubbo.rpc.protocol.AbstractInvoker.waitForResultIfSync(AbstractInvoker.java:295)\n\tat com.demo.product.service.impl.PriceClient.priceOf(PriceClient.java:27)\n")
				f.printf(file, bottom, "getSkuPrice(SkuServiceImpl.java:88)")
			}
		}
		f.printf(file, "JNI global refs: 17, weak refs: 0\n\n")
	}

	list := "mysql/processlist.txt"
	f.printf(list, "mysql> SHOW FULL PROCESSLIST;\n+------+---------+------------------+------+---------+------+--------------+------------------------------------------------------------------------+\n| Id   | User    | Host             | db   | Command | Time | State        | Info                                                                   |\n+------+---------+------------------+------+---------+------+--------------+------------------------------------------------------------------------+\n")
	for i := range 131 {
		f.printf(list, "| %-4d | product | 10.20.1.%d:%d | shop | Query   |    %d | Sending data | SELECT stock FROM t_sku_stock WHERE sku_code = 'SKU-%05d'               |\n", 900+i, 21+i%2, 40000+i, 1+i%3, 10000+i*7)
	}
	f.printf(list, "| 1200 | root    | localhost        | NULL | Query   |    0 | starting     | SHOW FULL PROCESSLIST                                                  |\n+------+---------+------------------+------+---------+------+--------------+------------------------------------------------------------------------+\n132 rows in set (0.00 sec)\n")
	f.printf("mysql/explain.txt", "mysql> EXPLAIN SELECT stock FROM t_sku_stock WHERE sku_code = 'SKU-10007';\n+----+-------------+-------------+------------+------+---------------+------+---------+------+---------+----------+-------------+\n| id | select_type | table       | partitions | type | possible_keys | key  | key_len | ref  | rows    | filtered | Extra       |\n+----+-------------+-------------+------------+------+---------------+------+---------+------+---------+----------+-------------+\n|  1 | SIMPLE      | t_sku_stock | NULL       | ALL  | NULL          | NULL | NULL    | NULL | 2481932 |    10.00 | Using where |\n+----+-------------+-------------+------------+------+---------------+------+---------+------+---------+----------+-------------+\n1 row in set, 1 warning (0.00 sec)\n")
	f.printf("product-provider/telnet.txt", "$ telnet 10.20.1.21 20880\r\nTrying 10.20.1.21...\r\nConnected to 10.20.1.21.\r\nEscape character is '^]'.\r\n\r\ndubbo>invoke com.demo.product.api.SkuService.getSkuStock(\"SKU-10007\")\r\nUse default service com.demo.product.api.SkuService.\r\nresult: 12\r\nelapsed: 3120 ms.\r\ndubbo>invoke com.demo.product.api.SkuService.getCategory(7)\r\nUse default service com.demo.product.api.SkuService.\r\nresult: {\"id\":7,\"name\":\"tea\"}\r\nelapsed: 4 ms.\r\ndubbo>")
}

// referenceWant is the verdict that was asked for.
var referenceWant = want{
	Why:   "A full scan of t_sku_stock takes three seconds, consumers with a timeout of one second try three times, and the 200 workers fill up; getCategory takes 4 ms and is refused.",
	Label: "slow-sql", Incidents: 1, ActFirst: "retry-amplification", MinCertainty: "high",
	Chain: []string{"trigger slow-sql", "amplifier retry-amplification", "victim pool-starvation"},
	Not:   []string{"lock-contention", "cpu-saturation"},
	Edges: []edge{{Method: "getSkuStock", Amplification: 3}},
	Pools: []pool{{Name: "DubboServerHandler", Max: ptr(200), Active: ptr(200), Queued: ptr(0), Rejected: ptr(118)}},
	SQL:   []sql{{Contains: "from t_sku_stock where sku_code", RunningNow: 131, RowsExamined: 2481932, FullScan: ptr(true)}},
	Says:  []string{"getCategory", "4 ms", "173"},
}
