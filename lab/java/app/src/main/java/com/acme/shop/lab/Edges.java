package com.acme.shop.lab;

import org.apache.dubbo.rpc.Invocation;
import org.apache.dubbo.rpc.Invoker;

/** Names of edges, "SkuService.getSkuStock", for the shop's own services only. */
final class Edges {
    private Edges() {
    }

    /** The edge's name, or null for Dubbo's internal services and echo calls. */
    static String name(Invoker<?> invoker, Invocation invocation) {
        Class<?> type = invoker.getInterface();
        if (!type.getName().startsWith("com.acme.shop.") || invocation.getMethodName().startsWith("$")) {
            return null;
        }
        return type.getSimpleName() + "." + invocation.getMethodName();
    }
}
