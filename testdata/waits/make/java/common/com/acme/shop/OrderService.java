package com.acme.shop;

/** The service method that every situation is reached through. */
final class OrderService {
    static Object placeOrder(Call call) throws Exception {
        return OrderDao.find(call);
    }
}
