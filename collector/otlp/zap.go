package otlp

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// zapTo makes the Collector's kind of logger of ours.
func zapTo(to *slog.Logger) *zap.Logger {
	if to == nil {
		return zap.NewNop()
	}
	return zap.New(core{to})
}

// core writes what zap logs with slog.
type core struct{ to *slog.Logger }

func level(l zapcore.Level) slog.Level {
	switch {
	case l >= zapcore.ErrorLevel:
		return slog.LevelError
	case l == zapcore.WarnLevel:
		return slog.LevelWarn
	case l == zapcore.InfoLevel:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

func (c core) Enabled(l zapcore.Level) bool { return c.to.Enabled(context.Background(), level(l)) }

func (c core) With(fields []zapcore.Field) zapcore.Core { return core{c.to.With(pairs(fields)...)} }

func (c core) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

func (c core) Write(e zapcore.Entry, fields []zapcore.Field) error {
	c.to.Log(context.Background(), level(e.Level), e.Message, pairs(fields)...)
	return nil
}

func (c core) Sync() error { return nil }

func pairs(fields []zapcore.Field) []any {
	m := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(m)
	}
	list := make([]any, 0, 2*len(fields))
	for _, f := range fields {
		list = append(list, f.Key, m.Fields[f.Key])
	}
	return list
}
