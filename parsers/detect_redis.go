package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// Redis clients that waited for the server:
//
//	io.lettuce.core.RedisCommandTimeoutException: Command timed out after 1 second(s)
//	RedisTimeoutException: Redis server response timeout (3000 ms) occurred after 3 retry attempts, is non-idempotent command: false …
//	Command still hasn't been written into connection! … after 2 of 3 retry attempts
//
// Redisson counts retries, so there was one attempt more.
func redis() detector {
	return messages("redis", "Lettuce, Redisson, Jedis and StackExchange.Redis: commands that timed out", []rule{
		{sign: "RedisCommandTimeoutException", find: redisSlow},
		{sign: "Redis command timed out", find: redisSlow},
		{sign: "Redis server response timeout (", find: redisson},
		{sign: "Command still hasn't been written into connection", find: redisson},
		{sign: "JedisConnectionException: java.net.SocketTimeoutException", find: redisSlow},
		{sign: "StackExchange.Redis.RedisTimeoutException", find: redisSlow},
		{sign: "Reached the max retries per request limit (which is ", find: ioredis},
		{sign: "max number of clients reached", find: redisFull},
	})
}

func redisSlow(o *logOut, text []byte, at int) (bool, error) {
	return o.mark(at, slow("redis", rest(text, at)))
}

// slow says that an outgoing call waited in vain for a peer.
func slow(peer string, text []byte) evidence.Mark {
	return evidence.Mark{Kind: evidence.MarkDownstream, Subject: peer, Text: snippet(text, maxText)}
}

func redisson(o *logOut, text []byte, at int) (bool, error) {
	if tries := redissonTries(text[at:]); tries != nil {
		if _, err := o.tries(at, *tries); err != nil {
			return true, err
		}
	}
	return o.mark(at, slow("redis", rest(text, at)))
}

// redissonTries reads "after <i> of <n> retry attempts" or "after <i> retry attempts".
func redissonTries(text []byte) *evidence.Tries {
	i := bytes.Index(text, []byte(" retry attempts"))
	if i < 0 {
		return nil
	}
	head := text[:i]
	after := bytes.LastIndex(head, []byte("after "))
	if after < 0 {
		return nil
	}
	made := plain(head[after+len("after "):])
	if made < 0 || made > 1000 {
		return nil
	}
	t := newTries("redisson", int(made)+1)
	t.Service = "redis"
	t.Method = snippet(enclosed(text, "command: (", ")"), maxText)
	t.Outcome = evidence.Timeout
	if n := countAfter(head[after:], " of "); n >= 0 {
		t.RetriesSetting = n
	}
	if d := span(past(text, "response timeout (")); d > 0 {
		t.Timeout = d
	}
	return &t
}

func ioredis(o *logOut, text []byte, at int) (bool, error) {
	n := countAfter(rest(text, at), "(which is ")
	if n < 0 || n > 1000 {
		return false, nil
	}
	t := newTries("ioredis", n+1)
	t.Service, t.RetriesSetting = "redis", n
	return o.tries(at, t)
}

func redisFull(o *logOut, text []byte, at int) (bool, error) {
	return o.mark(at, evidence.Mark{Kind: evidence.MarkTooManyConns, Subject: "redis", Text: snippet(rest(text, at), maxText)})
}
