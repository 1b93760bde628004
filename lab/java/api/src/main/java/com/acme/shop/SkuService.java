package com.acme.shop;

/** What the product service offers about one stock-keeping unit. */
public interface SkuService {

    /** Reads the stock rows of a SKU from the database. */
    Stock getSkuStock(String sku);

    /** Answers from memory; touches neither database nor network. */
    Category getCategory(String id);

    /** Books n pieces for an order. Not idempotent: every execution writes a log row and takes stock. */
    boolean deductStock(String orderId, String sku, int n);

    /** Asks the vendor's HTTP service for a price offer. */
    String quote(String sku);

    /** Computes a price, in pure Java. */
    long price(String sku);
}
