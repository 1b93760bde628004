// Command waits has goroutines stand in known situations and writes what the
// runtime prints about them: go run . out-directory. Functions are named
// kind__what, where kind is what is expected. It wants a MariaDB and a PostgreSQL
// without passwords (MYSQL, PG).
package main

import (
	"context"
	"crypto/tls"
	"database/sql"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/lib/pq"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
)

var (
	ctx      = context.Background()
	mysqlDSN = "root@tcp(" + env("MYSQL", "127.0.0.1:3306") + ")/"
	pgDSN    = "postgres://postgres@" + env("PG", "127.0.0.1:5432") + "/postgres?sslmode=disable"
	one      = open("mysql", mysqlDSN)
	dir      string
	onePgx   *pgxpool.Pool
	oneRedis = redis.NewClient(&redis.Options{Addr: silent(), PoolSize: 1, MaxRetries: -1, ReadTimeout: -1, PoolTimeout: time.Hour, DialTimeout: time.Hour})
	client   = &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	stuck    = "http://" + silent()
	grpcConn *grpc.ClientConn
	grpcDead *grpc.ClientConn
	mu       sync.Mutex
	rw       sync.RWMutex
	held     sync.RWMutex
	once     sync.Once
	group    singleflight.Group
	slow     *os.File
)

func db_pool__sql(http.ResponseWriter, *http.Request)     { query(one, "SELECT 1") }
func db_pool__sql_tx(http.ResponseWriter, *http.Request)  { one.BeginTx(ctx, nil) }
func db_pool__pgxpool(http.ResponseWriter, *http.Request) { onePgx.Exec(ctx, "SELECT 1") }
func db_read__mysql(http.ResponseWriter, *http.Request) {
	query(open("mysql", mysqlDSN), "SELECT SLEEP(600)")
}

func db_read__pq(http.ResponseWriter, *http.Request) {
	query(open("postgres", pgDSN), "SELECT pg_sleep(600)")
}

func db_read__pgx(http.ResponseWriter, *http.Request) {
	c, _ := pgx.Connect(ctx, pgDSN)
	c.Exec(ctx, "SELECT pg_sleep(600)")
}
func redis__borrow(http.ResponseWriter, *http.Request)        { oneRedis.Get(ctx, "price") }
func http__connections(http.ResponseWriter, *http.Request)    { client.Get(stuck) }
func http__get(http.ResponseWriter, *http.Request)            { http.Get(stuck) }
func rpc__grpc(http.ResponseWriter, *http.Request)            { invoke(grpcConn) }
func rpc__grpc_no_backend(http.ResponseWriter, *http.Request) { invoke(grpcDead) }
func lock__mutex(http.ResponseWriter, *http.Request)          { mu.Lock() }
func lock__rwmutex_read(http.ResponseWriter, *http.Request)   { rw.RLock() }
func lock__rwmutex(http.ResponseWriter, *http.Request)        { held.Lock() }
func lock__once(http.ResponseWriter, *http.Request)           { once.Do(func() {}) }
func other__sleep(http.ResponseWriter, *http.Request)         { time.Sleep(time.Hour) }
func condition__receive(http.ResponseWriter, *http.Request)   { <-make(chan int) }
func condition__send(http.ResponseWriter, *http.Request)      { make(chan int) <- 1 }

func db_read__mysql_prepared(http.ResponseWriter, *http.Request) {
	s, _ := open("mysql", mysqlDSN).Prepare("SELECT SLEEP(?)")
	s.Query(600)
}

func db_read__mysql_exec(http.ResponseWriter, *http.Request) {
	tx, _ := open("mysql", mysqlDSN).Begin()
	tx.Exec("DO SLEEP(600)")
}

func db_read__mysql_connect(http.ResponseWriter, *http.Request) {
	query(open("mysql", "root@tcp("+silent()+")/"), "SELECT 1")
}

func redis__get(http.ResponseWriter, *http.Request) {
	redis.NewClient(&redis.Options{Addr: silent(), ReadTimeout: -1, MaxRetries: -1, DialTimeout: time.Hour}).Get(ctx, "price")
}

func http__tls(http.ResponseWriter, *http.Request) {
	(&http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}).Get("https://" + silent())
}

func http__own_socket(http.ResponseWriter, *http.Request) {
	c, _ := net.Dial("tcp", silent())
	c.Read(make([]byte, 1))
}

func other__holds_locks(http.ResponseWriter, *http.Request) {
	mu.Lock()
	rw.Lock()
	held.RLock()
	once.Do(func() { time.Sleep(time.Hour) })
}

func other__singleflight_first(http.ResponseWriter, *http.Request) { group.Do("a", sleep) }

func lock__singleflight(http.ResponseWriter, *http.Request) {
	time.Sleep(300 * time.Millisecond)
	group.Do("a", sleep)
}

func condition__waitgroup(http.ResponseWriter, *http.Request) {
	var wg sync.WaitGroup
	wg.Add(1)
	wg.Wait()
}

func condition__errgroup(http.ResponseWriter, *http.Request) {
	var g errgroup.Group
	g.Go(func() error { time.Sleep(time.Hour); return nil })
	g.Wait()
}

func condition__cond(http.ResponseWriter, *http.Request) {
	c := sync.NewCond(new(sync.Mutex))
	c.L.Lock()
	c.Wait()
}

func condition__semaphore(http.ResponseWriter, *http.Request) {
	s := semaphore.NewWeighted(1)
	s.Acquire(ctx, 1)
	s.Acquire(ctx, 1)
}

func condition__select(_ http.ResponseWriter, r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-make(chan int):
	}
}

