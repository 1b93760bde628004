package otlp

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// OTLP over gRPC is one call in each direction, of which this is all:
//
//	:method POST  :path /opentelemetry.proto.collector.trace.v1.TraceService/Export  content-type application/grpc  grpc-encoding gzip
//	01 | 00 00 3f 20 | a gzip of the request           compressed or not, length, message
//
//	:status 200  content-type application/grpc
//	00 | 00 00 00 00 |                                 an empty answer
//	grpc-status: 0                                     in the trailer; a failure is headers alone
//
// The server of grpc-go reads and unpacks a whole message before it asks anyone;
// here each piece is paid for first.

var methods = map[string]signal{
	"/opentelemetry.proto.collector.trace.v1.TraceService/Export": traces,
	"/opentelemetry.proto.collector.logs.v1.LogsService/Export":   logs,
}

// overGRPC answers one call.
func (r *Receiver) overGRPC(w http.ResponseWriter, req *http.Request) {
	kind := req.Header.Get("Content-Type")
	if req.Method != http.MethodPost || kind != "application/grpc" && !strings.HasPrefix(kind, "application/grpc+proto") && !strings.HasPrefix(kind, "application/grpc;") {
		r.stats.refused(GRPC, ContentType)
		http.Error(w, "only gRPC is spoken here; OTLP over HTTP has another port", http.StatusUnsupportedMediaType)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/grpc")
	h.Set("Grpc-Accept-Encoding", "identity,"+strings.ReplaceAll(encodings, " ", ""))
	rejected, err := r.exportGRPC(req)
	if err != nil {
		r.refuseGRPC(w, refused(err))
		return
	}
	r.stats.taken(GRPC)
	h.Set("Trailer", "Grpc-Status")
	msg := taken(rejected)
	_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(msg))), msg...))
	h.Set("Grpc-Status", "0")
}

func (r *Receiver) exportGRPC(req *http.Request) (rejected int, err error) {
	what, served := methods[req.URL.Path]
	switch {
	case !served:
		return 0, &refusal{NotFound, codes.Unimplemented, http.StatusOK, fmt.Sprintf("there is no method %.100q here: only traces and logs are taken", req.URL.Path), false}
	case !r.cfg.Token.allows(req.Header.Values("Authorization")):
		return 0, r.unauthorised(GRPC, req.RemoteAddr)
	}
	var prefix [5]byte
	if _, err := io.ReadFull(req.Body, prefix[:]); err != nil {
		return 0, early(err)
	}
	encoding := ""
	switch prefix[0] {
	case 0:
	case 1:
		if encoding = req.Header.Get("Grpc-Encoding"); encoding == "" || encoding == "identity" {
			return 0, &refusal{Malformed, codes.Internal, http.StatusOK, "a message is said to be compressed, but not how", false}
		}
	default:
		return 0, &refusal{Malformed, codes.Internal, http.StatusOK, "what was sent is no message of gRPC", false}
	}
	size := int64(binary.BigEndian.Uint32(prefix[1:]))
	switch {
	case size > maxRequest:
		return 0, errTooLarge
	case r.budget.used.Load()+size > r.budget.limit:
		return 0, errNoRoom
	}
	b, err := r.newBody(size)
	if err != nil {
		return 0, err
	}
	defer b.close()
	message := &io.LimitedReader{R: req.Body, N: size}
	if err := b.fill(message, encoding); err != nil {
		return 0, err
	}
	if message.N > 0 && encoding != "" { // what a decompressor leaves
		if _, err := io.Copy(io.Discard, message); err != nil {
			return 0, err
		}
	}
	if message.N > 0 {
		return 0, early(io.ErrUnexpectedEOF)
	}
	if n, err := req.Body.Read(prefix[:1]); n > 0 {
		return 0, &refusal{Malformed, codes.Internal, http.StatusOK, "more than one message was sent", false}
	} else if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return r.take(GRPC, what, false, b.bytes())
}

// early tells a body that ended in the middle of a message from one that failed.
func early(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &refusal{Malformed, codes.Internal, http.StatusOK, "the call ended in the middle of its message", false}
	}
	return err
}

// refuseGRPC answers why a call was not taken: in headers, without a body.
func (r *Receiver) refuseGRPC(w http.ResponseWriter, why *refusal) {
	r.stats.refused(GRPC, why.reason)
	said := why.said(delay()).Proto()
	h := w.Header()
	h.Set("Grpc-Status", strconv.Itoa(int(why.code)))
	h.Set("Grpc-Message", percent(why.text))
	if len(said.GetDetails()) > 0 {
		if details, err := proto.Marshal(said); err == nil {
			h.Set("Grpc-Status-Details-Bin", base64.RawStdEncoding.EncodeToString(details))
		}
	}
	w.WriteHeader(http.StatusOK)
}

// percent writes a message as gRPC's headers have it.
func percent(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
