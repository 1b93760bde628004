package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A log prints one record of an application's log; lines after the first of
// the message are the record's further lines.
type log func(at time.Time, level, thread, logger, format string, args ...any)

const (
	commaMillis = "2006-01-02 15:04:05,000"
	dotMillis   = "2006-01-02 15:04:05.000"
)

// message fills a format in, if there is something to fill in.
func message(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// last cuts to the last n characters, as Spring Boot does with thread names.
func last(s string, n int) string {
	if len(s) > n {
		return s[len(s)-n:]
	}
	return s
}

// boot2 is the layout of Spring Boot 1 and 2.
func boot2(f files, file string, pid int) log {
	return func(at time.Time, level, thread, logger, format string, args ...any) {
		f.printf(file, "%s %5s %d --- [%15s] %-40.40s : %s\n", at.Format(dotMillis), level, pid, last(thread, 15), logger, message(format, args))
	}
}

// boot3 is the layout of Spring Boot 3.2 and later with an application's name
// and trace correlation.
func boot3(f files, file, app string, zone *time.Location) log {
	return func(at time.Time, level, thread, logger, format string, args ...any) {
		f.printf(file, "%s %5s 1 --- [%s] [%15s] [                                                 ] %-40.40s : %s\n", at.In(zone).Format("2006-01-02T15:04:05.000-07:00"), level, app, last(thread, 15), logger, message(format, args))
	}
}

// log4j is a layout of log4j 1, as in many shops since 2005.
func log4j(f files, file string) log {
	return func(at time.Time, level, thread, logger, format string, args ...any) {
		f.printf(file, "%s [%s] %-5s %s - %s\n", at.Format(commaMillis), thread, level, logger, message(format, args))
	}
}

// hadoop is the layout of log4j's example with level, thread and source line.
func hadoop(f files, file string) log {
	return func(at time.Time, level, thread, logger, format string, args ...any) {
		short := logger[strings.LastIndexByte(logger, '.')+1:]
		f.printf(file, "%s %-5s [%s] %s (%s.java:%d) - %s\n", at.Format(commaMillis), level, thread, logger, short, 40+len(short), message(format, args))
	}
}

// dateless is logback's default: only a time of day.
func dateless(f files, file string) log {
	return func(at time.Time, level, thread, logger, format string, args ...any) {
		f.printf(file, "%s [%s] %-5s %s - %s\n", at.Format("15:04:05.000"), thread, level, logger, message(format, args))
	}
}

// wildfly has the thread in parentheses.
func wildfly(f files, file string) log {
	return func(at time.Time, level, thread, logger, format string, args ...any) {
		f.printf(file, "%s %-5s [%s] (%s) %s\n", at.Format(commaMillis), level, logger, thread, message(format, args))
	}
}

// logstash is one JSON object a line, of logstash-logback-encoder. The stack,
// which is what follows the first line of the message, has a field of its own.
func logstash(f files, file string, zone *time.Location) log {
	return func(at time.Time, level, thread, logger, format string, args ...any) {
		text, stack, _ := strings.Cut(message(format, args), "\n")
		record := map[string]any{
			"@timestamp": at.In(zone).Format("2006-01-02T15:04:05.000Z07:00"), "@version": "1", "message": text,
			"logger_name": logger, "thread_name": thread, "level": level, "level_value": map[string]int{"INFO": 20000, "WARN": 30000, "ERROR": 40000}[level],
		}
		if stack != "" {
			record["stack_trace"] = stack + "\n"
		}
		f.printf(file, "%s\n", jsonLine(record))
	}
}

// ecs is one JSON object a line in the Elastic Common Schema, flat.
func ecs(f files, file, service string) log {
	return func(at time.Time, level, thread, logger, format string, args ...any) {
		text, stack, _ := strings.Cut(message(format, args), "\n")
		record := map[string]any{
			"@timestamp": at.Format("2006-01-02T15:04:05.000Z"), "log.level": level, "message": text, "ecs.version": "1.2.0",
			"service.name": service, "event.dataset": service, "process.thread.name": thread, "log.logger": logger,
		}
		if stack != "" {
			typ, rest, _ := strings.Cut(stack, ": ")
			msg, _, _ := strings.Cut(rest, "\n")
			record["error.type"], record["error.message"], record["error.stack_trace"] = typ, msg, stack+"\n"
		}
		f.printf(file, "%s\n", jsonLine(record))
	}
}

func jsonLine(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // maps of strings and numbers
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// zap is the console layout of zap, as dubbo-go prints it.
func zap(f files, file string) log {
	return func(at time.Time, level, _, caller, format string, args ...any) {
		f.printf(file, "%s\t%s\t%s\t%s\n", at.Format("2006-01-02 15:04:05"), level, caller, message(format, args))
	}
}

// zapJSON is zap's production layout: times are seconds since 1970.
func zapJSON(f files, file string) func(at time.Time, level, caller, msg string, fields map[string]any) {
	return func(at time.Time, level, caller, msg string, fields map[string]any) {
		record := map[string]any{"level": level, "ts": float64(at.UnixMilli()) / 1000, "caller": caller, "msg": msg}
		for k, v := range fields {
			record[k] = v
		}
		f.printf(file, "%s\n", jsonLine(record))
	}
}

// cri wraps every line of a file as the container runtime does.
func cri(f files, file string, at time.Time) {
	text := f.at(file).String()
	f.at(file).Reset()
	i := 0
	for line := range strings.Lines(text) {
		i++
		f.printf(file, "%s stdout F %s", at.Add(time.Duration(i)*3*time.Millisecond).Format("2006-01-02T15:04:05.000000000Z"), line)
	}
}

// prefixed puts a prefix before every line of a file.
func prefixed(f files, file, prefix string) {
	text := f.at(file).String()
	f.at(file).Reset()
	for line := range strings.Lines(text) {
		f.printf(file, "%s%s", prefix, line)
	}
}
