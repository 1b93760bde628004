package otlp

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// zeros is an endless stream of them.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// pack compresses what a reader gives.
func pack(t testing.TB, encoding string, from io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "zstd":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	case "x-snappy-framed":
		w = snappy.NewBufferedWriter(&b)
	case "snappy":
		all, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		return snappy.Encode(nil, all)
	}
	if _, err := io.Copy(w, from); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// large is a request of one span that takes so many bytes.
func large(t testing.TB, n int) []byte {
	t.Helper()
	req := spans(1)
	req.Traces().ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().PutStr("padding", strings.Repeat("x", n))
	b, err := req.MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// overH2 is a sender that speaks HTTP/2 without TLS, by hand.
func overH2(t *testing.T) *http.Client {
	t.Helper()
	tr := &http.Transport{Protocols: new(http.Protocols)}
	tr.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 30 * time.Second}
}

// call makes a call of gRPC by hand, and returns its status and message.
func call(t *testing.T, client *http.Client, addr, encoding string, body io.Reader) (string, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/opentelemetry.proto.collector.trace.v1.TraceService/Export", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("Te", "trailers")
	if encoding != "" {
		req.Header.Set("Grpc-Encoding", encoding)
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	code, text := resp.Header.Get("Grpc-Status"), resp.Header.Get("Grpc-Message")
	if code == "" {
		code, text = resp.Trailer.Get("Grpc-Status"), resp.Trailer.Get("Grpc-Message")
	}
	return code, text, err
}

func message(compressed byte, b []byte) io.Reader {
	return io.MultiReader(bytes.NewReader(binary.BigEndian.AppendUint32([]byte{compressed}, uint32(len(b)))), bytes.NewReader(b))
}

// peak watches the heap until it is told to stop, and says how large it was.
func peak() (stop func() uint64) {
	debug.FreeOSMemory()
	done, said := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
			select {
			case <-done:
				said <- most
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 { close(done); return <-said }
}

// TestManyLargeRequestsSpendNoMemory sends requests of nearly 20 MiB at once, most
// of them small until they are unpacked. Some are taken; the others are told to
// come back.
func TestManyLargeRequestsSpendNoMemory(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 100
	}
	const limit = 64 << 20
	s, r, c := started(t, Config{MaxBytesInFlight: limit})
	plain := large(t, maxRequest-1000)
	bodies := map[string][]byte{"": plain}
	for _, encoding := range []string{"gzip", "zstd", "x-snappy-framed"} {
		bodies[encoding] = pack(t, encoding, bytes.NewReader(plain))
	}
	encodings := []string{"gzip", "zstd", "", "x-snappy-framed"}
	h2, h1 := overH2(t), &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	stop := peak()
	var wg sync.WaitGroup
	var mu sync.Mutex
	taken, refused, broken := 0, 0, 0
	for i := range n {
		wg.Go(func() {
			encoding := encodings[i/2%4]
			busy := false
			var err error
			if i%2 == 0 {
				packed := byte(1)
				if encoding == "" {
					packed = 0
				}
				var code string
				code, _, err = call(t, h2, c.GRPC, encoding, message(packed, bodies[encoding]))
				if busy = code == "14"; err == nil && !busy && code != "0" {
					t.Errorf("gRPC, %s: %s", encoding, code)
				}
			} else {
				req, bad := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.HTTP+"/v1/traces", bytes.NewReader(bodies[encoding]))
				if bad != nil {
					t.Error(bad)
					return
				}
				req.Header.Set("Content-Type", asProto)
				if encoding != "" {
					req.Header.Set("Content-Encoding", encoding)
				}
				var resp *http.Response
				if resp, err = h1.Do(req); err == nil {
					busy = resp.StatusCode == http.StatusServiceUnavailable
					after, bad := strconv.Atoi(resp.Header.Get("Retry-After"))
					if !busy && resp.StatusCode != http.StatusOK || busy && (bad != nil || after < 1) {
						t.Errorf("HTTP, %s: %s, Retry-After %q", encoding, resp.Status, resp.Header.Get("Retry-After"))
					}
					resp.Body.Close()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil: // its sender did not read the answer before it was cut off
				broken++
			case busy:
				refused++
			default:
				taken++
			}
		})
	}
	wg.Wait()
	// The sender's own is in it, and garbage as much again.
	most := stop()
	t.Logf("%d taken, %d refused, %d cut off, heap %d MiB", taken, refused, broken, most>>20)
	// The race detector, for which the short run is, takes memory of its own.
	if most > 4*limit+uint64(len(plain)) && !testing.Short() {
		t.Errorf("the heap grew to %d MiB with a limit of %d MiB", most>>20, limit>>20)
	}
	st := r.Stats()
	if got := st.Refused[GRPC][NoBytes] + st.Refused[HTTP][NoBytes]; refused == 0 || int(got) < refused || broken > n/4 {
		t.Errorf("%d refused, %d counted, %d cut off", refused, got, broken)
	}
	if got := st.Taken[GRPC] + st.Taken[HTTP]; taken == 0 || int(got) < taken || len(s.records) != int(got) {
		t.Errorf("%d taken, %d counted, %d records", taken, got, len(s.records))
	}
	// And there is room again.
	if resp, text := post(t, "http://"+c.HTTP+"/v1/traces", asProto, plain); resp.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %s %s", resp.Status, text)
	}
}

