package com.acme.shop;

import java.io.Serializable;

/** The stock of one SKU over all warehouses. */
public class Stock implements Serializable {
    private static final long serialVersionUID = 1L;

    private String sku;
    private int warehouses;
    private long available;

    public Stock() {
    }

    public Stock(String sku, int warehouses, long available) {
        this.sku = sku;
        this.warehouses = warehouses;
        this.available = available;
    }

    public String getSku() {
        return sku;
    }

    public void setSku(String sku) {
        this.sku = sku;
    }

    public int getWarehouses() {
        return warehouses;
    }

    public void setWarehouses(int warehouses) {
        this.warehouses = warehouses;
    }

    public long getAvailable() {
        return available;
    }

    public void setAvailable(long available) {
        this.available = available;
    }

    @Override
    public String toString() {
        return "Stock{sku=" + sku + ", warehouses=" + warehouses + ", available=" + available + "}";
    }
}
