package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/stack"
)

// Look is the n-th look at the burning shop, from 1: dumps of the named services,
// at the first look also their metrics and the database, at the last the metrics
// again, the plan of the suspect statement and the routers.
func (c *Collector) Look(ctx context.Context, n int, last bool, dump []string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var all sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	do := func(f func() error) {
		all.Go(func() {
			if err := f(); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	for _, name := range dump {
		v, err := c.stack.Service(name)
		if err != nil {
			return err
		}
		do(func() error { return c.dump(ctx, v, n) })
	}
	if n == 1 {
		do(func() error { return c.database(ctx) })
	}
	if n == 1 && c.Host != "" {
		do(func() error { return c.processors(ctx) })
	}
	if n == 1 || last {
		do(func() error { return c.metrics(ctx, n, last) })
	}
	if n == 2 {
		do(func() error { return c.watchRouters(ctx, "enableRouterSnapshot") })
	}
	if last {
		do(func() error { return c.explain(ctx) })
		do(func() error { return c.routers(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// dump takes the threads of a JVM or the goroutines of a Go process.
func (c *Collector) dump(ctx context.Context, v *stack.Service, n int) error {
	if v.Go {
		text, err := v.Get(ctx, "/debug/pprof/goroutine?debug=2")
		if err != nil {
			return err
		}
		return c.write(v.Name, fmt.Sprintf("goroutines-%d.txt", n), text)
	}
	jstack, err := env.Tool("jstack")
	if err != nil {
		return err
	}
	text, err := env.Run(ctx, "", jstack, "-l", fmt.Sprint(v.Pid()))
	if err != nil {
		return err
	}
	return c.write(v.Name, fmt.Sprintf("jstack-%d.txt", n), text)
}

func (c *Collector) database(ctx context.Context) error {
	db := c.stack.Database()
	for _, look := range db.Looks() {
		text, err := db.Query(ctx, look.SQL)
		if err != nil {
			return err
		}
		if err := c.write("db", look.File, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Collector) explain(ctx context.Context) error {
	const sql = "EXPLAIN SELECT id, sku_code, warehouse, available FROM t_sku_stock WHERE sku_code = 'SKU1042'"
	text, err := c.stack.Database().Session(ctx, sql)
	if err != nil {
		return err
	}
	return c.write("db", "explain.txt", []byte(text))
}

func (c *Collector) metrics(ctx context.Context, n int, last bool) error {
	if last {
		n = 2
	}
	for _, v := range c.stack.Services {
		if v.Role != "product" && v.Role != "provider" {
			continue
		}
		text, err := v.Get(ctx, "/metrics")
		if err != nil {
			return err
		}
		if err := c.write(v.Name, fmt.Sprintf("metrics-%d.txt", n), text); err != nil {
			return err
		}
	}
	return nil
}

// processors watches the host for some seconds. All services share it.
func (c *Collector) processors(ctx context.Context) error {
	tool, err := env.Tool("vmstat")
	if err != nil {
		return err
	}
	text, err := env.Run(ctx, "", tool, "-n", "-t", "1", "8")
	if err != nil {
		return err
	}
	return c.write(c.Host, "vmstat.txt", text)
}

// routers asks the order service's QoS port what routing leaves of the providers.
func (c *Collector) routers(ctx context.Context) error {
	v, err := c.stack.Service("order")
	if err != nil || v.Go {
		return err
	}
	for _, command := range []string{"ls", "getRouterSnapshot", "getRecentRouterSnapshot"} {
		if v.Line == "dubbo27" && command != "ls" {
			continue // came with 3.x
		}
		text, err := ask(ctx, fmt.Sprintf("http://%s/%s", env.Addr(v.QoS), qosPath(command)))
		if err != nil {
			return err
		}
		if err := c.write(v.Name, "qos-"+command+".txt", text); err != nil {
			return err
		}
	}
	return c.watchRouters(ctx, "disableRouterSnapshot")
}

func qosPath(command string) string {
	if command == "getRouterSnapshot" {
		return command + "?service=com.acme.shop.SkuService"
	}
	return command
}

// watchRouters makes Dubbo note how each call is routed, which fills its log, or
// makes it stop.
func (c *Collector) watchRouters(ctx context.Context, command string) error {
	v, err := c.stack.Service("order")
	if err != nil || v.Go || v.Line == "dubbo27" {
		return err
	}
	_, err = ask(ctx, fmt.Sprintf("http://%s/%s?service=com.acme.shop.SkuService", env.Addr(v.QoS), command))
	return err
}

func ask(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return io.ReadAll(resp.Body)
}

// Duplicates lists orders that were booked more than once.
func (c *Collector) Duplicates(ctx context.Context) error {
	const sql = "SELECT order_id, COUNT(*) AS cnt, MIN(created_at), MAX(created_at) FROM t_stock_log GROUP BY order_id HAVING COUNT(*) > 1 ORDER BY order_id LIMIT 20"
	text, err := c.stack.Database().Session(ctx, sql)
	if err != nil {
		return err
	}
	return c.write("db", "duplicates.txt", []byte(text))
}
