package com.acme.shop;

import java.sql.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import javax.sql.DataSource;
import org.slf4j.*;

/** Exhausts one pool after another as an application would, and logs what comes back. */
public final class Pools {
    private static final Logger log = LoggerFactory.getLogger("com.acme.shop.order.OrderService");
    static final String H2 = "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1";

    interface Work { void run() throws Throwable; }

    public static void main(String[] args) throws Throwable {
        org.slf4j.bridge.SLF4JBridgeHandler.removeHandlersForRootLogger();
        org.slf4j.bridge.SLF4JBridgeHandler.install();
        for (String part : args) {
            log.info("begin {}", part);
            try { part(part); } catch (Throwable t) { log.error("order {} failed", part, t); }
        }
        System.exit(0);
    }

    static void part(String name) throws Throwable {
        switch (name) {
            case "hikari": hikari(); break;
            case "hikari-down": hikariDown(); break;
            case "druid": druid(); break;
            case "dbcp1": dbcp1(); break;
            case "dbcp2": dbcp2(); break;
            case "tomcat": tomcat(); break;
            case "c3p0": c3p0(); break;
            case "jedis": jedis(); break;
            case "jedis-down": jedisDown(); break;
            case "http4": http4(); break;
            case "http5": http5(); break;
            case "lettuce": lettuce(); break;
            case "okhttp": okhttp(); break;
            case "jdk-http": jdkHttp(); break;
            case "rejected": rejected(); break;
            case "resilience4j": Resilience.run(log); break;
            default: throw new IllegalArgumentException(name);
        }
    }

    /** Two members are held while two more threads ask. */
    static void starve(String name, DataSource ds) throws Throwable {
        Connection a = ds.getConnection(), b = ds.getConnection();
        ask(name, () -> ds.getConnection().close(), () -> ds.getConnection().close());
        a.close();
        b.close();
    }

    static void ask(String name, Work... works) throws Throwable {
        List<Thread> threads = new ArrayList<>();
        int n = 0;
        for (Work w : works) {
            int id = ++n;
            Thread t = new Thread(() -> {
                try { w.run(); } catch (Throwable e) {
                    log.error("order {} by {} failed: {}", 7000 + id, name, e.getMessage(), e);
                }
            }, "nio-8080-exec-" + id);
            threads.add(t);
            t.start();
        }
        for (Thread t : threads) t.join();
    }

    static void hikari() throws Throwable {
        com.zaxxer.hikari.HikariConfig c = new com.zaxxer.hikari.HikariConfig();
        c.setPoolName("OrdersPool"); c.setJdbcUrl(H2); c.setMaximumPoolSize(2); c.setConnectionTimeout(500); c.setLeakDetectionThreshold(2000);
        try (com.zaxxer.hikari.HikariDataSource ds = new com.zaxxer.hikari.HikariDataSource(c)) {
            starve("hikari", ds);
            Connection kept = ds.getConnection();
            Connection lost = ds.getConnection();
            Thread.sleep(2300);
            kept.close();
        }
    }

    static void hikariDown() throws Throwable {
        com.zaxxer.hikari.HikariConfig c = new com.zaxxer.hikari.HikariConfig();
        c.setPoolName("OrdersPool"); c.setJdbcUrl("jdbc:postgresql://127.0.0.1:1/shop"); c.setMaximumPoolSize(2); c.setConnectionTimeout(500);
        c.setInitializationFailTimeout(-1);
        try (com.zaxxer.hikari.HikariDataSource ds = new com.zaxxer.hikari.HikariDataSource(c)) {
            ask("hikari", () -> ds.getConnection().close());
        }
    }

