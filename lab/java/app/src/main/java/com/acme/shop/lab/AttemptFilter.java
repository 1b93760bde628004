package com.acme.shop.lab;

import org.apache.dubbo.common.constants.CommonConstants;
import org.apache.dubbo.common.extension.Activate;
import org.apache.dubbo.rpc.Filter;
import org.apache.dubbo.rpc.Invocation;
import org.apache.dubbo.rpc.Invoker;
import org.apache.dubbo.rpc.Result;
import org.apache.dubbo.rpc.RpcException;

/** Counts attempts: a consumer Filter belongs to one invoker, inside the cluster invoker, so it runs once per attempt. */
@Activate(group = CommonConstants.CONSUMER, order = Integer.MIN_VALUE)
public class AttemptFilter implements Filter {
    @Override
    public Result invoke(Invoker<?> invoker, Invocation invocation) throws RpcException {
        String edge = Edges.name(invoker, invocation);
        if (edge == null) {
            return invoker.invoke(invocation);
        }
        ConsumerCounts counts = Counters.consumer(edge);
        counts.attempts.increment();
        CallCounter.attempt();
        // 2.7 does not tell the provider how long its consumer waits, 3.x sets the same attachment itself.
        if (invocation.getAttachment(CommonConstants.TIMEOUT_KEY) == null) {
            invocation.setAttachment(CommonConstants.TIMEOUT_KEY,
                    Integer.toString(invoker.getUrl().getMethodParameter(invocation.getMethodName(), CommonConstants.TIMEOUT_KEY, 1000)));
        }
        try {
            Result result = invoker.invoke(invocation);
            counts.outcome(result.hasException() ? "exception" : "ok");
            return result;
        } catch (RpcException e) {
            counts.outcome(name(e));
            throw e;
        }
    }

    /** One word for why an attempt failed. */
    private static String name(RpcException e) {
        String message = String.valueOf(e.getMessage());
        if (message.contains("pool is exhausted")) {
            return "rejected";
        }
        if (e.isLimitExceed() || message.contains("<dubbo:service executes=")) {
            return "limit";
        }
        if (e.isTimeout()) {
            return "timeout";
        }
        if (e.isNetwork()) {
            return "network";
        }
        if (e.getCode() == RpcException.FORBIDDEN_EXCEPTION) {
            return "forbidden";
        }
        if (e.isSerialization()) {
            return "serialization";
        }
        return e.isBiz() ? "biz" : "other";
    }
}
