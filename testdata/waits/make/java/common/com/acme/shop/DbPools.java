package com.acme.shop;

import com.alibaba.druid.pool.DruidDataSource;
import com.mchange.v2.c3p0.ComboPooledDataSource;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import javax.sql.DataSource;
import org.apache.tomcat.jdbc.pool.PoolProperties;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

final class DbPools {
    static final String URL = "jdbc:mysql://" + Stand.DB + "/shop?useSSL=false";

    static Object stand() throws Exception {
        borrow("db-pool/hikari", hikari(), 3);
        borrow("db-pool/druid-for-ever", druid(-1), 2);
        borrow("db-pool/druid-max-wait", druid(600000), 2);
        PoolProperties p = new PoolProperties();
        p.setUrl(URL);
        p.setUsername("root");
        p.setMaxActive(1);
        p.setMaxWait(600000);
        borrow("db-pool/tomcat", new org.apache.tomcat.jdbc.pool.DataSource(p), 2);
        ComboPooledDataSource c3p0 = new ComboPooledDataSource();
        c3p0.setJdbcUrl(URL);
        c3p0.setUser("root");
        c3p0.setMinPoolSize(1);
        c3p0.setInitialPoolSize(1);
        c3p0.setMaxPoolSize(1);
        borrow("db-pool/c3p0", c3p0, 2);

        HikariDataSource ds = hikari();
        ds.getConnection();
        Stand.on("db-pool/spring-jdbc/1", () -> new JdbcTemplate(ds).queryForObject("SELECT 1", Integer.class));
        Stand.on("db-pool/spring-tx/1", () -> new TransactionTemplate(new DataSourceTransactionManager(ds)).execute(s -> ""));
        HikariDataSource ds2 = hikari();
        Stand.on("db-read/spring-tx/1", () -> new TransactionTemplate(new DataSourceTransactionManager(ds2)).execute(s -> new JdbcTemplate(ds2).queryForObject("SELECT SLEEP(600)", Integer.class)));
        HikariDataSource ds3 = hikari();
        Stand.on("other/sleep-in-tx/1", () -> new TransactionTemplate(new DataSourceTransactionManager(ds3)).execute(s -> { Locks.sleep(); return ""; }));
        DruidDataSource ds4 = druid(-1);
        Stand.on("db-read/druid-query/1", () -> ds4.getConnection().prepareStatement("SELECT SLEEP(600)").executeQuery());
        DruidDataSource dead = new DruidDataSource();
        dead.setUrl("jdbc:mysql://127.0.0.1:" + Stand.silent() + "/shop?useSSL=false");
        dead.setUsername("root");
        Stand.on("db-pool/druid-no-server/1", () -> dead.getConnection());
        return null;
    }

    static void borrow(String name, DataSource ds, int n) throws Exception {
        Stand.keep.add(ds.getConnection());
        for (int i = 1; i <= n; i++) {
            Stand.on(name + "/" + i, () -> ds.getConnection());
        }
    }

    static HikariDataSource hikari() {
        HikariConfig c = new HikariConfig();
        c.setJdbcUrl(URL);
        c.setUsername("root");
        c.setMaximumPoolSize(1);
        c.setConnectionTimeout(600000);
        return new HikariDataSource(c);
    }

    static DruidDataSource druid(long maxWait) {
        DruidDataSource d = new DruidDataSource();
        d.setUrl(URL);
        d.setUsername("root");
        d.setMaxActive(1);
        d.setMaxWait(maxWait);
        return d;
    }
}
