package parsers

import (
	"bytes"
	"strconv"

	"github.com/firebreak-io/firebreak/evidence"
)

// The server log of PostgreSQL as written to stderr or to syslog:
//
//	2026-03-14 09:12:33.123 UTC [8105] shop_rw@shop LOG:  duration: 2702.948 ms  statement: update t set b=b+10
//		 where id=1
//	2026-03-14 09:12:33 UTC:10.20.1.7(58382):shop_rw@shop:[20217]:ERROR:  canceling statement due to statement timeout
//	2026-03-14 09:12:33 UTC:10.20.1.7(58382):shop_rw@shop:[20217]:STATEMENT:  select pg_sleep(1)
//	Mar 14 09:12:33 db1 postgres[20217]: [3-2] #011 where id=1
//
// What stands before the severity is log_line_prefix, which every installation
// sets as it likes; it is read by what its parts look like. The second line of
// a message begins with a TAB since 7.4 (2003).
func postgresqlLog() Format {
	return Format{
		Name:     "postgresql-log",
		Doc:      "PostgreSQL server log (stderr or syslog, any log_line_prefix): statements, plans, lock waits, deadlocks, refused connections",
		Versions: "PostgreSQL 9.0 to 18, RDS, Aurora, Azure, Cloud SQL",
		Signs:    []string{"<log_line_prefix>LOG:  duration: 12.3 ms", "<log_line_prefix>ERROR:  deadlock detected"},
		Marks: []string{
			"LOG:  duration: ", "LOG:  statement: ", "LOG:  execute ", "LOG:  process ",
			"LOG:  database system ", "LOG:  checkpoint", "LOG:  connection ", "LOG:  disconnection",
			"LOG:  could not ", "LOG:  unexpected ", "LOG:  received ", "LOG:  server process ",
			"LOG:  temporary file", "LOG:  automatic ", "LOG:  starting PostgreSQL", "LOG:  listening on ",
			"ERROR:  deadlock detected", "ERROR:  canceling ", "ERROR:  duplicate key ", "ERROR:  could not ",
			"ERROR:  current transaction ", "ERROR:  relation ", "ERROR:  column ", "ERROR:  null value ",
			"ERROR:  syntax error ", "ERROR:  out of ", "ERROR:  insert or update ", "ERROR:  value too long",
			"FATAL:  remaining connection ", "FATAL:  sorry, too many ", "FATAL:  too many connections ",
			"FATAL:  terminating ", "FATAL:  the database system ", "FATAL:  connection to client ",
			"FATAL:  canceling ", "FATAL:  password authentication ", "FATAL:  no pg_hba.conf ",
			"PANIC:  could not ", "WARNING:  terminating ",
		},
		Starts: func(line []byte) bool {
			var h pgHeader
			return pgSplit(line, &h) && !h.severity.companion()
		},
		Block: func(in *Input, emit Emit) error {
			r := &pgStderr{in: in, server: newPGServer(in, emit)}
			return r.block()
		},
	}
}

// pgMaxRecord is how long a record may become.
const pgMaxRecord = 1 << 20

// pgStderr puts the lines of a server log together to records.
type pgStderr struct {
	in     *Input
	server *pgServer

	lead    []byte // what a wrapper put before each line: "db-1  | "
	stamped bool   // this log's lines have a time
	first   bool   // a header was seen

	have    bool // a record is being read
	rec     pgRecord
	buf     []byte // the record's text
	scratch []byte
	starts  [pgLocation + 1]int // where each field begins in buf; -1 without
	ends    [pgLocation + 1]int
	field   pgSeverity // the field that continues; pgNone: none that is kept
	seq     []byte     // syslog's number of the record's message
	hexPid  []byte
}

// block reads lines until one that is not of the log.
func (p *pgStderr) block() error {
	blank := false // an empty line was passed, which may be one of a statement
	for p.in.Lines.Next() {
		line := p.in.Lines.Bytes()
		if len(p.lead) > 0 {
			line = bytes.TrimPrefix(line, p.lead)
		}
		switch {
		case len(line) == 0:
			blank = true
			continue
		case line[0] == '\t' && p.have:
			if blank {
				p.more(nil, true)
			}
			p.more(line[1:], true)
		default:
			foreign, err := p.line(line)
			if err != nil {
				return err
			}
			if foreign {
				p.in.Lines.Unread()
				return p.close()
			}
		}
		blank = false
	}
	return p.close()
}

func (p *pgStderr) close() error {
	if err := p.deliver(); err != nil {
		return err
	}
	return p.server.close()
}

