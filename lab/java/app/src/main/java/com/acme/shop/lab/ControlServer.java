package com.acme.shop.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * The driver's way in, on lab.control.port: /ready, /counters, /fault, /rule and /metrics.
 * It is written by hand so that the tracing agent sees nothing of it and one thread is enough.
 */
final class ControlServer implements Runnable {
    private final String role;
    private final ServerSocket socket;
    private volatile boolean started;
    private volatile BooleanSupplier ready = () -> true;

    private ControlServer(String role, ServerSocket socket) {
        this.role = role;
        this.socket = socket;
    }

    /** Starts to serve; without a lab.control.port nothing is served. */
    static ControlServer start(String role) throws IOException {
        if (!Settings.has("control.port")) {
            return new ControlServer(role, null);
        }
        ControlServer server = new ControlServer(role,
                new ServerSocket(Settings.number("control.port", 0), 50, InetAddress.getLoopbackAddress()));
        Thread thread = new Thread(server, "admin-http");
        thread.setDaemon(true);
        thread.start();
        return server;
    }

    void started() {
        started = true;
    }

    void readyWhen(BooleanSupplier condition) {
        ready = condition;
    }

    @Override
    public void run() {
        while (true) {
            try (Socket connection = socket.accept()) {
                connection.setSoTimeout(2000);
                serve(connection);
            } catch (IOException | RuntimeException e) {
                // The driver sees a broken connection and asks again.
            }
        }
    }

    private void serve(Socket connection) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.ISO_8859_1));
        String request = in.readLine();
        for (String header = in.readLine(); header != null && !header.isEmpty(); header = in.readLine()) {
            // Headers say nothing of interest.
        }
        String[] parts = request == null ? new String[0] : request.split(" ");
        if (parts.length < 2) {
            return;
        }
        int mark = parts[1].indexOf('?');
        String path = mark < 0 ? parts[1] : parts[1].substring(0, mark);
        Map<String, String> query = mark < 0 ? Map.of() : query(parts[1].substring(mark + 1));
        switch (path) {
            case "/ready" -> {
                boolean yes = started && ready.getAsBoolean();
                answer(connection, yes ? 200 : 503, yes ? "ready\n" : "starting\n");
            }
            case "/counters" -> answer(connection, 200, Json.write(Counters.read(role)));
            case "/metrics" -> answer(connection, 200, Metrics.scrape());
            case "/fault" -> {
                String wrong = Faults.set(query);
                answer(connection, wrong == null ? 200 : 400, wrong == null ? Json.write(Faults.on()) : wrong + "\n");
            }
            case "/rule" -> {
                putRule(query.getOrDefault("key", ""), query.getOrDefault("rule", ""));
                answer(connection, 200, "ok\n");
            }
            default -> answer(connection, 404, "not found\n");
        }
    }

    private static void putRule(String key, String rule) throws IOException {
        try {
            ZooKeeperRole.rule(key, rule);
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    private static Map<String, String> query(String text) {
        Map<String, String> map = new HashMap<>();
        for (String pair : text.split("&")) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                map.put(pair.substring(0, equals), URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
            }
        }
        return map;
    }

    private static void answer(Socket connection, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        String head = "HTTP/1.1 " + status + " -\r\nContent-Length: " + bytes.length + "\r\nConnection: close\r\n\r\n";
        OutputStream out = connection.getOutputStream();
        out.write(head.getBytes(StandardCharsets.ISO_8859_1));
        out.write(bytes);
        out.flush();
    }
}
