package com.acme.shop.lab;

import com.acme.shop.OrderService;
import com.acme.shop.SkuService;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;
import org.apache.dubbo.rpc.Invoker;
import org.apache.dubbo.rpc.cluster.ClusterInvoker;

/** The process's Dubbo configuration: services offered, services used, and where the registry is. */
final class Remoting {
    private final String application;
    private final DubboBootstrap bootstrap = DubboBootstrap.getInstance();
    private final List<ReferenceConfig<?>> references = new ArrayList<>();
    private boolean provider;
    private ReferenceConfig<SkuService> sku;
    private ReferenceConfig<OrderService> order;

    Remoting(String application) {
        this.application = application;
    }

    <T> void export(Class<T> type, T implementation) {
        provider = true;
        ServiceConfig<T> service = new ServiceConfig<>();
        service.setInterface(type);
        service.setRef(implementation);
        if (Settings.has("weight")) {
            service.setWeight(Settings.number("weight", 100));
        }
        if (Settings.has("tag")) {
            service.setTag(Settings.text("tag", ""));
        }
        if (Settings.has("executes")) {
            service.setExecutes(Settings.number("executes", 0));
        }
        if (Settings.has("accesslog")) {
            service.setAccesslog(Settings.text("accesslog", ""));
            // Dubbo 3.2 and later write to a path of the user's own only when told so.
            parameter(service.getParameters(), service::setParameters, "accesslog.fixed.path", "false");
        }
        bootstrap.service(service);
    }

    void referSku() {
        sku = refer(SkuService.class, Settings.number("timeout.ms", 1000), Settings.number("retries", 2), Settings.text("cluster", "failover"));
    }

    void referOrder() {
        order = refer(OrderService.class, Settings.number("order.timeout.ms", 5000), Settings.number("order.retries", 0),
                Settings.text("order.cluster", "failover"));
    }

    private <T> ReferenceConfig<T> refer(Class<T> type, int timeout, int retries, String cluster) {
        ReferenceConfig<T> reference = new ReferenceConfig<>();
        reference.setInterface(type);
        reference.setTimeout(timeout);
        reference.setRetries(retries);
        reference.setCluster(cluster);
        reference.setCheck(false);
        reference.setScope("remote");
        if (Settings.has("loadbalance")) {
            reference.setLoadbalance(Settings.text("loadbalance", ""));
        }
        if (Settings.has("actives")) {
            reference.setActives(Settings.number("actives", 0));
        }
        if (!provider && Settings.has("tag")) {
            reference.setTag(Settings.text("tag", ""));
        }
        bootstrap.reference(reference);
        references.add(reference);
        return reference;
    }

    void start() {
        ApplicationConfig config = new ApplicationConfig(application);
        config.setQosEnable(Settings.has("qos.port"));
        if (Settings.has("qos.port")) {
            config.setQosPort(Settings.number("qos.port", 22222));
            config.setQosAcceptForeignIp(false);
        }
        config.setDumpDirectory(Settings.text("dump.dir", Settings.text("dir", ".")));
        config.setShutwait(Settings.text("shutdown.ms", "1000"));
        DubboLine.configure(config, bootstrap);

        RegistryConfig registry = new RegistryConfig("zookeeper://" + Settings.text("zk", "127.0.0.1:2181"));
        registry.setTimeout(10_000);
        // A cache of an earlier run must not bring back its addresses.
        registry.setUseAsMetadataCenter(true);
        registry.setFile(Settings.text("dir", ".") + "/dubbo-registry.cache");
        bootstrap.application(config).registry(registry);

        if (provider) {
            ProtocolConfig protocol = new ProtocolConfig("dubbo", Settings.number("dubbo.port", 20880));
            protocol.setThreadpool("fixed");
            protocol.setThreads(Settings.number("threads", 16));
            protocol.setQueues(Settings.number("queues", 0));
            if (Settings.has("serialization")) {
                protocol.setSerialization(Settings.text("serialization", ""));
            }
            bootstrap.protocol(protocol);
        }
        bootstrap.start();
    }

    SkuService sku() {
        return CallCounter.around(SkuService.class, sku.get());
    }

    OrderService order() {
        return CallCounter.around(OrderService.class, order.get());
    }

    /** Whether every service used has at least lab.providers connected providers. */
    boolean providersSeen() {
        int wanted = Settings.number("providers", 1);
        for (ReferenceConfig<?> reference : references) {
            int available = 0;
            for (Object invoker : clusterInvoker(reference.get()).getDirectory().getAllInvokers()) {
                if (((Invoker<?>) invoker).isAvailable()) {
                    available++;
                }
            }
            if (available < wanted) {
                return false;
            }
        }
        return true;
    }

    /** The cluster invoker behind a Dubbo proxy, which the public interface of Dubbo does not give away. */
    private static ClusterInvoker<?> clusterInvoker(Object proxy) {
        try {
            Field handlerField = proxy.getClass().getDeclaredField("handler");
            handlerField.setAccessible(true);
            Object handler = handlerField.get(proxy);
            Field invokerField = handler.getClass().getDeclaredField("invoker");
            invokerField.setAccessible(true);
            return (ClusterInvoker<?>) invokerField.get(handler);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static void parameter(Map<String, String> now, java.util.function.Consumer<Map<String, String>> set, String key, String value) {
        Map<String, String> all = now == null ? new HashMap<>() : new HashMap<>(now);
        all.put(key, value);
        set.accept(all);
    }
}
