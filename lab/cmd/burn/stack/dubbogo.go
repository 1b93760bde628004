package stack

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
)

// startGo starts a dubbo-go process. Its settings are the program's flags. A
// consumer calls the service before it in the list, over triple: over the dubbo
// protocol this version's retries wait for ever.
func (s *Stack) startGo(spec Spec, ports, db int) (*Service, error) {
	dir, err := s.Env.Folder("run", spec.Name)
	if err != nil {
		return nil, err
	}
	v := &Service{Spec: spec, Dir: dir, Go: true, Control: s.Env.Port(ports)}
	flags := map[string]string{
		"name": spec.Name, "control": env.Addr(v.Control), "log": filepath.Join(dir, "app.log"), "otlp": env.Addr(s.otlpPort),
	}
	if spec.Role == "provider" {
		flags["protocol"] = "tri"
		flags["port"] = fmt.Sprint(s.Env.Port(ports + 2))
		flags["db"] = fmt.Sprintf("%s:%s@tcp(%s)/shop", dbUser, dbPassword, env.Addr(db))
	} else {
		flags["http"] = env.Addr(s.Env.Port(ports + 3))
		flags["url"] = "tri://" + env.Addr(s.Env.Port(ports-portsOfService+2))
	}
	maps.Copy(flags, spec.Settings)
	args := []string{spec.Role}
	for _, k := range slices.Sorted(maps.Keys(flags)) {
		args = append(args, "-"+k+"="+flags[k])
	}
	v.proc, err = s.Env.Start(env.Command{
		Name: spec.Name, Path: s.GoBin, Args: args, Dir: dir, Log: filepath.Join(dir, "stdout.log"), Kill: true,
		Env: []string{"OTEL_BSP_SCHEDULE_DELAY=1000", "OTEL_BSP_MAX_QUEUE_SIZE=16384"},
	})
	return v, err
}
