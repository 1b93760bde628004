package deploy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/firebreak-io/firebreak/internal/golden"
)

// manifest is a document of Kubernetes, as far as it is looked at here.
type manifest struct {
	Kind     string
	Metadata struct {
		Name, Namespace string
		Labels          map[string]string
	}
	node any
}

// at returns what stands under keys and indices, nil if nothing does.
func (m manifest) at(path ...any) any { return at(m.node, path...) }

func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func list(v any) []any { l, _ := v.([]any); return l }

func text(v any) string { s, _ := v.(string); return s }

// texts is a map of texts, such as labels.
func texts(v any) map[string]string {
	m, _ := v.(map[string]any)
	out := map[string]string{}
	for k, v := range m {
		out[k] = text(v)
	}
	return out
}

func manifests(t *testing.T) map[string]manifest {
	t.Helper()
	files, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no manifests", err)
	}
	all := map[string]manifest{}
	for _, file := range files {
		for _, doc := range documents(t, file) {
			m := manifest{Kind: text(at(doc, "kind")), node: doc}
			m.Metadata.Name = text(at(doc, "metadata", "name"))
			m.Metadata.Namespace = text(at(doc, "metadata", "namespace"))
			m.Metadata.Labels = texts(at(doc, "metadata", "labels"))
			if m.Kind == "Kustomization" {
				var resources []string
				for _, r := range list(m.at("resources")) {
					resources = append(resources, "kubernetes/"+text(r))
				}
				slices.Sort(resources)
				want := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return filepath.Base(f) == "kustomization.yaml" })
				if !slices.Equal(resources, want) {
					t.Errorf("kustomization.yaml has %q, the folder %q", resources, want)
				}
				continue
			}
			if m.Kind == "" || text(m.at("apiVersion")) == "" || m.Metadata.Name == "" || m.Metadata.Labels["app.kubernetes.io/name"] != "firebreak" {
				t.Errorf("%s lacks its kind, version, name or label", file)
			}
			if m.Kind != "Namespace" && m.Metadata.Namespace != "firebreak" {
				t.Errorf("%s: namespace %q", file, m.Metadata.Namespace)
			}
			all[m.Kind+" "+m.Metadata.Name] = m
		}
	}
	return all
}

// documents reads all documents of a file. Keys that stand twice are errors.
func documents(t *testing.T, name string) []any {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	loader, err := yaml.NewLoader(f, yaml.WithUniqueKeys(true))
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for {
		var doc any
		switch err := loader.Load(&doc); {
		case errors.Is(err, io.EOF) && len(all) > 0:
			return all
		case err != nil:
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, doc)
	}
}

func TestStatefulSet(t *testing.T) {
	all := manifests(t)
	set := all["StatefulSet firebreak"]
	pod := set.at("spec", "template", "spec")
	box := at(pod, "containers", 0)
	for _, c := range []struct {
		where any
		path  []any
		want  any
	}{
		{pod, []any{"automountServiceAccountToken"}, false},
		{pod, []any{"securityContext", "runAsNonRoot"}, true},
		{pod, []any{"securityContext", "seccompProfile", "type"}, "RuntimeDefault"},
		{pod, []any{"terminationGracePeriodSeconds"}, 30},
		{box, []any{"securityContext", "allowPrivilegeEscalation"}, false},
		{box, []any{"securityContext", "readOnlyRootFilesystem"}, true},
		{box, []any{"securityContext", "capabilities", "drop", 0}, "ALL"},
		{box, []any{"readinessProbe", "httpGet", "path"}, "/-/ready"},
		{box, []any{"startupProbe", "httpGet", "path"}, "/-/ready"},
		{box, []any{"livenessProbe", "httpGet", "path"}, "/-/healthy"},
	} {
		if got := at(c.where, c.path...); got != c.want {
			t.Errorf("%v is %v, want %v", c.path, got, c.want)
		}
	}
	if got, want := texts(set.at("spec", "selector", "matchLabels")), texts(set.at("spec", "template", "metadata", "labels")); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("it selects %v, its pods are %v", got, want)
	}
	if all["Service "+text(set.at("spec", "serviceName"))].Kind == "" {
		t.Error("its service is not there")
	}
	if all["ServiceAccount "+text(at(pod, "serviceAccountName"))].Kind == "" {
		t.Error("its account is not there")
	}
	volumes := map[string]bool{}
	for _, v := range list(at(pod, "volumes")) {
		volumes[text(at(v, "name"))] = true
		if name := text(at(v, "configMap", "name")); name != "" && all["ConfigMap "+name].Kind == "" {
			t.Errorf("no ConfigMap %s", name)
		}
	}
	for _, v := range list(set.at("spec", "volumeClaimTemplates")) {
		volumes[text(at(v, "metadata", "name"))] = true
	}
	for _, m := range list(at(box, "volumeMounts")) {
		if !volumes[text(at(m, "name"))] {
			t.Errorf("no volume %v", at(m, "name"))
		}
	}
	limit, soft := quantity(text(at(box, "resources", "limits", "memory"))), quantity(text(at(box, "env", 0, "value")))
	if limit == 0 || soft == 0 || soft > limit*95/100 || soft < limit*80/100 {
		t.Errorf("FIREBREAK_LIMITS_MEMORY is %d of %d MiB", soft, limit)
	}
}

