package com.acme.shop.order;

import com.acme.shop.Category;
import com.acme.shop.OrderService;
import com.acme.shop.SkuService;
import com.acme.shop.Stock;
import com.acme.shop.lab.Settings;
import org.apache.dubbo.rpc.RpcException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The order service. */
public class OrderServiceImpl implements OrderService {
    private static final Logger log = LoggerFactory.getLogger(OrderServiceImpl.class);

    /** Whether an order looks at the stock before it deducts. */
    private final boolean check = Settings.flag("order.check", false);
    private volatile SkuService products;

    public void use(SkuService service) {
        products = service;
    }

    @Override
    public Stock stock(String sku) {
        return products().getSkuStock(sku);
    }

    @Override
    public Category category(String id) {
        return products().getCategory(id);
    }

    @Override
    public boolean placeOrder(String orderId, String sku) {
        try {
            if (check && products().getSkuStock(sku).getAvailable() < 1) {
                log.info("order {} refused: {} is sold out", orderId, sku);
                return false;
            }
            boolean placed = products().deductStock(orderId, sku, 1);
            log.info("order {} for {} {}", orderId, sku, placed ? "placed" : "refused");
            return placed;
        } catch (RpcException e) {
            log.error("place order {} failed", orderId, e);
            throw e;
        }
    }

    @Override
    public String quote(String sku) {
        return products().quote(sku);
    }

    @Override
    public long price(String sku) {
        return products().price(sku);
    }

    private SkuService products() {
        SkuService service = products;
        if (service == null) {
            throw new IllegalStateException("not started yet");
        }
        return service;
    }
}
