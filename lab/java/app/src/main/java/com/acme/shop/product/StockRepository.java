package com.acme.shop.product;

import com.acme.shop.Stock;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The stock tables. */
class StockRepository {
    private static final Logger log = LoggerFactory.getLogger(StockRepository.class);

    private static final String FIND = "SELECT id, sku_code, warehouse, available FROM t_sku_stock WHERE sku_code = ?";
    private static final String LOG = "INSERT INTO t_stock_log (order_id, sku_code, qty) VALUES (?, ?, ?)";
    private static final String DEDUCT = "UPDATE t_sku_stock SET available = available - ? WHERE sku_code = ? AND warehouse = 'north' AND available >= ?";

    private final DataSource database;

    StockRepository(DataSource database) {
        this.database = database;
    }

    Stock find(String sku) {
        try (Connection connection = database.getConnection(); PreparedStatement statement = connection.prepareStatement(FIND)) {
            statement.setString(1, sku);
            int warehouses = 0;
            long available = 0;
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    warehouses++;
                    available += rows.getLong("available");
                }
            }
            return new Stock(sku, warehouses, available);
        } catch (SQLException e) {
            log.error("stock of {} could not be read", sku, e);
            throw new DataAccessException("stock of " + sku + " could not be read", e);
        }
    }

    boolean deduct(String orderId, String sku, int n) {
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            try {
                boolean deducted = deduct(connection, orderId, sku, n);
                connection.commit();
                return deducted;
            } catch (SQLException e) {
                connection.rollback();
                throw e;
            } finally {
                connection.setAutoCommit(true);
            }
        } catch (SQLException e) {
            log.error("order {}: stock of {} could not be deducted", orderId, sku, e);
            throw new DataAccessException("stock of " + sku + " could not be deducted", e);
        }
    }

    private static boolean deduct(Connection connection, String orderId, String sku, int n) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOG)) {
            statement.setString(1, orderId);
            statement.setString(2, sku);
            statement.setInt(3, n);
            statement.executeUpdate();
        }
        try (PreparedStatement statement = connection.prepareStatement(DEDUCT)) {
            statement.setInt(1, n);
            statement.setString(2, sku);
            statement.setInt(3, n);
            return statement.executeUpdate() > 0;
        }
    }
}
