package com.acme.shop.lab;

import java.io.File;
import java.net.InetSocketAddress;
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
}
