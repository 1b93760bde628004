package deploy

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The unit gives the service no more than it needs.
func TestUnit(t *testing.T) {
	set := map[string][]string{}
	lines := bufio.NewScanner(strings.NewReader(read(t, "systemd/firebreak.service")))
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), "=")
		if ok && !strings.HasPrefix(key, "#") {
			set[key] = append(set[key], value)
		}
	}
	for key, want := range map[string]string{
		"DynamicUser": "yes", "NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateDevices": "yes",
		"CapabilityBoundingSet": "", "MemoryDenyWriteExecute": "yes", "RestrictNamespaces": "yes", "SystemCallArchitectures": "native",
		"MemoryMax": "1G", "Restart": "on-failure",
	} {
		if got := strings.Join(set[key], " "); got != want || set[key] == nil {
			t.Errorf("%s=%s, want %s", key, got, want)
		}
	}
	if len(set["SystemCallFilter"]) == 0 || len(set["StateDirectory"]) == 0 {
		t.Error("no filter of system calls, or no folder of its own")
	}
}

// systemd itself reads it, where there is one.
func TestUnitWithSystemd(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze here")
	}
	unit := regexp.MustCompile(`(?m)^ExecStart=\S+`).ReplaceAllString(read(t, "systemd/firebreak.service"), "ExecStart=/bin/true")
	file := filepath.Join(t.TempDir(), "firebreak.service")
	if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "verify", file).CombinedOutput(); err != nil || strings.Contains(string(out), file) {
		t.Errorf("%v\n%s", err, out)
	}
}

// Keys and variables that are used anywhere here are those of firebreak.yaml, which
// has them all.
func TestConfigurationsUseKnownKeys(t *testing.T) {
	known := map[string]bool{}
	collect(documents(t, "firebreak.yaml")[0], "", known)
	inMap := documents(t, "kubernetes/configmap.yaml")[0]
	file := filepath.Join(t.TempDir(), "firebreak.yaml")
	if err := os.WriteFile(file, []byte(text(at(inMap, "data", "firebreak.yaml"))), 0o600); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	collect(documents(t, file)[0], "", used)
	if len(used) == 0 {
		t.Error("the ConfigMap says nothing")
	}
	for key := range used {
		if !known[key] {
			t.Errorf("the ConfigMap has %s", key)
		}
	}
	variables := map[string]bool{}
	for key := range known {
		variables["FIREBREAK_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))] = true
	}
	for _, name := range []string{"systemd/firebreak.service", "docker/Dockerfile"} {
		for _, v := range regexp.MustCompile(`FIREBREAK_[A-Z_]+`).FindAllString(read(t, name), -1) {
			if !variables[v] {
				t.Errorf("%s: nothing reads %s", name, v)
			}
		}
	}
}

// collect notes all keys, with those that they stand under.
func collect(v any, under string, keys map[string]bool) {
	m, _ := v.(map[string]any)
	for k, v := range m {
		keys[under+k] = true
		collect(v, under+k+".", keys)
	}
}

// The image is run by nobody and made by a command that works.
func TestImage(t *testing.T) {
	file := read(t, "docker/Dockerfile")
	if !strings.Contains(file, "\nFROM scratch\n") || !strings.Contains(file, "\nUSER 65532:65532\n") {
		t.Error("the image is run by root, or of more than it needs")
	}
	build := regexp.MustCompile(`CGO_ENABLED=0 go build .*`).FindString(file)
	if build == "" {
		t.Fatal("the Dockerfile builds nothing")
	}
	if os.Getenv("FIREBREAK_BUILD") == "" {
		t.Skip("FIREBREAK_BUILD does not ask for a build")
	}
	out := t.TempDir()
	build = strings.NewReplacer("/out/", out+"/", "${VERSION}", "v9.8.7").Replace(build)
	cmd := exec.Command("sh", "-c", build)
	cmd.Dir = ".."
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if said, err := exec.Command(out+"/firebreak", "version").CombinedOutput(); err != nil || !strings.Contains(string(said), "v9.8.7") {
		t.Errorf("%v\n%s", err, said)
	}
	// A static program needs no loader.
	if said, _ := exec.Command("ldd", out+"/firebreak").CombinedOutput(); strings.Contains(string(said), "=>") {
		t.Errorf("it is not static:\n%s", said)
	}
}
