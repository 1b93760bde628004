package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// The slow query log of MySQL 5.0 to 9, Percona Server, MariaDB, TiDB and the
// clouds that run them:
//
//	# Time: 2026-03-14T09:12:33.123456Z
//	# User@Host: shop_rw[shop_rw] @ app-7 [10.20.1.7]  Id:  4711
//	# Query_time: 3.104210  Lock_time: 0.000104 Rows_sent: 1  Rows_examined: 2481932
//	SET timestamp=1773479549;
//	select stock from t_sku_stock where sku_code='SKU-1';
//
// Two things differ by producer. "# Time:" and "SET timestamp" are the end of
// the statement in MySQL (the latter its start since 8.0.14) and the start in
// MariaDB. And the lines of "Key: value" pairs between them: those are read by
// key, whatever the order and whoever adds more.

const maxStatementText = 64 << 10

func slowLogFormat() Format {
	return Format{
		Name:     "mysql-slow-log",
		Doc:      "MySQL slow query log: statements with their duration, rows and, in MariaDB, plans",
		Versions: "MySQL 5.0–9, Percona Server 5.1–8.0, MariaDB 5.5–11, TiDB, RDS and Aurora",
		Signs:    []string{"# Time: …", "# User@Host: u[u] @ h [ip]", "# Query_time: 1.2  Lock_time: …"},
		Marks:    []string{"# User@Host: ", "# Query_time: ", "# Time: ", ". started with:"},
		Starts:   func(line []byte) bool { _, ok := slowLogStart(line); return ok },
		Block: func(in *Input, emit Emit) error {
			return newSlowLog(in, emit).read()
		},
	}
}

// slowLogStart returns where in a line the slow log's own text begins.
func slowLogStart(line []byte) (int, bool) {
	i := bytes.Index(line, []byte("# "))
	for i >= 0 && i < maxPrefix {
		rest := line[i:]
		if isSlowTime(rest) || isSlowUser(rest) || isSlowQueryTime(rest) {
			return i, true
		}
		next := bytes.Index(rest[2:], []byte("# "))
		if next < 0 {
			break
		}
		i += next + 2
	}
	if bytes.HasSuffix(line, []byte(". started with:")) && bytes.Contains(line, []byte(", Version: ")) {
		return 0, true
	}
	return 0, false
}

var (
	slowTime  = []byte("# Time: ")
	slowUser  = []byte("# User@Host: ")
	slowQuery = []byte("# Query_time: ")
	slowAdmin = []byte("# administrator command: ")
	slowPlan  = []byte("# explain: ")
)

func isSlowTime(line []byte) bool {
	if !bytes.HasPrefix(line, slowTime) {
		return false
	}
	rest := bytes.TrimLeft(line[len(slowTime):], " ")
	return len(rest) >= 12 && digitRun(rest, 0) >= 4 // 260314  9:05:07, 2026-03-14T…
}

func isSlowUser(line []byte) bool {
	return bytes.HasPrefix(line, slowUser) && bytes.IndexByte(line, '[') > 0 && bytes.Contains(line, []byte("] @ "))
}

func isSlowQueryTime(line []byte) bool {
	return bytes.HasPrefix(line, slowQuery) && len(line) > len(slowQuery) && isDigit(line[len(slowQuery)])
}

// slowFlavour says whose log it is, as far as the meaning of its times goes.
type slowFlavour uint8

const (
	flavourUnknown slowFlavour = iota
	flavourOld                 // MySQL up to 5.6, old Percona: times are the end
	flavourMySQL               // ISO times, which are the end
	flavourMariaDB             // times are the start
	flavourTiDB                // ISO times, the end
)

type slowPart uint8

const (
	slowOutside   slowPart = iota // before the first header, or after the last statement
	slowHeader                    // among the lines that begin with #
	slowStatement                 // in the statement
)

// slowLog reads one block of slow log.
type slowLog struct {
	in     *Input
	emit   Emit
	prefix linePrefix
	clock  *clockwork
	names  stringTable
	prints *fingerprinter
	plans  *planColumns

	flavour slowFlavour // by the file header, else by what was seen
	stated  bool        // a file header said so
	db      []byte      // carried forward
	time    stamp       // the last # Time:, carried forward where they are printed once a second

	part  slowPart
	line  int
	text  []byte
	cut   bool // the statement was longer than is kept
	ended bool // its last line ended with ;
	admin bool
	epoch int64
	fresh bool // the record has a # Time: of its own
	start time.Time
	seen  bool // Query_time was read

	rec  evidence.Record
	stmt evidence.Statement
	plan []evidence.PlanNode
	rnd  int64 // Read_rnd_next
}

