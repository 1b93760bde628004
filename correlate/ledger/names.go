package ledger

import (
	"cmp"
	"slices"
	"strings"
)

// place is a process: whose span it is.
type place struct{ service, instance string }

// op is what was called. For a span of no protocol it is the span's name.
type op struct {
	protocol, service, method string
	db                        string // "mysql/shop", where it is a statement
}

// peer is the other end as the caller named it.
type peer struct{ name, addr string }

// table numbers distinct keys. Number 0 is the zero key; number 1 stands for
// all that came when the table was full.
type table[K comparable] struct {
	ids  map[K]uint32
	keys []K
	max  int
	lost int64
	last K // the key asked for last, which is mostly the next one
	at   uint32
}

func newTable[K comparable](other K, limit int) *table[K] {
	var zero K
	return &table[K]{ids: map[K]uint32{zero: 0, other: 1}, keys: []K{zero, other}, max: limit}
}

// id numbers k; keep makes a copy that may be kept.
func (t *table[K]) id(k K, keep func(K) K) uint32 {
	if k == t.last {
		return t.at
	}
	id, ok := t.ids[k]
	if !ok {
		if len(t.keys) >= t.max {
			t.lost++
			return 1
		}
		k = keep(k)
		id = uint32(len(t.keys))
		t.ids[k] = id
		t.keys = append(t.keys, k)
	}
	t.last, t.at = k, id
	return id
}

// rank renumbers the keys in their own order, so that numbers no longer depend
// on the order of arrival, and returns the new number of each old one.
func (t *table[K]) rank(compare func(a, b K) int) []uint32 {
	order := make([]uint32, len(t.keys))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order[1:], func(a, b uint32) int { return compare(t.keys[a], t.keys[b]) })
	fresh := make([]uint32, len(order))
	keys := make([]K, len(order))
	for i, old := range order {
		fresh[old] = uint32(i)
		keys[i] = t.keys[old]
	}
	t.keys, t.ids = keys, nil
	return fresh
}

func keepPlace(p place) place { return place{strings.Clone(p.service), strings.Clone(p.instance)} }

func keepOp(o op) op {
	return op{o.protocol, strings.Clone(o.service), strings.Clone(o.method), strings.Clone(o.db)}
}

func keepPeer(p peer) peer { return peer{strings.Clone(p.name), strings.Clone(p.addr)} }

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.service, b.service), cmp.Compare(a.instance, b.instance))
}

func compareOps(a, b op) int {
	return cmp.Or(cmp.Compare(a.protocol, b.protocol), cmp.Compare(a.service, b.service),
		cmp.Compare(a.method, b.method), cmp.Compare(a.db, b.db))
}

func comparePeers(a, b peer) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.addr, b.addr))
}

// host is an address without its port.
func host(addr string) string {
	if i := strings.LastIndexByte(addr, ':'); i > 0 && strings.Count(addr, ":") == 1 {
		return addr[:i]
	}
	return addr
}

// isAddress reports whether a name is a bare IP address, which names a pod and
// not a service.
func isAddress(name string) bool {
	name = host(name)
	if strings.Count(name, ":") > 1 {
		return true
	}
	dots := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '.':
			dots++
		case c < '0' || c > '9':
			return false
		}
	}
	return dots == 3
}
