// Package deploy has no code: it holds what firebreak is run with, and its tests
// hold that to what firebreak does.
package deploy

import (
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v4"
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// readYAML reads a file that has nothing but what into has.
func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Load(data, into, yaml.WithKnownFields(true)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
