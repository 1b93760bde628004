package main

import (
	"fmt"
	"time"
)

// goroutine writes one goroutine as a panic or debug=2 prints it. Frames come
// in pairs: function and place.
func goroutine(f files, file string, id int, state string, stack ...string) {
	f.printf(file, "goroutine %d [%s]:\n", id, state)
	for i := 0; i+1 < len(stack); i += 2 {
		f.printf(file, "%s\n\t%s +0x%x\n", stack[i], stack[i+1], 0x20+i*0x14)
	}
	f.printf(file, "\n")
}

// goServe ends the stack of an HTTP handler.
func goServe() []string {
	return []string{
		"net/http.HandlerFunc.ServeHTTP(0xc0001b2000?, {0x1a4f880?, 0xc0003ba000?}, 0x0?)", "/usr/local/go/src/net/http/server.go:2220",
		"net/http.serverHandler.ServeHTTP({0xc0002a4000?}, {0x1a4f880?, 0xc0003ba000?}, 0x6?)", "/usr/local/go/src/net/http/server.go:3210",
		"net/http.(*conn).serve(0xc0004d2000, {0x1a51a58, 0xc0002b0ff0})", "/usr/local/go/src/net/http/server.go:2092",
		"created by net/http.(*Server).Serve in goroutine 1", "/usr/local/go/src/net/http/server.go:3360",
	}
}

// goMySQLRead waits for the answer of go-sql-driver.
func goMySQLRead() []string {
	return []string{
		"internal/poll.runtime_pollWait(0x7f3f8c0b5e28, 0x72)", "/usr/local/go/src/runtime/netpoll.go:351",
		"internal/poll.(*FD).Read(0xc0005a6000, {0xc0005c0000, 0x1000, 0x1000})", "/usr/local/go/src/internal/poll/fd_unix.go:165",
		"net.(*conn).Read(0xc0000a4010, {0xc0005c0000?, 0x0?, 0x0?})", "/usr/local/go/src/net/net.go:189",
		"github.com/go-sql-driver/mysql.(*buffer).readNext(0xc0001a0000, 0x4, 0xc0001a2000)", "/go/pkg/mod/github.com/go-sql-driver/mysql@v1.9.2/buffer.go:85",
		"github.com/go-sql-driver/mysql.(*mysqlConn).readPacket(0xc0001a0008)", "/go/pkg/mod/github.com/go-sql-driver/mysql@v1.9.2/packets.go:74",
		"github.com/go-sql-driver/mysql.(*mysqlConn).query(0xc0001a0008, {0xc000312000, 0x52}, {0x0, 0x0, 0x0})", "/go/pkg/mod/github.com/go-sql-driver/mysql@v1.9.2/connection.go:446",
		"database/sql.(*DB).queryDC(0x1?, {0x1a51a58, 0xc0002b0ff0}, {0x0, 0x0}, 0xc0002a4000, 0xc0003ba000, {0xc000312000, 0x52}, {0xc0003be000, 0x1, 0x1})", "/usr/local/go/src/database/sql/sql.go:1786",
		"database/sql.(*DB).QueryContext(0x0?, {0x1a51a58, 0xc0002b0ff0}, {0xc000312000, 0x52}, {0xc0003be000, 0x1, 0x1})", "/usr/local/go/src/database/sql/sql.go:1743",
	}
}

// goConn waits for a connection of database/sql.
func goConn() []string {
	return []string{
		"database/sql.(*DB).conn(0xc0001e6000, {0x1a51a58, 0xc0002b0ff0}, 0x1)", "/usr/local/go/src/database/sql/sql.go:1369",
		"database/sql.(*DB).query(0xc0001e6000, {0x1a51a58, 0xc0002b0ff0}, {0x17a0e2b, 0x52}, {0xc0003be000, 0x1, 0x1}, 0x0?)", "/usr/local/go/src/database/sql/sql.go:1761",
		"database/sql.(*DB).QueryContext(0x0?, {0x1a51a58, 0xc0002b0ff0}, {0x17a0e2b, 0x52}, {0xc0003be000, 0x1, 0x1})", "/usr/local/go/src/database/sql/sql.go:1743",
	}
}

// goPanicHead is how a SIGQUIT dump begins.
func goPanicHead(f files, file string) {
	f.printf(file, "SIGQUIT: quit\nPC=0x4803a1 m=0 sigcode=0\n\n")
}

// goIdle writes the goroutines that every server has.
func goIdle(f files, file string, first int) {
	goroutine(f, file, 1, "IO wait, 212 minutes", "internal/poll.runtime_pollWait(0x7f3f8c0b5f20, 0x72)", "/usr/local/go/src/runtime/netpoll.go:351", "internal/poll.(*FD).Accept(0xc000202000)", "/usr/local/go/src/internal/poll/fd_unix.go:620", "net.(*TCPListener).Accept(0xc0000a6040)", "/usr/local/go/src/net/tcpsock.go:380", "net/http.(*Server).Serve(0xc0001c2000, {0x1a4e1a0, 0xc0000a6040})", "/usr/local/go/src/net/http/server.go:3330", "main.main()", "/src/cmd/server/main.go:61")
	for i := range 8 {
		goroutine(f, file, first+i, "IO wait", "internal/poll.runtime_pollWait(0x7f3f8c0b5c38, 0x72)", "/usr/local/go/src/runtime/netpoll.go:351", "net.(*conn).Read(0xc0000a4020, {0xc0005d0000?, 0x0?, 0x0?})", "/usr/local/go/src/net/net.go:189", "net/http.(*connReader).Read(0xc0002b0fc0, {0xc0005d0000, 0x1000, 0x1000})", "/usr/local/go/src/net/http/server.go:798", "bufio.(*Reader).Peek(0xc0004c6120, 0x4)", "/usr/local/go/src/bufio/bufio.go:148", "net/http.(*conn).serve(0xc0004d2000, {0x1a51a58, 0xc0002b0ff0})", "/usr/local/go/src/net/http/server.go:2127", "created by net/http.(*Server).Serve in goroutine 1", "/usr/local/go/src/net/http/server.go:3360")
	}
}

// slogText is a line of log/slog's text handler.
func slogText(f files, file string, at time.Time, level, format string, args ...any) {
	f.printf(file, "time=%s level=%s %s\n", at.Format("2006-01-02T15:04:05.000Z"), level, fmt.Sprintf(format, args...))
}
