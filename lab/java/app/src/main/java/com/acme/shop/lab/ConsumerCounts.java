package com.acme.shop.lab;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/** What a consumer counts of one service method. */
final class ConsumerCounts {
    final LongAdder calls = new LongAdder();
    final LongAdder attempts = new LongAdder();
    private final LongAdder ok = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final Map<String, LongAdder> byAttempts = new ConcurrentSkipListMap<>();
    private final Map<String, LongAdder> outcomes = new ConcurrentSkipListMap<>();

    /** Counts the end of a logical call, which took so many attempts. */
    void end(boolean succeeded, int attempts) {
        (succeeded ? ok : failed).increment();
        byAttempts.computeIfAbsent(Integer.toString(attempts), k -> new LongAdder()).increment();
    }

    /** Counts how one attempt ended. */
    void outcome(String name) {
        outcomes.computeIfAbsent(name, k -> new LongAdder()).increment();
    }

    Map<String, Object> read() {
        Map<String, Object> map = new TreeMap<>();
        map.put("calls", calls.sum());
        map.put("attempts", attempts.sum());
        map.put("ok", ok.sum());
        map.put("failed", failed.sum());
        map.put("by_attempts", Counters.sums(byAttempts));
        map.put("outcomes", Counters.sums(outcomes));
        return map;
    }
}
