package main

import (
	"log/slog"

	"github.com/prometheus/common/promslog"
)

// logger writes what a command that goes on does, on standard error.
func (a *app) logger(level, format string) (*slog.Logger, error) {
	l, f := promslog.NewLevel(), promslog.NewFormat()
	if err := l.Set(level); err != nil {
		return nil, usagef("--log.level info", "--log.level: %v", err)
	}
	if err := f.Set(format); err != nil {
		return nil, usagef("--log.format logfmt", "--log.format: %v", err)
	}
	return promslog.New(&promslog.Config{Level: l, Format: f, Writer: a.stderr}), nil
}
