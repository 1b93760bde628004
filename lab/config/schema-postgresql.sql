-- The same tables for PostgreSQL.
CREATE TABLE t_sku_stock (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sku_code VARCHAR(32) NOT NULL,
  warehouse VARCHAR(16) NOT NULL,
  available INT NOT NULL,
  updated_at TIMESTAMP NOT NULL
);
CREATE TABLE t_stock_log (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id VARCHAR(32) NOT NULL,
  sku_code VARCHAR(32) NOT NULL,
  qty INT NOT NULL,
  created_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO t_sku_stock (sku_code, warehouse, available, updated_at)
SELECT 'SKU' || (1000 + n / 4), (ARRAY['north', 'south', 'east', 'west'])[1 + n % 4], 1000000, '2026-11-01 00:00:00'
FROM generate_series(0, {{.Last}}) AS n;
CREATE INDEX idx_sku_code ON t_sku_stock (sku_code);
ANALYZE;
