package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// SHOW ENGINE INNODB STATUS of MySQL 5.0 to 9 and MariaDB: the open
// transactions, and the latest deadlock, which has a time of its own and may be
// days old.
//
//	---TRANSACTION 74, ACTIVE 3 sec starting index read
//	LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)
//	MySQL thread id 24, OS thread handle 140556, query id 83 app-7 10.20.1.7 shop_rw Updating
//	delete from t where id>0
//	------- TRX HAS BEEN WAITING 2 SEC FOR THIS LOCK TO BE GRANTED:
//	RECORD LOCKS space id 8 page no 3 n bits 320 index PRIMARY of table `ledger`.`t` trx id 74 lock_mode X waiting

const maxTrx = 10000

func innodbFormat() Format {
	return Format{
		Name:     "innodb-status",
		Doc:      "SHOW ENGINE INNODB STATUS: transactions, lock waits with their blocker, the latest deadlock",
		Versions: "MySQL 5.0–9, MariaDB 5.5–11",
		Signs:    []string{"INNODB MONITOR OUTPUT", "LATEST DETECTED DEADLOCK", "---TRANSACTION 74, ACTIVE 3 sec"},
		Marks:    []string{"INNODB MONITOR OUTPUT", "LATEST DETECTED DEADLOCK", "---TRANSACTION "},
		Starts: func(line []byte) bool {
			return bytes.Contains(line, []byte("INNODB MONITOR OUTPUT")) || bytes.HasSuffix(line, []byte("LATEST DETECTED DEADLOCK")) ||
				bytes.Contains(line, []byte("---TRANSACTION ")) && (bytes.Contains(line, []byte(" sec")) || bytes.Contains(line, []byte("not started")))
		},
		Block: func(in *Input, emit Emit) error {
			r := &innodbReader{in: in, emit: emit, print: newFingerprinter("mysql"), clock: newClockwork(in), engine: "mysql"}
			return r.read()
		},
	}
}

// innodbTrx is one transaction.
type innodbTrx struct {
	line                int
	active              time.Duration // None if it is not
	waiting             bool
	rowLocks            int64
	session, host, user string
	state               string
	text                []byte
	waited              time.Duration
	object, mode        string
	open                bool // the lines that follow are its statement
}

// innodbReader reads one output.
type innodbReader struct {
	in     *Input
	emit   Emit
	print  *fingerprinter
	names  stringTable
	clock  *clockwork
	prefix linePrefix
	engine string

	now      time.Time
	nowZoned evidence.Tri
	monitor  bool // inside the whole output

	deadlock bool // in the deadlock's section
	when     time.Time
	whenZ    evidence.Tri
	stamped  bool
	victim   int
	members  []innodbTrx
	trxs     []innodbTrx
	wait     bool // the lock lines that follow are what the transaction waits for
}

func (r *innodbReader) read() error {
	r.now, r.nowZoned = stampBefore(r.in)
	for first := true; r.in.Lines.Next(); first = false {
		line := r.in.Lines.Bytes()
		if first {
			r.findPrefix(line)
		}
		line, ok := r.prefix.strip(line)
		if !ok {
			r.in.Lines.Unread()
			break
		}
		if bytes.Contains(line, []byte("END OF INNODB MONITOR OUTPUT")) {
			break
		}
		if !first && r.foreign(line) {
			r.in.Lines.Unread()
			break
		}
		r.take(line)
	}
	return r.finish()
}

func (r *innodbReader) findPrefix(line []byte) {
	at := -1
	if i := bytes.Index(line, []byte("LATEST DETECTED")); i > 0 {
		at = i
	} else if i := bytes.Index(line, []byte("---TRANSACTION")); i > 0 {
		at = i
	}
	if at > 0 {
		r.prefix = newLinePrefix(line[:at])
	}
}

// foreign recognises the first line behind an output that was cut.
func (r *innodbReader) foreign(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	if clientWords(line) {
		return true
	}
	if _, is := verticalRow(line); is {
		return true
	}
	if r.monitor || r.deadlock && !r.stamped {
		return false
	}
	var st stamp
	return isDigit(line[0]) && readStamp(line, &st) > 0 && !bytes.Contains(line, []byte(" 0x")) && !bytes.Contains(line, []byte("INNODB"))
}

