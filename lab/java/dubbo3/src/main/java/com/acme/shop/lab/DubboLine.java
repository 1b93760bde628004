package com.acme.shop.lab;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.MetricsConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;
import org.apache.dubbo.metrics.prometheus.PrometheusMetricsReporter;
import org.apache.dubbo.rpc.model.ApplicationModel;

/** What is particular to Dubbo 3: how it registers and what it lets through serialization. */
final class DubboLine {
    private DubboLine() {
    }

    static void configure(ApplicationConfig application, DubboBootstrap bootstrap) {
        // all (Dubbo's default), interface or instance.
        if (Settings.has("register")) {
            application.setRegisterMode(Settings.text("register", "all"));
        }
        // Dubbo's default is STRICT, under which an exception whose cause is not on the allow list (ConnectException,
        // SQLException) cannot be sent: the consumer then sees a network error and retries a business failure.
        application.setSerializeCheckStatus(Settings.text("serialize.check", "WARN"));
        metrics(bootstrap);
    }

    private static void metrics(DubboBootstrap bootstrap) {
        if (!Settings.flag("dubbo.metrics", true)) {
            return;
        }
        MetricsConfig metrics = new MetricsConfig();
        metrics.setProtocol("prometheus");
        metrics.setEnableJvm(false);
        metrics.setEnableRpc(true);
        metrics.setEnableRegistry(true);
        bootstrap.metrics(metrics);
    }

    /** Dubbo's own meters, as its QoS port gives them under /metrics. */
    static String metrics() {
        PrometheusMetricsReporter reporter = ApplicationModel.defaultModel().getBeanFactory().getBean(PrometheusMetricsReporter.class);
        if (reporter == null) {
            return "";
        }
        reporter.resetIfSamplesChanged();
        return reporter.getResponse();
    }
}
