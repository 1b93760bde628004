package env

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// more is where Debian puts servers, which is not on everyone's path.
var more = []string{"/usr/sbin", "/sbin", "/usr/local/sbin"}

// Tool finds a program by the first of its names that is there.
func Tool(names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
		for _, dir := range more {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%s is not installed; lab/run.sh installs what the lab needs", names[0])
}
