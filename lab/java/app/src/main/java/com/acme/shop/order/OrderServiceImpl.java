package com.acme.shop.order;

import com.acme.shop.Category;
import com.acme.shop.OrderException;
import com.acme.shop.OrderService;
import com.acme.shop.SkuService;
import com.acme.shop.Stock;
import com.acme.shop.lab.Settings;
import java.util.function.Supplier;
import org.apache.dubbo.rpc.RpcException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The order service. */
public class OrderServiceImpl implements OrderService {
    private static final Logger log = LoggerFactory.getLogger(OrderServiceImpl.class);

    /** Whether an order looks at the stock before it deducts. */
    private final boolean check = Settings.flag("order.check", false);
    /** Whether a failed RPC is thrown on as it is, as careless services do. */
    private final boolean raw = Settings.flag("order.raw", false);
    private volatile SkuService products;

    public void use(SkuService service) {
        products = service;
    }

    @Override
    public Stock stock(String sku) {
        return call("stock of " + sku, () -> products().getSkuStock(sku));
    }

    @Override
    public Category category(String id) {
        return call("category " + id, () -> products().getCategory(id));
    }

    @Override
    public boolean placeOrder(String orderId, String sku) {
        return call("place order " + orderId, () -> {
            if (check && products().getSkuStock(sku).getAvailable() < 1) {
                log.info("order {} refused: {} is sold out", orderId, sku);
                return false;
            }
            boolean placed = products().deductStock(orderId, sku, 1);
            log.info("order {} for {} {}", orderId, sku, placed ? "placed" : "refused");
            return placed;
        });
    }

    @Override
    public String quote(String sku) {
        return call("quote for " + sku, () -> products().quote(sku));
    }

    @Override
    public long price(String sku) {
        return call("price of " + sku, () -> products().price(sku));
    }

    /** Makes the calls of one request; a failed RPC is logged here and told to the caller without its causes. */
    private <T> T call(String what, Supplier<T> calls) {
        try {
            return calls.get();
        } catch (RpcException e) {
            log.error("{} failed", what, e);
            if (raw) {
                throw e;
            }
            throw new OrderException(what + " failed, try again later");
        }
    }

    private SkuService products() {
        SkuService service = products;
        if (service == null) {
            throw new IllegalStateException("not started yet");
        }
        return service;
    }
}
