package com.acme.shop;

/** The order service: what the gateway calls. Every method makes one call of SkuService. */
public interface OrderService {

    Stock stock(String sku);

    Category category(String id);

    /** Places an order for one piece, which deducts stock. */
    boolean placeOrder(String orderId, String sku);

    String quote(String sku);

    long price(String sku);
}
