package com.acme.shop.lab;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** What a provider counts of one service method. */
final class ProviderCounts {
    final LongAdder received = new LongAdder();
    final LongAdder executions = new LongAdder();
    private final LongAdder completed = new LongAdder();
    private final LongAdder threw = new LongAdder();
    private final LongAdder orphaned = new LongAdder();
    private final LongAdder orphanedNanos = new LongAdder();
    private final LongAdder busyNanos = new LongAdder();

    /**
     * Counts the end of an execution.
     *
     * @param late nanoseconds after the moment its consumer gave up; 0 or less when it was in time
     */
    void end(long busy, long late, boolean thrown) {
        completed.increment();
        busyNanos.add(busy);
        if (thrown) {
            threw.increment();
        }
        if (late > 0) {
            orphaned.increment();
            orphanedNanos.add(Math.min(late, busy));
        }
    }

    Map<String, Object> read() {
        Map<String, Object> map = new TreeMap<>();
        map.put("received", received.sum());
        map.put("executions", executions.sum());
        map.put("completed", completed.sum());
        map.put("threw", threw.sum());
        map.put("orphaned", orphaned.sum());
        map.put("orphaned_ms", TimeUnit.NANOSECONDS.toMillis(orphanedNanos.sum()));
        map.put("busy_ms", TimeUnit.NANOSECONDS.toMillis(busyNanos.sum()));
        return map;
    }
}