// TestBodiesOfAGigabyte streams them, as they are and packed a thousandfold.
func TestBodiesOfAGigabyte(t *testing.T) {
	const size = 1 << 30
	_, r, c := started(t, Config{})
	bombs := map[string][]byte{}
	for _, encoding := range []string{"gzip", "zstd", "deflate", "x-snappy-framed"} {
		bombs[encoding] = pack(t, encoding, io.LimitReader(zeros{}, size/4))
	}
	stop := peak()
	client := overH2(t)
	for name, length := range map[string]int64{"of a length that is said": size, "of a length that is not": -1} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.HTTP+"/v1/traces", io.LimitReader(zeros{}, size))
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = length
		req.Header.Set("Content-Type", asProto)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			continue // cut off while it was being sent
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("HTTP, %s: %s", name, resp.Status)
		}
	}
	code, _, err := call(t, client, c.GRPC, "", io.MultiReader(bytes.NewReader([]byte{0, 0x40, 0, 0, 0}), io.LimitReader(zeros{}, size)))
	if err == nil && code != "8" {
		t.Errorf("gRPC: %q", code)
	}
	for encoding, bomb := range bombs {
		if code, _, err := call(t, client, c.GRPC, encoding, message(1, bomb)); err != nil || code != "8" {
			t.Errorf("gRPC, %s: %q %v", encoding, code, err)
		}
		if status := posted(t, c, encoding, bomb); status != http.StatusRequestEntityTooLarge {
			t.Errorf("HTTP, %s: %d", encoding, status)
		}
	}
	if most := stop(); most > 256<<20 {
		t.Errorf("the heap grew to %d MiB", most>>20)
	}
	if n := r.Stats().Refused[HTTP][TooLarge]; n != 6 {
		t.Errorf("%d were counted as too large", n)
	}
}

// posted posts a body of spans and returns the status.
func posted(t *testing.T, c Config, encoding string, body []byte) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.HTTP+"/v1/traces", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", asProto)
	req.Header.Set("Content-Encoding", encoding)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// TestEncodings holds that all of them are read, and that what is cut or broken is
