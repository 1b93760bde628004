package parsers

// Access-log lines may stand within other text: a terminal in which two logs
// were shown, files that were put behind each other. A run of them is read as a
// block, whatever the text around it is.

// startsAccessLines reports whether a line by itself is one of an access log.
func startsAccessLines(line []byte) bool {
	if len(line) > 32<<10 || line[0] == ' ' || line[0] == '\t' {
		return false
	}
	var h header
	if h.parse(line) && h.level != "" {
		return false // an application's, about a request
	}
	layouts, _ := learnAccess([][]byte{line})
	return len(layouts) > 0
}

// readAccessLines reads the lines of an access log as far as they follow each other.
func readAccessLines(in *Input, emit Emit) error {
	r := in.lines
	if r == nil {
		r = newAccessReader(in, emit, nil)
		in.lines = r
	}
	r.emit = emit
	for in.Lines.Next() {
		line := in.Lines.Bytes()
		l, _ := r.parser.layoutOf(line)
		mine := false
		switch {
		case len(line) == 0:
		case l != nil:
			var err error
			if mine, err = r.send(l, line); err != nil {
				return err
			}
		case startsAccessLines(line):
			if err := r.setAside(line, in.Lines.Number()); err != nil {
				return err
			}
			mine = true
		}
		if !mine {
			in.Lines.Unread()
			break
		}
	}
	return in.Lines.Err()
}
