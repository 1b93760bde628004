package stack

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Vendor is the HTTP service of another company that quotes depend on. It answers
// in 20 ms, or, when it hangs, not at all.
type Vendor struct {
	server *http.Server
	hangs  atomic.Bool
	Asked  atomic.Int64
}

func startVendor(addr string) (*Vendor, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	v := &Vendor{}
	v.server = &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(v.quote)}
	go func() { _ = v.server.Serve(l) }()
	return v, nil
}

func (v *Vendor) quote(w http.ResponseWriter, r *http.Request) {
	v.Asked.Add(1)
	if v.hangs.Load() {
		<-r.Context().Done() // until the client gives up
		return
	}
	time.Sleep(20 * time.Millisecond)
	fmt.Fprintln(w, `{"price_cents": 4200}`)
}

// Hang makes it answer no more, or again.
func (v *Vendor) Hang(yes bool) { v.hangs.Store(yes) }

func (v *Vendor) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if v.server.Shutdown(ctx) != nil {
		_ = v.server.Close()
	}
}