// quantity is an amount of memory in MiB.
func quantity(s string) int {
	s, factor := strings.TrimSuffix(s, "B"), 1
	if strings.HasSuffix(s, "Gi") {
		factor = 1024
	}
	n, _ := strconv.Atoi(strings.TrimRight(s, "GMi"))
	return n * factor
}

func TestServicesAndPolicies(t *testing.T) {
	all := manifests(t)
	labels := texts(all["StatefulSet firebreak"].at("spec", "template", "metadata", "labels"))
	ports := map[string]any{}
	for _, p := range list(all["StatefulSet firebreak"].at("spec", "template", "spec", "containers", 0, "ports")) {
		ports[text(at(p, "name"))] = at(p, "containerPort")
	}
	if fmt.Sprint(ports) != "map[otlp-grpc:4317 otlp-http:4318 web:9464]" {
		t.Errorf("ports: %v", ports)
	}
	monitor := all["ServiceMonitor firebreak"]
	watched := 0
	for name, m := range all {
		if m.Kind != "Service" {
			continue
		}
		if fmt.Sprint(texts(m.at("spec", "selector"))) != fmt.Sprint(labels) {
			t.Errorf("%s selects other pods", name)
		}
		for _, p := range list(m.at("spec", "ports")) {
			if ports[text(at(p, "targetPort"))] == nil {
				t.Errorf("%s: no port %v", name, at(p, "targetPort"))
			}
			if text(at(p, "name")) == text(monitor.at("spec", "endpoints", 0, "port")) {
				watched++
			}
		}
	}
	if watched != 1 || monitor.at("spec", "endpoints", 0, "path") != "/metrics" {
		t.Errorf("%d services have the port that is watched", watched)
	}
	policy := all["NetworkPolicy firebreak"]
	if fmt.Sprint(policy.at("spec", "policyTypes")) != "[Ingress Egress]" || fmt.Sprint(texts(policy.at("spec", "podSelector", "matchLabels"))) != fmt.Sprint(labels) {
		t.Error("the policy does not hold for both ways, or for other pods")
	}
	for _, rule := range list(policy.at("spec", "ingress")) {
		if len(list(at(rule, "from"))) == 0 || len(list(at(rule, "ports"))) == 0 {
			t.Error("the policy lets everybody in")
		}
		for _, p := range list(at(rule, "ports")) {
			if ports[text(at(p, "port"))] == nil {
				t.Errorf("the policy names a port %v", at(p, "port"))
			}
		}
	}
}

const ruleManifest = "kubernetes/prometheusrule.yaml"

// The rules for the Prometheus Operator are those of deploy/prometheus.
func TestPrometheusRule(t *testing.T) {
	var made strings.Builder
	made.WriteString("# The rules of deploy/prometheus for the Prometheus Operator. Made of them by\n# go test ./deploy -run TestPrometheusRule -update.\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: firebreak\n  namespace: firebreak\n  labels:\n    app.kubernetes.io/name: firebreak\nspec:\n  groups:\n")
	for _, file := range []string{"prometheus/recording.yml", "prometheus/alerts.yml"} {
		_, groups, ok := strings.Cut(read(t, file), "\ngroups:\n")
		if !ok {
			t.Fatalf("%s has no groups", file)
		}
		for line := range strings.Lines(groups) {
			if strings.TrimSpace(line) != "" {
				line = "  " + line
			}
			made.WriteString(line)
		}
	}
	golden.Check(t, ruleManifest, []byte(made.String()))
}
