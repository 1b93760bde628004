package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
	"github.com/firebreak-io/firebreak/lab/config"
)

// postgresUser runs the server, which refuses to be run by root. Debian's package
// makes the account.
const postgresUser = "postgres"

// Postgres is the lab's own PostgreSQL with its own data folder, which is seeded
// once and kept. It starts with the first run that reads it.
type Postgres struct {
	Dir  string
	Port int
	bin  string // folder of the server's programs
	proc *env.Process
}

// postgresBin is the newest of the versions that Debian puts side by side, none of
// which is on the path.
func postgresBin() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		name, err := env.Tool("initdb")
		return filepath.Dir(name), err
	}
	version := func(name string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(name))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

// unprivileged is a command line that runs as postgres if we are root. It dies with
// us too: the kernel forgets that wish of a process that changes its user.
func unprivileged(args ...string) []string {
	if os.Getuid() != 0 {
		return args
	}
	as := []string{"setpriv", "--reuid=" + postgresUser, "--regid=" + postgresUser, "--init-groups", "--pdeathsig=KILL", "--"}
	return append(as, args...)
}

func startPostgres(ctx context.Context, e *env.Env, port int) (*Postgres, error) {
	dir, err := e.Folder("postgresql")
	if err != nil {
		return nil, err
	}
	bin, err := postgresBin()
	if err != nil {
		return nil, err
	}
	db := &Postgres{Dir: dir, Port: port, bin: bin}
	text, err := config.Render("postgresql.conf", map[string]any{"Dir": dir, "Host": env.Host, "Port": port})
	if err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "postgresql.conf")
	if err := os.WriteFile(conf, text, 0o644); err != nil {
		return nil, err
	}
	seeded := filepath.Join(dir, "seeded")
	_, fresh := os.Stat(seeded)
	if fresh != nil {
		if err := db.install(ctx); err != nil {
			return nil, err
		}
	}
	// Each connection's process begins a session, to which Linux gives a share of the
	// processors as large as all JVMs' together (sched_autogroup), whatever its
	// niceness. So the database gets a processor, which it may share, and no more.
	args := unprivileged("taskset", "--cpu-list", strconv.Itoa(runtime.NumCPU()-1), filepath.Join(bin, "postgres"), "-D", filepath.Join(dir, "data"), "-c", "config_file="+conf)
	db.proc, err = e.Start(env.Command{
		Name: "postgresql", Path: "/usr/bin/nice", Args: append([]string{"-n", niceness}, args...),
		Dir: dir, Log: filepath.Join(dir, "server.log"), Own: db.SlowLog(),
		Signal: syscall.SIGINT, // the polite one waits for clients
	})
	if err != nil {
		return nil, err
	}
	err = db.proc.Wait(ctx, 60*time.Second, func(ctx context.Context) error {
		_, err := db.psql(ctx, "postgres", "SELECT 1")
		return err
	})
	if err != nil {
		return nil, err
	}
	if fresh == nil {
		return db, db.AddIndex(ctx) // a run that was cut off may have left it dropped
	}
	if err := db.seed(ctx); err != nil {
		return nil, err
	}
	return db, os.WriteFile(seeded, nil, 0o644)
}

func (db *Postgres) install(ctx context.Context) error {
	for _, name := range []string{"data", "log"} { // half-made
		if err := os.RemoveAll(filepath.Join(db.Dir, name)); err != nil {
			return err
		}
	}
	args := unprivileged(filepath.Join(db.bin, "initdb"), "--pgdata="+filepath.Join(db.Dir, "data"), "--username="+postgresUser,
		"--auth-local=trust", "--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	if os.Getuid() == 0 {
		if _, err := env.Run(ctx, "", "chown", postgresUser+":", db.Dir); err != nil {
			return err
		}
	}
	_, err := env.Run(ctx, "", args[0], args[1:]...)
	return err
}

func (db *Postgres) seed(ctx context.Context) error {
	schema, err := config.Render("schema-postgresql.sql", map[string]any{"Rows": Rows, "Last": Rows - 1})
	if err != nil {
		return err
	}
	for _, each := range []struct{ database, sql string }{
		{"postgres", fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", dbUser, dbPassword)},
		{"postgres", "CREATE DATABASE shop"},
		{"shop", "CREATE SCHEMA shop AUTHORIZATION " + dbUser},
		{"shop", string(schema)},
		{"shop", "CHECKPOINT"}, // not during the run
	} {
		if _, err := db.psql(ctx, each.database, each.sql); err != nil {
			return err
		}
	}
	return nil
}

// psql runs statements, each in a transaction of its own, as the administrator.
func (db *Postgres) psql(ctx context.Context, database, sql string, more ...string) (string, error) {
	args := []string{
		"--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--pset=pager=off", "--host=" + db.Dir, "--port=" + strconv.Itoa(db.Port),
		"--username=" + postgresUser, "--dbname=" + database,
	}
	out, err := env.Run(ctx, sql, filepath.Join(db.bin, "psql"), append(args, more...)...)
	return string(out), err
}

// Query gives the client's aligned table.
func (db *Postgres) Query(ctx context.Context, sql string) (string, error) {
	return db.psql(ctx, "shop", sql)
}

// Session gives the table after the prompt of the application's account.
func (db *Postgres) Session(ctx context.Context, sql string) (string, error) {
	text, err := db.psql(ctx, "shop", "SET search_path = shop;\n"+sql)
	return "shop=> " + sql + ";\n" + text, err
}

// Number runs a statement that gives one number.
func (db *Postgres) Number(ctx context.Context, sql string) (int64, error) {
	out, err := db.psql(ctx, "shop", sql, "--tuples-only", "--no-align")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(out), 10, 64)
}

// Looks tell what each connection is doing.
func (db *Postgres) Looks() []Look {
	return []Look{{"pg_stat_activity.txt", "SELECT pid, state, wait_event_type, wait_event, xact_start, query_start, query FROM pg_stat_activity"}}
}

// SlowLog is the server's log: PostgreSQL has no other.
func (db *Postgres) SlowLog() string { return filepath.Join(db.Dir, "log", "postgresql.log") }

// DropIndex takes away the index of the stock table.
func (db *Postgres) DropIndex(ctx context.Context) error {
	_, err := db.Query(ctx, "DROP INDEX IF EXISTS shop."+indexName)
	return err
}

// AddIndex brings it back, ending the scans that would make it wait.
func (db *Postgres) AddIndex(ctx context.Context) error {
	const scans = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = '" + dbUser + "' AND state = 'active'"
	if _, err := db.Query(ctx, scans); err != nil {
		return err
	}
	_, err := db.Query(ctx, "CREATE INDEX IF NOT EXISTS "+indexName+" ON shop.t_sku_stock (sku_code)")
	return err
}

// EmptyLog forgets the orders of earlier runs.
func (db *Postgres) EmptyLog(ctx context.Context) error {
	_, err := db.Query(ctx, "TRUNCATE TABLE shop.t_stock_log")
	return err
}

func (db *Postgres) jdbc(port int) string {
	return fmt.Sprintf("jdbc:postgresql://%s/shop", env.Addr(port))
}

func (db *Postgres) port() int { return db.Port }
