package com.acme.shop.product;

import com.acme.shop.lab.Faults;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Computes prices from a table of rules. Three of the lab's faults act here: sync, cpu and alloc. */
class PriceCalculator {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Object rules = new Object();
    private final Deque<List<byte[]>> history = new ArrayDeque<>();

    long price(String sku) {
        int hold = Faults.number("sync", "ms", 50);
        if (hold > 0) {
            reloadRules(hold);
        }
        int burn = Faults.number("cpu", "ms", 400);
        if (burn > 0) {
            simulate(sku, burn);
        }
        int kilobytes = Faults.number("alloc", "kb", 1024);
        if (kilobytes > 0) {
            remember(kilobytes, Faults.number("alloc", "keep", 0));
        }
        return 100 + Math.floorMod(sku.hashCode(), 900);
    }

    /** Reads the rules again, one thread at a time. */
    private void reloadRules(int ms) {
        synchronized (rules) {
            try {
                Thread.sleep(ms);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Works out a price by brute force, for so many milliseconds of processor time. */
    private static long simulate(String sku, int ms) {
        long end = THREADS.getCurrentThreadCpuTime() + ms * 1_000_000L;
        long state = sku.hashCode();
        while (THREADS.getCurrentThreadCpuTime() < end) {
            for (int i = 0; i < 100_000; i++) {
                state = state * 6364136223846793005L + 1442695040888963407L;
            }
        }
        return state;
    }

    /** Allocates the given kilobytes and keeps the last so many of these allocations. */
    private void remember(int kilobytes, int keep) {
        List<byte[]> rows = new ArrayList<>();
        for (int i = 0; i < kilobytes; i++) {
            rows.add(new byte[1024]);
        }
        synchronized (history) {
            history.addLast(rows);
            while (history.size() > keep) {
                history.removeFirst();
            }
        }
    }
}
