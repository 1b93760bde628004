package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

func isFileHeader(line []byte) bool {
	return bytes.HasSuffix(line, []byte("started with:")) && bytes.Contains(line, []byte(", Version: "))
}

// fileHeader reads "mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:".
func (s *slowLog) fileHeader(line []byte) error {
	err := s.finish(false)
	version := line[bytes.Index(line, []byte(", Version: "))+len(", Version: "):]
	major, minor := digitRunValue(version), 0
	if i := bytes.IndexByte(version, '.'); i > 0 {
		minor = digitRunValue(version[i+1:])
	}
	s.stated = true
	switch {
	case bytes.Contains(version, []byte("MariaDB")):
		s.flavour = flavourMariaDB
	case bytes.Contains(version, []byte("TiDB")):
		s.flavour = flavourTiDB
	case major == 5 && minor < 7 || major < 5:
		s.flavour = flavourOld
	default:
		s.flavour = flavourMySQL
	}
	s.db = s.db[:0]
	s.time = stamp{}
	return err
}

func digitRunValue(b []byte) int {
	n := 0
	for i := 0; i < len(b) && i < 6 && isDigit(b[i]); i++ {
		n = n*10 + int(b[i]-'0')
	}
	return n
}

// timeLine reads what follows "# Time: ": "260314  9:05:07", with or without a
// fraction, or an ISO time.
func (s *slowLog) timeLine(b []byte) {
	b = bytes.TrimLeft(b, " ")
	var st stamp
	if digitRun(b, 0) == 6 && len(b) >= 14 && b[6] == ' ' {
		day := digitsAt(b, 0, 6)
		clock := bytes.TrimLeft(b[6:], " ")
		st = stamp{shape: shapeYMD, year: 2000 + day/10000, month: day / 100 % 100, day: day % 100}
		if digitRun(clock, 0) == 1 {
			clock = append([]byte{'0'}, clock[:min(len(clock), 20)]...)
		}
		st.hour, st.minute, st.sec = digitsAt(clock, 0, 2), digitsAt(clock, 3, 2), digitsAt(clock, 6, 2)
		if st.hour < 0 || st.minute < 0 || st.sec < 0 {
			return
		}
		if len(clock) > 9 && clock[8] == '.' {
			st.nan = fractionNanos(clock[9 : 9+digitRun(clock, 9)])
		}
		if !s.stated && s.flavour != flavourMariaDB {
			s.flavour = flavourOld
		}
	} else {
		if readStamp(b, &st) == 0 {
			return
		}
		if !s.stated && s.flavour != flavourTiDB {
			s.flavour = flavourMySQL
		}
	}
	s.time, s.fresh = st, true
}

// user reads "shop_rw[shop_rw] @ app-7 [10.20.1.7]  Id:  4711".
func (s *slowLog) user(b []byte) {
	at := bytes.Index(b, []byte("] @ "))
	if at < 0 {
		return
	}
	name := b[:at]
	if i := bytes.IndexByte(name, '['); i >= 0 {
		if len(name) > i+1 {
			name = name[i+1:]
		} else {
			name = name[:i]
		}
	}
	s.stmt.User = s.names.intern(name)
	rest := b[at+len("] @ "):]
	open := bytes.IndexByte(rest, '[')
	if open < 0 {
		s.stmt.Host = s.names.intern(bytes.TrimSpace(rest))
		return
	}
	host := bytes.TrimSpace(rest[:open])
	if end := bytes.IndexByte(rest[open:], ']'); end > 0 {
		if len(host) == 0 {
			host = rest[open+1 : open+end]
		}
		rest = rest[open+end+1:]
	}
	s.stmt.Host = s.names.intern(host)
	if i := bytes.Index(rest, []byte("Id:")); i >= 0 {
		s.stmt.Session = s.names.intern(bytes.TrimSpace(rest[i+3:]))
	}
}

