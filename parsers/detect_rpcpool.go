package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// Full worker pools of RPC frameworks and servers other than Dubbo, in the words
// of their families: Motan and what was made after it, SOFARPC and JSF, Thrift,
// uWSGI, EJB containers.
//
//	process thread pool is full, reject, active=800 poolSize=800 corePoolSize=20 maxPoolSize=800 taskCount=912331 requestId=18…   Motan, the server
//	… error_message: process thread pool is full, reject by server: /10.20.0.12:8002, status: 503 …                              Motan, the caller
//	Task:… has been reject for ThreadPool exhausted! pool:200, active:200, queue:0, taskcnt: 77120                                SOFARPC (one refusal in seven), JSF
//	Biz thread pool of provider has bean exhausted, the server port is 12200                                                      SOFARPC, JSF
//	Task has been rejected by ExecutorService 3 times till timedout, reason: …                                                    Thrift's TThreadPoolServer
//	*** uWSGI listen queue of socket "127.0.0.1:9001" (fd: 3) full !!! (101/100) ***
//	WFLYEJB0378: Failed to acquire a permit within 5 MINUTES
func rpcPools() detector {
	return messages("rpc-pool", "Full worker pools of Motan and its kin, SOFARPC, JSF, Thrift, uWSGI and EJB containers", []rule{
		{sign: "rocess thread pool is full, reject", find: motanPool},
		{sign: "hreadPool exhausted! pool:", find: sofaPool},
		{sign: "hread pool of provider has bean exhausted", find: sofaBusy},
		{sign: "Task has been rejected by ExecutorService ", find: rejectedBy("thrift")},
		{sign: "uWSGI listen queue of socket ", find: uwsgiFull},
		{sign: "Failed to acquire a permit within ", find: ejbFull},
		{sign: "Failed to acquire the pool semaphore, strictTimeout=", find: rejectedBy("ejb")},
	})
}

func motanPool(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	p := newPool("motan", "")
	p.Rejected = true
	p.Active = countAfter(line, "active=")
	p.Size = countAfter(line, "poolSize=")
	p.Max = countAfter(line, "maxPoolSize=")
	p.Tasks = int64(countAfter(line, "taskCount="))
	if server := past(line, "by server: "); server != nil {
		p.Relayed = true
		p.Owner = hostAt(bytes.TrimLeft(server, "/"))
	}
	if p.Active < 0 && !p.Relayed && !has(before(text, at), "Exception", "error") {
		return false, nil // words about such a refusal
	}
	p.Name = "motan workers"
	return o.pool(at, p)
}

// sofaPool reads the gauges that SOFARPC and JSF print beside a refusal.
func sofaPool(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	p := newPool("sofarpc", "")
	p.Rejected = true
	p.Size = countAfter(line, "pool:")
	p.Active = countAfter(line, "active:")
	p.Queued = countAfter(line, "queue:")
	p.Tasks = int64(countAfter(line, "taskcnt: "))
	if p.Size < 0 || p.Active < 0 {
		return false, nil
	}
	if p.Active >= p.Size {
		p.Max = p.Size
	}
	return o.pool(at, p)
}

func sofaBusy(o *logOut, text []byte, at int) (bool, error) {
	p := newPool("sofarpc", "")
	p.Rejected = true
	if port := countAfter(rest(text, at), "port is "); port > 0 {
		p.Name = "port " + snippet(upTo(past(rest(text, at), "port is "), " .,;\"'"), 5)
	}
	return o.pool(at, p)
}

// uwsgiFull reads the backlog of a socket: requests that no worker took. Its
// workers are all busy, however many there are.
func uwsgiFull(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	counts := past(line, " full !!! (")
	if counts == nil {
		return false, nil
	}
	p := newPool("uwsgi", "")
	p.Name, p.Rejected = "uwsgi", true
	p.Queued = int(plain(counts))
	return o.pool(at, p)
}

func ejbFull(o *logOut, text []byte, at int) (bool, error) {
	if !has(text, "EJB", "ejb") {
		return false, nil
	}
	p := newPool("ejb", "")
	p.Rejected = true
	return o.pool(at, p)
}

// overloaded is a request that a limit of the server or the client refused.
func overloaded(subject string) func(*logOut, []byte, int) (bool, error) {
	return func(o *logOut, text []byte, at int) (bool, error) {
		return o.mark(at, evidence.Mark{Kind: evidence.MarkRateLimited, Subject: subject, Text: snippet(rest(text, at), maxText)})
	}
}
