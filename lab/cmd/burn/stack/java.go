package stack

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/truth"
)

// Spec is one JVM of a run.
type Spec struct {
	Name     string // product-1
	Role     string // product
	Line     string // dubbo3 or dubbo27
	Heap     string // -Xmx
	GC       string // -XX:+Use… without the prefix
	Settings map[string]string
}

// Service is a running process of the shop with a control port.
type Service struct {
	Spec
	Dir     string // its logs
	Control int
	QoS     int
	Go      bool // a dubbo-go process, which dumps goroutines
	proc    *env.Process
}

// neutral are the resource providers of the tracing agent left out, because they
// tell of this machine.
const neutral = "-Dotel.java.disabled.resource.providers=" +
	"io.opentelemetry.instrumentation.resources.HostResourceProvider," +
	"io.opentelemetry.instrumentation.resources.HostIdResourceProvider," +
	"io.opentelemetry.instrumentation.resources.ProcessResourceProvider," +
	"io.opentelemetry.instrumentation.resources.OsResourceProvider"

// flags reads a file of JVM flags beside the Java sources. A collector of the
// scenario's choice takes the place of theirs.
func (s *Stack) flags(name, gc string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(filepath.Dir(s.Java), name))
	if err != nil {
		return nil, err
	}
	list := strings.Fields(string(data))
	if gc == "" {
		return list, nil
	}
	list = slices.DeleteFunc(list, func(f string) bool {
		return strings.HasPrefix(f, "-XX:+Use") && strings.HasSuffix(f, "GC")
	})
	return append(list, "-XX:+Use"+gc), nil
}

// startJVM starts a JVM and does not wait for it.
func (s *Stack) startJVM(spec Spec, ports int) (*Service, error) {
	dir, err := s.Env.Folder("run", spec.Name)
	if err != nil {
		return nil, err
	}
	java, err := env.Tool("java")
	if err != nil {
		return nil, err
	}
	v := &Service{Spec: spec, Dir: dir, Control: s.Env.Port(ports), QoS: s.Env.Port(ports + 1)}
	lab := map[string]string{
		"name": spec.Name, "dir": dir, "zk": env.Addr(s.zooKeeper), "dump.dir": dir,
		"control.port": fmt.Sprint(v.Control), "qos.port": fmt.Sprint(v.QoS),
		"dubbo.port": fmt.Sprint(s.Env.Port(ports + 2)), "http.port": fmt.Sprint(s.Env.Port(ports + 3)),
	}
	maps.Copy(lab, spec.Settings)
	heap := spec.Heap
	if heap == "" {
		heap = "256m"
	}
	args, err := s.flags("jvm.flags."+spec.Line, spec.GC)
	if err != nil {
		return nil, err
	}
	args = append(args, "-Xms"+heap, "-Xmx"+heap, "-XX:MetaspaceSize=96m", "-Duser.timezone=UTC", "-Djava.net.preferIPv4Stack=true",
		"-Xlog:gc*,safepoint:file="+filepath.Join(dir, "gc.log")+":time,uptime,level,tags:filecount=0")
	if spec.Role != "zookeeper" {
		tracing, err := s.flags("otel.flags", "")
		if err != nil {
			return nil, err
		}
		args = append(append(args, tracing...), neutral,
			"-javaagent:"+filepath.Join(s.Java, "opentelemetry-javaagent.jar"),
			"-Dotel.service.name="+spec.Role, "-Dotel.resource.attributes=service.instance.id="+spec.Name,
			"-Dotel.exporter.otlp.protocol=http/protobuf", "-Dotel.exporter.otlp.endpoint=http://"+env.Addr(s.otlpPort),
			"-Dotel.bsp.schedule.delay=1000", "-Dotel.bsp.max.queue.size=16384")
	}
	for _, k := range slices.Sorted(maps.Keys(lab)) {
		args = append(args, "-Dlab."+k+"="+lab[k])
	}
	line := filepath.Join(s.Java, spec.Line)
	args = append(args, "-cp", line+"/*:"+line+"/lib/*", "com.acme.shop.lab.Main", spec.Role)
	v.proc, err = s.Env.Start(env.Command{
		Name: spec.Name, Path: java, Args: args, Dir: dir, Log: filepath.Join(dir, "stdout.log"), Own: filepath.Join(dir, "app.log"),
		// A provider that is killed stands in the registry until its session ends, and
		// the next run would find it there.
		Kill: spec.Role == "zookeeper",
	})
	return v, err
}

// Pid is the process's id.
func (v *Service) Pid() int { return v.proc.Pid() }

// Wait waits until the service says that it can serve.
func (v *Service) Wait(ctx context.Context) error {
	return v.proc.Wait(ctx, 150*time.Second, func(ctx context.Context) error {
		_, err := v.Get(ctx, "/ready")
		return err
	})
}

// control waits long: a process that collects garbage all the time answers late.
var control = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// Get asks the control port.
func (v *Service) Get(ctx context.Context, path string) ([]byte, error) {
	return v.ask(ctx, http.MethodGet, path)
}

// Fault turns a fault of the service on, or with kind=none all off.
func (v *Service) Fault(ctx context.Context, query url.Values) error {
	_, err := v.ask(ctx, http.MethodPost, "/fault?"+query.Encode())
	return err
}

func (v *Service) ask(ctx context.Context, method, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+env.Addr(v.Control)+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := control.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s of %s: %s: %s", method, path, v.Name, resp.Status, strings.TrimSpace(string(body)))
	}
	return body, err
}

// Counters are what the service counted since its start.
func (v *Service) Counters(ctx context.Context) (truth.Counters, error) {
	data, err := v.Get(ctx, "/counters")
	if err != nil {
		return truth.Counters{}, err
	}
	return truth.Parse(data)
}
