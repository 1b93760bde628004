package com.acme.shop.lab;

import com.acme.shop.gateway.GatewayServer;
import com.acme.shop.order.OrderServiceImpl;
import com.acme.shop.product.SkuServiceImpl;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts one role of the lab: zookeeper, gateway, order, product, or product-all (order and product in one provider). */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 1) {
            System.err.println("usage: Main zookeeper|gateway|order|product|product-all  (see README.md for -Dlab.* properties)");
            System.exit(2);
        }
        // Dubbo chooses its logger at class loading; without this 2.7 looks for log4j first.
        System.setProperty("dubbo.application.logger", "slf4j");
        // Dubbo keeps caches of the registry under the home directory; those of another process or run must not be found.
        System.setProperty("user.home", Settings.text("dir", "."));
        String role = args[0];
        long began = System.nanoTime();
        ControlServer control = ControlServer.start(role);
        try {
            start(role, control);
        } catch (Exception e) {
            LoggerFactory.getLogger(Main.class).error("start of {} failed", role, e);
            System.exit(1);
        }
        Logger log = LoggerFactory.getLogger(Main.class);
        log.info("Started {} ({}) in {} ms", Settings.text("name", role), role, (System.nanoTime() - began) / 1_000_000);
        control.started();
        new CountDownLatch(1).await();
    }

    private static void start(String role, ControlServer control) throws Exception {
        switch (role) {
            case "zookeeper" -> ZooKeeperRole.start();
            case "product" -> {
                Remoting remoting = new Remoting("shop-product");
                remoting.export(com.acme.shop.SkuService.class, new SkuServiceImpl());
                remoting.start();
            }
            case "product-all" -> {
                Remoting remoting = new Remoting("shop-product");
                remoting.export(com.acme.shop.SkuService.class, new SkuServiceImpl());
                OrderServiceImpl order = new OrderServiceImpl();
                remoting.export(com.acme.shop.OrderService.class, order);
                remoting.referSku();
                remoting.start();
                order.use(remoting.sku());
                control.readyWhen(remoting::providersSeen);
            }
            case "order" -> {
                Remoting remoting = new Remoting("shop-order");
                OrderServiceImpl order = new OrderServiceImpl();
                remoting.export(com.acme.shop.OrderService.class, order);
                remoting.referSku();
                remoting.start();
                order.use(remoting.sku());
                control.readyWhen(remoting::providersSeen);
            }
            case "gateway" -> {
                Remoting remoting = new Remoting("shop-gateway");
                remoting.referOrder();
                remoting.start();
                new GatewayServer(remoting.order()).start();
                control.readyWhen(remoting::providersSeen);
            }
            default -> throw new IllegalArgumentException("unknown role " + role);
        }
    }
}