// told as that.
func TestEncodings(t *testing.T) {
	s, r, c := started(t, Config{})
	body := large(t, 100<<10)
	client := overH2(t)
	want := 0
	for _, encoding := range []string{"gzip", "zstd", "deflate", "snappy", "x-snappy-framed"} {
		packed := pack(t, encoding, bytes.NewReader(body))
		if status := posted(t, c, encoding, packed); status != http.StatusOK {
			t.Errorf("HTTP, %s: %d", encoding, status)
		}
		if code, text, err := call(t, client, c.GRPC, encoding, message(1, packed)); err != nil || code != "0" {
			t.Errorf("gRPC, %s: %s %s %v", encoding, code, text, err)
		}
		want += 2
		for name, bad := range map[string][]byte{"cut": packed[:len(packed)/2], "not it": []byte("\x00\x01\x02 nothing of the kind"), "empty": {}} {
			if status := posted(t, c, encoding, bad); status != http.StatusBadRequest {
				t.Errorf("HTTP, %s, %s: %d", encoding, name, status)
			}
			if code, text, err := call(t, client, c.GRPC, encoding, message(1, bad)); err != nil || code != "3" {
				t.Errorf("gRPC, %s, %s: %s %s %v", encoding, name, code, text, err)
			}
		}
	}
	// A window that is larger than anything that may come out of it.
	if status := posted(t, c, "zstd", []byte("\x28\xb5\x2f\xfd\x00\xf8\x01\x00\x00")); status != http.StatusBadRequest {
		t.Errorf("a window of 2 TiB: %d", status)
	}
	if status := posted(t, c, "br", body); status != http.StatusUnsupportedMediaType {
		t.Errorf("brotli over HTTP: %d", status)
	}
	if code, text, err := call(t, client, c.GRPC, "br", message(1, body)); err != nil || code != "12" || !strings.Contains(text, "gzip") {
		t.Errorf("brotli over gRPC: %s %s %v", code, text, err)
	}
	if len(s.records) != want || r.Stats().Refused[HTTP][Encoding] != 1 || r.Stats().Refused[GRPC][Encoding] != 1 {
		t.Errorf("%d records, want %d; %v", len(s.records), want, r.Stats().Refused)
	}
}

// TestCallsThatAreNone holds that what is not a call of gRPC is told so.
func TestCallsThatAreNone(t *testing.T) {
	_, r, c := started(t, Config{})
	client := overH2(t)
	body := large(t, 10)
	for name, x := range map[string]struct {
		body io.Reader
		code string
	}{
		"nothing":          {bytes.NewReader(nil), "13"},
		"half a prefix":    {strings.NewReader("\x00\x00"), "13"},
		"half a message":   {io.LimitReader(message(0, body), int64(len(body))), "13"},
		"two messages":     {io.MultiReader(message(0, body), message(0, body)), "13"},
		"another protocol": {strings.NewReader("GET / HTTP/1.1\r\n\r\n"), "13"},
		"packed, not how":  {message(1, body), "13"},
	} {
		if code, text, err := call(t, client, c.GRPC, "", x.body); err != nil || code != x.code {
			t.Errorf("%s: %s %s %v", name, code, text, err)
		}
	}
	for path, want := range map[string]string{"/": "415", "/v1/traces": "415"} {
		resp, err := client.Post("http://"+c.GRPC+path, asProto, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if strconv.Itoa(resp.StatusCode) != want {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	err := dial(t, c.GRPC).Invoke(t.Context(), "/a.b/C", []byte{}, new([]byte), grpc.ForceCodecV2(rawClient{}))
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("another method: %v", err)
	}
	if n := r.Stats().Refused[GRPC][Malformed]; n != 6 {
		t.Errorf("%v", r.Stats().Refused)
	}
}

// TestSlowSendersAreLetGo opens connections that stop in the middle of things.
func TestSlowSendersAreLetGo(t *testing.T) {
	_, r, c := started(t, Config{IdleTimeout: 300 * time.Millisecond})
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	settings := "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	// The literal fields of a call, of which no table is needed.
	var fields bytes.Buffer
	for _, f := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", "/opentelemetry.proto.collector.trace.v1.TraceService/Export"}, {":authority", "x"}, {"content-type", "application/grpc"}} {
		fields.WriteByte(0)
		for _, s := range f {
			fields.WriteByte(byte(len(s)))
			fields.WriteString(s)
		}
	}
	headers := "\x00\x00" + string([]byte{byte(fields.Len())}) + "\x01\x04\x00\x00\x00\x01" + fields.String()
	for name, x := range map[string]struct{ addr, text string }{
		"HTTP: nothing":          {c.HTTP, ""},
		"HTTP: half a header":    {c.HTTP, "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Ty"},
		"HTTP: half a body":      {c.HTTP, "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"},
		"HTTP: no end of chunks": {c.HTTP, "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"},
		"HTTP: silence between":  {c.HTTP, "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"},
		"gRPC: nothing":          {c.GRPC, ""},
		"gRPC: a preface":        {c.GRPC, preface},
		"gRPC: settings":         {c.GRPC, preface + settings},
		"gRPC: half a header":    {c.GRPC, preface + settings + headers[:20]},
		"gRPC: half a body":      {c.GRPC, preface + settings + headers + "\x00\x00\x06\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x64\x0a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", x.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, x.text); err != nil {
				t.Fatal(err)
			}
			if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
				t.Fatal(err)
			}
			// It ends, however: by an answer and a close, or by a close.
			if _, err := io.Copy(io.Discard, conn); errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
				t.Errorf("it is still open: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		if st := r.Stats(); st.Refused[HTTP][Slow] != 2 || st.Refused[GRPC][Slow] != 1 {
			t.Errorf("counted as slow: %v", st.Refused)
		}
	})
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// TestIdleConnections opens many that say nothing: others are served meanwhile.
func TestIdleConnections(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 100
	}
	_, _, c := started(t, Config{})
	for i := range n {
		conn, err := net.Dial("tcp", []string{c.GRPC, c.HTTP}[i%2])
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	if _, err := ptraceotlp.NewGRPCClient(dial(t, c.GRPC)).Export(t.Context(), spans(1)); err != nil {
		t.Error(err)
	}
	if resp, text := post(t, "http://"+c.HTTP+"/v1/traces", asJSON, []byte("{}")); resp.StatusCode != http.StatusOK {
		t.Errorf("%s %s", resp.Status, text)
	}
}

