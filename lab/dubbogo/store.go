package main

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// store is where the stock comes from: t_sku_stock(sku_code, stock), as the Java
// services use it.
type store struct {
	db      *sql.DB // nil: answers come from memory
	timeout time.Duration
}

func openStore(c *config) (*store, error) {
	if c.db == "" {
		return &store{}, nil
	}
	db, err := sql.Open("mysql", c.db)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db.SetMaxOpenConns(c.dbMax)
	db.SetMaxIdleConns(c.dbIdle)
	if err := prometheus.Register(collectors.NewDBStatsCollector(db, "shop")); err != nil {
		return nil, fmt.Errorf("register database metrics: %w", err)
	}
	return &store{db: db, timeout: c.dbTimeout}, nil
}

// stock reads one row. The context ends with the consumer's deadline on triple
// and never on the dubbo protocol, which carries none.
func (s *store) stock(ctx context.Context, sku string) (int64, error) {
	if s.db == nil {
		return 7, nil
	}
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	var n int64
	err := s.db.QueryRowContext(ctx, "SELECT stock FROM t_sku_stock WHERE sku_code = ?", sku).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("stock of %s: %w", sku, err)
	}
	return n, nil
}

// report writes the state of the pool into the counters.
func (s *store) report(c *counters) {
	if s.db == nil {
		return
	}
	st := s.db.Stats()
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.Pool
	if p == nil {
		p = &poolCount{}
		c.Pool = p
	}
	p.Max, p.InUse = st.MaxOpenConnections, st.InUse
	p.InUsePeak = max(p.InUsePeak, st.InUse)
	p.WaitCount, p.WaitMs = st.WaitCount, st.WaitDuration.Milliseconds()
}
