package main

import (
	"fmt"
	"strings"
	"time"
)

// node is a Dubbo process of some release.
type node struct {
	version string
	ip      string
	port    int
}

func (n node) addr() string { return fmt.Sprintf("%s:%d", n.ip, n.port) }

// modern reports whether the release gives error codes (3.1 and later).
func (n node) modern() bool { return n.version >= "3.1" }

// pkg is the first part of Dubbo's package names.
func (n node) pkg() string {
	if n.version < "2.7" {
		return "com.alibaba.dubbo"
	}
	return "org.apache.dubbo"
}

// said is a message in Dubbo's envelope.
func (n node) said(code, cause, msg string) string {
	s := fmt.Sprintf(" [DUBBO] %s, dubbo version: %s, current host: %s", msg, n.version, n.ip)
	if n.modern() && code != "" {
		s += fmt.Sprintf(", error code: %s. This may be caused by %s, go to https://dubbo.apache.org/faq/%s to find instructions. ", code, cause, strings.ReplaceAll(code, "-", "/"))
	}
	return s
}

// state is what a pool said of itself.
type state struct {
	max, active, task, completed int
	shutdown                     bool
}

func full(size, completed int) state {
	return state{max: size, active: size, task: completed + size, completed: completed}
}

// exhausted is the text of AbortPolicyWithReport without its envelope.
func (n node) exhausted(s state) string {
	return fmt.Sprintf("Thread pool is EXHAUSTED! Thread Name: DubboServerHandler-%s, Pool Size: %d (active: %d, core: %d, max: %d, largest: %d), Task: %d (completed: %d), Executor status:(isShutdown:%v, isTerminated:false, isTerminating:%v), in dubbo://%s!",
		n.addr(), max(s.active, s.max*9/10), s.active, s.max, s.max, s.max, s.task, s.completed, s.shutdown, s.shutdown, n.addr())
}

// logExhausted logs it as the provider does.
func (n node) logExhausted(l log, at time.Time, s state) {
	thread := "NettyServerWorker-5-3"
	if n.version < "2.7" {
		thread = "New I/O server worker #1-3"
	}
	l(at, "WARN", thread, n.pkg()+".common.threadpool.support.AbortPolicyWithReport", "%s", n.said("0-1", "too much client requesting provider", n.exhausted(s)))
}

// refusal is the text that the consumer gets of a full pool.
func (n node) refusal(s state) string {
	word := "thread pool is exhausted, detail msg:"
	if n.version < "2.7.5" {
		word = "threadpool is exhausted ,detail msg:"
	}
	return fmt.Sprintf("Server side(%s,%d) %s%s", n.ip, n.port, word, n.exhausted(s))
}

// call is a logical call of a consumer.
type call struct {
	from            node
	app             string
	service, method string
	timeout         int // ms
	registry        string
}

func (c call) url(p node) string {
	return fmt.Sprintf("dubbo://%s/%s?anyhost=true&application=%s&dubbo=2.0.2&interface=%s&methods=%s&pid=8123&release=%s&retries=2&side=consumer&timeout=%d&timestamp=1773480000000", p.addr(), c.service, c.app, c.service, c.method, c.from.version, c.timeout)
}

// timedOut is the text of an attempt that got no answer in time.
func (c call) timedOut(p node, end time.Time, id int) string {
	class, twoWay := "", "twoway"
	if c.from.version >= "2.7.2" {
		class = "org.apache.dubbo.remoting.TimeoutException: "
	}
	if c.from.version >= "3" {
		twoWay = "twoWay"
	}
	if c.from.version >= "3.2.3" && id%4 == 0 {
		return fmt.Sprintf("Invoke remote method timeout. method: %s, provider: %s, cause: org.apache.dubbo.remoting.TimeoutException: Timeout after %dms waiting for result.", c.method, c.url(p), c.timeout)
	}
	elapsed := c.timeout + 3 + id%9
	return fmt.Sprintf("Invoke remote method timeout. method: %s, provider: %s, cause: %sWaiting server-side response timeout by scan timer. start time: %s, end time: %s, client elapsed: 0 ms, server elapsed: %d ms, timeout: %d ms, request: Request [id=%d, version=2.0.2, %s=true, event=false, broken=false, data=null], channel: /%s:51022 -> /%s",
		c.method, c.url(p), class, end.Add(-time.Duration(elapsed)*time.Millisecond).Format(dotMillis), end.Format(dotMillis), elapsed, c.timeout, id, twoWay, c.from.ip, p.addr())
}

// refused is the text of an attempt that a full pool sent back.
func (c call) refused(p node, s state) string {
	class := ""
	if c.from.version >= "2.7.2" {
		class = "org.apache.dubbo.remoting.RemotingException: "
	}
	return fmt.Sprintf("Failed to invoke remote method: %s, provider: %s, cause: %s%s", c.method, c.url(p), class, p.refusal(s))
}

// tried is the exception of a call that failed after n attempts, with its stack.
func (c call) tried(n int, providers []node, left int, lastError string) string {
	addrs := make([]string, len(providers))
	for i, p := range providers {
		addrs[i] = p.addr()
	}
	rpc := c.from.pkg() + ".rpc."
	return fmt.Sprintf("%sRpcException: Failed to invoke the method %s in the service %s. Tried %d times of the providers [%s] (%d/%d) from the registry %s on the consumer %s using the dubbo version %s. Last error is: %s\n\tat %scluster.support.FailoverClusterInvoker.doInvoke(FailoverClusterInvoker.java:113)\n\tat %scluster.support.AbstractClusterInvoker.invoke(AbstractClusterInvoker.java:248)\n\tat %sproxy.InvokerInvocationHandler.invoke(InvokerInvocationHandler.java:61)",
		rpc, c.method, c.service, n, strings.Join(addrs, ", "), len(addrs), left, c.registry, c.from.ip, c.from.version, lastError, rpc, rpc, rpc)
}

// retried is the record of a call that succeeded after failed attempts.
func (c call) retried(by node, failed []node, left int, lastError string) string {
	addrs := make([]string, len(failed))
	for i, p := range failed {
		addrs[i] = p.addr()
	}
	return c.from.said("2-16", "failed to retry do invoke", fmt.Sprintf("Although retry the method %s in the service %s was successful by the provider %s, but there have been failed providers [%s] (%d/%d) from the registry %s on the consumer %s using the dubbo version %s. Last error is: %s",
		c.method, c.service, by.addr(), strings.Join(addrs, ", "), len(addrs), left, c.registry, c.from.ip, c.from.version, lastError))
}

// nobody is the exception of a call without providers.
func (c call) nobody() string {
	return fmt.Sprintf("%s.rpc.RpcException: Failed to invoke the method %s in the service %s. No provider available for the service %s from registry %s on the consumer %s using the dubbo version %s. Please check if the providers have been started and registered.\n\tat %s.rpc.cluster.support.AbstractClusterInvoker.checkInvokers(AbstractClusterInvoker.java:283)",
		c.from.pkg(), c.method, c.service, c.service, c.registry, c.from.ip, c.from.version, c.from.pkg())
}
