package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"dubbo.apache.org/dubbo-go/v3/common/constant"
	"dubbo.apache.org/dubbo-go/v3/common/extension"
	"dubbo.apache.org/dubbo-go/v3/filter"
	"dubbo.apache.org/dubbo-go/v3/protocol/base"
	"dubbo.apache.org/dubbo-go/v3/protocol/result"
)

const (
	attemptFilter = "labAttempt"
	receiveFilter = "labReceive"
)

// attemptsKey is the context key of the number of attempts of one logical call.
type attemptsKey struct{}

// receiptKey is the context key of a request's receipt.
type receiptKey struct{}

// receipt is what the provider knows of one request from its arrival.
type receipt struct {
	timeout  time.Duration // the consumer's
	executed bool          // the method was entered
}

// countAttempts counts what a consumer sends. dubbo-go runs it once for each
// invoker that the cluster tries, so once for each attempt.
type countAttempts struct{ c *counters }

// countReceived counts what arrives at a provider.
type countReceived struct{ c *counters }

func setFilters(c *counters) {
	extension.SetFilter(attemptFilter, func() filter.Filter { return countAttempts{c} })
	extension.SetFilter(receiveFilter, func() filter.Filter { return countReceived{c} })
}

func (f countAttempts) Invoke(ctx context.Context, next base.Invoker, inv base.Invocation) result.Result {
	if n, ok := ctx.Value(attemptsKey{}).(*atomic.Int64); ok {
		n.Add(1)
	}
	edge := skuInterface + "." + methodName(inv)
	f.c.edge(edge, func(e *consumerCount) { e.Attempts++; e.InFlight++ })
	res := next.Invoke(ctx, inv)
	f.c.edge(edge, func(e *consumerCount) { e.Outcomes[outcome(res.Error())]++; e.InFlight-- })
	return res
}

func (f countAttempts) OnResponse(_ context.Context, res result.Result, _ base.Invoker, _ base.Invocation) result.Result {
	return res
}

func (f countReceived) Invoke(ctx context.Context, next base.Invoker, inv base.Invocation) result.Result {
	method := methodName(inv)
	f.c.method(method, func(m *providerCount) { m.Received++ })
	r := &receipt{timeout: consumerTimeout(ctx, inv)}
	res := next.Invoke(context.WithValue(ctx, receiptKey{}, r), inv)
	// The execute limit answers without running the method, and without an error.
	if !r.executed {
		f.c.method(method, func(m *providerCount) { m.Rejected++ })
	}
	return res
}

func (f countReceived) OnResponse(_ context.Context, res result.Result, _ base.Invoker, _ base.Invocation) result.Result {
	return res
}

// methodName is the method as it is called on the dubbo protocol; triple's begins
// with a capital letter.
func methodName(inv base.Invocation) string {
	name := inv.MethodName()
	if name == "" {
		return name
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// consumerTimeout tells how long the consumer waits for this attempt: triple
// carries a deadline, the dubbo protocol an attachment in milliseconds. It is
// negative if neither says. On the dubbo protocol dubbo-go 3.3.1 sends timeout=0
// with every retry and then waits without limit: it reads its own attachment of
// the first attempt ("500") as a duration, which fails for want of a unit.
func consumerTimeout(ctx context.Context, inv base.Invocation) time.Duration {
	if at, ok := ctx.Deadline(); ok {
		return time.Until(at)
	}
	v, ok := inv.GetAttachmentInterface(constant.TimeoutKey).(string)
	if !ok {
		return -1
	}
	if ms, err := strconv.Atoi(v); err == nil {
		return time.Duration(ms) * time.Millisecond
	}
	if d, err := time.ParseDuration(v); err == nil {
		return d
	}
	return -1
}

// outcome tells how an attempt ended, by the words of dubbo-go's error.
func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	msg := strings.ToLower(fmt.Sprint(err))
	for _, k := range []struct{ words, outcome string }{
		{"read timeout", "timeout"},
		{"deadline", "timeout"},
		{"timeout", "timeout"},
		{"rejected", "rejected"},
		{"limit", "rejected"},
		{"refused", "unreachable"},
		{"unavailable", "unreachable"},
		{"session", "unreachable"},
		{"closed", "unreachable"},
	} {
		if strings.Contains(msg, k.words) {
			return k.outcome
		}
	}
	return "failed"
}
