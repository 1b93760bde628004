package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// The exit codes, which are part of the interface.
const (
	exitAnalysed     = 0  // also a healthy fleet
	exitFailed       = 1  // nothing could be read, or the report not written
	exitUsage        = 2  // the command line makes no sense
	exitIncident     = 10 // with --exit-code: an incident was labelled
	exitInconclusive = 11 // with --exit-code: the evidence cannot tell
)

// exitCode ends the program with a code and no message.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// hintedError is an error with the next thing to type.
type hintedError struct {
	err error
	try string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// usageError is a command line that makes no sense, with one that does.
type usageError struct {
	msg string
	try string
}

func (e *usageError) Error() string { return e.msg }

func usagef(try, format string, args ...any) error {
	return &usageError{lang.Sprintf(format, args...), try}
}

// complain tells a person what went wrong and what to do next. File names and
// the like are made visible: they come from anywhere.
func complain(w io.Writer, err error) {
	for i, line := range strings.Split(err.Error(), "\n") {
		prefix := ""
		if i == 0 {
			prefix = "firebreak: "
		}
		fmt.Fprintln(w, prefix+incident.Visible(line))
	}
	var usage *usageError
	var hinted *hintedError
	switch {
	case errors.As(err, &usage) && usage.try != "":
		fmt.Fprintln(w, lang.Sprintf("Try: %s", incident.Visible(usage.try)))
	case errors.As(err, &hinted) && hinted.try != "":
		fmt.Fprintln(w, lang.Sprintf("Try: %s", incident.Visible(hinted.try)))
	}
}
