package parsers

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

var (
	dateLine  = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)$`)
	timeStamp = regexp.MustCompile(`(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?`)
	nameStamp = regexp.MustCompile(`(\d{4})[-_.]?(\d\d)[-_.]?(\d\d)[-T_ .](\d\d)[-:_.]?(\d\d)[-:_.]?(\d\d)`)
	pidLine   = regexp.MustCompile(`^(\d+):?$`)
)

// surroundings finds what stands in front of a dump: its time, the process, for
// dump_to_file the version. A time of its own is better than that of the log
// line that announces it, and that is better than the file's name.
func (d *javaDump) surroundings(s start) {
	before := d.in.Lines.Before()
	before = before[max(0, len(before)-4000):]
	var lines []string
	for raw := range bytes.SplitSeq(before, newline) {
		if line := strings.TrimSpace(string(unprefix(raw, d.prefix))); line != "" {
			lines = append(lines, line)
		}
	}
	lines = lines[max(0, len(lines)-40):]
	var stamp string
	own := false
	for i := len(lines) - 1; i >= 0 && !own; i-- {
		line := lines[i]
		near := i >= len(lines)-4
		switch {
		case near && dateLine.MatchString(line):
			stamp, own = line, true
		case near && d.family == familyToFile && timeStamp.MatchString(line) && len(line) < 40:
			stamp, own = line, true
		case stamp == "": // the log record that announces the dump
			if at := timeStamp.FindStringIndex(line); at != nil && at[0] < 30 {
				stamp = line
			}
		}
	}
	near := lines[max(0, len(lines)-4):]
	for i, line := range near {
		if m := pidLine.FindStringSubmatch(line); m != nil && (strings.HasSuffix(line, ":") || d.family == familyToFile) {
			d.info.PID = m[1]
		}
		if d.family == familyToFile && i > 0 && i == len(near)-1 && isDigit(line[0]) && len(line) < 60 && !timeStamp.MatchString(line) {
			d.info.Version = line
		}
	}
	if !own && len(s.prefix) > 0 && timeStamp.Match(s.prefix) {
		stamp = string(s.prefix)
	}
	if t, _ := d.in.Lines.Origin(); !t.IsZero() {
		d.at, d.zoned = t.UTC(), evidence.Yes
		return
	}
	if stamp != "" && d.stamped(timeStamp.FindStringSubmatch(stamp)) {
		return
	}
	if m := nameStamp.FindStringSubmatch(path.Base(d.in.Name)); m != nil {
		d.stamped(m)
	}
}

// stamped sets the dump's time from the parts of a time stamp.
func (d *javaDump) stamped(m []string) bool {
	if len(m) < 7 {
		return false
	}
	zone := d.in.Hint.Zone
	if zone == nil {
		zone = time.UTC
	}
	text := m[1] + "-" + m[2] + "-" + m[3] + " " + m[4] + ":" + m[5] + ":" + m[6]
	layout := "2006-01-02 15:04:05"
	if len(m) > 7 && m[7] != "" {
		text += "." + m[7]
	}
	zoned := evidence.No
	if len(m) > 8 && m[8] != "" {
		zoned = evidence.Yes
		text += strings.Replace(m[8], ":", "", 1)
		layout += "Z0700"
	}
	t, err := time.ParseInLocation(layout, text, zone)
	if err != nil {
		return false
	}
	d.at, d.zoned = t.UTC(), zoned
	return true
}

var hotspotVersion = regexp.MustCompile(`^(\d\d)\.(\d+)-b\d+$`)

// bannerVersion reads the version from "Full thread dump … (17.0.15+6-LTS mixed
// mode, sharing):". Up to 8 the VM's own version stands there: 25.221-b11 is 8u221.
func bannerVersion(banner string) string {
	open := strings.LastIndexByte(banner, '(')
	if open < 0 {
		return ""
	}
	version, _, _ := strings.Cut(banner[open+1:], " ")
	version = strings.TrimRight(version, "):")
	m := hotspotVersion.FindStringSubmatch(version)
	if m == nil {
		return version
	}
	switch major := m[1]; {
	case major == "25":
		return "8u" + m[2] + " (" + version + ")"
	case major == "24":
		return "7u" + m[2] + " (" + version + ")"
	case major >= "21" && major <= "23":
		return "7 (" + version + ")"
	}
	return "6 (" + version + ")"
}
