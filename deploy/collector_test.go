package deploy

import (
	"path/filepath"
	"testing"
)

// Every pipeline of the Collectors has parts that are set up, and what is set up
// stands in a pipeline.
func TestCollectorConfigurations(t *testing.T) {
	files, err := filepath.Glob("collector/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		docs := documents(t, file)
		if len(docs) != 1 {
			t.Errorf("%s has %d documents", file, len(docs))
		}
		doc := docs[0]
		used := map[string]bool{}
		pipelines, _ := at(doc, "service", "pipelines").(map[string]any)
		if len(pipelines) == 0 {
			t.Errorf("%s has no pipelines", file)
		}
		has := func(section, name string) bool {
			m, _ := at(doc, section).(map[string]any)
			_, ok := m[name]
			return ok
		}
		for name, p := range pipelines {
			for _, section := range []string{"receivers", "processors", "exporters"} {
				parts := list(at(p, section))
				if len(parts) == 0 && section != "processors" {
					t.Errorf("%s: %s has no %s", file, name, section)
				}
				for _, part := range parts {
					// A connector ends one pipeline and begins another.
					switch part := text(part); {
					case has(section, part):
						used[section+" "+part] = true
					case section != "processors" && has("connectors", part):
						used["connectors "+part] = true
					default:
						t.Errorf("%s: %s names %s, which is not among %s", file, name, part, section)
					}
				}
			}
		}
		for _, section := range []string{"receivers", "processors", "exporters", "connectors"} {
			m, _ := at(doc, section).(map[string]any)
			for part := range m {
				if !used[section+" "+part] {
					t.Errorf("%s: %s of %s is in no pipeline", file, part, section)
				}
			}
		}
	}
}
