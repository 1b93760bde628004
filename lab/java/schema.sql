-- The tables that the product service reads and writes. Without idx_sku_code every stock query scans the table.
CREATE TABLE t_sku_stock (
  id        BIGINT      NOT NULL AUTO_INCREMENT PRIMARY KEY,
  sku_code  VARCHAR(32) NOT NULL,
  warehouse VARCHAR(16) NOT NULL,
  available INT         NOT NULL,
  KEY idx_sku_code (sku_code)
);
CREATE TABLE t_stock_log (
  id         BIGINT      NOT NULL AUTO_INCREMENT PRIMARY KEY,
  order_id   VARCHAR(64) NOT NULL,
  sku_code   VARCHAR(32) NOT NULL,
  qty        INT         NOT NULL,
  created_at TIMESTAMP   NOT NULL DEFAULT CURRENT_TIMESTAMP
);