    static void druid() throws Throwable {
        com.alibaba.druid.pool.DruidDataSource ds = new com.alibaba.druid.pool.DruidDataSource();
        ds.setUrl(H2); ds.setMaxActive(2); ds.setMaxWait(500); ds.setRemoveAbandoned(true); ds.setRemoveAbandonedTimeoutMillis(1500); ds.setLogAbandoned(true);
        ds.setTimeBetweenEvictionRunsMillis(500); ds.setMinEvictableIdleTimeMillis(1000); ds.setFilters("stat,slf4j");
        ds.setConnectionProperties("druid.stat.slowSqlMillis=300;druid.stat.logSlowSql=true");
        try (Connection c = ds.getConnection(); Statement s = c.createStatement()) {
            s.execute("CREATE ALIAS IF NOT EXISTS SLEEP FOR \"java.lang.Thread.sleep(long)\"");
        }
        CountDownLatch held = new CountDownLatch(2);
        List<Thread> holders = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Thread t = new Thread(() -> {
                try (Connection c = ds.getConnection(); Statement s = c.createStatement()) {
                    held.countDown();
                    s.execute("CALL SLEEP(1200)");
                } catch (Exception e) { log.error("holder failed", e); }
            }, "nio-8080-exec-" + (8 + i));
            holders.add(t);
            t.start();
        }
        held.await();
        Thread.sleep(50);
        ask("druid", () -> ds.getConnection().close(), () -> ds.getConnection().close());
        for (Thread t : holders) t.join();
        Connection lost = ds.getConnection();
        Thread.sleep(3000);
        ds.close();
    }

    static void dbcp1() throws Throwable {
        org.apache.commons.dbcp.BasicDataSource ds = new org.apache.commons.dbcp.BasicDataSource();
        ds.setUrl(H2); ds.setMaxActive(2); ds.setMaxWait(500);
        starve("dbcp", ds);
    }

    static void dbcp2() throws Throwable {
        org.apache.commons.dbcp2.BasicDataSource ds = new org.apache.commons.dbcp2.BasicDataSource();
        ds.setUrl(H2); ds.setMaxTotal(2); ds.setMaxWaitMillis(500);
        starve("dbcp2", ds);
    }

    static void tomcat() throws Throwable {
        org.apache.tomcat.jdbc.pool.DataSource ds = new org.apache.tomcat.jdbc.pool.DataSource();
        ds.setUrl(H2); ds.setDriverClassName("org.h2.Driver"); ds.setMaxActive(2); ds.setMaxIdle(2); ds.setInitialSize(2); ds.setMinIdle(0); ds.setMaxWait(500);
        ds.setRemoveAbandoned(true); ds.setRemoveAbandonedTimeout(1); ds.setLogAbandoned(true); ds.setTimeBetweenEvictionRunsMillis(500);
        starve("tomcat-jdbc", ds);
        Connection lost = ds.getConnection();
        Thread.sleep(2500);
        ds.close();
    }

    static void c3p0() throws Throwable {
        com.mchange.v2.c3p0.ComboPooledDataSource ds = new com.mchange.v2.c3p0.ComboPooledDataSource();
        ds.setJdbcUrl(H2); ds.setMaxPoolSize(2); ds.setMinPoolSize(1); ds.setInitialPoolSize(1); ds.setCheckoutTimeout(500);
        ds.setUnreturnedConnectionTimeout(2); ds.setDebugUnreturnedConnectionStackTraces(true);
        starve("c3p0", ds);
        Connection lost = ds.getConnection();
        Thread.sleep(4000);
        ds.close();
    }

    static void jedis() throws Throwable {
        FakeServer server = new FakeServer();
        redis.clients.jedis.JedisPoolConfig c = new redis.clients.jedis.JedisPoolConfig();
        c.setMaxTotal(1); c.setMaxWaitMillis(500);
        redis.clients.jedis.JedisPool pool = new redis.clients.jedis.JedisPool(c, "127.0.0.1", server.port(), 1000);
        redis.clients.jedis.Jedis held = pool.getResource();
        ask("jedis", () -> pool.getResource().close(), () -> held.get("stock:4711"));
    }

    static void jedisDown() throws Throwable {
        redis.clients.jedis.JedisPool pool = new redis.clients.jedis.JedisPool(new redis.clients.jedis.JedisPoolConfig(), "127.0.0.1", 1, 1000);
        ask("jedis", () -> pool.getResource().close());
    }

    static void http4() throws Throwable {
        FakeServer server = new FakeServer();
        org.apache.http.client.config.RequestConfig rc = org.apache.http.client.config.RequestConfig.custom().setConnectionRequestTimeout(500).setSocketTimeout(1200).setConnectTimeout(500).build();
        org.apache.http.impl.client.CloseableHttpClient c = org.apache.http.impl.client.HttpClients.custom().setMaxConnPerRoute(1).setMaxConnTotal(1).setDefaultRequestConfig(rc).disableAutomaticRetries().build();
        String url = "http://127.0.0.1:" + server.port() + "/stock/4711";
        ask("httpclient4", () -> c.execute(new org.apache.http.client.methods.HttpGet(url)), () -> { Thread.sleep(100); c.execute(new org.apache.http.client.methods.HttpGet(url)); });
    }

    static void http5() throws Throwable {
        FakeServer server = new FakeServer();
        org.apache.hc.client5.http.config.RequestConfig rc = org.apache.hc.client5.http.config.RequestConfig.custom().setConnectionRequestTimeout(500, TimeUnit.MILLISECONDS).setResponseTimeout(1200, TimeUnit.MILLISECONDS).build();
        org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager m = new org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager();
        m.setMaxTotal(1); m.setDefaultMaxPerRoute(1);
        org.apache.hc.client5.http.impl.classic.CloseableHttpClient c = org.apache.hc.client5.http.impl.classic.HttpClients.custom().setConnectionManager(m).setDefaultRequestConfig(rc).disableAutomaticRetries().build();
        String url = "http://127.0.0.1:" + server.port() + "/stock/4711";
        ask("httpclient5", () -> c.execute(new org.apache.hc.client5.http.classic.methods.HttpGet(url)), () -> { Thread.sleep(100); c.execute(new org.apache.hc.client5.http.classic.methods.HttpGet(url)); });
    }

    static void lettuce() throws Throwable {
        FakeServer server = new FakeServer();
        io.lettuce.core.RedisClient c = io.lettuce.core.RedisClient.create(io.lettuce.core.RedisURI.builder().withHost("127.0.0.1").withPort(server.port()).withTimeout(Duration.ofMillis(800)).build());
        io.lettuce.core.api.StatefulRedisConnection<String, String> conn = c.connect();
        ask("lettuce", () -> conn.sync().get("stock:4711"), () -> conn.async().get("stock:4712").get(900, TimeUnit.MILLISECONDS));
        io.lettuce.core.RedisClient down = io.lettuce.core.RedisClient.create("redis://127.0.0.1:1");
        ask("lettuce", () -> down.connect());
    }

    static void okhttp() throws Throwable {
        FakeServer server = new FakeServer();
        okhttp3.OkHttpClient c = new okhttp3.OkHttpClient.Builder().readTimeout(Duration.ofMillis(600)).retryOnConnectionFailure(false).build();
        okhttp3.OkHttpClient whole = new okhttp3.OkHttpClient.Builder().callTimeout(Duration.ofMillis(600)).retryOnConnectionFailure(false).build();
        okhttp3.Request r = new okhttp3.Request.Builder().url("http://127.0.0.1:" + server.port() + "/stock/4711").build();
        ask("okhttp", () -> c.newCall(r).execute(), () -> whole.newCall(r).execute(),
            () -> c.newCall(new okhttp3.Request.Builder().url("http://127.0.0.1:1/stock/4711").build()).execute());
    }

    static void jdkHttp() throws Throwable {
        FakeServer server = new FakeServer();
        java.net.URI uri = java.net.URI.create("http://127.0.0.1:" + server.port() + "/stock/4711");
        java.net.http.HttpClient c = java.net.http.HttpClient.newHttpClient();
        ask("jdk", () -> c.send(java.net.http.HttpRequest.newBuilder(uri).timeout(Duration.ofMillis(600)).build(), java.net.http.HttpResponse.BodyHandlers.ofString()),
            () -> { java.net.HttpURLConnection u = (java.net.HttpURLConnection) uri.toURL().openConnection(); u.setReadTimeout(600); u.getResponseCode(); },
            () -> { java.net.HttpURLConnection u = (java.net.HttpURLConnection) new java.net.URL("http://127.0.0.1:1/stock").openConnection(); u.getResponseCode(); });
    }

    static void rejected() throws Throwable {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 2, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(2));
        CountDownLatch done = new CountDownLatch(1);
        for (int i = 0; i < 4; i++) pool.execute(() -> { try { done.await(); } catch (InterruptedException e) { /* over */ } });
        ask("executor", () -> pool.execute(() -> {}), () -> pool.submit(() -> "x"), () -> CompletableFuture.runAsync(() -> {}, pool));
        pool.shutdown();
        ask("executor", () -> pool.execute(() -> {}));
        done.countDown();
        pool.awaitTermination(1, TimeUnit.SECONDS);
        ask("executor", () -> pool.execute(() -> {}));
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        timer.shutdownNow();
        ask("executor", () -> timer.schedule(() -> {}, 1, TimeUnit.SECONDS));
    }
}
