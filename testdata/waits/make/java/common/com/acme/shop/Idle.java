package com.acme.shop;

import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.*;

final class Idle {
    static Object stand() throws Exception {
        Executors.newFixedThreadPool(1, named("idle/fixed/1")).submit(() -> "");
        Executors.newCachedThreadPool(named("idle/cached/1")).submit(() -> "");
        Executors.newScheduledThreadPool(1, named("idle/scheduled-empty/1")).submit(() -> "");
        Executors.newScheduledThreadPool(1, named("idle/scheduled/1")).scheduleAtFixedRate(() -> { }, 0, 600, TimeUnit.SECONDS);
        new ThreadPoolExecutor(1, 1, 1, TimeUnit.HOURS, new ArrayBlockingQueue<>(5), named("idle/array/1")).submit(() -> "");
        new ThreadPoolExecutor(0, 1, 1, TimeUnit.HOURS, new LinkedBlockingQueue<>(), named("idle/keep-alive/1")).submit(() -> "");
        new ThreadPoolExecutor(1, 1, 1, TimeUnit.HOURS, new PriorityBlockingQueue<>(), named("idle/priority/1")).execute(() -> { });
        Timer timer = new Timer("idle/timer/1", true);
        timer.schedule(new TimerTask() {
            public void run() { }
        }, 0, 600000);
        new Timer("idle/timer-empty/1", true);
        ForkJoinPool fj = new ForkJoinPool(2);
        fj.submit(() -> "").get();
        ForkJoinPool.commonPool().submit(() -> "").get();
        BlockingQueue<String> queue = new LinkedBlockingQueue<>();
        Thread loop = new Thread(() -> {
            try {
                for (;;) {
                    System.out.println(queue.take());
                }
            } catch (InterruptedException e) {
                // Ends.
            }
        }, "idle/queue-loop/1");
        loop.setDaemon(true);
        loop.start();
        Thread acceptor = new Thread(() -> {
            try (java.net.ServerSocket s = new java.net.ServerSocket(0)) {
                s.accept();
            } catch (Exception e) {
                // Ends.
            }
        }, "idle/accept/1");
        acceptor.setDaemon(true);
        acceptor.start();
        Stand.keep.add(fj);
        return null;
    }

    static ThreadFactory named(String name) {
        return r -> {
            Thread t = new Thread(r, name);
            t.setDaemon(true);
            return t;
        };
    }
}
