package com.acme.shop;

import io.github.resilience4j.bulkhead.*;
import io.github.resilience4j.circuitbreaker.*;
import io.github.resilience4j.ratelimiter.*;
import io.github.resilience4j.retry.*;
import io.github.resilience4j.timelimiter.*;
import java.time.Duration;
import java.util.concurrent.*;
import org.slf4j.Logger;

/** Resilience4j's refusals and events, events as applications log them. */
final class Resilience {
    static void run(Logger log) throws Throwable {
        CircuitBreaker cb = CircuitBreaker.of("stock", CircuitBreakerConfig.custom().slidingWindowSize(2).minimumNumberOfCalls(2).build());
        cb.getEventPublisher().onStateTransition(e -> log.warn("{}", e)).onError(e -> log.warn("{}", e)).onFailureRateExceeded(e -> log.warn("{}", e));
        for (int i = 0; i < 3; i++) {
            Pools.ask("resilience4j", () -> cb.executeCheckedSupplier(() -> { throw new java.net.SocketTimeoutException("Read timed out"); }));
        }
        Bulkhead bh = Bulkhead.of("price", BulkheadConfig.custom().maxConcurrentCalls(1).maxWaitDuration(Duration.ZERO).build());
        bh.getEventPublisher().onCallRejected(e -> log.warn("{}", e));
        bh.acquirePermission();
        Pools.ask("resilience4j", () -> bh.executeRunnable(() -> {}));
        RateLimiter rl = RateLimiter.of("search", RateLimiterConfig.custom().limitForPeriod(1).limitRefreshPeriod(Duration.ofMinutes(1)).timeoutDuration(Duration.ZERO).build());
        rl.acquirePermission();
        Pools.ask("resilience4j", () -> rl.executeRunnable(() -> {}));
        TimeLimiter tl = TimeLimiter.of("ship", TimeLimiterConfig.custom().timeoutDuration(Duration.ofMillis(100)).build());
        Pools.ask("resilience4j", () -> tl.executeFutureSupplier(CompletableFuture::new));
        Retry retry = Retry.of("pay", RetryConfig.custom().maxAttempts(3).waitDuration(Duration.ofMillis(20)).build());
        retry.getEventPublisher().onRetry(e -> log.warn("{}", e)).onError(e -> log.warn("{}", e)).onSuccess(e -> log.info("{}", e));
        Pools.ask("resilience4j", () -> retry.executeCheckedSupplier(() -> { throw new java.net.SocketTimeoutException("Read timed out"); }));
        int[] n = {0};
        Pools.ask("resilience4j", () -> retry.executeCheckedSupplier(() -> { if (n[0]++ == 0) { throw new java.net.SocketTimeoutException("Read timed out"); } return "x"; }));
        Retry result = Retry.of("poll", RetryConfig.<String>custom().maxAttempts(2).waitDuration(Duration.ofMillis(20)).retryOnResult(r -> true).failAfterMaxAttempts(true).build());
        Pools.ask("resilience4j", () -> result.executeSupplier(() -> "x"));
    }
}
