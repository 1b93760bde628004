package com.acme.shop.lab;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/** What is particular to Dubbo 2.7: nothing that needs configuring; it has no metrics for Prometheus. */
final class DubboLine {
    private DubboLine() {
    }

    static void configure(ApplicationConfig application, DubboBootstrap bootstrap) {
    }

    static String metrics() {
        return "";
    }
}
