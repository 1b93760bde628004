package com.acme.shop.lab;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** Counts logical calls: it stands around Dubbo's proxy, so one call here may become several attempts inside. */
final class CallCounter {
    /** Attempts of the call this thread is in; failover runs every attempt in the caller's thread. */
    private static final ThreadLocal<int[]> ATTEMPTS = new ThreadLocal<>();

    private CallCounter() {
    }

    static <T> T around(Class<T> type, T proxy) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            if (method.getDeclaringClass() == Object.class) {
                return method.invoke(proxy, args);
            }
            ConsumerCounts counts = Counters.consumer(type.getSimpleName() + "." + method.getName());
            int[] attempts = new int[1];
            int[] outer = ATTEMPTS.get();
            ATTEMPTS.set(attempts);
            Faults.tagCall();
            counts.calls.increment();
            boolean ok = false;
            try {
                Object answer = method.invoke(proxy, args);
                ok = true;
                return answer;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            } finally {
                ATTEMPTS.set(outer);
                counts.end(ok, attempts[0]);
            }
        }));
    }

    static void attempt() {
        int[] attempts = ATTEMPTS.get();
        if (attempts != null) {
            attempts[0]++;
        }
    }
}
