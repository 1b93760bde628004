package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"

	"dubbo.apache.org/dubbo-go/v3"
	"dubbo.apache.org/dubbo-go/v3/client"
	"dubbo.apache.org/dubbo-go/v3/common/constant"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// front is the HTTP front of the consumer. A failed call is answered with 503, so
// that a proxy before it may retry.
type front struct {
	count *counters
	sku   *SkuClient
}

func runConsumer(c *config, ins *dubbo.Instance) error {
	count, f := newCounters(c), &faults{}
	setFilters(count)
	opts := []client.ClientOption{
		client.WithClientURL(c.urls),
		client.WithClientRequestTimeout(c.timeout),
		client.WithClientNoCheck(),
		client.WithClientSerialization(constant.Hessian2Serialization),
		client.WithClientClusterStrategy(c.cluster),
		client.WithClientFilter(attemptFilter),
	}
	switch c.protocol {
	case "dubbo":
		opts = append(opts, client.WithClientProtocolDubbo())
	case "tri":
		opts = append(opts, client.WithClientProtocolTriple())
	default:
		return fmt.Errorf("protocol %q: want dubbo or tri", c.protocol)
	}
	if c.retries >= 0 {
		opts = append(opts, client.WithClientRetries(c.retries))
	}
	if c.balance != "" {
		opts = append(opts, client.WithClientLoadBalance(c.balance))
	}
	cli, err := ins.NewClient(opts...)
	if err != nil {
		return fmt.Errorf("make the client: %w", err)
	}
	sku, err := refer(cli, c.protocol)
	if err != nil {
		return fmt.Errorf("refer to the service: %w", err)
	}
	l, err := net.Listen("tcp", c.http)
	if err != nil {
		return fmt.Errorf("HTTP front: %w", err)
	}
	if err := serveControl(c, count, f, func() {}, func() error { return nil }); err != nil {
		return err
	}
	fr := &front{count: count, sku: sku}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stock/{sku}", serve(fr, "getSkuStock", sku.GetSkuStock))
	mux.HandleFunc("GET /category/{sku}", serve(fr, "getCategory", sku.GetCategory))
	mux.HandleFunc("GET /price/{sku}", serve(fr, "price", sku.Price))
	return http.Serve(l, mux)
}

// refer makes the functions that call the service. On the dubbo protocol they are
// dubbo-go's proxy; on triple, which that proxy cannot call without generated
// code, they go through its connection.
func refer(cli *client.Client, protocol string) (*SkuClient, error) {
	opts := []client.ReferenceOption{
		client.WithInterface(skuInterface), client.WithSerialization(constant.Hessian2Serialization),
	}
	sku := new(SkuClient)
	if protocol != "tri" {
		_, err := cli.NewService(sku, opts...)
		return sku, err
	}
	conn, err := cli.NewService(new(skuNames), opts...)
	if err != nil {
		return nil, err
	}
	sku.GetSkuStock = func(ctx context.Context, sku string) (*Stock, error) {
		v := new(Stock)
		return v, conn.CallUnary(ctx, []any{sku}, v, "GetSkuStock")
	}
	sku.GetCategory = func(ctx context.Context, id string) (string, error) {
		var v string
		err := conn.CallUnary(ctx, []any{id}, &v, "GetCategory")
		return v, err
	}
	sku.Price = func(ctx context.Context, sku string) (*Stock, error) {
		v := new(Stock)
		return v, conn.CallUnary(ctx, []any{sku}, v, "Price")
	}
	return sku, nil
}

// serve makes a handler that does one logical call and counts it.
func serve[T any](f *front, method string, call func(context.Context, string) (T, error)) http.HandlerFunc {
	edge := skuInterface + "." + method
	return func(w http.ResponseWriter, r *http.Request) {
		// dubbo-go hangs the span of each attempt under the span of its context.
		ctx := otel.GetTextMapPropagator().Extract(context.WithoutCancel(r.Context()), propagation.HeaderCarrier(r.Header))
		ctx, span := otel.Tracer("lab").Start(ctx, r.Method+" "+r.Pattern[len(r.Method)+1:], trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		var attempts atomic.Int64
		ctx = context.WithValue(ctx, attemptsKey{}, &attempts)
		f.count.edge(edge, func(e *consumerCount) { e.Calls++ })
		v, err := call(ctx, r.PathValue("sku"))
		f.count.edge(edge, func(e *consumerCount) {
			e.ByAttempts[strconv.FormatInt(attempts.Load(), 10)]++
			if err != nil {
				e.Failed++
			} else {
				e.OK++
			}
		})
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
			return
		}
		_ = json.NewEncoder(w).Encode(v)
	}
}
