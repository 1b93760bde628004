package com.acme.shop.lab;

import java.io.File;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A single ZooKeeper server with its data under lab.dir. */
final class ZooKeeperRole {
    private ZooKeeperRole() {
    }

    static void start() throws Exception {
        System.setProperty("zookeeper.admin.enableServer", "false");
        String address = Settings.text("zk", "127.0.0.1:2181");
        int colon = address.lastIndexOf(':');
        File data = new File(Settings.text("dir", "."), "zookeeper");
        ZooKeeperServer server = new ZooKeeperServer(data, data, 2000);
        ServerCnxnFactory connections = ServerCnxnFactory.createFactory(
                new InetSocketAddress(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1))), 200);
        connections.startup(server);
    }

    /**
     * Puts a rule where Dubbo's configuration centre looks for it, for example under the key shop-product.tag-router,
     * or takes it away when it is empty.
     */
    static void rule(String key, String rule) throws Exception {
        try (ZooKeeper client = new ZooKeeper(Settings.text("zk", "127.0.0.1:2181"), 10_000, event -> { })) {
            if (rule.isEmpty()) {
                client.delete("/dubbo/config/dubbo/" + key, -1);
                return;
            }
            String path = "";
            for (String part : new String[] {"dubbo", "config", "dubbo", key}) {
                path += "/" + part;
                if (client.exists(path, false) == null) {
                    client.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                }
            }
            client.setData(path, rule.getBytes(StandardCharsets.UTF_8), -1);
        }
    }
}
