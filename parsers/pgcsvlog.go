package parsers

import (
	"bytes"
)

// The server log of PostgreSQL as log_destination = csvlog writes it (since 8.3):
//
//	2026-03-14 09:12:33.771 UTC,"shop_rw","shop",8105,"10.20.1.7:35094",6b0d04f4.1fa9,3,"UPDATE waiting",2026-03-14 09:12:08 UTC,3/11,773,LOG,00000,"process 8105 still waiting for ShareLock on transaction 772 after 500.109 ms","Process holding the lock: 8102. Wait queue: 8105.",,,,"while updating tuple (0,1) in relation ""t""","update t set b=b+10
//	 where id=1",,,"checkout-api","client backend",,-5841836505258409970
//
// Columns were only ever added at the end: 22 at first, 23 with the
// application's name (9.0), 24 with the backend's type (13), 26 with the leader
// and the query id (14). Line ends inside quotes are as they were, without a TAB.
func postgresqlCSVLog() Format {
	return Format{
		Name:     "postgresql-csvlog",
		Doc:      "PostgreSQL server log in CSV: the same evidence as the plain one",
		Versions: "PostgreSQL 8.4 to 18",
		Signs:    []string{`2026-03-14 09:12:33.771 UTC,"user","db",8105,…,LOG,00000,"duration: …`},
		Marks: []string{
			",LOG,00000,", ",ERROR,40P01,", ",ERROR,57014,", ",ERROR,55P03,", ",ERROR,23505,", ",ERROR,40001,",
			",ERROR,42601,", ",ERROR,42P01,", ",ERROR,42703,", ",ERROR,25P02,", ",ERROR,53200,", ",ERROR,53100,",
			",FATAL,53300,", ",FATAL,57P01,", ",FATAL,57P03,", ",FATAL,25P03,", ",FATAL,08006,", ",FATAL,28P01,",
			",WARNING,57P02,", ",PANIC,53100,",
		},
		Starts: pgCSVStarts,
		Block: func(in *Input, emit Emit) error {
			c := &pgCSVLog{in: in, server: newPGServer(in, emit)}
			return c.block()
		},
	}
}

// The columns that are read, from 0.
const (
	pgCSVUser     = 1
	pgCSVDB       = 2
	pgCSVPid      = 3
	pgCSVFrom     = 4
	pgCSVSeverity = 11
	pgCSVCode     = 12
	pgCSVMessage  = 13
	pgCSVDetail   = 14
	pgCSVInner    = 16
	pgCSVContext  = 18
	pgCSVQuery    = 19
	pgCSVApp      = 22
)

// pgCSVStarts reports whether a record begins with this line. All columns to
// the SQLSTATE stand in a record's first line.
func pgCSVStarts(line []byte) bool {
	if !pgStampAt(line, 0) {
		return false
	}
	end := pgStampEnd(line, 0)
	if end >= len(line) || line[end] != ',' {
		return false
	}
	rest := line[end:]
	for column := 0; column < pgCSVSeverity; column++ {
		if len(rest) == 0 || rest[0] != ',' {
			return false
		}
		rest = rest[1:]
		if column == pgCSVSeverity-1 {
			break
		}
		if len(rest) > 0 && rest[0] == '"' {
			for rest = rest[1:]; ; rest = rest[2:] {
				i := bytes.IndexByte(rest, '"')
				if i < 0 {
					return false
				}
				if rest = rest[i:]; len(rest) < 2 || rest[1] != '"' {
					rest = rest[1:]
					break
				}
			}
			continue
		}
		i := bytes.IndexByte(rest, ',')
		if i < 0 {
			return false
		}
		rest = rest[i:]
	}
	word, rest, ok := bytes.Cut(rest, []byte(","))
	return ok && pgWord(word) != pgNone && len(rest) > 5 && rest[5] == ','
}

