package com.acme.shop;

import org.apache.commons.dbcp.BasicDataSource;
import org.apache.commons.httpclient.MultiThreadedHttpConnectionManager;
import org.apache.commons.httpclient.methods.GetMethod;
import org.apache.http.client.methods.HttpGet;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClients;
import org.apache.log4j.Logger;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.OutputStreamAppender;
import org.apache.logging.log4j.core.layout.PatternLayout;

/** What only the older libraries have. */
final class Own {
    static void stand() throws Exception {
        Stand.section("dbcp1", Own::dbcp);
        Stand.section("httpclient", Own::http);
        Stand.section("logging", Own::logging);
        Stand.section("servers", Servers::stand);
        Stand.section("dubbo", Dubbo::stand);
    }

    static Object dbcp() throws Exception {
        BasicDataSource ds = new BasicDataSource();
        ds.setUrl(DbPools.URL);
        ds.setUsername("root");
        ds.setMaxActive(1);
        DbPools.borrow("db-pool/dbcp1", ds, 2);
        BasicDataSource timed = new BasicDataSource();
        timed.setUrl(DbPools.URL);
        timed.setUsername("root");
        timed.setMaxActive(1);
        timed.setMaxWait(600000);
        DbPools.borrow("db-pool/dbcp1-max-wait", timed, 2);
        return null;
    }

    static Object http() throws Exception {
        String url = "http://127.0.0.1:" + Stand.silent() + "/price";
        CloseableHttpClient client = HttpClients.custom().setMaxConnPerRoute(1).build();
        Stand.on("http/apache4/1", () -> client.execute(new HttpGet(url)));
        Thread.sleep(500);
        Stand.on("http/apache4-borrow/1", () -> client.execute(new HttpGet(url)));
        String tls = url.replace("http:", "https:");
        Stand.on("http/apache4-tls/1", () -> client.execute(new HttpGet(tls)));
        MultiThreadedHttpConnectionManager manager = new MultiThreadedHttpConnectionManager();
        manager.getParams().setDefaultMaxConnectionsPerHost(1);
        org.apache.commons.httpclient.HttpClient old = new org.apache.commons.httpclient.HttpClient(manager);
        Stand.on("http/apache3/1", () -> old.executeMethod(new GetMethod(url)));
        Thread.sleep(500);
        Stand.on("http/apache3-borrow/1", () -> old.executeMethod(new GetMethod(url)));
        return null;
    }

    static Object logging() throws Exception {
        Stand.keep.add(Files.fifo("log4j1"));
        Logger one = Logger.getLogger("shop");
        one.setAdditivity(false);
        one.addAppender(new org.apache.log4j.FileAppender(new org.apache.log4j.SimpleLayout(), Files.path("log4j1"), true));
        for (int i = 1; i <= 3; i++) {
            Stand.on("logging/log4j1/" + i, () -> { for (;;) { one.info("x".repeat(20000)); } });
        }
        Stand.keep.add(Files.fifo("log4j2"));
        LoggerContext context = LoggerContext.getContext(false);
        var layout = PatternLayout.newBuilder().withPattern("%m%n").withConfiguration(context.getConfiguration()).build();
        var appender = org.apache.logging.log4j.core.appender.FileAppender.newBuilder().setName("slow").withFileName(Files.path("log4j2")).setLayout(layout).setConfiguration(context.getConfiguration()).build();
        appender.start();
        context.getConfiguration().getRootLogger().addAppender(appender, org.apache.logging.log4j.Level.INFO, null);
        context.getConfiguration().getRootLogger().setLevel(org.apache.logging.log4j.Level.INFO);
        context.updateLoggers();
        org.apache.logging.log4j.Logger two = org.apache.logging.log4j.LogManager.getLogger("shop");
        for (int i = 1; i <= 3; i++) {
            Stand.on("logging/log4j2/" + i, () -> { for (;;) { two.info("x".repeat(20000)); } });
        }
        return null;
    }
}
