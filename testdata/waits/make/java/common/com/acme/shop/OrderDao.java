package com.acme.shop;

/** The layer between the service and what it waits for. */
final class OrderDao {
    static Object find(Call call) throws Exception {
        return call.run();
    }
}
