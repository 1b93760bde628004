package correlate

import (
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// goRule says what functions that begin with a prefix mean.
type goRule struct {
	prefix string
	kind   incident.WaitKind
	detail string
}

// goRules are decided by function alone, for aggregated profiles print no
// states. The first frame from the top that matches decides.
var goRules = []goRule{
	{"database/sql.(*DB).connectionOpener", incident.WaitIdle, ""},
	{"database/sql.(*DB).connectionCleaner", incident.WaitIdle, ""},
	{"database/sql.(*DB).conn", incident.WaitDBPool, "borrow"},
	{"github.com/jackc/puddle", incident.WaitDBPool, "borrow"},
	{"github.com/jackc/pgx/v5/pgxpool.(*Pool).Acquire", incident.WaitDBPool, "borrow"},
	{"github.com/jackc/pgx/v4/pgxpool.(*Pool).Acquire", incident.WaitDBPool, "borrow"},
	{"database/sql.(*Tx).awaitDone", incident.WaitIdle, ""},
	{"database/sql.(*Rows).awaitDone", incident.WaitIdle, ""},
	{"github.com/go-sql-driver/mysql.(*mysqlConn).startWatcher", incident.WaitIdle, ""},
	{"github.com/go-sql-driver/mysql.", incident.WaitDBRead, ""},
	{"github.com/lib/pq.", incident.WaitDBRead, ""},
	{"github.com/jackc/pgx/v5/pgxpool.(*Pool).backgroundHealthCheck", incident.WaitIdle, ""},
	{"github.com/jackc/pgx/v5/pgconn/internal/bgreader.(*BGReader).bgRead", incident.WaitIdle, ""},
	{"github.com/jackc/pgx", incident.WaitDBRead, ""},
	{"github.com/jackc/pgproto3", incident.WaitDBRead, ""},
	{"github.com/denisenkom/go-mssqldb", incident.WaitDBRead, ""},
	{"github.com/microsoft/go-mssqldb", incident.WaitDBRead, ""},
	{"github.com/ClickHouse/clickhouse-go", incident.WaitDBRead, ""},
	{"go.mongodb.org/mongo-driver/x/mongo/driver/topology.(*pool).checkOut", incident.WaitDBPool, "borrow"},
	{"go.mongodb.org/mongo-driver/x/mongo/driver/topology.(*Server).", incident.WaitIdle, ""},
	{"go.mongodb.org/mongo-driver/", incident.WaitDBRead, ""},
	{"github.com/gocql/gocql.(*Conn).exec", incident.WaitDBRead, ""},
	{"github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial", incident.WaitIdle, ""},
	{"github.com/redis/go-redis/v9/internal/pool.(*ConnPool)", incident.WaitRedis, "borrow"},
	{"github.com/go-redis/redis/v8/internal/pool.(*ConnPool).waitTurn", incident.WaitRedis, "borrow"},
	{"github.com/redis/go-redis/v9.(*PubSub)", incident.WaitIdle, ""},
	{"github.com/redis/go-redis", incident.WaitRedis, ""},
	{"github.com/go-redis/redis", incident.WaitRedis, ""},
	{"github.com/gomodule/redigo", incident.WaitRedis, ""},
	{"github.com/redis/rueidis", incident.WaitRedis, ""},
	{"net/http.(*persistConn).roundTrip", incident.WaitHTTP, ""},
	{"net/http.(*Transport).getConn", incident.WaitHTTP, "borrow"},
	{"net/http.(*http2ClientConn).roundTrip", incident.WaitHTTP, ""},
	{"net/http.(*http2clientStream)", incident.WaitHTTP, ""},
	{"golang.org/x/net/http2.(*ClientConn).roundTrip", incident.WaitHTTP, ""},
	{"golang.org/x/net/http2.(*ClientConn).RoundTrip", incident.WaitHTTP, ""},
	{"net/http.(*persistConn).readLoop", incident.WaitIdle, ""},
	{"net/http.(*persistConn).writeLoop", incident.WaitIdle, ""},
	{"net/http.(*connReader).backgroundRead", incident.WaitIdle, ""},
	{"net/http.(*http2serverConn)", incident.WaitIdle, ""},
	{"net/http.(*http2ClientConn).readLoop", incident.WaitIdle, ""},
	{"net/http.(*http2clientConnReadLoop)", incident.WaitIdle, ""},
	{"net/http.(*Transport).dialConn", incident.WaitHTTP, "connect"},
	{"google.golang.org/grpc/internal/transport.(*ClientStream).waitOnHeader", incident.WaitRPC, ""},
	{"google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader", incident.WaitRPC, ""},
	{"google.golang.org/grpc/internal/transport.(*recvBufferReader)", incident.WaitRPC, ""},
	{"google.golang.org/grpc.(*clientStream)", incident.WaitRPC, ""},
	{"google.golang.org/grpc.(*pickerWrapper).pick", incident.WaitRPC, "no backend"},
	{"google.golang.org/grpc/internal/", incident.WaitIdle, ""},
	{"google.golang.org/grpc.(*Server)", incident.WaitIdle, ""},
	{"google.golang.org/grpc.(*ccBalancerWrapper)", incident.WaitIdle, ""},
	{"google.golang.org/grpc.(*addrConn)", incident.WaitIdle, ""},
	{"dubbo.apache.org/dubbo-go/v3/remoting/getty.(*Client).Request", incident.WaitRPC, ""},
	{"dubbo.apache.org/dubbo-go/v3/remoting.(*ExchangeClient).Request", incident.WaitRPC, ""},
	{"github.com/apache/dubbo-go/remoting/getty.", incident.WaitRPC, ""},
	{"dubbo.apache.org/dubbo-go/v3/protocol/triple", incident.WaitRPC, ""},
	{"github.com/cloudwego/kitex/client.rpcTimeoutMW", incident.WaitRPC, ""},
	{"github.com/cloudwego/kitex/client.(*kClient)", incident.WaitRPC, ""},
	{"github.com/cloudwego/kitex/pkg/remote/remotecli", incident.WaitRPC, ""},
	{"github.com/cloudwego/kitex/pkg/remote/trans", incident.WaitIdle, ""},
	{"github.com/cloudwego/kitex/pkg/retry.", incident.WaitRPC, ""},
	{"github.com/cloudwego/kitex/pkg/wpool.", incident.WaitIdle, ""},
	{"github.com/cloudwego/netpoll.(*defaultPoll)", incident.WaitIdle, ""},
	{"github.com/cloudwego/hertz/pkg/app/client.", incident.WaitHTTP, ""},
	{"github.com/cloudwego/hertz/pkg/protocol/http1.(*HostClient)", incident.WaitHTTP, ""},
	{"github.com/valyala/fasthttp.(*HostClient)", incident.WaitHTTP, ""},
	{"github.com/smallnest/rpcx/client.", incident.WaitRPC, ""},
	{"net/rpc.(*Client).Call", incident.WaitRPC, ""},
	{"storj.io/drpc/", incident.WaitRPC, ""},
	{"github.com/apache/thrift/lib/go/thrift.(*TStandardClient)", incident.WaitRPC, ""},
	{"github.com/apache/dubbo-getty.", incident.WaitIdle, ""},
	{"github.com/AlexStocks/getty", incident.WaitIdle, ""},
	{"github.com/Shopify/sarama", incident.WaitMQ, ""},
	{"github.com/IBM/sarama", incident.WaitMQ, ""},
	{"github.com/segmentio/kafka-go.(*Writer)", incident.WaitMQ, ""},
	{"github.com/segmentio/kafka-go", incident.WaitIdle, ""},
	{"github.com/apache/rocketmq-client-go", incident.WaitMQ, ""},
	{"net.(*Resolver)", incident.WaitDNS, ""},
	{"net.cgoLookup", incident.WaitDNS, ""},
	{"net._C2func_getaddrinfo", incident.WaitDNS, ""},
	{"net.(*netFD).accept", incident.WaitIdle, ""},
	{"internal/poll.(*FD).Accept", incident.WaitIdle, ""},
	{"os/signal.loop", incident.WaitIdle, ""},
	{"os/signal.signal_recv", incident.WaitIdle, ""},
	{"gopkg.in/natefinch/lumberjack", incident.WaitIdle, ""},
	{"go.uber.org/zap/zapcore.(*lockedWriteSyncer)", incident.WaitLogging, ""},
	{"log.(*Logger)", incident.WaitLogging, ""},
	{"log/slog.", incident.WaitLogging, ""},
	{"golang.org/x/sync/singleflight.(*Group).Do", incident.WaitLock, "singleflight"},
	{"os.(*Process).", incident.WaitOther, "process"},
	{"github.com/sirupsen/logrus.", incident.WaitLogging, ""},
	{"runtime/pprof.", incident.WaitIdle, ""},
	{"net/http/pprof.", incident.WaitIdle, ""},
	{"testing.", incident.WaitIdle, ""},
}

var goLibraries = []string{
	"github.com/go-sql-driver/", "github.com/lib/pq", "github.com/jackc/", "gorm.io/", "github.com/jinzhu/gorm", "xorm.io/", "github.com/jmoiron/sqlx", "entgo.io/ent",
	"google.golang.org/", "golang.org/x/", "github.com/redis/", "github.com/go-redis/", "github.com/gomodule/redigo", "go.mongodb.org/", "github.com/gin-gonic/", "github.com/labstack/echo", "github.com/gofiber/", "github.com/valyala/", "github.com/go-chi/", "github.com/gorilla/",
	"dubbo.apache.org/", "github.com/apache/", "github.com/dubbogo/", "github.com/AlexStocks/", "github.com/Shopify/", "github.com/IBM/sarama", "github.com/segmentio/", "go.uber.org/", "github.com/sirupsen/", "gopkg.in/", "go.opentelemetry.io/", "github.com/prometheus/", "github.com/rs/zerolog", "github.com/spf13/",
	"github.com/zeromicro/", "github.com/cloudwego/", "github.com/go-kratos/", "github.com/micro/", "github.com/hashicorp/", "github.com/sony/gobreaker", "github.com/alibaba/sentinel-golang", "github.com/panjf2000/ants", "github.com/nacos-group/", "go.etcd.io/", "github.com/ClickHouse/", "k8s.io/", "sigs.k8s.io/",
}

func matchGo(fn string) (goRule, bool) {
	for _, r := range goRules {
		if strings.HasPrefix(fn, r.prefix) {
			return r, true
		}
	}
	return goRule{}, false
}

// isGoApp reports whether a Go function belongs to the user's own code: not the
// standard library, whose import paths have no dot in their first element, and
// not a known module.
func isGoApp(fn string) bool {
	if strings.HasPrefix(fn, "main.") {
		return true
	}
	first := fn
	if i := strings.IndexByte(fn, '/'); i >= 0 {
		first = fn[:i]
	} else if i := strings.IndexByte(fn, '.'); i >= 0 {
		first = fn[:i]
		return !goStd[first]
	}
	if !strings.Contains(first, ".") {
		return !goStd[first]
	}
	return !hasAny(fn, goLibraries)
}

var goStd = func() map[string]bool {
	std := map[string]bool{}
	for _, p := range strings.Fields(`archive bufio bytes cmp compress container context crypto database debug
		embed encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path
		plugin reflect regexp runtime slices sort strconv strings structs sync syscall testing text time unicode unique
		unsafe vendor weak`) {
		std[p] = true
	}
	return std
}()

// overTriple reports an HTTP request that carries an RPC of dubbo-go.
func overTriple(s *evidence.Stack) bool {
	const triple = "/dubbo-go/v3/protocol/triple"
	for _, f := range s.Frames {
		if isGoApp(f.Func) {
			return false
		}
		if strings.Contains(f.Func, triple) {
			return true
		}
	}
	return strings.Contains(s.CreatedBy, triple)
}

// goFilter reports a frame that a filter chain called: a filter of the user's
// own, through which each call passes without being the call.
func goFilter(frames []*evidence.Frame, i int) bool {
	if i+1 >= len(frames) {
		return false
	}
	caller := frames[i+1].Func
	return strings.Contains(caller, "/dubbo-go") && strings.HasSuffix(caller, ".(*FilterInvoker).Invoke")
}

func classifyGo(s *evidence.Stack) verdict {
	v := verdict{kind: incident.WaitOther}
	for i, f := range s.Frames {
		if !isGoApp(f.Func) {
			continue
		}
		if v.app == nil {
			v.app = f
		}
		if f.Func != "main.main" && !goFilter(s.Frames, i) {
			v.entry = f
		}
	}
	if v.entry == nil {
		v.entry = v.app
	}
	decide := func(kind incident.WaitKind, detail, frame string) verdict {
		v.kind, v.detail, v.decided = kind, detail, frame
		return v
	}
	if s.System || len(s.Frames) == 0 {
		return decide(incident.WaitIdle, "", "")
	}
	d := s.Detail
	running := strings.HasPrefix(d, "running") || strings.HasPrefix(d, "runnable")
	lock := strings.HasPrefix(d, "sync.Mutex.Lock") || strings.HasPrefix(d, "sync.RWMutex.")
	for _, f := range s.Frames {
		fn := f.Func
		if strings.HasPrefix(fn, "sync.(*Mutex)") || strings.HasPrefix(fn, "sync.(*RWMutex)") || strings.HasPrefix(fn, "sync.(*Once)") || strings.HasPrefix(fn, "internal/sync.(*Mutex)") {
			if !running {
				lock = true
			}
			continue
		}
		if strings.HasPrefix(fn, "golang.org/x/sync/semaphore.(*Weighted).Acquire") && !running {
			for _, g := range s.Frames {
				if strings.Contains(g.Func, "pgxpool") || strings.Contains(g.Func, "puddle") || strings.Contains(g.Func, "sql") {
					return decide(incident.WaitDBPool, "borrow", fn)
				}
			}
			return decide(incident.WaitCondition, "semaphore", fn)
		}
		if r, ok := matchGo(fn); ok {
			if running && r.kind != incident.WaitIdle {
				break
			}
			if lock && r.kind != incident.WaitIdle && r.kind != incident.WaitLogging {
				return decide(incident.WaitLock, "inside a client", fn)
			}
			if r.kind == incident.WaitHTTP && overTriple(s) {
				return decide(incident.WaitRPC, r.detail, fn)
			}
			return decide(r.kind, r.detail, fn)
		}
		if isGoApp(fn) {
			break
		}
	}
	if lock {
		return decide(incident.WaitLock, "mutex", "")
	}
	has := func(prefix string) bool {
		for _, f := range s.Frames {
			if strings.HasPrefix(f.Func, prefix) {
				return true
			}
			if isGoApp(f.Func) {
				return false
			}
		}
		return false
	}
	switch {
	case has("net/http.(*conn).serve") && v.app == nil:
		return decide(incident.WaitIdle, "keep-alive", "")
	case v.app == nil:
		return decide(incident.WaitIdle, "", "")
	case has("sync.(*WaitGroup).Wait"), has("sync.(*Cond).Wait"):
		return decide(incident.WaitCondition, "wait group", "")
	case strings.HasPrefix(d, "chan send"), has("runtime.chansend"):
		return decide(incident.WaitCondition, "channel send", "")
	case strings.HasPrefix(d, "chan receive"), has("runtime.chanrecv"):
		if len(s.Frames) <= 3 || goWorkerLoop(s) {
			return decide(incident.WaitIdle, "worker loop", "")
		}
		return decide(incident.WaitCondition, "channel receive", "")
	case strings.HasPrefix(d, "select"), has("runtime.selectgo"):
		if goWorkerLoop(s) {
			return decide(incident.WaitIdle, "worker loop", "")
		}
		return decide(incident.WaitCondition, "select", "")
	case strings.HasPrefix(d, "sleep"), has("time.Sleep"):
		if goWorkerLoop(s) {
			return decide(incident.WaitIdle, "ticker", "")
		}
		return decide(incident.WaitOther, "sleep", "")
	case has("os.(*File)."):
		return decide(incident.WaitDisk, "file", "")
	case strings.HasPrefix(d, "IO wait"), has("internal/poll.runtime_pollWait"):
		return decide(incident.WaitHTTP, "own socket", "")
	case strings.HasPrefix(d, "syscall"):
		return decide(incident.WaitDisk, "syscall", "")
	case strings.HasPrefix(d, "semacquire"):
		return decide(incident.WaitCondition, "semaphore", "")
	case running:
		return decide(incident.WaitCPU, "", s.Frames[0].Func)
	}
	return v
}

// goWorkerLoop reports a goroutine whose outermost function itself waits: one
// user frame, no request below it. A loop over a channel or a ticker.
func goWorkerLoop(s *evidence.Stack) bool {
	n := 0
	for _, f := range s.Frames {
		if isGoApp(f.Func) {
			n++
		} else if strings.HasPrefix(f.Func, "net/http.HandlerFunc") || strings.HasPrefix(f.Func, "net/http.(*conn).serve") || strings.HasPrefix(f.Func, "google.golang.org/grpc.(*Server)") {
			return false
		}
	}
	return n <= 1
}
