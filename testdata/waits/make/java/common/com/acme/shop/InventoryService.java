package com.acme.shop;

public interface InventoryService {
    String reserve(String sku);
}
