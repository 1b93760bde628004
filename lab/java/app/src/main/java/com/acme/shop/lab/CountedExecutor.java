package com.acme.shop.lab;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * A pool like the given one that also knows when a task arrived, before it waited in the queue.
 * Tasks are not wrapped, so thread dumps look as without it.
 */
final class CountedExecutor extends ThreadPoolExecutor {
    /** Rejections of every pool in this process. */
    static final LongAdder REJECTED = new LongAdder();

    private static final ThreadLocal<Long> ARRIVAL = new ThreadLocal<>();

    private final Map<Runnable, Long> arrivals = new ConcurrentHashMap<>();
    private final AtomicInteger active = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();

    CountedExecutor(ThreadPoolExecutor like) {
        super(like.getCorePoolSize(), like.getMaximumPoolSize(), like.getKeepAliveTime(TimeUnit.MILLISECONDS), TimeUnit.MILLISECONDS,
                like.getQueue(), like.getThreadFactory(), like.getRejectedExecutionHandler());
    }

    /** Nano time at which the request that this thread works on was handed to the pool. */
    static long arrival() {
        Long arrival = ARRIVAL.get();
        return arrival == null ? System.nanoTime() : arrival;
    }

    @Override
    public void execute(Runnable task) {
        // Without a queue a task begins as it arrives.
        boolean queued = getQueue().remainingCapacity() > 0;
        if (queued) {
            arrivals.put(task, System.nanoTime());
        }
        try {
            super.execute(task);
        } catch (RejectedExecutionException e) {
            // Dubbo's handler has logged this, and it must stay in place: its metrics listen to it.
            REJECTED.increment();
            arrivals.remove(task);
            throw e;
        }
    }

    @Override
    protected void beforeExecute(Thread thread, Runnable task) {
        Long arrived = arrivals.remove(task);
        ARRIVAL.set(arrived == null ? System.nanoTime() : arrived);
        peak.accumulateAndGet(active.incrementAndGet(), Math::max);
    }

    @Override
    protected void afterExecute(Runnable task, Throwable thrown) {
        active.decrementAndGet();
        ARRIVAL.remove();
    }

    int active() {
        return active.get();
    }

    int peak() {
        return peak.get();
    }
}
