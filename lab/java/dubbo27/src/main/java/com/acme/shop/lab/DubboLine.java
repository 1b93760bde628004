package com.acme.shop.lab;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/** What is particular to Dubbo 2.7: nothing so far. */
final class DubboLine {
    private DubboLine() {
    }

    static void configure(ApplicationConfig application, DubboBootstrap bootstrap) {
    }

    /** Dubbo 2.7 has no metrics of its own that a Prometheus would scrape. */
    static String metrics() {
        return "";
    }
}
