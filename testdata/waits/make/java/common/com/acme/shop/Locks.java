package com.acme.shop;

import java.util.concurrent.*;
import java.util.concurrent.locks.*;

final class Locks {
    static Object stand() throws Exception {
        Object monitor = new Object();
        ReentrantLock lock = new ReentrantLock();
        ReentrantLock fair = new ReentrantLock(true);
        ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
        ReentrantReadWriteLock readHeld = new ReentrantReadWriteLock();
        StampedLock stamped = new StampedLock();
        CountDownLatch held = new CountDownLatch(1);
        Stand.on("other/sleep-holds-locks/1", () -> {
            synchronized (monitor) {
                lock.lock();
                fair.lock();
                rw.writeLock().lock();
                readHeld.readLock().lock();
                stamped.writeLock();
                held.countDown();
                Thread.sleep(600000);
            }
            return null;
        });
        held.await();
        Stand.on("lock/monitor/1", () -> {
            synchronized (monitor) {
                return null;
            }
        });
        Stand.on("lock/reentrant/1", () -> { lock.lock(); return null; });
        Stand.on("lock/reentrant-try/1", () -> lock.tryLock(600, TimeUnit.SECONDS));
        Stand.on("lock/reentrant-interruptibly/1", () -> { fair.lockInterruptibly(); return null; });
        Stand.on("lock/rw-read/1", () -> { rw.readLock().lock(); return null; });
        Stand.on("lock/rw-write/1", () -> { readHeld.writeLock().lock(); return null; });
        Stand.on("lock/stamped-read/1", () -> stamped.readLock());
        Stand.on("lock/stamped-write/1", () -> stamped.writeLock());
        ConcurrentHashMap<String, String> map = new ConcurrentHashMap<>();
        CountDownLatch computing = new CountDownLatch(1);
        Stand.on("other/sleep-computes/1", () -> map.computeIfAbsent("a", k -> { computing.countDown(); sleep(); return ""; }));
        computing.await();
        Stand.on("lock/compute-if-absent/1", () -> map.computeIfAbsent("a", k -> ""));

        Stand.on("condition/semaphore/1", () -> { new Semaphore(0).acquire(); return null; });
        Stand.on("condition/semaphore-try/1", () -> new Semaphore(0).tryAcquire(600, TimeUnit.SECONDS));
        Stand.on("condition/latch/1", () -> { new CountDownLatch(1).await(); return null; });
        Stand.on("condition/latch-timed/1", () -> new CountDownLatch(1).await(600, TimeUnit.SECONDS));
        Stand.on("condition/barrier/1", () -> new CyclicBarrier(2).await());
        Stand.on("condition/phaser/1", () -> new Phaser(2).arriveAndAwaitAdvance());
        Stand.on("condition/exchanger/1", () -> new Exchanger<String>().exchange(""));
        Stand.on("condition/future/1", () -> new FutureTask<>(() -> "").get());
        Stand.on("condition/future-timed/1", () -> new FutureTask<>(() -> "").get(600, TimeUnit.SECONDS));
        Stand.on("condition/future-join/1", () -> new CompletableFuture<String>().join());
        Stand.on("condition/future-get/1", () -> new CompletableFuture<String>().get(600, TimeUnit.SECONDS));
        Stand.on("condition/future-all-of/1", () -> CompletableFuture.allOf(new CompletableFuture<String>()).join());
        Stand.on("condition/object-wait/1", () -> {
            Object o = new Object();
            synchronized (o) {
                o.wait();
            }
            return null;
        });
        Stand.on("condition/condition/1", () -> {
            ReentrantLock l = new ReentrantLock();
            l.lock();
            l.newCondition().await();
            return null;
        });
        Stand.on("condition/thread-join/1", () -> { Thread.currentThread().join(); return null; });
        Stand.on("condition/full-queue/1", () -> { new ArrayBlockingQueue<>(1, false, java.util.List.of("")).put(""); return null; });
        Stand.on("condition/full-linked-queue/1", () -> { BlockingQueue<String> q = new LinkedBlockingQueue<>(1); q.put(""); q.put(""); return null; });
        Stand.on("condition/synchronous-put/1", () -> { new SynchronousQueue<String>().put(""); return null; });
        Stand.on("condition/queue-take/1", () -> new LinkedBlockingQueue<String>().take());
        ExecutorService pool = Executors.newFixedThreadPool(1, r -> { Thread t = new Thread(r, "condition/self-wait/1"); t.setDaemon(true); return t; });
        pool.submit(() -> OrderService.placeOrder(() -> pool.submit(() -> "").get()));
        Stand.on("condition/invoke-all/1", () -> { pool.invokeAll(java.util.List.of(() -> "")); return null; });
        Stand.on("other/sleep/1", () -> { Thread.sleep(600000); return null; });
        Stand.on("other/sleep-unit/1", () -> { TimeUnit.SECONDS.sleep(600); return null; });
        Stand.on("condition/park/1", () -> { for (;;) { LockSupport.parkNanos(600_000_000_000L); } });
        Stand.on("other/sleep-in-clinit/1", () -> Slow.value);
        Thread.sleep(300);
        Stand.on("class-init/waiter/1", () -> Slow.value);
        Stand.on("class-init/new/1", () -> new Slow());
        Stand.on("cpu/regex/1", () -> java.util.regex.Pattern.matches("(.*,){20}P", "1,".repeat(60)));
        Stand.on("cpu/sum/1", () -> { long x = 1; for (;;) { x = x * 31 + Long.toString(x).hashCode(); if (x == 42) return x; } });
        return null;
    }

    static void sleep() {
        try {
            Thread.sleep(600000);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static final class Slow {
        static final Object value = make();

        static Object make() {
            sleep();
            return "";
        }
    }
}
