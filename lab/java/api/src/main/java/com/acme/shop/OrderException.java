package com.acme.shop;

/** The order service could not do its work because another service failed it. */
public class OrderException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public OrderException(String message) {
        super(message);
    }
}
