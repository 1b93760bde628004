package com.acme.shop.product;

import com.acme.shop.lab.Metrics;
import com.acme.shop.lab.Settings;
import com.alibaba.druid.pool.DruidDataSource;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.metrics.micrometer.MicrometerMetricsTrackerFactory;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Opens the connection pool that lab.pool names. */
final class DataSources {
    private DataSources() {
    }

    static DataSource open() {
        return switch (Settings.text("pool", "hikari")) {
            case "hikari" -> hikari();
            case "druid" -> druid();
            default -> throw new IllegalArgumentException("lab.pool must be hikari or druid");
        };
    }

    private static DataSource hikari() {
        HikariConfig config = new HikariConfig();
        config.setDriverClassName(driver());
        config.setJdbcUrl(url());
        config.setUsername(Settings.text("jdbc.user", "shop"));
        config.setPassword(Settings.text("jdbc.password", ""));
        config.setMaximumPoolSize(Settings.number("pool.max", 10));
        config.setConnectionTimeout(Settings.number("pool.timeout.ms", 30_000));
        // One connection is enough to begin with; the others are opened when needed.
        config.setMinimumIdle(Settings.number("pool.min", 1));
        if (Settings.has("pool.leak.ms")) {
            config.setLeakDetectionThreshold(Settings.number("pool.leak.ms", 0));
        }
        config.setMetricsTrackerFactory(new MicrometerMetricsTrackerFactory(Metrics.registry()));
        return new HikariDataSource(config);
    }

    private static DataSource druid() {
        DruidDataSource source = new DruidDataSource();
        source.setDriverClassName(driver());
        source.setUrl(url());
        source.setUsername(Settings.text("jdbc.user", "shop"));
        source.setPassword(Settings.text("jdbc.password", ""));
        source.setMaxActive(Settings.number("pool.max", 8));
        source.setMinIdle(Settings.number("pool.min", 1));
        source.setInitialSize(Settings.number("pool.min", 1));
        source.setMaxWait(Settings.number("pool.timeout.ms", 30_000));
        source.setValidationQuery("SELECT 1");
        try {
            source.init();
        } catch (SQLException e) {
            throw new DataAccessException("no connection to the database", e);
        }
        return source;
    }

    /** The driver that the URL is for. */
    private static String driver() {
        return url().startsWith("jdbc:postgresql:") ? "org.postgresql.Driver" : "org.mariadb.jdbc.Driver";
    }

    private static String url() {
        return Settings.text("jdbc.url", "jdbc:mariadb://127.0.0.1:3306/shop");
    }
}
