package sender

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/bench/truth"
)

// TestNothingIsAnswered sends in the clear to somebody who speaks TLS.
func TestNothingIsAnswered(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	corpus, err := truth.Encode(truth.Config{Calls: 3, Families: 1, Batch: 512}, false)
	if err != nil {
		t.Fatal(err)
	}
	addr := srv.Listener.Addr().String()
	_, err = Send(context.Background(), Config{GRPC: addr, Connections: 1, NoAnswer: 200 * time.Millisecond}, &Load{Corpus: corpus, Laps: 1})
	if err == nil || !strings.Contains(err.Error(), "nothing was answered for 200ms: is that an OTLP receiver, and without TLS?") {
		t.Error(err)
	}
}
