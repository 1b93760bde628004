package com.acme.shop;

import org.apache.dubbo.config.*;

final class Dubbo {
    static Object stand() throws Exception {
        ApplicationConfig app = new ApplicationConfig("shop");
        app.setQosEnable(false);
        ServiceConfig<InventoryService> service = new ServiceConfig<>();
        service.setApplication(app);
        service.setRegistry(new RegistryConfig("N/A"));
        ProtocolConfig protocol = new ProtocolConfig("dubbo", 28080);
        protocol.setThreads(4);
        service.setProtocol(protocol);
        service.setInterface(InventoryService.class);
        service.setRef(new InventoryServiceImpl());
        service.export();
        ReferenceConfig<InventoryService> ref = new ReferenceConfig<>();
        ref.setApplication(app);
        ref.setInterface(InventoryService.class);
        ref.setUrl("dubbo://127.0.0.1:28080/com.acme.shop.InventoryService");
        ref.setTimeout(600000);
        ref.setCheck(false);
        InventoryService inventory = ref.get();
        Stand.on("rpc/dubbo/1", () -> inventory.reserve("a"));
        Stand.on("rpc/dubbo/2", () -> inventory.reserve("b"));
        return null;
    }
}
