package com.acme.shop.lab;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import org.apache.dubbo.common.URL;
import org.apache.dubbo.common.threadpool.support.fixed.FixedThreadPool;

/** Dubbo's fixed pool (it takes the name "fixed"), with its rejections and its peak counted. */
public class CountedFixedThreadPool extends FixedThreadPool {
    private static volatile CountedExecutor pool;

    @Override
    public Executor getExecutor(URL url) {
        CountedExecutor counted = new CountedExecutor((ThreadPoolExecutor) super.getExecutor(url));
        if (pool == null || url.getPort() == Settings.number("dubbo.port", 20880)) {
            pool = counted;
        }
        return counted;
    }

    static long rejected() {
        return CountedExecutor.REJECTED.sum();
    }

    static Map<String, Object> read() {
        Map<String, Object> map = new LinkedHashMap<>();
        CountedExecutor now = pool;
        if (now != null) {
            map.put("max", now.getMaximumPoolSize());
            map.put("active", now.active());
            map.put("active_peak", now.peak());
            map.put("queued", now.getQueue().size());
        }
        return map;
    }
}
