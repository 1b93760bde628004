package com.acme.shop.lab;

import org.apache.dubbo.common.constants.CommonConstants;
import org.apache.dubbo.common.extension.Activate;
import org.apache.dubbo.rpc.Filter;
import org.apache.dubbo.rpc.Invocation;
import org.apache.dubbo.rpc.Invoker;
import org.apache.dubbo.rpc.Result;
import org.apache.dubbo.rpc.RpcException;

/** Counts requests that got a worker thread, before any other filter may refuse them. */
@Activate(group = CommonConstants.PROVIDER, order = Integer.MIN_VALUE)
public class ReceiveFilter implements Filter {
    @Override
    public Result invoke(Invoker<?> invoker, Invocation invocation) throws RpcException {
        String edge = Edges.name(invoker, invocation);
        if (edge != null) {
            Counters.provider(edge).received.increment();
        }
        return invoker.invoke(invocation);
    }
}
