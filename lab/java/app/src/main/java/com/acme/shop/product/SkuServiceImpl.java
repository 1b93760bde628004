package com.acme.shop.product;

import com.acme.shop.Category;
import com.acme.shop.SkuService;
import com.acme.shop.Stock;
import com.acme.shop.lab.Faults;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The product service. */
public class SkuServiceImpl implements SkuService {
    private static final Logger log = LoggerFactory.getLogger(SkuServiceImpl.class);

    private final StockRepository stocks = new StockRepository(DataSources.open());
    private final CategoryCatalog categories = new CategoryCatalog();
    private final VendorClient vendor = new VendorClient();
    private final PriceCalculator prices = new PriceCalculator();

    @Override
    public Stock getSkuStock(String sku) {
        pause("getSkuStock");
        return stocks.find(sku);
    }

    @Override
    public Category getCategory(String id) {
        pause("getCategory");
        return categories.get(id);
    }

    @Override
    public boolean deductStock(String orderId, String sku, int n) {
        boolean deducted = stocks.deduct(orderId, sku, n);
        pause("deductStock");
        if (deducted) {
            log.info("order {}: {} of {} deducted", orderId, n, sku);
        } else {
            log.warn("order {}: not enough stock of {}", orderId, sku);
        }
        return deducted;
    }

    @Override
    public String quote(String sku) {
        pause("quote");
        return vendor.quote(sku);
    }

    @Override
    public long price(String sku) {
        pause("price");
        return prices.price(sku);
    }

    /** Sleeps when the fault "slow" is on for a method. */
    private static void pause(String method) {
        int ms = Faults.slow(method);
        if (ms > 0) {
            try {
                Thread.sleep(ms);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
