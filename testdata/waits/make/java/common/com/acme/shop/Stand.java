package com.acme.shop;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** Puts one thread into each known situation, named after the kind that is expected, and stays there. */
public final class Stand {
    static final String DB = System.getProperty("db", "127.0.0.1:23306");
    static final String PG = System.getProperty("pg", "127.0.0.1:25432");
    static final String REDIS = System.getProperty("redis", "127.0.0.1:26379");
    static final String DIR = System.getProperty("dir");
    static final List<Object> keep = new ArrayList<>();
    static volatile boolean frozen;

    public static void main(String[] args) throws Exception {
        section("locks", Locks::stand);
        section("idle", Idle::stand);
        section("files", Files::stand);
        section("dbpools", DbPools::stand);
        section("dbreads", DbReads::stand);
        section("http", Http::stand);
        section("redis", Redis::stand);
        section("own", () -> { Own.stand(); return null; });
        Thread.sleep(2000);
        frozen = true;
        Thread.sleep(9000);
        System.out.println("READY");
        Thread.sleep(60000);
        System.exit(0);
    }

    static void section(String name, Call c) {
        try {
            c.run();
        } catch (Throwable t) {
            System.err.println("section " + name + ": " + t);
            t.printStackTrace();
        }
    }

    /** Starts a thread that makes the call from inside the service. */
    static Thread on(String name, Call call) {
        Thread t = new Thread(() -> {
            try {
                OrderService.placeOrder(call);
                System.err.println(name + ": did not wait");
            } catch (Throwable e) {
                System.err.println(name + ": " + e);
                e.printStackTrace();
            }
        }, name);
        t.setDaemon(true);
        t.start();
        return t;
    }

    /** A server whose kernel accepts and that never says a word. */
    static int silent() throws Exception {
        ServerSocket s = new ServerSocket(0, 200);
        keep.add(s);
        return s.getLocalPort();
    }

    /** Forwards to a real server until everything is frozen. */
    static int proxy(String target) throws Exception {
        String[] hp = target.split(":");
        ServerSocket s = new ServerSocket(0, 200);
        helper(() -> {
            for (;;) {
                Socket a = s.accept();
                Socket b = new Socket(hp[0], Integer.parseInt(hp[1]));
                keep.add(a);
                helper(() -> copy(a.getInputStream(), b.getOutputStream()));
                helper(() -> copy(b.getInputStream(), a.getOutputStream()));
            }
        });
        return s.getLocalPort();
    }

    static Object copy(InputStream in, OutputStream out) throws Exception {
        byte[] buf = new byte[4096];
        for (int n; (n = in.read(buf)) > 0; ) {
            if (frozen) {
                Thread.sleep(600000);
            }
            out.write(buf, 0, n);
        }
        return null;
    }

    static void helper(Call c) {
        Thread t = new Thread(() -> {
            try {
                c.run();
            } catch (Exception e) {
                // The other side has closed.
            }
        }, "stand-helper");
        t.setDaemon(true);
        t.start();
    }

    /** Waits until all is frozen, without being part of the situation. */
    static void afterFreeze() throws Exception {
        while (!frozen) {
            Thread.sleep(50);
        }
        Thread.sleep(200);
    }
}