func newSlowLog(in *Input, emit Emit) *slowLog {
	return &slowLog{in: in, emit: emit, clock: newClockwork(in), prints: newFingerprinter("mysql")}
}

// read reads until the first line that is not the log's own.
func (s *slowLog) read() error {
	lines := s.in.Lines
	for first := true; lines.Next(); first = false {
		line := lines.Bytes()
		if first {
			if at, _ := slowLogStart(line); at > 0 {
				s.prefix = newLinePrefix(line[:at])
			}
		}
		line, own := s.prefix.strip(line)
		if own {
			var err error
			if own, err = s.take(line); err != nil {
				return err
			}
			lines.settle(max(s.line, lines.hold)) // what came before this statement is emitted
		}
		if !own {
			lines.Unread()
			break
		}
	}
	return s.finish(true)
}

// take reads one line. It returns false if the line is not the log's.
func (s *slowLog) take(line []byte) (bool, error) {
	if len(line) > 2 && line[0] == '#' && line[1] == ' ' {
		if own, err := s.comment(line); own || err != nil {
			return own, err
		}
	}
	if s.part == slowStatement && (len(s.text) > 0 || s.admin) {
		if s.ended {
			if isFileHeader(line) {
				return true, s.fileHeader(line)
			}
			if s.admin || foreignLine(s.in, line) {
				return false, nil
			}
		}
		s.statement(line)
		return true, nil
	}
	switch {
	case isFileHeader(line):
		return true, s.fileHeader(line)
	case s.part == slowOutside:
		return bytes.HasPrefix(line, []byte("Tcp port: ")) || bytes.HasPrefix(line, []byte("Time  ")) ||
			bytes.HasPrefix(line, []byte("Time\t")), nil
	case len(line) == 0 || line[0] == '#' || s.part == slowHeader && bytes.HasPrefix(line, []byte("Profile_")):
		return true, nil
	case !s.seen: // a header without its main line: the log was cut here
		return !foreignLine(s.in, line), nil
	}
	s.part = slowStatement
	switch {
	case len(s.text) > 0:
	case hasPrefixFold(line, "use ") && line[len(line)-1] == ';':
		if name := bytes.Trim(line[4:len(line)-1], " `"); len(name) > 0 {
			s.db = append(s.db[:0], name...)
		}
		return true, nil
	case s.epoch == 0 && hasPrefixFold(line, "set "):
		if i := bytes.Index(line, []byte("timestamp=")); i > 0 && line[len(line)-1] == ';' {
			s.epoch = count(line[i+len("timestamp="):])
			return true, nil
		}
	}
	s.statement(line)
	return true, nil
}

// statement adds a line of the statement.
func (s *slowLog) statement(line []byte) {
	if len(s.text) > 0 {
		s.text = append(s.text, '\n')
	}
	if room := maxStatementText - len(s.text); len(line) > room {
		line, s.cut = line[:max(room, 0)], true
	}
	s.text = append(s.text, line...)
	s.ended = len(line) > 0 && line[len(line)-1] == ';'
}