func (r *innodbReader) take(line []byte) {
	if bytes.Contains(line, []byte("INNODB MONITOR OUTPUT")) {
		if t, z := r.stamp(line); !t.IsZero() {
			r.now, r.nowZoned = t, z
		}
		r.monitor = true
		return
	}
	switch string(line) {
	case "LATEST DETECTED DEADLOCK":
		r.deadlock = true
		return
	case "TRANSACTIONS", "FILE I/O", "SEMAPHORES", "LATEST FOREIGN KEY ERROR", "BACKGROUND THREAD", "BUFFER POOL AND MEMORY", "LOG", "ROW OPERATIONS",
		"INSERT BUFFER AND ADAPTIVE HASH INDEX", "INDIVIDUAL BUFFER POOL INFO":
		r.deadlock = false
		r.close()
		return
	}
	if r.deadlock && !r.stamped {
		if t, z := r.stamp(line); !t.IsZero() {
			r.when, r.whenZ, r.stamped = t, z, true
			return
		}
	}
	if i := bytes.Index(line, []byte("TRANSACTION ")); i == 0 || i == 3 && line[0] == '-' {
		r.begin(line[i+len("TRANSACTION "):])
		return
	}
	if i := bytes.Index(line, []byte("WE ROLL BACK TRANSACTION (")); i > 0 {
		r.victim = digitRunValue(line[i+len("WE ROLL BACK TRANSACTION ("):])
		return
	}
	t := r.current()
	if t == nil {
		return
	}
	r.inside(t, line)
}

func (r *innodbReader) current() *innodbTrx {
	list := r.trxs
	if r.deadlock {
		list = r.members
	}
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

func (r *innodbReader) close() {
	if t := r.current(); t != nil {
		t.open = false
	}
}

// stamp reads "2026-11-30 05:07:37 0x77d5e0 …" or "260314  9:12:33 …".
func (r *innodbReader) stamp(line []byte) (time.Time, evidence.Tri) {
	s := slowLog{}
	s.timeLine(line)
	return r.clock.resolve(&s.time)
}

// begin reads "74, ACTIVE 3 sec starting index read".
func (r *innodbReader) begin(b []byte) {
	t := innodbTrx{line: r.in.Lines.Number(), active: evidence.None, waited: evidence.None}
	r.wait = false
	if i := bytes.Index(b, []byte("ACTIVE ")); i >= 0 {
		rest := b[i+len("ACTIVE "):]
		if bytes.HasPrefix(rest, []byte("(PREPARED) ")) {
			rest = rest[len("(PREPARED) "):]
		}
		t.active = time.Duration(max(count(rest), 0)) * time.Second
	}
	if r.deadlock {
		if len(r.members) < 16 {
			r.members = append(r.members, t)
		}
	} else if len(r.trxs) < maxTrx {
		r.trxs = append(r.trxs, t)
	}
}

// inside reads a line of a transaction.
func (r *innodbReader) inside(t *innodbTrx, line []byte) {
	switch {
	case bytes.HasPrefix(line, []byte("LOCK WAIT ")) || bytes.Contains(line, []byte(" lock struct(s)")):
		t.waiting = t.waiting || line[0] == 'L'
		if i := bytes.Index(line, []byte(" row lock(s)")); i > 0 {
			j := bytes.LastIndexByte(line[:i], ' ')
			t.rowLocks = count(line[j+1 : i])
		}
	case bytes.Contains(line, []byte(" thread id ")) && (bytes.HasPrefix(line, []byte("MySQL ")) || bytes.HasPrefix(line, []byte("MariaDB "))):
		r.thread(t, line)
	case bytes.Contains(line, []byte("WAITING")) && (bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("***"))):
		t.open = false
		r.wait = true
		if i := bytes.Index(line, []byte("WAITING ")); i > 0 && t.waited < 0 {
			rest := line[i+len("WAITING "):]
			if n := count(rest); n >= 0 && n < 1<<40 {
				t.waited = time.Duration(n) * time.Second
				if bytes.Contains(rest, []byte(" us ")) {
					t.waited = time.Duration(n) * time.Microsecond
				}
			}
		}
	case bytes.HasPrefix(line, []byte("***")):
		t.open, r.wait = false, false
	case bytes.HasPrefix(line, []byte("RECORD LOCKS ")), bytes.HasPrefix(line, []byte("TABLE LOCK ")):
		t.open = false
		if r.wait && t.object == "" {
			r.lock(t, line)
		}
		r.wait = false
	case len(line) == 0, bytes.HasPrefix(line, []byte("---")), bytes.HasPrefix(line, []byte("Trx read view")), bytes.HasPrefix(line, []byte("mysql tables in use")):
		t.open = false
	case t.open:
		if len(t.text)+len(line) < maxStatementText {
			if len(t.text) > 0 {
				t.text = append(t.text, '\n')
			}
			t.text = append(t.text, line...)
		}
	}
}

