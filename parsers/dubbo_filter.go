package parsers

import (
	"bytes"
	"hash/maphash"
)

// The provider's ExceptionFilter logs every exception that the interface does not
// declare, ERROR, with the whole text of the exception in the line, after the
// service itself has logged it or not, on the same thread:
//
//	[DUBBO] Got unchecked and undeclared exception which called by 10.20.1.31. service: com.acme.shop.OrderService, method: placeOrder, exception: org.apache.dubbo.rpc.RpcException: Failed to invoke the method …, dubbo version: 3.3.5, current host: 10.20.0.21
//	org.apache.dubbo.rpc.RpcException: Failed to invoke the method …

const exceptionFilter = "Got unchecked and undeclared exception which called by "

// retold reports whether a record is the ExceptionFilter's and its exception, or
// a cause of it, was logged already by the thread that threw it: one event.
// It remembers what other records say was thrown.
func (o *logOut) retold(r *logRecord) bool {
	if r.Thread == "" {
		return false
	}
	first := r.first()
	rest := r.Text[min(len(first)+1, len(r.Text)):]
	i := bytes.Index(first, []byte(exceptionFilter))
	if i < 0 {
		if thrown := until(rest, "\n"); len(thrown) > 0 && !bytes.HasPrefix(bytes.TrimLeft(thrown, " \t"), []byte("at ")) {
			o.thrown.add(thrownSum(r.Thread, thrown))
		}
		return false
	}
	if told := after(first[i:], ", exception: "); told != nil && o.thrown.take(thrownSum(r.Thread, told)) {
		return true
	}
	for n := 0; len(rest) > 0 && n < 400; n++ {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		if cause, ok := bytes.CutPrefix(line, []byte("Caused by: ")); ok && o.thrown.take(thrownSum(r.Thread, cause)) {
			return true
		}
	}
	return false
}

// thrownSum identifies what a thread threw, without Dubbo's envelope.
func thrownSum(thread string, exception []byte) uint64 {
	if i := bytes.Index(exception, []byte(", dubbo version: ")); i >= 0 {
		exception = exception[:i]
	}
	var h maphash.Hash
	h.SetSeed(hashSeed)
	_, _ = h.WriteString(thread)
	_ = h.WriteByte(0)
	_, _ = h.Write(bytes.TrimRight(exception, " \r"))
	return h.Sum64()
}
