package ledger

import "github.com/firebreak-io/firebreak/evidence"

type accessLog struct{ l *Ledger }

func newAccessLog(l *Ledger) *accessLog { return &accessLog{l} }

// AddAccess takes in one line of an access log.
func (l *Ledger) AddAccess(r *evidence.Record) {}

func (a *accessLog) write(b *Book) {}