// thread reads "MySQL thread id 24, OS thread handle 1, query id 83 app-7 10.20.1.7 shop_rw Updating".
func (r *innodbReader) thread(t *innodbTrx, line []byte) {
	if line[1] == 'a' {
		r.engine = "mariadb"
	}
	i := bytes.Index(line, []byte(" thread id "))
	rest := line[i+len(" thread id "):]
	t.session = r.names.intern(rest[:digitRun(rest, 0)])
	t.open = true
	i = bytes.Index(rest, []byte("query id "))
	if i < 0 {
		return
	}
	rest = rest[i+len("query id "):]
	words := bytes.Fields(rest[digitRun(rest, 0):])
	if len(words) == 0 {
		return
	}
	host := words[0]
	words = words[1:]
	if len(words) > 1 && isAddress(words[0]) {
		words = words[1:]
	}
	t.host = r.names.intern(host)
	if len(words) > 0 {
		t.user = r.names.intern(words[0])
		t.state = r.names.intern(bytes.Join(words[1:], []byte{' '}))
	}
}

func isAddress(b []byte) bool {
	for _, c := range b {
		if !isHex(c) && c != '.' && c != ':' {
			return false
		}
	}
	return bytes.IndexByte(b, '.') > 0 || bytes.Count(b, []byte{':'}) > 1
}

// lock reads the lock that a transaction waits for.
func (r *innodbReader) lock(t *innodbTrx, line []byte) {
	i := bytes.Index(line, []byte("table "))
	if i < 0 {
		return
	}
	name := line[i+len("table "):]
	if j := bytes.IndexByte(name, ' '); j > 0 {
		name = name[:j]
	}
	object := bytes.ReplaceAll(name, []byte("`"), nil)
	if j := bytes.Index(line, []byte("index ")); j > 0 && j < i {
		index := bytes.Trim(line[j+len("index "):i], " `")
		if k := bytes.IndexByte(index, ' '); k > 0 {
			index = bytes.Trim(index[:k], "`")
		}
		object = append(append(object, " index "...), index...)
	}
	t.object = r.names.intern(object)
	for _, key := range []string{"lock_mode ", "lock mode "} {
		if j := bytes.Index(line, []byte(key)); j > 0 {
			t.mode = r.names.intern(bytes.TrimSuffix(line[j+len(key):], []byte(" waiting")))
		}
	}
}

// finish emits what was read.
func (r *innodbReader) finish() error {
	r.in.snapshots++
	blocker := -1
	for i := range r.trxs {
		t := &r.trxs[i]
		if !t.waiting && t.active >= 0 && t.rowLocks > 0 && (blocker < 0 || t.active > r.trxs[blocker].active) {
			blocker = i
		}
	}
	for i := range r.trxs {
		t := &r.trxs[i]
		if t.active < 0 || t.session == "" || watchesItself(t.text) {
			continue
		}
		s := r.statement(t, evidence.Running)
		s.Snapshot = r.in.snapshots
		switch {
		case t.waiting:
			s.Origin, s.Duration = evidence.LockWait, t.waited
			edge := evidence.LockEdge{Object: t.object, Mode: t.mode, Waited: t.waited}
			if blocker >= 0 {
				b := &r.trxs[blocker]
				edge.Blocker, edge.BlockerText, edge.BlockerState = b.session, string(b.text), b.state
				if len(b.text) == 0 && b.state == "" {
					edge.BlockerState = "Sleep"
				}
			}
			s.Waits = &edge
		case len(t.text) == 0:
			s.Origin = evidence.IdleSession
		}
		if err := r.send(t, &s, r.now, r.nowZoned); err != nil {
			return err
		}
	}
	for i := range r.members {
		t := &r.members[i]
		s := r.statement(t, evidence.Deadlock)
		if i+1 == r.victim {
			s.State = "rolled back"
		}
		edge := evidence.LockEdge{Object: t.object, Mode: t.mode, Waited: evidence.None}
		if len(r.members) == 2 {
			other := &r.members[1-i]
			edge.Blocker, edge.BlockerText, edge.BlockerState = other.session, string(other.text), other.state
		}
		s.Waits = &edge
		if err := r.send(t, &s, r.when, r.whenZ); err != nil {
			return err
		}
	}
	return nil
}

func (r *innodbReader) statement(t *innodbTrx, origin evidence.SQLOrigin) evidence.Statement {
	s := unknownStatement(origin, r.engine)
	s.Session, s.User, s.Host, s.State = t.session, t.user, t.host, t.state
	s.InTrx, s.TrxAge = evidence.Yes, t.active
	if len(t.text) > 0 {
		s.Text, s.Fingerprint = string(t.text), r.print.of(t.text)
	}
	return s
}

func (r *innodbReader) send(t *innodbTrx, s *evidence.Statement, at time.Time, zoned evidence.Tri) error {
	return r.emit(&evidence.Record{
		Time: at, Zoned: zoned, Place: r.in.place(), Cite: r.in.cite(t.line), Trace: sqlTrace(t.text), SQL: s,
	})
}
