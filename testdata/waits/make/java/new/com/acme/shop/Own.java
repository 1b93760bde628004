package com.acme.shop;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.FileAppender;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import io.undertow.Undertow;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import org.apache.commons.dbcp2.BasicDataSource;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.slf4j.LoggerFactory;

/** What only the newer libraries have. */
final class Own {
    static void stand() throws Exception {
        Stand.section("dbcp2", Own::dbcp);
        Stand.section("httpclient", Own::http);
        Stand.section("grpc", Own::grpc);
        Stand.section("logging", Own::logging);
        Stand.section("undertow", () -> {
            Undertow.builder().addHttpListener(28083, "127.0.0.1").setHandler(e -> { }).setIoThreads(1).build().start();
            return null;
        });
        Stand.section("servers", Servers::stand);
        Stand.section("dubbo", Dubbo::stand);
        Stand.section("rest-client", () -> {
            var client = org.springframework.web.client.RestClient.create("http://127.0.0.1:" + Stand.silent());
            return Stand.on("http/rest-client/1", () -> client.get().uri("/price").retrieve().body(String.class));
        });
        Stand.section("rocketmq", () -> {
            var producer = new org.apache.rocketmq.client.producer.DefaultMQProducer("shop");
            producer.setNamesrvAddr("127.0.0.1:" + Stand.silent());
            producer.setSendMsgTimeout(600000);
            producer.setMqClientApiTimeout(600000);
            return Stand.on("mq/rocketmq/1", () -> { producer.start(); return producer.send(new org.apache.rocketmq.common.message.Message("orders", new byte[1])); });
        });
    }

    static Object dbcp() throws Exception {
        for (int wait : new int[] {-1, 600000}) {
            BasicDataSource ds = new BasicDataSource();
            ds.setUrl(DbPools.URL);
            ds.setUsername("root");
            ds.setMaxTotal(1);
            ds.setMaxWait(java.time.Duration.ofMillis(wait));
            DbPools.borrow("db-pool/dbcp2" + (wait > 0 ? "-max-wait" : ""), ds, 2);
        }
        return null;
    }

    static Object http() throws Exception {
        String url = "http://127.0.0.1:" + Stand.silent() + "/price";
        PoolingHttpClientConnectionManager pool = PoolingHttpClientConnectionManagerBuilder.create().setMaxConnPerRoute(1).build();
        CloseableHttpClient client = HttpClients.custom().setConnectionManager(pool).build();
        Stand.on("http/apache5/1", () -> client.execute(new HttpGet(url), r -> ""));
        Thread.sleep(500);
        Stand.on("http/apache5-borrow/1", () -> client.execute(new HttpGet(url), r -> ""));
        String tls = url.replace("http:", "https:");
        Stand.on("http/apache5-tls/1", () -> client.execute(new HttpGet(tls), r -> ""));
        return null;
    }

    static Object grpc() throws Exception {
        MethodDescriptor.Marshaller<byte[]> bytes = new MethodDescriptor.Marshaller<>() {
            public InputStream stream(byte[] b) {
                return new ByteArrayInputStream(b);
            }

            public byte[] parse(InputStream in) {
                return new byte[0];
            }
        };
        var method = MethodDescriptor.<byte[], byte[]>newBuilder().setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("shop.Inventory/Reserve").setRequestMarshaller(bytes).setResponseMarshaller(bytes).build();
        ManagedChannel channel = ManagedChannelBuilder.forAddress("127.0.0.1", Stand.silent()).usePlaintext().build();
        Stand.on("rpc/grpc-blocking/1", () -> ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, new byte[1]));
        Stand.on("rpc/grpc-stream/1", () -> ClientCalls.blockingServerStreamingCall(channel, method, CallOptions.DEFAULT, new byte[1]).hasNext());
        Stand.on("condition/grpc-future/1", () -> ClientCalls.futureUnaryCall(channel.newCall(method, CallOptions.DEFAULT), new byte[1]).get());
        return null;
    }

    static Object logging() throws Exception {
        Stand.keep.add(Files.fifo("logback"));
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%m%n");
        encoder.start();
        FileAppender<ILoggingEvent> file = new FileAppender<>();
        file.setContext(context);
        file.setFile(Files.path("logback"));
        file.setEncoder(encoder);
        file.start();
        Logger log = context.getLogger("shop");
        log.setAdditive(false);
        log.setLevel(Level.INFO);
        log.addAppender(file);
        context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.WARN);
        for (int i = 1; i <= 3; i++) {
            Stand.on("logging/logback/" + i, () -> { for (;;) { log.info("x".repeat(20000)); } });
        }
        AsyncAppender async = new AsyncAppender();
        async.setContext(context);
        async.setQueueSize(2);
        async.setDiscardingThreshold(0);
        async.addAppender(file);
        async.start();
        Logger logAsync = context.getLogger("shop.async");
        logAsync.setAdditive(false);
        logAsync.setLevel(Level.INFO);
        logAsync.addAppender(async);
        for (int i = 1; i <= 2; i++) {
            Stand.on("logging/logback-async/" + i, () -> { for (;;) { logAsync.info("x".repeat(20000)); } });
        }
        return null;
    }
}
