package com.acme.shop;

import java.sql.*;
import java.util.Properties;

final class DbReads {
    static Object stand() throws Exception {
        driver("mysql", "jdbc:mysql://%s/shop?useSSL=false", Stand.DB, "SELECT SLEEP(600)");
        driver("mariadb", "jdbc:mariadb://%s/shop", Stand.DB, "SELECT SLEEP(600)");
        driver("postgresql", "jdbc:postgresql://%s/postgres?sslmode=disable", Stand.PG, "SELECT pg_sleep(600)");
        return null;
    }

    static void driver(String name, String url, String server, String sql) {
        Stand.on("db-read/" + name + "-statement/1", () -> connect(url, server).createStatement().executeQuery(sql));
        Stand.on("db-read/" + name + "-prepared/1", () -> connect(url, server).prepareStatement(sql).executeQuery());
        Stand.on("db-read/" + name + "-connect/1", () -> connect(url, "127.0.0.1:" + Stand.silent()));
        Stand.on("db-read/" + name + "-update/1", () -> connect(url, server).createStatement().execute(sql));
        int port;
        try {
            port = Stand.proxy(server);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        Stand.on("db-read/" + name + "-validation/1", () -> {
            Connection c = connect(url, "127.0.0.1:" + port);
            Stand.afterFreeze();
            return c.isValid(600);
        });
        Stand.on("db-read/" + name + "-commit/1", () -> {
            Connection c = connect(url, "127.0.0.1:" + port);
            c.setAutoCommit(false);
            c.createStatement().execute("START TRANSACTION");
            Stand.afterFreeze();
            c.commit();
            return c;
        });
        Stand.on("db-read/" + name + "-batch/1", () -> {
            Connection c = connect(url, "127.0.0.1:" + port);
            PreparedStatement s = c.prepareStatement("INSERT INTO nothing VALUES (?)");
            s.setInt(1, 1);
            s.addBatch();
            Stand.afterFreeze();
            return s.executeBatch();
        });
    }

    static Connection connect(String url, String server) throws Exception {
        Properties p = new Properties();
        p.setProperty("user", url.contains("postgresql") ? "postgres" : "root");
        return DriverManager.getConnection(String.format(url, server), p);
    }
}
