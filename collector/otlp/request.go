package otlp

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/parsers"
)

// signal is what a path or a method takes.
type signal int

const (
	traces signal = iota
	logs
)

// refusal is why a request was not taken: what its sender is told, and how it is
// counted.
type refusal struct {
	reason Reason
	code   codes.Code
	status int // of HTTP
	text   string
	retry  bool // it may be sent again, later
}

func (r *refusal) Error() string { return r.text }

// Reason is why a request was refused.
type Reason string

// The reasons.
const (
	NoBytes      Reason = "bytes"          // no room for its bytes; it may be sent again
	NoMemory     Reason = "memory"         // the process is at its limit; it may be sent again
	NoSpans      Reason = "spans"          // no room for its spans; it may be sent again
	TooLarge     Reason = "too-large"      // more than one request may have
	Malformed    Reason = "malformed"      // neither protobuf nor JSON, or cut, or badly compressed
	Foreign      Reason = "foreign"        // of which nothing would have been read
	Encoding     Reason = "encoding"       // compressed in a way that is not known
	ContentType  Reason = "content-type"   // neither protobuf nor JSON by its own word
	NotFound     Reason = "path"           // to a path or method that is not served
	Unauthorised Reason = "authentication" // without the token
	Slow         Reason = "timeout"        // its body did not come in time, or its sender went away
)

// refused makes a refusal of what went wrong with a body.
func refused(err error) *refusal {
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, errNoRoom):
		return &refusal{NoBytes, codes.Unavailable, http.StatusServiceUnavailable, errNoRoom.Error(), true}
	case errors.Is(err, errNoMemory):
		return &refusal{NoMemory, codes.Unavailable, http.StatusServiceUnavailable, errNoMemory.Error(), true}
	case errors.Is(err, errTooLarge):
		return &refusal{TooLarge, codes.ResourceExhausted, http.StatusRequestEntityTooLarge, errTooLarge.Error() + ": let its sender make smaller batches", false}
	case errors.Is(err, errEncoding):
		return &refusal{Encoding, codes.Unimplemented, http.StatusUnsupportedMediaType, errEncoding.Error(), false}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &refusal{Slow, codes.DeadlineExceeded, http.StatusRequestTimeout, "the request did not come whole in time", false}
	case errors.Is(err, errPacked), errors.Is(err, parsers.ErrBroken):
		return &refusal{Malformed, codes.InvalidArgument, http.StatusBadRequest, err.Error(), false}
	case errors.Is(err, parsers.ErrNotOTLP):
		return &refusal{Foreign, codes.InvalidArgument, http.StatusBadRequest, err.Error() + ": send traces to /v1/traces or TraceService, logs to /v1/logs or LogsService", false}
	}
	return &refusal{Slow, codes.Canceled, http.StatusBadRequest, "the request ended early", false}
}

// take hands on what a request holds, or says why it does not; and of how many
// spans nothing could be made. What was sent in JSON is read twice: once to see
// that all of it is sound and how much it is.
func (r *Receiver) take(transport string, what signal, asJSON bool, body []byte) (rejected int, err error) {
	switch {
	case asJSON:
		return r.takeJSON(transport, what, body)
	case what == logs:
		n, err := parsers.CountLogs(body)
		if err != nil {
			return 0, err
		}
		return r.admitted(transport, what, n, func(reader *parsers.OTLP, emit parsers.Emit) error { return reader.Logs(body, emit) })
	}
	n, err := parsers.CountSpans(body)
	if err != nil {
		return 0, err
	}
	return r.admitted(transport, what, n, func(reader *parsers.OTLP, emit parsers.Emit) error { return reader.Spans(body, emit) })
}

// admitted reads what there is room for.
func (r *Receiver) admitted(transport string, what signal, n int, read func(*parsers.OTLP, parsers.Emit) error) (rejected int, err error) {
	end := r.step(transport, what, n)
	defer func() { end(err) }()
	if what == logs {
		r.sink.AddLogs(n)
	} else {
		if !r.sink.Admit(transport, n) {
			return 0, &refusal{NoSpans, codes.Unavailable, http.StatusServiceUnavailable, "firebreak has no room for more spans now", true}
		}
		defer r.sink.Done(n)
	}
	spans := 0
	err = r.with(func(reader *parsers.OTLP) error {
		return read(reader, func(rec *evidence.Record) error {
			if rec.Span != nil {
				spans++
			}
			r.sink.Add(rec)
			return nil
		})
	})
	if what == logs { // a record is not always one of evidence
		return 0, err
	}
	return max(0, n-spans), err
}

// with lends one of the readers.
func (r *Receiver) with(read func(*parsers.OTLP) error) error {
	reader := <-r.readers
	defer func() { r.readers <- reader }()
	return read(reader)
}

func (r *Receiver) takeJSON(transport string, what signal, body []byte) (rejected int, err error) {
	if !json.Valid(body) {
		return 0, &refusal{Malformed, codes.InvalidArgument, http.StatusBadRequest, "the body is no JSON document: one request in each body", false}
	}
	var found parsers.Posted
	err = r.with(func(reader *parsers.OTLP) (err error) {
		found, err = reader.Holds(body)
		return err
	})
	if err != nil {
		return 0, err
	}
	n, other, path := found.Spans, found.Logs, "/v1/logs"
	if what == logs {
		n, other, path = found.Logs, found.Spans, "/v1/traces"
	}
	if n == 0 {
		text := ""
		switch {
		case other > 0:
			text = "nothing for this path: post it to " + path
		case found.Others > 0:
			text = "metrics and profiles are not taken: send traces and logs"
		case !found.Known:
			text = `no "resourceSpans" or "resourceLogs" at its root: send OTLP/JSON`
		case found.Unknown > 0:
			text = `nothing was found below "resourceSpans" or "resourceLogs", but keys that OTLP has not`
		}
		if text != "" {
			return 0, &refusal{Foreign, codes.InvalidArgument, http.StatusBadRequest, text, false}
		}
	}
	rejected, err = r.admitted(transport, what, n, func(reader *parsers.OTLP, emit parsers.Emit) error {
		_, err := reader.Document(body, emit)
		return err
	})
	if err == nil {
		for _, form := range found.Forms.Names() {
			r.stats.converted(form)
		}
		if found.Unknown > 0 {
			r.stats.skipped("key that OTLP has not")
		}
	}
	return rejected, err
}

// taken is the protobuf of the answer to a request that was taken in: empty, or
// with what was left out. A response of logs would look the same.
func taken(rejected int) []byte {
	if rejected == 0 {
		return nil
	}
	x := ptraceotlp.NewExportResponse()
	x.PartialSuccess().SetRejectedSpans(int64(rejected))
	x.PartialSuccess().SetErrorMessage(unread)
	msg, err := x.MarshalProto()
	if err != nil {
		return nil
	}
	return msg
}

// unread is what a partial success says.
const unread = "spans without a trace ID or a span ID, or broken ones, were left out"

// delay is when a refused request may come again: in a few seconds, not all at
// once. Below a second it would be none over HTTP.
func delay() time.Duration { return time.Duration(1+rand.IntN(5)) * time.Second }

// status is a refusal as gRPC and OTLP's answers over HTTP have it. Without the
// delay senders over gRPC would drop what they have.
func (r *refusal) said(after time.Duration) *status.Status {
	s := status.New(r.code, r.text)
	if r.retry {
		if with, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(after)}); err == nil {
			s = with
		}
	}
	return s
}
