package com.acme.shop;

import java.io.*;
import java.net.*;
import java.util.*;

/** A server that accepts and says next to nothing: enough Redis to let clients connect, no answer to GET or to HTTP. */
final class FakeServer implements Runnable {
    final ServerSocket socket;

    FakeServer() throws IOException {
        socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this);
    }

    int port() { return socket.getLocalPort(); }

    static void start(Runnable r) { Thread t = new Thread(r); t.setDaemon(true); t.start(); }

    public void run() {
        for (;;) {
            try {
                Socket s = socket.accept();
                start(() -> { try { serve(s); } catch (IOException e) { /* gone */ } });
            } catch (IOException e) { return; }
        }
    }

    private static void serve(Socket s) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(s.getInputStream()));
        for (String line; (line = in.readLine()) != null;) {
            if (!line.startsWith("*")) continue;
            List<String> words = new ArrayList<>();
            for (int n = Integer.parseInt(line.substring(1)); n > 0; n--) { in.readLine(); words.add(in.readLine()); }
            switch (words.get(0).toUpperCase(Locale.ROOT)) {
                case "GET": break;
                case "PING": s.getOutputStream().write("+PONG\r\n".getBytes()); break;
                case "HELLO": s.getOutputStream().write("-ERR unknown command 'HELLO'\r\n".getBytes()); break;
                default: s.getOutputStream().write("+OK\r\n".getBytes());
            }
        }
    }
}
