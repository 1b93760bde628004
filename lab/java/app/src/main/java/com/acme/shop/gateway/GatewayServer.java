package com.acme.shop.gateway;

import com.acme.shop.OrderException;
import com.acme.shop.OrderService;
import com.acme.shop.lab.Counters;
import com.acme.shop.lab.Settings;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.dubbo.rpc.RpcException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The HTTP front of the shop: 200 on success, 503 when an RPC failed, here or in the order service, 500 for everything else. */
public class GatewayServer {
    private static final Logger log = LoggerFactory.getLogger(GatewayServer.class);

    private final OrderService orders;

    public GatewayServer(OrderService orders) {
        this.orders = orders;
    }

    public void start() throws IOException {
        int port = Settings.number("http.port", 8080);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 500);
        int threads = Settings.number("http.threads", 64);
        AtomicInteger number = new AtomicInteger();
        server.setExecutor(new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(Settings.number("http.queue", 500)),
                task -> new Thread(task, "http-exec-" + number.incrementAndGet())));
        route(server, "/stock", (first, second) -> orders.stock(first));
        route(server, "/category", (first, second) -> orders.category(first));
        route(server, "/order", this::placeOrder);
        route(server, "/quote", (first, second) -> orders.quote(first));
        route(server, "/price", (first, second) -> orders.price(first));
        server.start();
        log.info("Gateway listens on port {} with {} threads", port, threads);
    }

    private Object placeOrder(String orderId, String sku) {
        boolean placed = orders.placeOrder(orderId, sku);
        log.info("order {} for {}: {}", orderId, sku, placed ? "placed" : "sold out");
        return placed;
    }

    /** What answers a path, given its two variable parts. */
    private interface Route {
        Object answer(String first, String second);
    }

    private static void route(HttpServer server, String prefix, Route route) {
        server.createContext(prefix + "/", exchange -> serve(exchange, prefix, route));
    }

    private static void serve(HttpExchange exchange, String prefix, Route route) throws IOException {
        String rest = exchange.getRequestURI().getPath().substring(prefix.length() + 1);
        int slash = rest.indexOf('/');
        String first = slash < 0 ? rest : rest.substring(0, slash);
        String second = slash < 0 ? "" : rest.substring(slash + 1);
        int status = 200;
        String body;
        try {
            body = String.valueOf(route.answer(first, second));
        } catch (RpcException | OrderException e) {
            log.error("{} {} failed", prefix.equals("/order") ? "place order" : prefix.substring(1) + " of", first, e);
            status = 503;
            body = "service unavailable";
        } catch (RuntimeException e) {
            log.error("{} {} failed", exchange.getRequestMethod(), exchange.getRequestURI(), e);
            status = 500;
            body = "internal error";
        }
        Counters.answered(prefix, status);
        byte[] bytes = (body + "\n").getBytes(StandardCharsets.UTF_8);
        try (exchange) {
            exchange.sendResponseHeaders(status, bytes.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(bytes);
            }
        }
    }
}
