package runbooks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// amplifiedEdge is a method whose calls are retried, of a consumer.
type amplifiedEdge struct {
	service, method, consumer string
	protocol                  string // "dubbo", "grpc", "http"; empty if the evidence does not say
	write                     bool
}

// maxEdges bounds how many methods one override names.
const maxEdges = 8

// amplified lists the methods whose calls are multiplied by retries, writes
// first: to retry those may execute them twice.
func (c *Case) amplified() []amplifiedEdge {
	var list []amplifiedEdge
	for _, f := range c.of(incident.RetryAmplified) {
		e := amplifiedEdge{service: f.Names["service"], method: f.Names["method"], consumer: f.Names["consumer"], protocol: f.Names["protocol"]}
		for _, w := range c.of(incident.RetryWrite) {
			e.write = e.write || w.Names["service"] == e.service && w.Names["method"] == e.method
		}
		same := func(o amplifiedEdge) bool { return o.service == e.service && o.method == e.method }
		if len(list) < maxEdges && !slices.ContainsFunc(list, same) {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b amplifiedEdge) int {
		switch {
		case a.write == b.write:
			return 0
		case a.write:
			return -1
		}
		return 1
	})
	return list
}

// edgeWords is "SkuService.getSkuStock and SkuService.getCategory".
func (c *Case) edgeWords() string {
	var words []string
	for _, e := range c.amplified() {
		service := e.service
		if parts := serviceKey.FindStringSubmatch(service); parts != nil {
			service = parts[2][strings.LastIndexByte(parts[2], '.')+1:]
		}
		switch {
		case service == "" && e.method == "":
			continue
		case service == "" || e.method == "":
			words = append(words, oneLine(service+e.method))
		default:
			words = append(words, oneLine(service+"."+e.method))
		}
	}
	return inWords(words)
}

// inWords joins a list the way people do, at most three of it.
func inWords(words []string) string {
	switch n := len(words); {
	case n == 0:
		return ""
	case n == 1:
		return words[0]
	case n > 3:
		return lang.Sprintf("%s and %d more", lang.Join(words[:2]), n-2)
	default:
		return lang.Sprintf("%s and %s", lang.Join(words[:n-1]), words[n-1])
	}
}

// serviceKey is a service as Dubbo writes it: group/interface:version.
var serviceKey = regexp.MustCompile(`^(?:([\w.-]+)/)?([\pL\w.$]+)(?::([\w.-]+))?$`)

// methodName is a method's name.
var methodName = regexp.MustCompile(`^[\pL\w$]+$`)

// serviceRules is one service's document of Dubbo's dynamic configuration.
type serviceRules struct {
	service   string
	retried   []string // methods whose retries are to be 0
	consumers []string // of those methods
	limited   string   // method that is to be limited
	executes  int
}

// retryRules are the documents that switch retries off for the amplified
// methods. What is not named as Dubbo names services and methods gets none.
func (c *Case) retryRules() []*serviceRules {
	var list []*serviceRules
	for _, e := range c.amplified() {
		if e.protocol != "" && e.protocol != "dubbo" || !serviceKey.MatchString(e.service) || e.method != "" && !methodName.MatchString(e.method) || len(e.service)+len(e.method) > maxName {
			continue
		}
		i := slices.IndexFunc(list, func(r *serviceRules) bool { return r.service == e.service })
		if i < 0 {
			i = len(list)
			list = append(list, &serviceRules{service: e.service})
		}
		list[i].retried = appendNew(list[i].retried, e.method)
		if name, ok := yamlName(e.consumer); ok {
			list[i].consumers = appendNew(list[i].consumers, name)
		}
	}
	return list
}

// override is Dubbo's dynamic configuration that switches retries off for the
// amplified methods: one document a service, for publishing one replaces the
// one before it.
func (c *Case) override() string {
	var docs []string
	for _, r := range c.retryRules() {
		docs = append(docs, r.document())
	}
	return strings.Join(docs, "\n---\n")
}

// overrideRisk is what to mind when the override is published; empty without one.
func (c *Case) overrideRisk() string {
	if len(c.retryRules()) == 0 {
		return ""
	}
	return lang.T("One document a service: publishing it replaces an override that is there already, so merge first.")
}

