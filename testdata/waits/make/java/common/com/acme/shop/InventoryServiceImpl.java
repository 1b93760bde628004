package com.acme.shop;

public final class InventoryServiceImpl implements InventoryService {
    public String reserve(String sku) {
        Locks.sleep();
        return sku;
    }
}