// TestTooManyConnections holds that who comes when there are as many as may be is
// served once the idle ones are let go.
func TestTooManyConnections(t *testing.T) {
	_, _, c := started(t, Config{MaxConnections: 3, IdleTimeout: 200 * time.Millisecond})
	for i := range 6 {
		conn, err := net.Dial("tcp", []string{c.GRPC, c.HTTP}[i%2])
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	if _, err := ptraceotlp.NewGRPCClient(dial(t, c.GRPC)).Export(t.Context(), spans(1), grpc.WaitForReady(true)); err != nil {
		t.Error(err)
	}
	if resp, text := post(t, "http://"+c.HTTP+"/v1/traces", asJSON, []byte("{}")); resp.StatusCode != http.StatusOK {
		t.Errorf("%s %s", resp.Status, text)
	}
}

// TestGarbage sends what is no HTTP at all, and headers without end.
func TestGarbage(t *testing.T) {
	s, _, c := started(t, Config{IdleTimeout: 500 * time.Millisecond})
	for _, addr := range []string{c.GRPC, c.HTTP} {
		for name, text := range map[string]string{
			"noise":            strings.Repeat("\x00\xff\x13\x37", 20_000),
			"a preface, noise": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + strings.Repeat("\xff", 100_000),
			"a large frame":    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00\xff\xff\xff\x01\x04\x00\x00\x00\x01",
			"TLS":              "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
			"headers":          "POST /v1/traces HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n",
			"many headers":     "POST /v1/traces HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X: y\r\n", 100_000) + "\r\n",
			"HTTP/1.1":         "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/grpc\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		} {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.WriteString(conn, text) }()
			if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, conn); isTimeout(err) {
				t.Errorf("%s at %s: it is still open", name, addr)
			}
			conn.Close()
		}
	}
	if len(s.records) > 0 {
		t.Errorf("%d records of noise", len(s.records))
	}
	if _, err := ptraceotlp.NewGRPCClient(dial(t, c.GRPC)).Export(t.Context(), spans(1)); err != nil {
		t.Error(err)
	}
}

// TestOldKeysInProtobuf reads the field that scopes had before OTLP 0.15, as a
// sender of 0.15 wrote it for both.
func TestOldKeysInProtobuf(t *testing.T) {
	s, _, c := started(t, Config{})
	td := ptrace.NewTraces()
	spans(3).Traces().CopyTo(td)
	b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	if err != nil {
		t.Fatal(err)
	}
	// resource_spans { scope_spans = 2 } becomes field 1000.
	inner := b[2:]
	if b[1] >= 0x80 {
		inner = b[3:]
	}
	at := bytes.IndexByte(inner, 0x12)
	if at < 0 {
		t.Fatal("no scope")
	}
	old := append(append(append([]byte{}, inner[:at]...), 0xc2, 0x3e), inner[at+1:]...)
	body := append(binary.AppendUvarint([]byte{0x0a}, uint64(len(old))), old...)
	if resp, text := post(t, "http://"+c.HTTP+"/v1/traces", asProto, body); resp.StatusCode != http.StatusOK || len(s.records) != 3 {
		t.Errorf("%s %s: %d records", resp.Status, text, len(s.records))
	}
}