// line reads a line that does not begin with a TAB. It reports whether the line
// is foreign.
func (p *pgStderr) line(line []byte) (foreign bool, err error) {
	var h pgHeader
	p.scratch = append(p.scratch[:0], line...)
	if !pgSplit(p.scratch, &h) {
		switch {
		case h.syslog && p.have && h.chunk != 1: // a later chunk of a message
			p.chunk(line, &h)
			return false, nil
		case h.syslog && h.chunk > 0: // its beginning was cut off
			return false, nil
		case p.have && line[0] == ' ': // TABs became blanks
			p.more(bytes.TrimLeft(line, " "), true)
			return false, nil
		}
		return true, nil
	}
	if !p.first {
		p.first = true
		p.stamped = h.stamp != nil
		p.lead = p.wrapper(&h)
	} else if p.stamped != (h.stamp != nil) {
		if line[0] == ' ' && p.have {
			p.more(bytes.TrimLeft(line, " "), true)
			return false, nil
		}
		return true, nil
	}
	if h.severity.companion() {
		p.companion(&h)
		return false, nil
	}
	if err := p.deliver(); err != nil {
		return false, err
	}
	p.begin(&h)
	return false, nil
}

// wrapper returns what docker compose put before the lines, if anything.
func (p *pgStderr) wrapper(h *pgHeader) []byte {
	at := bytes.Index(p.scratch, h.stamp)
	if h.syslog || len(h.stamp) == 0 || at <= 0 {
		return nil
	}
	i := bytes.LastIndex(p.scratch[:at], []byte("| "))
	if i < 0 {
		return nil
	}
	return bytes.Clone(p.scratch[:i+2])
}

// begin starts a record with the line in scratch, of which h has the parts.
func (p *pgStderr) begin(h *pgHeader) {
	p.buf, p.scratch = p.scratch, p.buf
	p.have = true
	r := &p.rec
	*r = pgRecord{
		line: p.in.Lines.Number(), pid: h.pid, user: h.user, db: h.db, host: h.host, app: h.app,
		severity: h.severity, code: h.code, cut: p.in.Lines.Cut(),
	}
	if h.pidHex {
		if n, err := strconv.ParseUint(string(h.pid), 16, 32); err == nil {
			p.hexPid = strconv.AppendUint(p.hexPid[:0], n, 10)
			r.pid = p.hexPid
		}
	}
	if h.stamp != nil {
		r.time, r.zoned = pgTime(h.stamp, p.in.Hint)
	} else if t, _ := p.in.Lines.Origin(); !t.IsZero() {
		r.time, r.zoned = t, evidence.Yes
	}
	for i := range p.starts {
		p.starts[i] = -1
	}
	p.seq = append(p.seq[:0], h.seq...)
	p.field = pgNone
	p.starts[p.field] = len(p.buf) - len(h.text)
	p.ends[p.field] = len(p.buf)
}

// companion adds a DETAIL or the like to the record it belongs to.
func (p *pgStderr) companion(h *pgHeader) {
	if !p.have {
		return
	}
	pid := h.pid
	if h.pidHex {
		if n, err := strconv.ParseUint(string(pid), 16, 32); err == nil {
			pid = strconv.AppendUint(nil, n, 10)
		}
	}
	if !bytes.Equal(pid, p.rec.pid) { // of a record that another process's line interrupted
		p.field = pgLocation
		p.starts[pgLocation], p.ends[pgLocation] = len(p.buf), len(p.buf)
		return
	}
	p.field = h.severity
	p.starts[p.field] = len(p.buf)
	p.buf = append(p.buf, h.text...)
	p.ends[p.field] = len(p.buf)
}

// chunk adds a part of a message that syslog split.
func (p *pgStderr) chunk(line []byte, h *pgHeader) {
	if !bytes.Equal(h.pid, p.rec.pid) || !bytes.Equal(h.seq, p.seq) {
		return
	}
	text := line[pgSyslogLead(line, h):]
	switch {
	case bytes.HasPrefix(text, []byte("#011")):
		p.more(text[len("#011"):], true)
	case len(text) > 0 && text[0] == '\t':
		p.more(text[1:], true)
	default:
		p.more(text, h.chunk == 0)
	}
}

// more adds to the field that was read last, on a line of its own or not.
func (p *pgStderr) more(text []byte, newLine bool) {
	if len(p.buf)+len(text) > pgMaxRecord {
		p.rec.cut = true
		return
	}
	if newLine {
		p.buf = append(p.buf, '\n')
	}
	p.buf = append(p.buf, text...)
	p.ends[p.field] = len(p.buf)
}

// deliver hands the record on that has been read.
func (p *pgStderr) deliver() error {
	if !p.have {
		return nil
	}
	p.have = false
	get := func(f pgSeverity) []byte {
		if p.starts[f] < 0 {
			return nil
		}
		return p.buf[p.starts[f]:p.ends[f]]
	}
	r := &p.rec
	r.message, r.detail, r.context = get(pgNone), get(pgDetail), get(pgContext)
	r.statement, r.query = get(pgStatement), get(pgQuery)
	return p.server.record(r)
}
