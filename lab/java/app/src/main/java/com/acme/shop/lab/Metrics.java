package com.acme.shop.lab;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.prometheus.PrometheusConfig;
import io.micrometer.prometheus.PrometheusMeterRegistry;

/** The service's metrics, made by Micrometer as most JVM services do. */
public final class Metrics {
    private static final PrometheusMeterRegistry REGISTRY = create();

    private Metrics() {
    }

    private static PrometheusMeterRegistry create() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        registry.config().commonTags("instance_name", Settings.text("name", "shop"));
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new JvmGcMetrics().bindTo(registry);
        return registry;
    }

    public static MeterRegistry registry() {
        return REGISTRY;
    }

    static String scrape() {
        return REGISTRY.scrape() + DubboLine.metrics();
    }
}
