-- A stock table of {{.Rows}} rows, four warehouses a SKU, and a log of what was taken.
CREATE DATABASE IF NOT EXISTS shop CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS 'shop'@'%' IDENTIFIED BY '{{.Password}}';
GRANT ALL ON shop.* TO 'shop'@'%';
USE shop;
CREATE TABLE t_sku_stock (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  sku_code VARCHAR(32) NOT NULL,
  warehouse VARCHAR(16) NOT NULL,
  available INT NOT NULL,
  stock INT AS (available) VIRTUAL, -- what the Go service calls it
  updated_at DATETIME NOT NULL
) ENGINE=InnoDB;
CREATE TABLE t_stock_log (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  order_id VARCHAR(32) NOT NULL,
  sku_code VARCHAR(32) NOT NULL,
  qty INT NOT NULL,
  created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  KEY idx_order_id (order_id)
) ENGINE=InnoDB;
INSERT INTO t_sku_stock (sku_code, warehouse, available, updated_at)
SELECT CONCAT('SKU', 1000 + seq DIV 4), ELT(1 + seq MOD 4, 'north', 'south', 'east', 'west'), 1000000, '2026-11-01 00:00:00'
FROM seq_0_to_{{.Last}};
CREATE INDEX idx_sku_code ON t_sku_stock (sku_code);
ANALYZE TABLE t_sku_stock;
