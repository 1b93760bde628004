package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"dubbo.apache.org/dubbo-go/v3"
	"dubbo.apache.org/dubbo-go/v3/common/constant"
	"dubbo.apache.org/dubbo-go/v3/protocol"
	"dubbo.apache.org/dubbo-go/v3/server"
)

// SkuService is the provider's implementation. dubbo-go finds its methods by
// reflection and serves them with a small first letter too.
type SkuService struct {
	count  *counters
	faults *faults
	store  *store
}

// Reference is the name that dubbo-go keeps the service under.
func (*SkuService) Reference() string { return skuInterface }

// GetSkuStock reads the stock from the database.
func (s *SkuService) GetSkuStock(ctx context.Context, sku string) (stock *Stock, err error) {
	defer s.execute(ctx, "getSkuStock")(&err)
	n, err := s.store.stock(ctx, sku)
	if err != nil {
		return nil, err
	}
	return &Stock{Sku: sku, Amount: n}, nil
}

// GetCategory is cheap and needs no database.
func (s *SkuService) GetCategory(ctx context.Context, id string) (category string, err error) {
	defer s.execute(ctx, "getCategory")(&err)
	return "category-" + id, nil
}

// Price is where the faults act unless they name another method.
func (s *SkuService) Price(ctx context.Context, sku string) (stock *Stock, err error) {
	defer s.execute(ctx, "price")(&err)
	return &Stock{Sku: sku, Amount: 1999}, nil
}

// execute counts an execution and lets the fault act. The returned function
// counts its end.
func (s *SkuService) execute(ctx context.Context, method string) func(*error) {
	start := time.Now()
	timeout := time.Duration(-1)
	if r, ok := ctx.Value(receiptKey{}).(*receipt); ok {
		timeout, r.executed = r.timeout, true
	}
	s.count.method(method, func(m *providerCount) {
		m.Executions++
		m.Active++
		m.ActivePeak = max(m.ActivePeak, m.Active)
	})
	s.faults.act(method)
	return func(err *error) {
		took := time.Since(start)
		s.count.method(method, func(m *providerCount) { m.ended(took, timeout, *err != nil) })
	}
}

func runProvider(c *config, ins *dubbo.Instance) error {
	st, err := openStore(c)
	if err != nil {
		return err
	}
	count, f := newCounters(c), &faults{}
	setFilters(count)
	opts := []server.ServiceOption{
		server.WithInterface(skuInterface),
		server.WithNotRegister(),
		server.WithFilter(receiveFilter + "," + constant.DefaultServiceFilters),
	}
	if c.executes != "" {
		opts = append(opts, server.WithExecuteLimit(c.executes))
	}
	if c.accesslog != "" {
		opts = append(opts, server.WithAccesslog(c.accesslog))
	}
	srv, err := ins.NewServer(server.WithServerProtocol(
		protocol.WithProtocol(c.protocol), protocol.WithIp("127.0.0.1"), protocol.WithPort(c.port),
	))
	if err != nil {
		return fmt.Errorf("make the server: %w", err)
	}
	if err := srv.RegisterService(&SkuService{count: count, faults: f, store: st}, opts...); err != nil {
		return fmt.Errorf("register the service: %w", err)
	}
	ready := func() error {
		if st.db != nil && st.db.Stats().OpenConnections == 0 {
			if err := st.db.Ping(); err != nil {
				return err
			}
		}
		conn, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)), time.Second)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	if err := serveControl(c, count, f, func() { st.report(count) }, ready); err != nil {
		return err
	}
	if err := srv.Serve(); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return errors.New("the server ended")
}
