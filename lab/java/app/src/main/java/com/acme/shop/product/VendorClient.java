package com.acme.shop.product;

import com.acme.shop.lab.Settings;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The vendor's price service, over HTTP. */
class VendorClient {
    private static final Logger log = LoggerFactory.getLogger(VendorClient.class);

    private final String base = Settings.text("vendor", "http://127.0.0.1:8089");
    private final int timeout = Settings.number("vendor.timeout.ms", 30_000);

    String quote(String sku) {
        try {
            HttpURLConnection connection = (HttpURLConnection) new URL(base + "/quote/" + sku).openConnection();
            connection.setConnectTimeout(2000);
            connection.setReadTimeout(timeout);
            try (InputStream body = connection.getInputStream()) {
                return new String(body.readAllBytes(), StandardCharsets.UTF_8).trim();
            }
        } catch (IOException e) {
            log.warn("no quote for {} from the vendor", sku, e);
            throw new IllegalStateException("no quote for " + sku, e);
        }
    }
}
