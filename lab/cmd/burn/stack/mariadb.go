package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
	"github.com/firebreak-io/firebreak/lab/config"
)

// Rows are in the stock table: a full scan of MariaDB takes 0.3 s on an idle machine and
// seconds beside twenty others.
const Rows = 2_000_000

// The application's account. The lab's database listens on loopback only.
const (
	dbUser     = "shop"
	dbPassword = "shop-secret"
)

const indexName = "idx_sku_code"

// MariaDB is the lab's own server with its own data folder, which is seeded once
// and kept.
type MariaDB struct {
	Dir  string
	Port int
	tool string // the client
	proc *env.Process
}

// niceness of the database: on a machine with two cores its scans must not starve
// the JVMs, which in life run elsewhere.
const niceness = "6"

func startMariaDB(ctx context.Context, e *env.Env, port int) (*MariaDB, error) {
	dir, err := e.Folder("mariadb")
	if err != nil {
		return nil, err
	}
	client, err := env.Tool("mariadb", "mysql")
	if err != nil {
		return nil, err
	}
	server, err := env.Tool("mariadbd", "mysqld")
	if err != nil {
		return nil, err
	}
	db := &MariaDB{Dir: dir, Port: port, tool: client}
	user := ""
	if os.Getuid() == 0 {
		user = "root"
	}
	text, err := config.Render("mariadb.cnf", map[string]any{"Dir": dir, "Host": env.Host, "Port": port, "User": user})
	if err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "mariadb.cnf")
	if err := os.WriteFile(conf, text, 0o644); err != nil {
		return nil, err
	}
	seeded := filepath.Join(dir, "seeded")
	if _, err := os.Stat(seeded); err != nil {
		if err := db.install(ctx, user); err != nil {
			return nil, err
		}
	}
	db.proc, err = e.Start(env.Command{
		Name: "mariadbd", Path: "/usr/bin/nice", Args: []string{"-n", niceness, server, "--defaults-file=" + conf},
		Dir: dir, Log: filepath.Join(dir, "server.log"),
	})
	if err != nil {
		return nil, err
	}
	err = db.proc.Wait(ctx, 60*time.Second, func(ctx context.Context) error {
		_, err := db.Query(ctx, "SELECT 1")
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(seeded); err == nil {
		return db, db.AddIndex(ctx) // a run that was cut off may have left it dropped
	}
	schema, err := config.Render("schema.sql", map[string]any{"Rows": Rows, "Last": Rows - 1, "Password": dbPassword})
	if err != nil {
		return nil, err
	}
	if _, err := db.Query(ctx, string(schema)); err != nil {
		return nil, err
	}
	return db, os.WriteFile(seeded, nil, 0o644)
}

func (db *MariaDB) install(ctx context.Context, user string) error {
	data := filepath.Join(db.Dir, "data")
	if err := os.RemoveAll(data); err != nil { // half-made
		return err
	}
	tool, err := env.Tool("mariadb-install-db", "mysql_install_db")
	if err != nil {
		return err
	}
	args := []string{"--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db"}
	if user != "" {
		args = append(args, "--user="+user)
	}
	_, err = env.Run(ctx, "", tool, args...)
	return err
}

// Query runs statements as root with the client in batch mode and gives what it
// printed: columns by tabs, a head line for each result.
func (db *MariaDB) Query(ctx context.Context, sql string) (string, error) {
	out, err := env.Run(ctx, sql, db.tool, db.clientArgs()...)
	return string(out), err
}

func (db *MariaDB) clientArgs() []string {
	return []string{"--no-defaults", "--socket=" + filepath.Join(db.Dir, "mariadb.sock"), "--user=root", "--batch"}
}

// Session gives the client's table with borders, after its prompt.
func (db *MariaDB) Session(ctx context.Context, sql string) (string, error) {
	out, err := env.Run(ctx, sql, db.tool, append(db.clientArgs(), "--table", "--database=shop")...)
	return "MariaDB [shop]> " + sql + ";\n" + string(out), err
}

// Looks tell what connections and transactions are doing.
func (db *MariaDB) Looks() []Look {
	return []Look{
		{"processlist.txt", "SHOW FULL PROCESSLIST"},
		{"innodb-trx.txt", "SELECT trx_id, trx_state, trx_started, trx_mysql_thread_id, trx_query, trx_rows_locked FROM information_schema.innodb_trx"},
		{"innodb-status.txt", "SHOW ENGINE INNODB STATUS\\G"},
	}
}

// DropIndex takes away the index of the stock table: the fault "missing index".
func (db *MariaDB) DropIndex(ctx context.Context) error {
	_, err := db.Query(ctx, "ALTER TABLE shop.t_sku_stock DROP INDEX IF EXISTS "+indexName)
	return err
}

// AddIndex brings it back, ending the scans that would make it wait.
func (db *MariaDB) AddIndex(ctx context.Context) error {
	if err := db.KillStatements(ctx); err != nil {
		return err
	}
	_, err := db.Query(ctx, "ALTER TABLE shop.t_sku_stock ADD INDEX IF NOT EXISTS "+indexName+" (sku_code)")
	return err
}

// KillStatements ends all statements of the application.
func (db *MariaDB) KillStatements(ctx context.Context) error {
	return db.kill(ctx, "KILL QUERY ", "user = '"+dbUser+"' AND command <> 'Sleep'")
}

// KillOthers ends the connections of batch jobs.
func (db *MariaDB) KillOthers(ctx context.Context) error {
	return db.kill(ctx, "KILL ", "user = 'root' AND id <> CONNECTION_ID()")
}

func (db *MariaDB) kill(ctx context.Context, how, who string) error {
	ids, err := db.Query(ctx, "SELECT id FROM information_schema.processlist WHERE "+who)
	if err != nil {
		return err
	}
	lines := strings.Fields(ids)
	for _, id := range lines[min(1, len(lines)):] {
		// It may have ended meanwhile.
		_, _ = db.Query(ctx, how+id)
	}
	return nil
}

// EmptyLog forgets the orders of earlier runs.
func (db *MariaDB) EmptyLog(ctx context.Context) error {
	_, err := db.Query(ctx, "TRUNCATE TABLE shop.t_stock_log")
	return err
}

// Number runs a statement that gives one number.
func (db *MariaDB) Number(ctx context.Context, sql string) (int64, error) {
	out, err := db.Query(ctx, sql)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(out)
	if len(fields) < 2 {
		return 0, fmt.Errorf("%s: no row", sql)
	}
	return strconv.ParseInt(fields[len(fields)-1], 10, 64)
}

// LockRows opens a transaction that holds the rows of some SKUs until the
// returned process is stopped: a batch job that forgot to commit.
func (db *MariaDB) LockRows(e *env.Env, skus []string, hold time.Duration) (*env.Process, error) {
	sql := fmt.Sprintf("START TRANSACTION; UPDATE t_sku_stock SET updated_at = NOW() WHERE sku_code IN ('%s'); SELECT SLEEP(%d); ROLLBACK",
		strings.Join(skus, "','"), int(hold.Seconds()))
	return e.Start(env.Command{
		Name: "batch job", Path: db.tool, Args: append(db.clientArgs(), "--database=shop", "--execute="+sql),
		Dir: db.Dir, Log: filepath.Join(db.Dir, "batch.log"), Kill: true,
	})
}

// SlowLog is the file of slow statements.
func (db *MariaDB) SlowLog() string { return filepath.Join(db.Dir, "slow.log") }

func (db *MariaDB) jdbc(port int) string {
	return fmt.Sprintf("jdbc:mariadb://%s/shop", env.Addr(port))
}

func (db *MariaDB) port() int { return db.Port }
