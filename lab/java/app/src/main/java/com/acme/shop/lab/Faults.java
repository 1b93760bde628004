package com.acme.shop.lab;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.dubbo.rpc.RpcContext;

/** The faults that are on in this process; POST /fault changes them. */
public final class Faults {
    /** Parameters of every fault that is on, by kind. */
    private static final Map<String, Map<String, String>> ON = new ConcurrentHashMap<>();

    private Faults() {
    }

    /** Turns a fault on, or all off with kind "none"; answers what is wrong with the request, or null. */
    static String set(Map<String, String> parameters) {
        String kind = parameters.getOrDefault("kind", "");
        switch (kind) {
            case "none" -> ON.clear();
            case "slow", "sync", "cpu", "alloc", "tag" -> ON.put(kind, Map.copyOf(parameters));
            default -> {
                return "unknown kind of fault: " + kind;
            }
        }
        return null;
    }

    static Map<String, Map<String, String>> on() {
        return ON;
    }

    /** The number a fault has for a parameter; 0 when that fault is off. */
    public static int number(String kind, String parameter, int otherwise) {
        Map<String, String> fault = ON.get(kind);
        return fault == null ? 0 : Integer.parseInt(fault.getOrDefault(parameter, Integer.toString(otherwise)));
    }

    /** Milliseconds by which a method is to be slow, without any SQL. */
    public static int slow(String method) {
        Map<String, String> fault = ON.get("slow");
        if (fault == null || !fault.getOrDefault("method", "price").equals(method)) {
            return 0;
        }
        return Integer.parseInt(fault.getOrDefault("ms", "3000"));
    }

    /** Gives the call of this thread the tag that the fault "tag" asks for. */
    static void tagCall() {
        Map<String, String> fault = ON.get("tag");
        if (fault != null) {
            RpcContext.getContext().setAttachment("dubbo.tag", fault.getOrDefault("tag", ""));
            RpcContext.getContext().setAttachment("dubbo.force.tag", fault.getOrDefault("force", "false"));
        }
    }
}
