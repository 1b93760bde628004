package runbooks

import (
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
)

// Tech is a technology that the evidence is of, so that a runbook can give the
// command that fits.
type Tech string

// The technologies.
const (
	Java       Tech = "java"
	Go         Tech = "go"
	MySQL      Tech = "mysql" // or MariaDB
	PostgreSQL Tech = "postgresql"
)

var techs = []string{string(Java), string(Go), string(MySQL), string(PostgreSQL)}

// techOfFormat tells a technology by the beginning of a source's format.
var techOfFormat = []struct {
	prefix string
	tech   Tech
}{
	{"goroutine", Go},
	{"jstack", Java},
	{"threadinfo", Java},
	{"dump-to-file", Java},
	{"actuator", Java},
	{"javacore", Java},
	{"gc-log", Java},
	{"dubbo-qos", Java},
	{"mysql", MySQL},
	{"processlist", MySQL},
	{"innodb", MySQL},
	{"postgresql", PostgreSQL},
	{"pg", PostgreSQL},
}

// techOfEngine tells a database by what statements were seen to run on.
func techOfEngine(engine string) Tech {
	switch {
	case strings.HasPrefix(engine, "mysql"), strings.HasPrefix(engine, "maria"):
		return MySQL
	case strings.HasPrefix(engine, "postgres"), strings.HasPrefix(engine, "pg"):
		return PostgreSQL
	}
	return ""
}

// techOfFrame tells a technology by a frame, which ends with its source file.
func techOfFrame(frame string) Tech {
	switch {
	case strings.Contains(frame, ".go:"):
		return Go
	case strings.Contains(frame, ".java:"), strings.Contains(frame, ".kt:"), strings.Contains(frame, ".scala:"), strings.Contains(frame, ".groovy:"):
		return Java
	}
	return ""
}

// techOfPool tells a technology by a pool's name, where only one names its
// pools so.
func techOfPool(pool string) Tech {
	for _, prefix := range []string{"DubboServerHandler", "http-nio-", "http-apr-", "https-jsse-", "ajp-nio-", "qtp", "XNIO-", "Hikari", "grpc-default-executor", "ForkJoinPool", "catalina-exec"} {
		if strings.HasPrefix(pool, prefix) {
			return Java
		}
	}
	return ""
}

// techsOf returns what a report's evidence is of.
func techsOf(r *incident.Report, findings []*incident.Finding) []Tech {
	var list []Tech
	add := func(t Tech) {
		if t != "" && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	for _, f := range findings {
		add(techOfEngine(f.Names["engine"]))
		add(techOfFrame(f.Names["app_frame"]))
		add(techOfPool(f.Names["pool"]))
	}
	for _, s := range r.Sources {
		for _, known := range techOfFormat {
			if strings.HasPrefix(s.Format, known.prefix) {
				add(known.tech)
			}
		}
	}
	return list
}

// database is what statements of this case run on; empty if that is not known,
// or if there are several.
func (c *Case) database() Tech {
	switch my, pg := slices.Contains(c.techs, MySQL), slices.Contains(c.techs, PostgreSQL); {
	case my && !pg:
		return MySQL
	case pg && !my:
		return PostgreSQL
	}
	return ""
}
