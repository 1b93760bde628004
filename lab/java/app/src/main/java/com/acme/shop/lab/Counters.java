package com.acme.shop.lab;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/** The exact counts of this process since its start, as /counters gives them. */
public final class Counters {
    private static final Map<String, ConsumerCounts> CONSUMERS = new ConcurrentSkipListMap<>();
    private static final Map<String, ProviderCounts> PROVIDERS = new ConcurrentSkipListMap<>();
    private static final Map<String, Map<String, LongAdder>> HTTP = new ConcurrentSkipListMap<>();

    private Counters() {
    }

    static ConsumerCounts consumer(String edge) {
        return CONSUMERS.computeIfAbsent(edge, k -> new ConsumerCounts());
    }

    static ProviderCounts provider(String edge) {
        return PROVIDERS.computeIfAbsent(edge, k -> new ProviderCounts());
    }

    /** Counts an answer of the gateway by the first part of its path and its status. */
    public static void answered(String route, int status) {
        HTTP.computeIfAbsent(route, k -> new ConcurrentSkipListMap<>())
                .computeIfAbsent(Integer.toString(status), k -> new LongAdder()).increment();
    }

    static Map<String, Object> read(String role) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("name", Settings.text("name", role));
        all.put("role", role);
        all.put("now_ms", System.currentTimeMillis());
        Map<String, Object> consumers = new LinkedHashMap<>();
        CONSUMERS.forEach((edge, counts) -> consumers.put(edge, counts.read()));
        all.put("consumer", consumers);
        Map<String, Object> providers = new LinkedHashMap<>();
        PROVIDERS.forEach((edge, counts) -> providers.put(edge, counts.read()));
        all.put("provider", providers);
        all.put("pool", CountedFixedThreadPool.read());
        all.put("rejected", CountedFixedThreadPool.rejected());
        Map<String, Object> http = new LinkedHashMap<>();
        HTTP.forEach((route, byStatus) -> http.put(route, sums(byStatus)));
        all.put("http", http);
        return all;
    }

    static Map<String, Object> sums(Map<String, LongAdder> adders) {
        Map<String, Object> map = new LinkedHashMap<>();
        adders.forEach((key, adder) -> map.put(key, adder.sum()));
        return map;
    }
}
