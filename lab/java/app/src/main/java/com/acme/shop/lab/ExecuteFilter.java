package com.acme.shop.lab;

import java.util.concurrent.TimeUnit;
import org.apache.dubbo.common.constants.CommonConstants;
import org.apache.dubbo.common.extension.Activate;
import org.apache.dubbo.rpc.Filter;
import org.apache.dubbo.rpc.Invocation;
import org.apache.dubbo.rpc.Invoker;
import org.apache.dubbo.rpc.Result;
import org.apache.dubbo.rpc.RpcException;

/** Counts executions of business code, and those that ended after their consumer had given up; it is the innermost filter. */
@Activate(group = CommonConstants.PROVIDER, order = Integer.MAX_VALUE)
public class ExecuteFilter implements Filter {
    @Override
    public Result invoke(Invoker<?> invoker, Invocation invocation) throws RpcException {
        String edge = Edges.name(invoker, invocation);
        if (edge == null) {
            return invoker.invoke(invocation);
        }
        ProviderCounts counts = Counters.provider(edge);
        counts.executions.increment();
        long began = System.nanoTime();
        boolean thrown = true;
        try {
            Result result = invoker.invoke(invocation);
            thrown = result.hasException();
            return result;
        } finally {
            long ended = System.nanoTime();
            counts.end(ended - began, lateness(invocation, ended), thrown);
        }
    }

    private static long lateness(Invocation invocation, long ended) {
        String timeout = invocation.getAttachment(CommonConstants.TIMEOUT_KEY);
        if (timeout == null) {
            return 0;
        }
        return ended - CountedExecutor.arrival() - TimeUnit.MILLISECONDS.toNanos(Long.parseLong(timeout));
    }
}
