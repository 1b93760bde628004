package com.acme.shop;

/** What a thread does until it is stuck. */
interface Call {
    Object run() throws Exception;
}