// retryKnobs are where those retries are configured that Dubbo's dynamic
// configuration does not reach: by the proxy that sends them, else by protocol.
var retryKnobs = []struct{ consumer, protocol, words string }{
	{"nginx", "", lang.Mark("nginx: proxy_next_upstream off, or proxy_next_upstream_tries 1")},
	{"envoy", "", lang.Mark("Envoy: num_retries 0 in the route's retry_policy")},
	{"istio", "", lang.Mark("Istio: retries.attempts 0 in the VirtualService")},
	{"haproxy", "", lang.Mark("HAProxy: retries 0, and no option redispatch")},
	{"traefik", "", lang.Mark("Traefik: remove the retry middleware")},
	{"", "grpc", lang.Mark("gRPC: remove retryPolicy from the service config")},
	{"", "http", lang.Mark("the HTTP client: its retry handler, or Spring Retry, Resilience4j or Feign around it")},
}

// knobs says where the retries of the amplified calls are configured, for those
// that the override does not cover.
func (c *Case) knobs() string {
	var words []string
	for _, e := range c.amplified() {
		if e.protocol == "dubbo" || e.protocol == "" {
			continue
		}
		for _, k := range retryKnobs {
			if k.consumer != "" && strings.Contains(strings.ToLower(e.consumer), k.consumer) || k.protocol != "" && k.protocol == e.protocol {
				words = appendNew(words, lang.T(k.words))
				break
			}
		}
	}
	return lang.Semicolons(words)
}

// theCut stands for the step that cuts the retries until steps have numbers.
const theCut = "{cut}"

// limit is Dubbo's dynamic configuration that lets a quarter of the pool work
// for the method that holds most of it. It holds what is said of the same
// service's retries too: publishing it replaces that document. It is empty where
// the pool is not Dubbo's, for other servers limit otherwise, and where the
// service is not known.
func (c *Case) limit() string {
	method, executes := "", 0
	for _, f := range c.of(incident.PoolHot) {
		if strings.HasPrefix(f.Names["pool"], "Dubbo") && methodName.MatchString(f.Names["method"]) {
			method, executes = f.Names["method"], quarter(f)
			break
		}
	}
	if method == "" || len(method) > maxName || executes == 0 {
		return ""
	}
	for _, f := range c.of(edgeKinds...) {
		s := f.Names["service"]
		if f.Names["method"] != method || !serviceKey.MatchString(s) || len(s) > maxName {
			continue
		}
		rules := &serviceRules{service: s}
		note := ""
		for _, r := range c.retryRules() {
			if r.service == s {
				rules = r
				note = "# " + lang.Sprintf("this document holds the lines of %s too: publishing it replaces that one", theCut) + "\n"
			}
		}
		rules.limited, rules.executes = method, executes
		return note + rules.document()
	}
	return ""
}

// limitWords says with how much of the pool to begin; empty if its size is not
// known.
func (c *Case) limitWords() string {
	for _, f := range c.of(incident.PoolHot) {
		if n := quarter(f); n > 0 {
			return lang.Sprintf("%d at a time, a quarter of the pool's %s", n, number(f.Values["pool.max"]))
		}
	}
	return ""
}

// quarter is a quarter of a pool; 0 if that is not known or hardly anything.
func quarter(f *incident.Finding) int {
	size := f.Values["pool.max"]
	if size < 8 || size > 1e6 {
		return 0
	}
	return int(size / 4)
}

// document is the service's document. The form v2.7 is read by Dubbo 2.7 and
// all of 3.x.
func (r *serviceRules) document() string {
	parts := serviceKey.FindStringSubmatch(r.service)
	group, name, version := parts[1], parts[2], parts[3]
	key, _ := yamlName(r.service)
	var b strings.Builder
	b.WriteString("# " + lang.Sprintf("config centre: group dubbo, key %s:%s:%s.configurators", name, version, group) + "\n")
	if !strings.Contains(name, ".") {
		b.WriteString("# " + lang.T("write the interface's full name: the evidence shows only the short one") + "\n")
	}
	fmt.Fprintf(&b, "configVersion: v2.7\nscope: service\nkey: %s\nenabled: true\nconfigs:", key)
	if len(r.retried) > 0 {
		b.WriteString("\n  - side: consumer\n    addresses: [\"0.0.0.0\"]\n")
		if len(r.consumers) == 1 {
			fmt.Fprintf(&b, "    # applications: [%s]   # %s\n", r.consumers[0], lang.T("only this consumer; without it, all"))
		}
		b.WriteString("    parameters:")
	}
	for _, m := range r.retried {
		parameter := "retries"
		if m != "" {
			parameter = m + ".retries"
		}
		parameter, _ = yamlName(parameter)
		fmt.Fprintf(&b, "\n      %s: 0", parameter)
	}
	if r.limited != "" {
		parameter, _ := yamlName(r.limited + ".executes")
		fmt.Fprintf(&b, "\n  - side: provider\n    addresses: [\"0.0.0.0\"]\n    parameters:\n      %s: %d", parameter, r.executes)
	}
	return b.String()
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
