// Package config holds the configuration of the lab's servers as templates: what
// they say is what a shop of this size would have set, plus the slow logs.
package config

import (
	"bytes"
	"embed"
	"text/template"
)

//go:embed mariadb.cnf postgresql.conf nginx.conf schema.sql schema-postgresql.sql
var files embed.FS

// Render fills in a template.
func Render(name string, data any) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").ParseFS(files, name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, data)
	return b.Bytes(), err
}
