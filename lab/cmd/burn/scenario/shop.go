package scenario

import (
	"fmt"
	"maps"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/load"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/stack"
)

// layout is the shape of a shop: what differs between scenarios.
type layout struct {
	line     string // dubbo3 if empty
	products int    // 2 if 0
	threads  int    // of a product, 20 if 0
	queues   int
	retries  int // of order -> product; Dubbo's default is 2
	timeout  int // of an attempt in ms, 1000 if 0
	pool     int // connections of a product, as many as threads if 0
	product  map[string]string
	order    map[string]string
	proxy    *stack.Proxy
}

// noRetry is nginx as most set it: it tries nobody else.
var noRetry = stack.Proxy{NextUpstream: "off", Tries: 1, ReadTimeout: "20s"}

// shop lays out gateway, order and products. The callers are wide, so that the
// products' pool is what fills first.
func shop(l layout) stack.Setup {
	line, products, threads, timeout := or(l.line, "dubbo3"), or(l.products, 2), or(l.threads, 20), or(l.timeout, 1000)
	proxy := noRetry
	if l.proxy != nil {
		proxy = *l.proxy
	}
	product := map[string]string{
		"threads": fmt.Sprint(threads), "queues": fmt.Sprint(l.queues), "pool": "hikari",
		"pool.max": fmt.Sprint(or(l.pool, threads)), "pool.min": fmt.Sprint(or(l.pool, threads)), "pool.timeout.ms": "30000",
	}
	maps.Copy(product, l.product)
	order := map[string]string{
		"threads": "160", "timeout.ms": fmt.Sprint(timeout), "retries": fmt.Sprint(l.retries), "providers": fmt.Sprint(products),
	}
	maps.Copy(order, l.order)
	list := []stack.Spec{
		{Name: "gateway", Role: "gateway", Line: line, Settings: map[string]string{
			"http.threads": "160", "order.timeout.ms": fmt.Sprint(timeout*(1+l.retries) + 3000), "order.retries": "0",
		}},
		{Name: "order", Role: "order", Line: line, Settings: order},
	}
	for i := range products {
		list = append(list, stack.Spec{Name: name(i), Role: "product", Line: line, Settings: maps.Clone(product)})
	}
	return stack.Setup{Proxy: proxy, Services: list}
}

func name(product int) string { return fmt.Sprintf("product-%d", 1+product) }

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Kinds of requests. Categories come from memory: they are hurt only by what they
// share with the others.
var (
	stock    = load.Path{Template: "/stock/SKU{key}", Weight: 6, Keys: 400}
	category = load.Path{Template: "/category/{key}", Weight: 3, Keys: 40}
	price    = load.Path{Template: "/price/SKU{key}", Weight: 6, Keys: 400}
	quote    = load.Path{Template: "/quote/SKU{key}", Weight: 6, Keys: 400}
	order    = load.Path{Template: "/order/A{n}/SKU{key}", Weight: 6, Keys: 400}
	hotOrder = load.Path{Template: "/order/A{n}/SKU{key}", Weight: 6, Keys: 4}
)

func mix(rate float64, paths ...load.Path) load.Plan { return load.Plan{Rate: rate, Mix: paths} }

// inside is a fault inside services, from the usual time on.
func inside(query string, on ...string) Fault { return Fault{Kind: Inside, Query: query, On: on} }

// Names of edges.
const (
	stockEdge  = "SkuService.getSkuStock"
	priceEdge  = "SkuService.price"
	quoteEdge  = "SkuService.quote"
	deductEdge = "SkuService.deductStock"
)

// Links of chains.
func trigger(label string) string { return "trigger " + label }

const (
	amplified = "amplifier retry-amplification"
	starved   = "victim pool-starvation"
)
