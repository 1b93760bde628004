package correlate

import (
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// jvmLibraries are packages that are not the user's own code. What is not here
// counts as the user's own.
var jvmLibraries = newPrefixes([]leafRule{{1, `
	java. javax. jdk. sun. com.sun. jakarta. kotlin. kotlinx. scala. groovy. clojure. org.codehaus. com.ibm. weblogic. com.weblogic. com.bea. com.caucho. com.tongweb. com.bes. com.apusic.
	org.apache. org.springframework. org.springdoc. springfox. org.hibernate. org.jboss. org.wildfly. org.eclipse. org.glassfish. org.aspectj. org.elasticsearch. org.opensearch. org.redisson. org.mybatis. org.jooq. org.flywaydb. org.quartz. org.xnio.
	org.slf4j. org.yaml. org.json. org.h2. org.hsqldb. org.sqlite. org.duckdb. org.postgresql. org.opengauss. org.mariadb. org.junit. org.vibur. org.objenesis. org.jctools. org.conscrypt. org.bouncycastle. org.joda. org.dom4j. org.jsoup. org.thymeleaf.
	org.ehcache. org.infinispan. org.reactivestreams. org.jetbrains. org.mvel2. org.owasp. org.camunda. org.activiti. org.flowable. org.drools. org.kie. org.keycloak. org.modelmapper. org.msgpack. org.xerial. org.roaringbitmap. org.rocksdb. org.lz4.
	org.I0Itec. org.tikv. org.neo4j. org.influxdb. org.firebirdsql. org.logicalcobwebs. org.asynchttpclient. org.mortbay. org.tinylog. org.zeromq. org.acegisecurity. org.dozer. org.noear. org.ssssssss. org.dromara. org.beetl. org.jdbi. org.jdom. org.mozilla. org.python. org.jruby. org.graalvm. org.openjdk. org.mockito. org.osgi. org.castor. org.directwebremoting. org.opensaml. org.pac4j. org.ofbiz. org.infobip. org.apereo.
	com.alibaba.dubbo. com.alibaba.druid. com.alibaba.csp. com.alibaba.nacos. com.alibaba.fastjson com.alibaba.ttl. com.alibaba.cloud. com.alibaba.rocketmq. com.alibaba.com. com.alibaba.spring. com.alibaba.excel. com.alibaba.otter. com.alibaba.cobar. com.alibaba.arthas. com.alibaba.jvm. com.alibaba.hsf. com.alibaba.sentinel.
	com.alicp.jetcache. com.alipay.sofa. com.alipay.remoting. com.alipay.hessian. com.alipay.lookout. com.taobao. com.aliyun. com.aliyuncs. com.weibo.api.motan. com.ctrip.framework. com.dianping.cat. com.dangdang. com.xxl. com.qcloud. com.jd.jsf. com.tencent.tars. com.baidu.brpc.
	com.mysql. com.oceanbase. com.microsoft. com.zaxxer. com.mchange. com.atomikos. com.jolbox. com.p6spy. com.clickhouse. com.taosdata. com.mongodb. com.datastax. com.influxdb. com.kingbase8. com.kingbase. com.dameng. com.gbase. com.oscar. com.highgo. com.huawei. com.sybase. com.informix. com.pingcap. com.impossibl.
	com.baomidou. tk.mybatis. com.github. com.querydsl. com.ebean. io.ebean. com.netflix. com.fasterxml. com.google. com.squareup. com.rabbitmq. com.lmax. com.esotericsoftware. com.hazelcast. com.typesafe. com.lightbend. com.thoughtworks. com.jayway. com.auth0. com.nimbusds. com.unboundid. com.googlecode. com.linecorp.
	com.codahale. com.yammer. com.jcraft. com.amazonaws. com.azure. com.uber.cadence. com.newrelic. com.navercorp. com.coreos. com.orbitz. com.ecwid. com.lambdaworks. com.ning. com.facebook. com.danga. com.whalin. com.arthas. com.opensymphony. com.vaadin. com.zeroturnaround. com.dynatrace. com.appdynamics. com.sap. com.tibco. com.solacesystems. com.dtflys. com.mashape. com.itextpdf. com.lowagie.
	io.netty. io.grpc. io.lettuce. io.reactivex. io.projectreactor. io.undertow. io.vertx. io.quarkus. io.smallrye. io.micronaut. io.micrometer. io.opentelemetry. io.opentracing. io.opencensus. io.jaegertracing. io.github. io.seata. io.agroal. io.swagger. io.prometheus. io.minio. io.etcd. io.nats. io.temporal. io.trino. io.r2dbc. io.vavr. io.jsonwebtoken. io.sentry. io.dropwizard. io.helidon. io.javalin. io.ktor. io.kubernetes. io.fabric8. io.zipkin. io.searchbox. io.debezium. io.confluent. io.protostuff. io.shardingsphere. io.shardingjdbc. io.mycat. io.airlift. io.jsonwebtoken. io.dubbo.
	net.sf. net.sourceforge. net.bytebuddy. net.spy. net.rubyeye. net.jpountz. net.logstash. net.jodah. net.javacrumbs. net.schmizz. net.datafaker. net.openhft. net.minidev. net.ltgray. net.rpc
	reactor. rx. feign. okhttp3. okio. retrofit2. redis.clients. ch.qos. ch.ethz. akka. play. brave. zipkin2. datadog. co.elastic. co.paralleluniverse. javassist. cglib. gnu. oracle. dm.jdbc. bitronix. snaq.db. ru.yandex. cn.hutool. cn.dev33. cn.afterturn. kong.unirest. ognl. antlr. freemarker. liquibase. software.amazon. jodd. ma.glasnost. junit. nonapi. groovyjarjarantlr4. spark. sparkjava. ratpack. zio. cats. monix. slick. doobie. http4s.
	$Proxy LambdaForm GeneratedMethodAccessor GeneratedConstructorAccessor one.profiler. s.Arthas`}})

// generated are marks of classes and methods that compilers, proxies and agents
// make of the user's own: they are between two frames of user code and say nothing
// themselves.
var generated = []string{
	"$Proxy", "$$EnhancerBy", "$$FastClassBy", "$$SpringCGLIB", "$$Lambda", "ByGuice$$", "ByCGLIB$$", "$MockitoMock$", "DubboWrap", "$$_jvst", "_$$_", "_ClientProxy.", "_Subclass.", "$HibernateProxy$",
	"$auxiliary$", "$AjcClosure", "_aroundBody", ".access$", "$$Proxy", "$ByteBuddy$", "$$_javassist", "$sw$", "$accessor$", "_WeldClientProxy", "$$M$_jr_", "MapperProxy",
}

// isGenerated reports such frames.
func isGenerated(fn string) bool {
	if !strings.ContainsAny(fn, "$_W") && !strings.Contains(fn, "MapperProxy") {
		return false
	}
	for _, mark := range generated {
		if strings.Contains(fn, mark) {
			return true
		}
	}
	// Dubbo's Wrapper12.invokeMethod.
	i := strings.LastIndex(fn, "Wrapper")
	if i < 0 || i+8 > len(fn) || i > 0 && fn[i-1] != '.' {
		return false
	}
	rest := fn[i+len("Wrapper"):]
	return rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

// isApp reports whether a Java function belongs to the user's own code.
func isApp(fn string) bool {
	if _, library := jvmLibraries.find(fn); library {
		return false
	}
	return !isGenerated(fn)
}

// appFrames returns the innermost and the outermost frame of the user's own
// code. The outermost is the service method: what stands below it are
// frameworks that call it. Filters, aspects and tasks are not methods of the
// service, and a lambda is one only if there is nothing better.
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

// What calls pass through without being the call: classes whatever their method
// is, and classes in the methods through which one calls such things.
var (
	plumbingClasses = []string{"Filter", "Aspect", "Interceptor", "Advice", "Valve", "Proxy", "Decorator", "Middleware", "HandlerAdapter"}
	runnerClasses   = []string{"Runnable", "Callable", "Wrapper", "Task", "Supplier", "Executor", "Invoker", "Template", "Handler"}
	runnerMethods   = map[string]bool{
		"invoke": true, "intercept": true, "around": true, "doAround": true, "proceed": true, "preHandle": true,
		"execute0": true, "get": true, "apply": true, "accept": true, "execute": true, "submit": true,
	}
)

// plumbing reports methods through which calls pass without being the call.
func plumbing(fn string) bool {
	class, method := splitFunc(fn)
	switch method {
	case "run", "call", "main", "<init>", "<clinit>", "invokeSuspend":
		return true
	}
	if strings.HasPrefix(method, "lambda$") || strings.Contains(method, "$lambda$") || strings.HasSuffix(method, "$default") {
		return true
	}
	outer := class
	if i := strings.IndexByte(outer, '$'); i > 0 {
		outer = outer[:i]
		// An anonymous class: OrderService$1, OrderService$place$1.
		if last := class[strings.LastIndexByte(class, '$')+1:]; allDigits(last) {
			return true
		}
	}
	return hasSuffix(outer, plumbingClasses) || runnerMethods[method] && hasSuffix(outer, runnerClasses)
}

func hasSuffix(s string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

// splitFunc splits "com.acme.X.method" into class and method. The dots of Go's
// "main.serve[...].func1" split nothing.
func splitFunc(fn string) (class, method string) {
	if i := strings.Index(fn, "[...]"); i >= 0 {
		if dot := strings.LastIndexByte(fn[:i], '.'); dot >= 0 && !strings.Contains(fn[i:], ").") {
			return fn[:dot], fn[dot+1:]
		}
	}
	if i := strings.LastIndexByte(fn, '.'); i >= 0 {
		return fn[:i], fn[i+1:]
	}
	return "", fn
}

// simpleClass returns the class name without package and without what is
// nested in it.
func simpleClass(class string) string {
	if i := strings.LastIndexByte(class, '.'); i >= 0 {
		class = class[i+1:]
	}
	if i := strings.IndexByte(class, '$'); i > 0 {
		class = class[:i]
	}
	return class
}

// ownLoop reports a thread whose user code is one class whose own loop waits: it
// stands right on the thread's or the executor's plumbing. ownThread says that
// there is no executor.
func ownLoop(frames []*evidence.Frame) (loop, ownThread bool) {
	class, last := "", -1
	for i, f := range frames {
		if isGenerated(f.Func) {
			continue
		}
		if isApp(f.Func) {
			c, _ := splitFunc(f.Func)
			c, _, _ = strings.Cut(c, "$")
			if class != "" && c != class {
				return false, false
			}
			class, last = c, i
		}
	}
	if last < 0 {
		return false, false
	}
	ownThread = true
	for _, f := range frames[last+1:] {
		switch {
		case isGenerated(f.Func), strings.HasPrefix(f.Func, "java.lang.Thread."), strings.HasPrefix(f.Func, "java.lang.VirtualThread"), strings.HasPrefix(f.Func, "jdk.internal.vm."):
		case strings.HasPrefix(f.Func, "java.util.concurrent."):
			ownThread = false
		default:
			return false, false
		}
	}
	return len(frames) > last+1, ownThread
}