func cpu__loop(http.ResponseWriter, *http.Request) {
	for x := uint64(1); x != 0; x = x*31 + 7 {
	}
}

func disk__open(http.ResponseWriter, *http.Request) { os.Open(fifo("open")) }

func disk__read(http.ResponseWriter, *http.Request) {
	f, _ := os.OpenFile(fifo("read"), os.O_RDWR, 0)
	f.Read(make([]byte, 1))
}

func dns__lookup(http.ResponseWriter, *http.Request) {
	c, _ := net.ListenPacket("udp", "127.0.0.1:0")
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return net.Dial("udp", c.LocalAddr().String())
	}}
	for {
		r.LookupHost(ctx, "price.acme.example")
	}
}

func logging__log(http.ResponseWriter, *http.Request) {
	l := log.New(slow, "", 0)
	for {
		l.Print(string(make([]byte, 20000)))
	}
}

var (
	shared = sync.OnceValue(func() *log.Logger { return log.New(slow, "", 0) })
	logger = sync.OnceValue(func() *slog.Logger { return slog.New(slog.NewTextHandler(slow, nil)) })
)

func logging__log_lock(http.ResponseWriter, *http.Request) {
	for {
		shared().Print(string(make([]byte, 20000)))
	}
}

func logging__log_lock2(http.ResponseWriter, *http.Request) {
	for {
		shared().Print(string(make([]byte, 20000)))
	}
}

func logging__slog(http.ResponseWriter, *http.Request) {
	for {
		logger().Info(string(make([]byte, 20000)))
	}
}

func logging__slog2(http.ResponseWriter, *http.Request) {
	for {
		logger().Info(string(make([]byte, 20000)))
	}
}

func other__process(http.ResponseWriter, *http.Request) { exec.Command("sleep", "600").Run() }

func idle__worker(jobs chan func()) {
	for job := range jobs {
		job()
	}
}

func idle__select_worker(jobs, quit chan func()) {
	for {
		select {
		case job := <-jobs:
			job()
		case <-quit:
			return
		}
	}
}

func idle__ticker() {
	for range time.Tick(time.Hour) {
	}
}

func idle__sleeper() {
	for {
		time.Sleep(time.Hour)
	}
}

func http__self(url string) { http.Get(url) }

func main() {
	dir = os.Args[1]
	os.MkdirAll(filepath.Join(dir, "fifo"), 0o755)
	slow, _ = os.OpenFile(fifo("log"), os.O_RDWR, 0)
	one.SetMaxOpenConns(1)
	one.Conn(ctx)
	config, _ := pgxpool.ParseConfig(pgDSN)
	config.MaxConns = 1
	onePgx, _ = pgxpool.NewWithConfig(ctx, config)
	onePgx.Acquire(ctx)
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	s := grpc.NewServer(grpc.UnknownServiceHandler(other__grpc_handler))
	go s.Serve(l)
	grpcConn, _ = grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	grpcDead, _ = grpc.NewClient(silent(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	go client.Get(stuck)
	go func() { oneRedis.Get(ctx, "a") }()
	go idle__worker(make(chan func()))
	go idle__select_worker(make(chan func()), make(chan func()))
	go idle__ticker()
	go idle__sleeper()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR2)
	l, _ = net.Listen("tcp", "127.0.0.1:0")
	mux := http.NewServeMux()
	go http.Serve(l, mux)
	time.Sleep(500 * time.Millisecond)
	for i, h := range []http.HandlerFunc{
		other__holds_locks, db_pool__sql, db_pool__sql_tx, db_pool__pgxpool, db_read__mysql, db_read__pq, db_read__pgx, redis__borrow, http__connections, http__get, rpc__grpc, rpc__grpc_no_backend,
		lock__mutex, lock__rwmutex_read, lock__rwmutex, lock__once, other__sleep, condition__receive, condition__send, db_read__mysql_prepared, db_read__mysql_exec, db_read__mysql_connect,
		redis__get, http__tls, http__own_socket, other__singleflight_first, lock__singleflight, condition__waitgroup, condition__errgroup, condition__cond, condition__semaphore, condition__select,
		cpu__loop, disk__open, disk__read, dns__lookup, logging__log, logging__log_lock, logging__log_lock2, logging__slog, logging__slog2, other__process,
	} {
		path := "/" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		mux.HandleFunc(path, h)
		go http__self("http://" + l.Addr().String() + path)
		time.Sleep(30 * time.Millisecond)
	}
	net.Dial("tcp", l.Addr().String())
	time.Sleep(3 * time.Second)
	for debug, name := range []string{"proto.pb.gz", "debug1.txt", "debug2.txt"} {
		f, _ := os.Create(filepath.Join(dir, "go-1.26-"+name))
		pprof.Lookup("goroutine").WriteTo(f, debug)
		f.Close()
	}
}

func other__grpc_handler(any, grpc.ServerStream) error { time.Sleep(time.Hour); return nil }

func sleep() (any, error) { time.Sleep(time.Hour); return nil, nil }

func invoke(c *grpc.ClientConn) {
	c.Invoke(ctx, "/shop.Inventory/Reserve", &emptypb.Empty{}, &emptypb.Empty{}, grpc.WaitForReady(true))
}

func query(db *sql.DB, q string) { db.QueryContext(ctx, q) }

func open(driver, dsn string) *sql.DB {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		log.Fatal(err)
	}
	return db
}

func fifo(name string) string {
	path := filepath.Join(dir, "fifo", name)
	syscall.Mkfifo(path, 0o644)
	return path
}

// silent is the address of a server that accepts and never says a word.
func silent() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	return l.Addr().String()
}

func env(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}