// keys reads a line of "Key: value" pairs.
func (s *slowLog) keys(b []byte) {
	for {
		i := bytes.IndexByte(b, ':')
		if i < 0 || i+1 >= len(b) {
			return
		}
		key := b[:i]
		if j := bytes.LastIndexByte(key, ' '); j >= 0 {
			key = key[j+1:]
		}
		b = b[i+1:]
		j := 0
		for j < len(b) && b[j] == ' ' {
			j++
		}
		end := j
		for end < len(b) && b[end] != ' ' {
			end++
		}
		value := b[j:end]
		if end > j+1 && b[end-1] == ':' { // the value is empty, and this is the next key
			value = nil
			end = j
		}
		b = b[end:]
		s.key(key, value)
		if len(b) == 0 {
			return
		}
	}
}

// key keeps what is of use.
func (s *slowLog) key(key, value []byte) {
	switch string(key) {
	case "Query_time":
		s.stmt.Duration = seconds(value)
		s.seen = s.stmt.Duration >= 0
	case "Lock_time":
		s.stmt.LockTime = seconds(value)
	case "Rows_sent", "Result_rows":
		s.stmt.RowsSent = count(value)
	case "Rows_examined", "Process_keys":
		s.stmt.RowsExamined = count(value)
	case "Schema", "DB":
		s.stmt.DB = s.names.intern(value)
		s.db = append(s.db[:0], value...)
	case "Thread_id", "Conn_ID", "Id":
		s.stmt.Session = s.names.intern(value)
		if key[0] == 'C' && !s.stated {
			s.flavour = flavourTiDB
		}
	case "QC_hit": // on the line of Thread_id, in this spelling: MariaDB
		if !s.stated {
			s.flavour = flavourMariaDB
		}
	case "Txn_start_ts":
		if !s.stated {
			s.flavour = flavourTiDB
		}
	case "Full_scan", "Full_join":
		switch string(value) {
		case "Yes":
			s.stmt.FullScan = evidence.Yes
		case "No":
			if s.stmt.FullScan == evidence.Unknown {
				s.stmt.FullScan = evidence.No
			}
		}
	case "Log_slow_rate_limit":
		if n := count(value); n > 1 {
			s.stmt.Count = n
		}
	case "Read_rnd_next":
		s.rnd = count(value)
	case "Start":
		var st stamp
		if readStamp(value, &st) > 0 {
			s.start, _ = s.clock.resolve(&st)
		}
	}
}

// seconds reads a decimal number of seconds; None if it is not one.
func seconds(b []byte) time.Duration {
	var whole, frac int64
	i := 0
	for i < len(b) && isDigit(b[i]) && i < 10 {
		whole = whole*10 + int64(b[i]-'0')
		i++
	}
	if i == 0 {
		return evidence.None
	}
	scale := int64(time.Second)
	if i < len(b) && (b[i] == '.' || b[i] == ',') {
		for i++; i < len(b) && isDigit(b[i]) && scale > 1; i++ {
			scale /= 10
			frac += int64(b[i]-'0') * scale
		}
	}
	if whole > 1<<32 {
		return evidence.None
	}
	return time.Duration(whole*int64(time.Second) + frac)
}

// count reads a whole number, perhaps with a fraction; None if it is not one.
func count(b []byte) int64 {
	n := int64(evidence.None)
	for i, c := range b {
		if c < '0' || c > '9' || i > 17 {
			break
		}
		n = max(n, 0)*10 + int64(c-'0')
	}
	return n
}

// planRow reads the header or a row of an embedded plan: TAB-separated cells.
func (s *slowLog) planRow(b []byte) {
	cells := bytes.Split(b, []byte("\t"))
	if s.plans == nil {
		s.plans = newPlanColumns(cells)
		return
	}
	if len(s.plan) < maxPlanNodes {
		s.plan = s.plans.add(s.plan, cells, &s.names)
	}
}