// comment reads a line that begins with "# ". It returns false if the line
// belongs to the statement.
func (s *slowLog) comment(line []byte) (bool, error) {
	switch line[2] {
	case 'T', 'U':
		isTime := isSlowTime(line)
		if !isTime && !isSlowUser(line) {
			break
		}
		if s.part == slowStatement && !s.ended && openLiteral(s.text) {
			return false, nil
		}
		if s.part == slowStatement || isTime && s.part == slowHeader || s.part == slowHeader && s.seen {
			if err := s.finish(false); err != nil {
				return true, err
			}
		}
		if s.part != slowHeader {
			s.begin()
		}
		if !isTime {
			s.user(line[len(slowUser):])
			return true, nil
		}
		s.timeLine(line[len(slowTime):])
		if i := bytes.Index(line, slowUser); i > 0 { // both on one line
			s.user(line[i+len(slowUser):])
		}
		return true, nil
	case 'a':
		if s.part == slowStatement && len(s.text) > 0 || !bytes.HasPrefix(line, slowAdmin) {
			break
		}
		s.part, s.admin, s.ended = slowStatement, true, true
		if i := bytes.Index(line, []byte(";# ")); i > 0 {
			return s.comment(line[i+1:])
		}
		return true, nil
	}
	switch s.part {
	case slowStatement:
		if len(s.text) == 0 && !s.admin && s.epoch == 0 { // TiDB and others print keys after USE
			s.keys(line[2:])
			return true, nil
		}
		return false, nil
	case slowOutside:
		if !isSlowQueryTime(line) {
			return false, nil
		}
		s.begin()
	}
	if line[2] == 'e' && bytes.HasPrefix(line, slowPlan) {
		s.planRow(line[len(slowPlan):])
		return true, nil
	}
	s.keys(line[2:])
	return true, nil
}

// begin starts a record.
func (s *slowLog) begin() {
	s.part = slowHeader
	s.line = s.in.Lines.Number()
	s.text, s.cut, s.ended, s.admin = s.text[:0], false, false, false
	s.epoch, s.fresh, s.seen, s.start, s.rnd = 0, false, false, time.Time{}, evidence.None
	s.plan, s.plans = s.plan[:0], nil
	s.stmt = evidence.Statement{
		Origin: evidence.SlowLog, Duration: evidence.None, LockTime: evidence.None,
		RowsExamined: evidence.None, RowsSent: evidence.None, TrxAge: evidence.None,
	}
}

// finish hands over the record at hand, if there is a whole one.
func (s *slowLog) finish(last bool) error {
	part := s.part
	s.part = slowOutside
	if part == slowOutside || s.admin {
		return nil
	}
	if !s.seen || len(s.text) == 0 {
		if !last {
			s.in.Skip(s.line, "slow-log record without a statement")
		} else if part == slowHeader || s.seen {
			s.in.Skip(s.line, "slow-log record cut off")
		}
		return nil
	}
	text := s.text
	whole := s.ended && !s.cut
	if s.ended {
		text = text[:len(text)-1]
	}
	s.stmt.Text = string(text)
	s.stmt.Fingerprint = s.prints.of(text)
	s.stmt.Truncated = !whole
	s.stmt.Engine = s.flavour.engine()
	if s.stmt.DB == "" {
		s.stmt.DB = s.names.intern(s.db)
	}
	s.stmt.Plan = nil
	if len(s.plan) > 0 {
		s.stmt.Plan = s.plan
		s.stmt.FullScan = planScans(s.plan, s.stmt.FullScan)
	}
	if s.rnd > 10000 && s.rnd*2 > s.stmt.RowsExamined {
		s.stmt.FullScan = evidence.Yes
	}
	s.rec = evidence.Record{Place: s.in.place(), Cite: s.in.cite(s.line), Raw: s.text, SQL: &s.stmt}
	s.rec.Time, s.rec.Zoned = s.started()
	s.rec.Trace = sqlTrace(text)
	return s.emit(&s.rec)
}

func (f slowFlavour) engine() string {
	switch f {
	case flavourMariaDB:
		return "mariadb"
	case flavourTiDB:
		return "tidb"
	}
	return "mysql"
}

// started returns when the statement began.
func (s *slowLog) started() (time.Time, evidence.Tri) {
	d := max(s.stmt.Duration, 0)
	if !s.start.IsZero() {
		return s.start, evidence.Yes
	}
	iso := s.fresh && s.time.shape != shapeNone && s.flavour != flavourOld && s.flavour != flavourMariaDB
	switch {
	case iso:
		t, zoned := s.clock.resolve(&s.time)
		return t.Add(-d), zoned
	case s.epoch > 1e8 && s.epoch < 1e11:
		t := time.Unix(s.epoch, 0).UTC()
		if s.flavour == flavourOld {
			t = t.Add(-d)
		}
		return t, evidence.Yes
	case s.time.shape != shapeNone:
		t, zoned := s.clock.resolve(&s.time)
		if s.flavour != flavourMariaDB {
			t = t.Add(-d)
		}
		return t, zoned
	}
	return time.Time{}, evidence.Unknown
}
