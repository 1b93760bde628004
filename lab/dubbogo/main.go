// Command dubbogo is the Go side of the lab: a real dubbo-go provider and a real
// dubbo-go consumer with an HTTP front. Nothing of what they print is imitated:
// their logs, metrics, spans and goroutine dumps come from dubbo-go, database/sql
// and the Go runtime. Only the counters of the control port are the lab's own; a
// run is judged by them.
package main

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"
)

// config is what the flags say. README.md lists them.
type config struct {
	role    string
	name    string
	control string // address of the control port

	protocol string // dubbo or tri
	port     int    // provider: port of the protocol
	log      string // file of dubbo-go's logger
	level    string
	otlp     string // host:port of an OTLP/HTTP receiver; empty turns tracing off

	db        string // DSN of go-sql-driver/mysql; empty means a table in memory
	dbMax     int
	dbIdle    int
	dbTimeout time.Duration // of one query, waiting for a connection included; 0 means none
	executes  string
	accesslog string

	http    string // consumer: address of the HTTP front
	urls    string // consumer: provider URLs, separated by ;
	timeout time.Duration
	retries int
	cluster string
	balance string
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dubbogo:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("want a role: dubbogo provider|consumer [flags]")
	}
	c := config{role: args[0]}
	f := flag.NewFlagSet("dubbogo "+c.role, flag.ExitOnError)
	f.StringVar(&c.name, "name", c.role, "name of this instance, also its application and service name")
	f.StringVar(&c.control, "control", "127.0.0.1:0", "address of the control port")
	f.StringVar(&c.protocol, "protocol", "tri", "tri or dubbo")
	f.StringVar(&c.log, "log", "", "file of dubbo-go's logger; empty: standard output")
	f.StringVar(&c.level, "level", "info", "level of dubbo-go's logger")
	f.StringVar(&c.otlp, "otlp", "", "host:port of an OTLP/HTTP receiver; empty: no tracing")
	switch c.role {
	case "provider":
		f.IntVar(&c.port, "port", 20000, "port of the protocol")
		f.StringVar(&c.db, "db", "", "DSN such as shop:secret@tcp(127.0.0.1:3306)/shop; empty: a table in memory")
		f.IntVar(&c.dbMax, "db-max", 8, "SetMaxOpenConns")
		f.IntVar(&c.dbIdle, "db-idle", 8, "SetMaxIdleConns")
		f.DurationVar(&c.dbTimeout, "db-timeout", 0, "limit of one query, the wait for a connection included; 0: none")
		f.StringVar(&c.executes, "executes", "", "execute.limit of the service; empty: none")
		f.StringVar(&c.accesslog, "accesslog", "", "file of dubbo-go's access log, or true for its logger; empty: none")
	case "consumer":
		f.StringVar(&c.http, "http", "127.0.0.1:0", "address of the HTTP front")
		f.StringVar(&c.urls, "url", "127.0.0.1:20000", "providers, separated by ;")
		f.DurationVar(&c.timeout, "timeout", time.Second, "request timeout of one attempt")
		f.IntVar(&c.retries, "retries", -1, "retries; -1 leaves dubbo-go's default, which is 2")
		f.StringVar(&c.cluster, "cluster", "failover", "cluster strategy")
		f.StringVar(&c.balance, "loadbalance", "", "load balance; empty leaves dubbo-go's default")
	default:
		return fmt.Errorf("role %q: want provider or consumer", c.role)
	}
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	ins, err := newInstance(&c)
	if err != nil {
		return err
	}
	if c.role == "provider" {
		return runProvider(&c, ins)
	}
	return runConsumer(&c, ins)
}
