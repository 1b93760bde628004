package runbooks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
)

// amplifiedEdge is a method whose calls are retried, of a consumer.
type amplifiedEdge struct {
	service, method, consumer string
	write                     bool
}

// maxEdges bounds how many methods one override names.
const maxEdges = 8

// amplified lists the methods whose calls are multiplied by retries, writes
// first: to retry those may execute them twice.
func (c *Case) amplified() []amplifiedEdge {
	var list []amplifiedEdge
	for _, f := range c.of(incident.RetryAmplified) {
		e := amplifiedEdge{service: f.Names["service"], method: f.Names["method"], consumer: f.Names["consumer"]}
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
		return fmt.Sprintf("%s and %d more", strings.Join(words[:2], ", "), n-2)
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// serviceKey is a service as Dubbo writes it: group/interface:version.
var serviceKey = regexp.MustCompile(`^(?:([\w.-]+)/)?([\pL\w.$]+)(?::([\w.-]+))?$`)

// methodName is a method's name.
var methodName = regexp.MustCompile(`^[\pL\w$]+$`)

// override is Dubbo's dynamic configuration that switches retries off for the
// amplified methods: one document a service, for publishing one replaces the
// one before it. The form v2.7 is read by Dubbo 2.7 and all of 3.x. What is not
// named as Dubbo names services and methods gets no override.
func (c *Case) override() string {
	var services []string
	methods, consumers := map[string][]string{}, map[string][]string{}
	for _, e := range c.amplified() {
		if !serviceKey.MatchString(e.service) || e.method != "" && !methodName.MatchString(e.method) || len(e.service)+len(e.method) > maxName {
			continue
		}
		services = appendNew(services, e.service)
		methods[e.service] = appendNew(methods[e.service], e.method)
		if name, ok := yamlName(e.consumer); ok {
			consumers[e.service] = appendNew(consumers[e.service], name)
		}
	}
	var docs []string
	for _, s := range services {
		docs = append(docs, overrideOf(s, methods[s], consumers[s]))
	}
	return strings.Join(docs, "\n---\n")
}

// limit is Dubbo's dynamic configuration that lets a quarter of the pool work
// for the method that holds most of it. It is empty where the pool is not
// Dubbo's: other servers limit otherwise.
func (c *Case) limit() string {
	method, size := "", 0.0
	for _, f := range c.of(incident.PoolHot) {
		if strings.HasPrefix(f.Names["pool"], "Dubbo") && methodName.MatchString(f.Names["method"]) {
			method, size = f.Names["method"], f.Values["pool.max"]
			break
		}
	}
	if method == "" || len(method) > maxName || size < 8 {
		return ""
	}
	service, note := "SERVICE", "   # the interface's full name"
	for _, f := range c.of(edgeKinds...) {
		if s := f.Names["service"]; f.Names["method"] == method && serviceKey.MatchString(s) && len(s) <= maxName {
			service, _ = yamlName(s)
			note = ""
			break
		}
	}
	parameter, _ := yamlName(method + ".executes")
	return fmt.Sprintf("configVersion: v2.7\nscope: service\nkey: %s%s\nenabled: true\nconfigs:\n  - side: provider\n    addresses: [\"0.0.0.0\"]\n    parameters:\n      %s: %d", service, note, parameter, int(size/4))
}

// overrideOf is the override of one service.
func overrideOf(service string, methods, consumers []string) string {
	parts := serviceKey.FindStringSubmatch(service)
	group, name, version := parts[1], parts[2], parts[3]
	key, _ := yamlName(service)
	var b strings.Builder
	fmt.Fprintf(&b, "# config centre: group dubbo, key %s:%s:%s.configurators\n", name, version, group)
	if !strings.Contains(name, ".") {
		b.WriteString("# write the interface's full name: the evidence shows only the short one\n")
	}
	fmt.Fprintf(&b, "configVersion: v2.7\nscope: service\nkey: %s\nenabled: true\nconfigs:\n  - side: consumer\n    addresses: [\"0.0.0.0\"]\n", key)
	if len(consumers) == 1 {
		fmt.Fprintf(&b, "    # applications: [%s]   # only this consumer; without it, all\n", consumers[0])
	}
	b.WriteString("    parameters:")
	for _, m := range methods {
		parameter := "retries"
		if m != "" {
			parameter = m + ".retries"
		}
		parameter, _ = yamlName(parameter)
		fmt.Fprintf(&b, "\n      %s: 0", parameter)
	}
	return b.String()
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
