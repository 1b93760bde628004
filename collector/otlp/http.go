package otlp

import (
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// OTLP over HTTP: a request is the body of a POST, in protobuf or JSON.

const (
	asProto = "application/x-protobuf"
	asJSON  = "application/json"
)

var paths = map[string]signal{"/v1/traces": traces, "/v1/logs": logs}

// overHTTP answers one request.
func (r *Receiver) overHTTP(w http.ResponseWriter, req *http.Request) {
	kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	rejected, err := r.exportHTTP(req, kind)
	if err != nil {
		r.refuseHTTP(w, kind, refused(err))
		return
	}
	r.stats.taken(HTTP)
	answer := taken(rejected)
	switch {
	case kind != asJSON:
		kind = asProto
	case rejected == 0:
		answer = []byte("{}")
	default:
		answer = fmt.Appendf(nil, `{"partialSuccess":{"rejectedSpans":"%d","errorMessage":%q}}`, rejected, unread)
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(answer)
}

func (r *Receiver) exportHTTP(req *http.Request, kind string) (rejected int, err error) {
	what, served := paths[req.URL.Path]
	switch {
	case !served:
		return 0, &refusal{NotFound, codes.Unimplemented, http.StatusNotFound, "nothing is taken here: post to /v1/traces or /v1/logs", false}
	case req.Method != http.MethodPost:
		return 0, &refusal{NotFound, codes.Unimplemented, http.StatusMethodNotAllowed, "only POST is taken", false}
	case kind != asJSON && kind != asProto && kind != "application/protobuf":
		return 0, &refusal{ContentType, codes.InvalidArgument, http.StatusUnsupportedMediaType, "the content type must be " + asProto + " or " + asJSON, false}
	case !r.cfg.Token.allows(req.Header.Values("Authorization")):
		return 0, r.unauthorised(HTTP, req.RemoteAddr)
	case req.ContentLength > maxRequest:
		return 0, errTooLarge
	case r.budget.used.Load()+req.ContentLength > r.budget.limit: // it would not fit, so none of it is read
		return 0, errNoRoom
	}
	b, err := r.newBody(req.ContentLength)
	if err != nil {
		return 0, err
	}
	defer b.close()
	if err := b.fill(req.Body, req.Header.Get("Content-Encoding")); err != nil {
		return 0, err
	}
	if kind == asJSON { // what it is read into
		if err := b.account.take(int64(b.n)); err != nil {
			return 0, err
		}
	}
	return r.take(HTTP, what, kind == asJSON, b.bytes())
}

// refuseHTTP answers why a request was not taken.
func (r *Receiver) refuseHTTP(w http.ResponseWriter, kind string, why *refusal) {
	r.stats.refused(HTTP, why.reason)
	after := delay()
	h := w.Header()
	if why.retry {
		h.Set("Retry-After", strconv.Itoa(int(after/time.Second)))
	}
	switch why.status {
	case http.StatusMethodNotAllowed:
		h.Set("Allow", http.MethodPost)
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	}
	encode, said := proto.Marshal, why.said(after).Proto()
	if kind != asProto && kind != "application/protobuf" {
		kind, encode = asJSON, protojson.Marshal
	}
	answer, err := encode(said)
	if err != nil { // a text that is no UTF-8; there are none
		answer = nil
	}
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(why.status)
	_, _ = w.Write(answer)
}
