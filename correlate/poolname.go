package correlate

import (
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// poolOf returns the pool that a thread belongs to, by its name: the name
// without its own number.
func poolOf(s *evidence.Stack, entry *evidence.Frame) string {
	if s.Runtime == evidence.Go {
		return goPool(s, entry)
	}
	name := s.Name
	if name == "" {
		if s.Container != "" {
			return trimIdentity(s.Container)
		}
		if s.Virtual {
			return "virtual threads"
		}
		return "unnamed"
	}
	return threadPool(name)
}

// threadPool strips what tells the threads of one pool apart.
func threadPool(name string) string {
	base := name
	if i := strings.Index(base, "@coroutine#"); i > 0 {
		base = base[:i]
	}
	// A trailing number and what joins it: "-thread-12", "-12", " task-12", "#8", "(12)", "[T#3]".
	end := len(base)
	for end > 0 && (base[end-1] == ')' || base[end-1] == ']') {
		end--
	}
	digits := end
	for digits > 0 && base[digits-1] >= '0' && base[digits-1] <= '9' {
		digits--
	}
	if digits == end || digits == 0 {
		return base
	}
	stem := base[:digits]
	stem = strings.TrimRight(stem, "-_#( [T:.")
	for _, word := range []string{"-thread", "-exec", " task", "-task", "-worker"} {
		if strings.HasSuffix(stem, word) && word == "-thread" {
			stem = strings.TrimSuffix(stem, word)
		}
	}
	if stem == "" {
		return base
	}
	// "pool-3-thread-7" is the pool "pool-3"; "Thread-12" has no pool.
	if stem == "Thread" || stem == "pool" {
		return stem
	}
	// Jetty's qtp503195940-525548 is the pool qtp503195940.
	return stem
}

// trimIdentity removes "@3f99bd52" from a container's name.
func trimIdentity(s string) string {
	if i := strings.LastIndexByte(s, '@'); i > 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '.'); i > 0 && !strings.Contains(s, "/") {
		s = s[i+1:]
	}
	return s
}

// goPool names a goroutine's pool by who serves it: HTTP and gRPC handlers
// together, everything else by the outermost function of the user's own.
func goPool(s *evidence.Stack, entry *evidence.Frame) string {
	for _, f := range s.Frames {
		switch {
		case strings.HasPrefix(f.Func, "net/http.(*conn).serve"), strings.HasPrefix(f.Func, "net/http.HandlerFunc.ServeHTTP"), strings.HasPrefix(f.Func, "net/http.serverHandler.ServeHTTP"):
			return "http handlers"
		case strings.HasPrefix(f.Func, "google.golang.org/grpc.(*Server)"):
			return "grpc handlers"
		case strings.Contains(f.Func, "dubbo-go") && strings.Contains(f.Func, "proxy_factory"):
			return "dubbo handlers"
		case strings.Contains(f.Func, "github.com/valyala/fasthttp.(*workerPool)"):
			return "http handlers"
		}
	}
	if strings.HasPrefix(s.CreatedBy, "net/http.(*Server).Serve") {
		return "http handlers"
	}
	if strings.Contains(s.CreatedBy, "grpc.(*Server)") {
		return "grpc handlers"
	}
	if entry != nil {
		return entry.Func
	}
	if strings.Contains(s.CreatedBy, "/dubbo-go/") && strings.Contains(s.CreatedBy, "duplexHTTPCall") {
		return "dubbo requests"
	}
	if s.CreatedBy != "" {
		return s.CreatedBy
	}
	return "runtime"
}

// requestPool reports pools whose threads serve requests: the ones whose
// fullness is an incident.
func requestPool(name string) bool {
	for _, p := range []string{
		"DubboServerHandler", "dubbo-protocol-", "tri-protocol-", "isolation-", "http-nio-", "https-jsse-nio", "http-bio-", "http-apr-", "ajp-", "catalina-exec", "https-openssl",
		"qtp", "XNIO-", "default task", "grpc-default-executor", "executor-thread", "vert.x-worker-thread", "undertow", "tomcat-handler", "WebContainer",
		"SEV-BOLT-BIZ", "SOFA-", "bolt-", "NettyServerHandler", "http handlers", "grpc handlers", "dubbo handlers", "virtual threads", "http-thread-pool",
		"KafkaListener", "ConsumeMessageThread", "tomcat-threads", "motan", "hsf-", "HSF", "HSFBizProcessor", "pinpoint-none",
	} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return strings.Contains(name, "ExecuteThread") || strings.Contains(name, "ServerHandler") || strings.Contains(name, "-exec") || strings.Contains(strings.ToLower(name), "biz") || strings.Contains(name, "-protocol-")
}

// poolAddress returns the host:port that a Dubbo pool's name states, if any.
func poolAddress(name string) string {
	i := strings.IndexByte(name, '-')
	if i < 0 {
		return ""
	}
	addr := name[i+1:]
	if h, p, ok := cutLast(addr, ':'); ok && h != "" && allDigits(p) {
		return addr
	}
	return ""
}

func cutLast(s string, sep byte) (before, after string, ok bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