// pgCSVLog puts the fields of records together. Memory is bounded by
// pgMaxRecord: of a longer record the rest is passed by.
type pgCSVLog struct {
	in      *Input
	server  *pgServer
	buf     []byte // the fields' text, one after the other
	ends    []int
	quoted  bool // the record's line ended inside quotes
	line    int
	dropped bool
}

func (c *pgCSVLog) block() error {
	open := false
	for c.in.Lines.Next() {
		line := c.in.Lines.Bytes()
		switch {
		case pgCSVStarts(line):
			if open { // the record before was cut: its quotes never closed
				if err := c.deliver(true); err != nil {
					return err
				}
			}
			c.buf, c.ends, c.quoted, c.dropped = c.buf[:0], c.ends[:0], false, false
			c.line = c.in.Lines.Number()
		case !open:
			c.in.Lines.Unread()
			return c.server.close()
		default:
			c.add(newline)
		}
		c.fields(line)
		if open = c.quoted; !open {
			if err := c.deliver(c.dropped || c.in.Lines.Cut()); err != nil {
				return err
			}
		}
	}
	if open {
		if err := c.deliver(true); err != nil {
			return err
		}
	}
	return c.server.close()
}

// fields reads the fields of one physical line, which may begin and end inside
// quotes.
func (c *pgCSVLog) fields(line []byte) {
	for {
		if c.quoted {
			i := bytes.IndexByte(line, '"')
			if i < 0 {
				c.add(line)
				return
			}
			c.add(line[:i])
			line = line[i+1:]
			if len(line) > 0 && line[0] == '"' {
				c.add(line[:1])
				line = line[1:]
				continue
			}
			c.quoted = false
		}
		i := bytes.IndexByte(line, ',')
		q := bytes.IndexByte(line[:max(i, 0)], '"')
		if i < 0 {
			q = bytes.IndexByte(line, '"')
		}
		switch {
		case q >= 0:
			c.quoted = true
			line = line[q+1:]
		case i >= 0:
			c.add(line[:i])
			c.end()
			line = line[i+1:]
		default:
			c.add(line)
			c.end()
			return
		}
	}
}

func (c *pgCSVLog) add(b []byte) {
	if len(c.buf)+len(b) > pgMaxRecord {
		c.dropped = true
		return
	}
	c.buf = append(c.buf, b...)
}

func (c *pgCSVLog) end() {
	if len(c.ends) < 64 {
		c.ends = append(c.ends, len(c.buf))
	}
}

// deliver hands on the record that was read.
func (c *pgCSVLog) deliver(cut bool) error {
	if cut && len(c.ends) < 64 {
		c.ends = append(c.ends, len(c.buf))
	}
	get := func(column int) []byte {
		if column >= len(c.ends) {
			return nil
		}
		from := 0
		if column > 0 {
			from = c.ends[column-1]
		}
		return c.buf[from:c.ends[column]]
	}
	if len(c.ends) <= pgCSVMessage {
		c.in.Skip(c.line, "postgresql csvlog: record cut")
		return nil
	}
	r := pgRecord{
		line: c.line, pid: get(pgCSVPid), user: get(pgCSVUser), db: get(pgCSVDB), host: pgHostOnly(get(pgCSVFrom)),
		app: get(pgCSVApp), severity: pgWord(get(pgCSVSeverity)), code: get(pgCSVCode), message: get(pgCSVMessage),
		detail: get(pgCSVDetail), context: get(pgCSVContext), statement: get(pgCSVQuery), query: get(pgCSVInner), cut: cut,
	}
	r.time, r.zoned = pgTime(get(0), c.in.Hint)
	return c.server.record(&r)
}

// pgHostOnly returns the host of "10.20.1.7:35094"; nothing of "[local]".
func pgHostOnly(b []byte) []byte {
	if i := bytes.LastIndexByte(b, ':'); i > 0 {
		b = b[:i]
	}
	return pgKnown(b)
}
